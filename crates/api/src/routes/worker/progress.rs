//! `POST /api/v1/worker/attempts/{id}/progress`

use axum::extract::State;
use axum::http::StatusCode;
use database::queue;
use domain::AttemptId;
use protocol::worker::ProgressReport;

use crate::auth::WorkerKey;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;

/// Tells watchers how far the attempt is. Steps are streamed only; a new phase is stored.
#[utoipa::path(post, path = "/api/v1/worker/attempts/{id}/progress", tag = "worker",
    operation_id = "worker_progress", params(("id" = AttemptId, Path)),
    request_body = ProgressReport,
    responses((status = 204)), security(("worker_key" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<AttemptId>,
    WorkerKey(key): WorkerKey,
    JsonBody(body): JsonBody<ProgressReport>,
) -> Result<StatusCode, ApiError> {
    let lease = super::lease(key, id, body.lease_token);
    let entered = queue::enter_phase(&state.db, &lease, body.progress.phase).await?;
    if entered.is_news {
        state.wakeups.changed(entered.submission_id);
    }
    state
        .wakeups
        .progress(entered.submission_id, entered.judging_id, body.progress);
    Ok(StatusCode::NO_CONTENT)
}
