//! `GET /api/v1/me`

use axum::Json;
use protocol::account::Account;

use crate::auth::SignedIn;
use crate::views;

/// The caller's own account.
#[utoipa::path(get, path = "/api/v1/me", tag = "user", operation_id = "me",
    responses((status = 200, body = Account)), security(("token" = []), ("session" = [])))]
pub(super) async fn handler(SignedIn(user): SignedIn) -> Json<Account> {
    Json(views::account(user))
}
