//! Why a command ends without a verdict: one sentence, a way out, and the exit status of the
//! contract.

/// What `main` prints and returns.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The caller has to change something: flags, a file, a name, a token.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do; may be empty.
        hint: String,
    },
    /// The service, or something the machine should have, is not there.
    #[error("{message}")]
    Unavailable {
        /// What is wrong.
        message: String,
        /// What to do; may be empty.
        hint: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unavailable {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } | Self::Unavailable { hint, .. } => {
                Some(hint.as_str()).filter(|hint| !hint.is_empty())
            }
            Self::Interrupted => None,
        }
    }

    /// The exit status of the contract.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::Unavailable { .. } => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<local_postgres::Error> for Failure {
    fn from(error: local_postgres::Error) -> Self {
        // Its sentences name the way out themselves.
        Self::unavailable(error.to_string(), "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_follow_the_contract() {
        assert_eq!(Failure::usage("x", "").exit_code(), 2);
        assert_eq!(Failure::unavailable("x", "").exit_code(), 3);
        assert_eq!(Failure::Interrupted.exit_code(), 130);
        assert_eq!(Failure::usage("x", "").hint(), None);
        assert_eq!(Failure::usage("x", "y").hint(), Some("y"));
    }
}
