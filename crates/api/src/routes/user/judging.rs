//! `GET /api/v1/judgings/{id}`

use axum::Json;
use axum::extract::State;
use domain::JudgingId;
use protocol::judging::Judging;

use crate::access::{View, view};
use crate::auth::Caller;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;
use crate::views;

/// One judging, its report inside.
#[utoipa::path(get, path = "/api/v1/judgings/{id}", tag = "user", operation_id = "judging",
    params(("id" = JudgingId, Path)),
    responses((status = 200, body = Judging)), security((), ("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<JudgingId>,
    caller: Caller,
) -> Result<Json<Judging>, ApiError> {
    let judging = database::judgings::get(&state.db, id).await?;
    let judging = judging.ok_or_else(ApiError::not_found)?;
    match view(&caller, judging.user_id, judging.mode, judging.verdict) {
        View::Nothing => Err(ApiError::not_found()),
        view => Ok(Json(views::judging(&state, judging, view))),
    }
}
