//! `GET /login?code=...`: the link that `up` prints. For people, so its answers are pages.

use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use database::sessions::redeem_login_code;
use protocol::routes::{LOGIN, SESSION_COOKIE};
use protocol::timing;
use serde::Deserialize;

use crate::error::ApiError;
use crate::parameters::Parameters;
use crate::state::AppState;

pub(in crate::routes) fn route() -> Router<AppState> {
    Router::new().route(LOGIN, get(handler))
}

#[derive(Deserialize)]
struct Login {
    #[serde(default)]
    code: String,
}

async fn handler(
    method: Method,
    State(state): State<AppState>,
    Parameters(login): Parameters<Login>,
    jar: CookieJar,
) -> Result<Response, ApiError> {
    // Mail scanners and link previews ask with HEAD; that must not use the code up.
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let session = redeem_login_code(&state.db, &login.code, timing::SESSION).await?;
    let Some(session) = session else {
        return Ok((StatusCode::FORBIDDEN, Html(EXPIRED_PAGE)).into_response());
    };
    let jar = jar.add(session_cookie(&state, session));
    Ok((jar, Redirect::to("/")).into_response())
}

/// Scripts cannot read it; other sites cannot send it along with changes.
pub(super) fn session_cookie(state: &AppState, session: String) -> Cookie<'static> {
    let seconds = i64::try_from(timing::SESSION.as_secs()).unwrap_or(i64::MAX);
    Cookie::build((SESSION_COOKIE, session))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(state.public_url().starts_with("https://"))
        .max_age(time::Duration::seconds(seconds))
        .build()
}

const EXPIRED_PAGE: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Login link expired</title>
<body style=\"font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem\">
<h1>This login link is no longer valid</h1>
<p>A link works once, for ten minutes. Print another with:</p>
<pre>./lightspeed up --login-link</pre>
<p><a href=\"/\">Go on without signing in</a></p>
</body></html>
";
