//! What is wrong with a request, in our words: the place, and what belongs there.
//!
//! Texts of the parsing libraries never leave. What they say is looked through for what a caller can
//! use: the name of a missing field and what was expected instead.

use serde_json::error::Category;

use crate::error::ApiError;

/// A body that is no JSON, or not the JSON that the route takes. `path` is serde's: `shapes[3].id`,
/// or `.` for the whole.
pub(crate) fn body(path: &str, error: &serde_json::Error) -> ApiError {
    let sentence = match error.classify() {
        Category::Data => place("field", "The body", path, &error.to_string()),
        Category::Eof => "The body is not valid JSON: it ends too early.".to_owned(),
        Category::Syntax | Category::Io => format!(
            "The body is not valid JSON: see line {}, column {}.",
            error.line(),
            error.column()
        ),
    };
    ApiError::bad_request(sentence)
}

/// A query string that is not what the route takes.
pub(crate) fn query(path: &str, error: &serde_urlencoded::de::Error) -> ApiError {
    let sentence = place("parameter", "The query", path, &error.to_string());
    ApiError::bad_request(sentence)
}

fn place(noun: &str, whole: &str, path: &str, said: &str) -> String {
    let at = match path {
        "." | "" | "?" => whole.to_owned(),
        path => format!("The {noun} `{}`", shorten(path)),
    };
    if let Some(name) = quoted_after(said, "missing field ") {
        let name = match path {
            "." | "" | "?" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        return format!("The {noun} `{}` is missing.", shorten(&name));
    }
    if let Some(name) = quoted_after(said, "duplicate field ") {
        return format!("The {noun} `{}` stands there twice.", shorten(name));
    }
    match expected(said) {
        Some(expected) => format!("{at} must be {expected}."),
        None => format!("{at} does not hold what belongs there."),
    }
}

/// `expected a string at line 1 column 4` tells of a string; names of our own types tell nobody
/// anything.
fn expected(said: &str) -> Option<String> {
    let (_, rest) = said.split_once(", expected ")?;
    let rest = rest.split(" at line ").next()?;
    Some(match rest {
        one if one.starts_with("one of ") => one.replacen("one of ", "one of: ", 1),
        one if one.starts_with('`') => one.to_owned(),
        one if one.starts_with("struct ") || one.starts_with("internally tagged enum ") => {
            "an object".to_owned()
        }
        "a string" | "a boolean" | "a sequence" | "a map" => rest
            .replace("a sequence", "a list")
            .replace("a map", "an object"),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        _ => return None,
    })
}

fn quoted_after<'a>(said: &'a str, words: &str) -> Option<&'a str> {
    let rest = said.strip_prefix(words)?.strip_prefix('`')?;
    rest.split('`').next()
}

fn shorten(word: &str) -> String {
    word.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)] // read by the parser alone
    struct Sample {
        name: String,
        count: u32,
        #[serde(default)]
        inner: Vec<Inner>,
        mode: Option<domain::Mode>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)] // read by the parser alone
    struct Inner {
        id: uuid::Uuid,
    }

    fn said(text: &str) -> String {
        let mut document = serde_json::Deserializer::from_str(text);
        let error = serde_path_to_error::deserialize::<_, Sample>(&mut document).unwrap_err();
        body(&error.path().to_string(), error.inner())
            .detail
            .into_owned()
    }

    #[test]
    fn the_place_is_named_and_what_belongs_there() {
        let cases = [
            ("", "The body is not valid JSON: it ends too early."),
            ("{,", "The body is not valid JSON: see line 1, column 2."),
            ("[]", "The body must be an object."),
            ("3", "The body must be an object."),
            ("{}", "The field `name` is missing."),
            (r#"{"name":3}"#, "The field `name` must be a string."),
            (
                r#"{"name":"a","count":-1}"#,
                "The field `count` must be a whole number that is not negative.",
            ),
            (
                r#"{"name":"a","name":"a"}"#,
                "The field `name` stands there twice.",
            ),
            (
                r#"{"name":"a","count":1,"inner":[{"id":"x"}]}"#,
                "The field `inner[0].id` does not hold what belongs there.",
            ),
            (
                r#"{"name":"a","count":1,"inner":[{}]}"#,
                "The field `inner[0].id` is missing.",
            ),
            (
                r#"{"name":"a","count":1,"mode":"x"}"#,
                "The field `mode` must be `practice` or `ranked`.",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(said(text), expected, "{text}");
        }
    }
}
