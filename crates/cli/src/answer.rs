//! What a service answers, before anybody looks at it: bounded in size, and without characters that would
//! steer a reader's terminal.

use domain::printable;
use reqwest::Response;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Of one answer. The largest are reports with what kernels printed.
pub(crate) const MAX_BYTES: usize = 32 << 20;
/// Of a refusal.
pub(crate) const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// Reads a body of JSON. `Err` says what is wrong with it.
pub(crate) async fn read<T: DeserializeOwned>(
    mut response: Response,
    limit: usize,
) -> Result<T, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| e.to_string())? {
        if body.len() + chunk.len() > limit {
            return Err(format!("more than {limit} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    parse(&body)
}

/// Takes JSON apart, every text in it cleaned.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    let mut document: Value = serde_json::from_slice(json).map_err(|e| e.to_string())?;
    clean_all(&mut document);
    serde_json::from_value(document).map_err(|e| e.to_string())
}

fn clean_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(items) => items.iter_mut().for_each(clean_all),
        Value::Object(fields) => {
            let taken = std::mem::take(fields).into_iter();
            *fields = taken
                .map(|(name, mut value)| {
                    clean_all(&mut value);
                    (clean(&name), value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text of somebody else's, line by line as it is, fit for a terminal.
pub(crate) fn clean(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            let columns: Vec<String> = line.split('\t').map(printable).collect();
            columns.join("\t")
        })
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_service_steers_a_terminal() {
        let json = br#"{"title\u001b":"\u001b[31mred\u009b\u202e","lines":["a\n\tb"],"n":1.5}"#;
        let cleaned: Value = parse(json).unwrap();
        let expected = serde_json::json!({
            "title\u{fffd}": "\u{fffd}[31mred\u{fffd}\u{fffd}", "lines": ["a\n\tb"], "n": 1.5
        });
        assert_eq!(cleaned, expected);
    }
}
