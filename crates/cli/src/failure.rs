//! Why a command ends without a verdict: one sentence, a way out, a word for programs, and the exit
//! status of the contract.

use std::fmt;

use serde::Serialize;

/// What `main` prints and returns.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The caller has to change something: flags, a file, a name, a token.
    Usage(Told),
    /// The service, or something the machine should have, is not there.
    Unavailable(Told),
    /// Ctrl-C.
    Interrupted,
}

/// What is said of a failure.
#[derive(Debug)]
pub(crate) struct Told {
    /// What is wrong.
    message: String,
    /// What to do; may be empty.
    hint: String,
    /// The API's word for it, where it has one.
    code: Option<String>,
}

/// What `--json` prints on stdout: `{"error": ...}`.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorDocument<'a> {
    error: ErrorBody<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorBody<'a> {
    code: &'a str,
    message: String,
    hint: Option<&'a str>,
    exit_code: u8,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage(Told::new(message, hint))
    }

    pub(crate) fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unavailable(Told::new(message, hint))
    }

    /// The same, known to programs by the API's word.
    pub(crate) fn with_code(mut self, code: &str) -> Self {
        if let Self::Usage(told) | Self::Unavailable(told) = &mut self {
            told.code = Some(code.to_owned());
        }
        self
    }

    /// The same, with another way out.
    pub(crate) fn with_hint(mut self, new: impl Into<String>) -> Self {
        if let Self::Usage(told) | Self::Unavailable(told) = &mut self {
            told.hint = new.into();
        }
        self
    }

    /// The API's word for it, where it has one.
    pub(crate) fn api_code(&self) -> Option<&str> {
        self.told()?.code.as_deref()
    }

    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<&str> {
        Some(self.told()?.hint.as_str()).filter(|hint| !hint.is_empty())
    }

    /// The exit status of the contract.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unavailable(_) => 3,
            Self::Interrupted => 130,
        }
    }

    /// For a program.
    pub(crate) fn document(&self) -> ErrorDocument<'_> {
        let message = self.told().map(|told| told.message.clone());
        let general = match self {
            Self::Usage(_) => "usage",
            Self::Unavailable(_) => "unavailable",
            Self::Interrupted => "interrupted",
        };
        ErrorDocument {
            error: ErrorBody {
                code: self.api_code().unwrap_or(general),
                message: message.unwrap_or_else(|| self.to_string()),
                hint: self.hint(),
                exit_code: self.exit_code(),
            },
        }
    }

    fn told(&self) -> Option<&Told> {
        match self {
            Self::Usage(told) | Self::Unavailable(told) => Some(told),
            Self::Interrupted => None,
        }
    }
}

impl Told {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            code: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.told() {
            None => f.write_str("interrupted"),
            Some(told) => {
                f.write_str(&told.message)?;
                match &told.code {
                    Some(code) => write!(f, " ({code})"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<local_postgres::Error> for Failure {
    fn from(error: local_postgres::Error) -> Self {
        // Its sentences name the way out themselves.
        Self::unavailable(error.to_string(), "")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exit_codes_follow_the_contract() {
        assert_eq!(Failure::usage("x", "").exit_code(), 2);
        assert_eq!(Failure::unavailable("x", "").exit_code(), 3);
        assert_eq!(Failure::Interrupted.exit_code(), 130);
        assert_eq!(Failure::usage("x", "").hint(), None);
        assert_eq!(Failure::usage("x", "y").hint(), Some("y"));
    }

    #[test]
    fn programs_get_a_word_and_people_the_sentence() {
        let failure = Failure::usage("no such problem", "list them").with_code("unknown_problem");
        assert_eq!(failure.to_string(), "no such problem (unknown_problem)");
        assert_eq!(
            serde_json::to_value(failure.document()).unwrap(),
            json!({"error": {"code": "unknown_problem", "message": "no such problem",
                "hint": "list them", "exit_code": 2}})
        );
        let words = [
            (Failure::usage("x", ""), "usage"),
            (Failure::unavailable("x", ""), "unavailable"),
            (Failure::Interrupted, "interrupted"),
        ];
        for (failure, word) in words {
            let document = serde_json::to_value(failure.document()).unwrap();
            assert_eq!(document["error"]["code"], word);
            assert_eq!(document["error"]["hint"], serde_json::Value::Null);
        }
    }
}
