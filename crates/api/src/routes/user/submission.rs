//! `GET /api/v1/submissions/{id}`

use axum::Json;
use axum::extract::State;
use database::submissions;
use domain::SubmissionId;
use protocol::submission::Submission;

use crate::access::{View, view};
use crate::auth::Caller;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;
use crate::views;

/// One submission. Its source is there for its owner alone.
#[utoipa::path(get, path = "/api/v1/submissions/{id}", tag = "user", operation_id = "submission",
    params(("id" = SubmissionId, Path)),
    responses((status = 200, body = Submission)), security((), ("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<SubmissionId>,
    caller: Caller,
) -> Result<Json<Submission>, ApiError> {
    let (row, view) = visible(&state, id, &caller).await?;
    answer(&state, row, view).await.map(Json)
}

/// The submission, if `caller` may know of it, and what of it they may see.
pub(super) async fn visible(
    state: &AppState,
    id: SubmissionId,
    caller: &Caller,
) -> Result<(submissions::Submission, View), ApiError> {
    let row = submissions::get(&state.db, id).await?;
    let row = row.ok_or_else(ApiError::not_found)?;
    match view(caller, row.user_id, row.mode, row.verdict) {
        View::Nothing => Err(ApiError::not_found()),
        view => Ok((row, view)),
    }
}

pub(super) async fn answer(
    state: &AppState,
    row: submissions::Submission,
    view: View,
) -> Result<Submission, ApiError> {
    let source = match view {
        View::Full => submissions::source(&state.db, row.id).await?,
        View::Result | View::Nothing => None,
    };
    Ok(Submission {
        summary: views::summary(state, &row),
        judging_ids: submissions::judging_ids(&state.db, row.id).await?,
        queued_ahead: submissions::queued_ahead(&state.db, row.judging_id).await?,
        source,
        source_sha256: row.source_sha256,
        last_seq: row.last_seq,
        user: views::user_ref(row.user_id, row.user_name),
    })
}
