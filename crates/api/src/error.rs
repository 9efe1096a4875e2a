//! Errors at the edge.
//!
//! A handler returns [`ApiError`]: a code, and a sentence written for whoever called. What caused it
//! inside travels along for the log only. `outer` turns it into the body, because only that layer
//! knows the request's id.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use database::DatabaseError;
use database::queue::{ClaimError, LeaseError};
use protocol::ErrorCode;

/// What a caller is told.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub code: ErrorCode,
    pub detail: Cow<'static, str>,
    /// For the log, never for the caller.
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl ApiError {
    pub fn new(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            cause: None,
        }
    }

    pub fn bad_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::BadRequest, detail)
    }

    /// No such thing, or none that the caller may see: the two must not differ.
    pub fn not_found() -> Self {
        Self::new(ErrorCode::NotFound, "There is no such thing here.")
    }

    pub fn unauthenticated() -> Self {
        Self::new(
            ErrorCode::Unauthenticated,
            "Sign in, or send a valid token as `Authorization: Bearer ...`.",
        )
    }

    pub fn unknown_problem(slug: &str) -> Self {
        Self::new(
            ErrorCode::UnknownProblem,
            format!("There is no problem `{}`.", shorten(slug)),
        )
    }

    pub fn unknown_device(name: &str) -> Self {
        Self::new(
            ErrorCode::UnknownDevice,
            format!("There is no device `{}`.", shorten(name)),
        )
    }

    /// Our fault. What it was stands in the log.
    pub fn internal() -> Self {
        Self::new(
            ErrorCode::Internal,
            "Something went wrong on our side. The request id finds it in our log.",
        )
    }

    fn caused(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }
}

/// Echoes a caller's word without echoing a megabyte.
fn shorten(word: &str) -> String {
    word.chars().take(64).collect()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status())
            .expect("every code travels under a status that exists");
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        let answer = if let DatabaseError::Unreachable(_) = error {
            Self::new(
                ErrorCode::Unavailable,
                "The service cannot reach its database. Try again shortly.",
            )
        } else {
            Self::internal()
        };
        answer.caused(error)
    }
}

impl From<LeaseError> for ApiError {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Superseded => Self::new(
                ErrorCode::Superseded,
                "The lease was lost. Stop, and drop the result.",
            ),
            LeaseError::Database(error) => error.into(),
        }
    }
}

impl From<ClaimError> for ApiError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::StaleIncarnation => Self::new(
                ErrorCode::StaleIncarnation,
                "A newer process has registered under this worker's name.",
            ),
            ClaimError::Database(error) => error.into(),
        }
    }
}

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The packages could not be made known.
    #[error("the problems could not be published")]
    Publish(#[from] DatabaseError),
}
