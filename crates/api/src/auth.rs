//! Who calls: `Authorization: Bearer lsp_...` (user) or `lsw_...` (worker), else the session cookie.
//!
//! A header that is there must be right; it never falls back to the cookie. With the cookie alone, a
//! request that changes state must come from this origin, since browsers send cookies by themselves.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum_extra::extract::CookieJar;
use database::accounts::{self, TOKEN_PREFIX, User, WORKER_KEY_PREFIX, WorkerKeyId};
use database::sessions;
use protocol::ErrorCode;
use protocol::routes::SESSION_COOKIE;

use crate::error::ApiError;
use crate::origin;
use crate::state::AppState;

/// Anybody.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    Anonymous,
    User(User),
    Worker(WorkerKeyId),
}

impl Caller {
    pub fn user(&self) -> Option<&User> {
        match self {
            Self::User(user) => Some(user),
            Self::Anonymous | Self::Worker(_) => None,
        }
    }
}

/// A user; others are refused.
pub(crate) struct SignedIn(pub User);

/// A user with the right to operate the service; others are refused.
pub(crate) struct Operator;

/// A worker; others are refused.
pub(crate) struct WorkerKey(pub WorkerKeyId);

impl FromRequestParts<AppState> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
            let secret = value.to_str().ok().and_then(bearer);
            return by_secret(state, secret.ok_or_else(ApiError::unauthenticated)?).await;
        }
        let jar = CookieJar::from_headers(&parts.headers);
        let Some(cookie) = jar.get(SESSION_COOKIE) else {
            return Ok(Self::Anonymous);
        };
        let Some(user) = sessions::user_by_session(&state.db, cookie.value()).await? else {
            return Ok(Self::Anonymous);
        };
        if changes_state(&parts.method) && !origin::is_own(&parts.headers, state.public_url()) {
            return Err(ApiError::new(
                ErrorCode::CrossOrigin,
                "A change by session cookie must come from this site's own pages.",
            ));
        }
        Ok(Self::User(user))
    }
}

impl FromRequestParts<AppState> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        match Caller::from_request_parts(parts, state).await? {
            Caller::User(user) => Ok(Self(user)),
            Caller::Anonymous => Err(ApiError::unauthenticated()),
            Caller::Worker(_) => Err(forbidden("A worker's key is of no use here.")),
        }
    }
}

impl FromRequestParts<AppState> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let SignedIn(user) = SignedIn::from_request_parts(parts, state).await?;
        if user.operator {
            Ok(Self)
        } else {
            Err(forbidden("Only operators may do this."))
        }
    }
}

impl FromRequestParts<AppState> for WorkerKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        match Caller::from_request_parts(parts, state).await? {
            Caller::Worker(key) => Ok(Self(key)),
            Caller::Anonymous => Err(ApiError::unauthenticated()),
            Caller::User(_) => Err(forbidden("Only a worker's key is of use here.")),
        }
    }
}

async fn by_secret(state: &AppState, secret: &str) -> Result<Caller, ApiError> {
    let caller = if secret.starts_with(TOKEN_PREFIX) {
        let user = accounts::user_by_token(&state.db, secret).await?;
        user.map(Caller::User)
    } else if secret.starts_with(WORKER_KEY_PREFIX) {
        let key = accounts::worker_key(&state.db, secret).await?;
        key.map(Caller::Worker)
    } else {
        None
    };
    caller.ok_or_else(ApiError::unauthenticated)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

fn changes_state(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn forbidden(detail: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Forbidden, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_is_read_in_any_case() {
        assert_eq!(bearer("Bearer lsp_x"), Some("lsp_x"));
        assert_eq!(bearer("bearer  lsp_x"), Some("lsp_x"));
        assert_eq!(bearer("Basic lsp_x"), None);
        assert_eq!(bearer("lsp_x"), None);
    }
}
