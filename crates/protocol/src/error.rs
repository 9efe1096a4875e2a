//! The body of every answer that is not a success: `application/problem+json`.

use domain::RequestId;
use serde::{Deserialize, Serialize};

/// The media type of [`ProblemBody`].
pub const PROBLEM_JSON: &str = "application/problem+json";

/// What went wrong, for a program (`code`) and for a person (`detail`). Never internal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemBody {
    /// One of [`ErrorCode`]'s words; readers must expect new ones.
    pub code: String,
    /// One or two sentences.
    pub detail: String,
    /// Names the request in the server's log.
    pub request_id: RequestId,
    /// The HTTP status, repeated for those who see only the body.
    pub status: u16,
}

impl ProblemBody {
    /// The code as a known word.
    #[must_use]
    pub fn known_code(&self) -> Option<ErrorCode> {
        ErrorCode::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == self.code)
    }
}

macro_rules! codes {
    ($($(#[$meta:meta])* $variant:ident => ($text:literal, $status:literal)),+ $(,)?) => {
        /// Every error code, with the HTTP status it travels under.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$meta])* $variant),+
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The contract's spelling.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The HTTP status it travels under.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }
        }
    };
}

codes! {
    /// The request is not what the route expects: bad JSON, a missing field, a malformed id.
    BadRequest => ("bad_request", 400),
    /// No credentials, or ones that are unknown, expired or revoked.
    Unauthenticated => ("unauthenticated", 401),
    /// The caller is known and may not do this.
    Forbidden => ("forbidden", 403),
    /// A state change by cookie from another origin.
    CrossOrigin => ("cross_origin", 403),
    /// No such thing, or none that the caller may see.
    NotFound => ("not_found", 404),
    /// No code is kept of this judging: it is not over, or nothing was compiled.
    NoCode => ("no_code", 404),
    /// No problem of that name.
    UnknownProblem => ("unknown_problem", 404),
    /// No device of that name, or none the problem runs on.
    UnknownDevice => ("unknown_device", 404),
    /// The route exists, the method does not.
    MethodNotAllowed => ("method_not_allowed", 405),
    /// The body did not arrive in time.
    RequestTimeout => ("request_timeout", 408),
    /// The attempt's lease was lost, or its judging is final: stop at once and drop the result.
    Superseded => ("superseded", 409),
    /// A newer process has registered under this worker's name: stop.
    StaleIncarnation => ("stale_incarnation", 409),
    /// The submission has its verdict; nothing is left to cancel.
    AlreadyDone => ("already_done", 409),
    /// The body is over the route's limit.
    BodyTooLarge => ("body_too_large", 413),
    /// The source is over the limit.
    SourceTooLarge => ("source_too_large", 413),
    /// The body is not `application/json`.
    UnsupportedMediaType => ("unsupported_media_type", 415),
    /// The source is empty, holds NUL or is not UTF-8.
    InvalidSource => ("invalid_source", 422),
    /// The report contradicts the claim it answers.
    InvalidReport => ("invalid_report", 422),
    /// Our fault; the request id finds it in the log.
    Internal => ("internal", 500),
    /// The database cannot be reached; try again.
    Unavailable => ("unavailable", 503),
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
