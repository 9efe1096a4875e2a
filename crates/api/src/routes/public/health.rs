//! `GET /healthz` and `GET /readyz`.

use axum::Json;
use axum::extract::State;
use protocol::ErrorCode;
use protocol::health::Health;

use crate::error::ApiError;
use crate::state::AppState;

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "public", operation_id = "healthz",
    responses((status = 200, body = Health)))]
pub(super) async fn alive() -> Json<Health> {
    Json(health())
}

/// The database answers, its schema is the one expected, and this process is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "public", operation_id = "readyz",
    responses((status = 200, body = Health)))]
pub(super) async fn ready(State(state): State<AppState>) -> Result<Json<Health>, ApiError> {
    if state.stopping.is_cancelled() {
        return Err(unavailable("This process is stopping."));
    }
    if !state.db.ready().await? {
        return Err(unavailable("The database lacks migrations."));
    }
    Ok(Json(health()))
}

fn health() -> Health {
    Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn unavailable(detail: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, detail)
}
