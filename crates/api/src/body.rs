//! JSON bodies, capped before they are read, in size and in time.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use domain::source::MAX_SOURCE_BYTES;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use protocol::ErrorCode;
use protocol::submission::{MAX_SUBMIT_BODY_BYTES, Submit};
use protocol::worker::{
    AttemptReport, ClaimRequest, Heartbeat, MAX_REPORT_BODY_BYTES, ProgressReport, Register,
};
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::malformed;
use crate::state::AppState;

/// A message that a route takes: how large it may be, and what is said when it is not text.
pub(crate) trait Message: DeserializeOwned {
    /// Bytes of JSON.
    const MAX_BYTES: usize = 16 << 10;
    /// Said when it is larger.
    const TOO_LARGE: ErrorCode = ErrorCode::BodyTooLarge;
    /// The part of it that a caller knows as limited, with its limit in bytes.
    const LIMITED: Option<(&str, usize)> = None;
    /// Said when it is not UTF-8.
    const NOT_UTF8: ErrorCode = ErrorCode::BadRequest;
}

impl Message for Submit {
    const MAX_BYTES: usize = MAX_SUBMIT_BODY_BYTES;
    const TOO_LARGE: ErrorCode = ErrorCode::SourceTooLarge;
    const LIMITED: Option<(&str, usize)> = Some(("source", MAX_SOURCE_BYTES));
    const NOT_UTF8: ErrorCode = ErrorCode::InvalidSource;
}
impl Message for AttemptReport {
    const MAX_BYTES: usize = MAX_REPORT_BODY_BYTES;
}
impl Message for Register {
    // Every problem by name.
    const MAX_BYTES: usize = 1 << 20;
}
impl Message for ClaimRequest {}
impl Message for Heartbeat {}
impl Message for ProgressReport {}

/// The body of a request, parsed.
pub(crate) struct JsonBody<T>(pub T);

impl<T: Message> FromRequest<AppState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let headers = request.headers();
        let content_type = headers.get(header::CONTENT_TYPE);
        if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
            return Err(ApiError::new(
                ErrorCode::UnsupportedMediaType,
                "Send the body as `Content-Type: application/json`.",
            ));
        }
        let announced = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|bytes| bytes > T::MAX_BYTES) {
            return Err(too_large::<T>());
        }
        let reading = read::<T>(request.into_body());
        let bytes = tokio::time::timeout(state.connections.body_read, reading)
            .await
            .map_err(|_| ApiError::new(ErrorCode::RequestTimeout, "The body came too slowly."))??;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let offset = error.valid_up_to();
            ApiError::new(
                T::NOT_UTF8,
                format!("The body is not UTF-8 (first bad byte at offset {offset})."),
            )
        })?;
        parse(text).map(Self)
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ApiError> {
    let mut document = serde_json::Deserializer::from_str(text);
    let parsed = serde_path_to_error::deserialize(&mut document)
        .map_err(|error| malformed::body(&error.path().to_string(), error.inner()))?;
    // Whatever follows the document is an error of its syntax.
    document
        .end()
        .map_err(|error| malformed::body(".", &error))?;
    Ok(parsed)
}

async fn read<T: Message>(body: Body) -> Result<axum::body::Bytes, ApiError> {
    match Limited::new(body, T::MAX_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large::<T>()),
        Err(_) => Err(ApiError::bad_request("The body ended early.")),
    }
}

fn too_large<T: Message>() -> ApiError {
    let mut detail = format!("The body has more than {} bytes.", T::MAX_BYTES);
    if let Some((part, bytes)) = T::LIMITED {
        detail.push_str(&format!(" The limit of the {part} is {bytes}."));
    }
    ApiError::new(T::TOO_LARGE, detail)
}

fn is_json(content_type: &[u8]) -> bool {
    let essence = content_type.split(|&b| b == b';').next().unwrap_or(&[]);
    essence
        .trim_ascii()
        .eq_ignore_ascii_case(b"application/json")
}
