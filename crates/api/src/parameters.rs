//! Path and query parameters, with errors of our own.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use domain::DeviceName;
use problems::Package;
use serde::de::DeserializeOwned;

use crate::error::ApiError;
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

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Query::<T>::from_request_parts(parts, state)
            .await
            .map(|Query(query)| Self(query))
            .map_err(|rejection: QueryRejection| {
                ApiError::bad_request(format!("{}.", rejection.body_text()))
            })
    }
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
