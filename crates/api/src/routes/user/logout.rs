//! `POST /api/v1/logout`

use axum::extract::State;
use axum::http::StatusCode;
use axum_extra::extract::CookieJar;
use protocol::routes::SESSION_COOKIE;

use crate::auth::SignedIn;
use crate::error::ApiError;
use crate::routes::user::login::session_cookie;
use crate::state::AppState;

/// Ends the session of the cookie. A token is not touched.
#[utoipa::path(post, path = "/api/v1/logout", tag = "user", operation_id = "logout",
    responses((status = 204)), security(("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    SignedIn(_user): SignedIn,
    jar: CookieJar,
) -> Result<(CookieJar, StatusCode), ApiError> {
    if let Some(cookie) = jar.get(SESSION_COOKIE) {
        database::sessions::end_session(&state.db, cookie.value()).await?;
    }
    // Only a cookie of the same path replaces the one that was set.
    let jar = jar.remove(session_cookie(&state, String::new()));
    Ok((jar, StatusCode::NO_CONTENT))
}
