//! Path and query parameters, with errors of our own.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use domain::DeviceName;
use problems::Package;
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::malformed;
use crate::state::AppState;

/// An id in the path. A malformed one names nothing.
pub(crate) struct Id<T>(pub T);

impl<S: Sync + Send, T: DeserializeOwned + Send> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Path::<T>::from_request_parts(parts, state)
            .await
            .map(|Path(id)| Self(id))
            .map_err(|_| ApiError::not_found())
    }
}

/// The query string.
pub(crate) struct Parameters<T>(pub T);

impl<S: Sync + Send, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let text = parts.uri.query().unwrap_or_default();
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        let query = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(query)
            .map(Self)
            .map_err(|error| malformed::query(&error.path().to_string(), error.inner()))
    }
}

/// How many rows a caller asks for, from its `limit`; nonsense is refused rather than bent.
pub(crate) fn limit(asked: Option<&str>, usual: u32, most: u32) -> Result<u32, ApiError> {
    let Some(asked) = asked else {
        return Ok(usual);
    };
    let limit = asked.parse().ok().filter(|n| (1..=most).contains(n));
    limit.ok_or_else(|| {
        ApiError::bad_request(format!(
            "The parameter `limit` must be a whole number from 1 to {most}."
        ))
    })
}

/// The package that a slug names.
pub(crate) fn package<'a>(state: &'a AppState, slug: &str) -> Result<&'a Package, ApiError> {
    state
        .packages()
        .get(slug)
        .ok_or_else(|| ApiError::unknown_problem(slug))
}

/// The device that a name names.
pub(crate) fn device(name: &str) -> Result<DeviceName, ApiError> {
    name.parse().map_err(|_| ApiError::unknown_device(name))
}
