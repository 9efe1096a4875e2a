//! `POST /api/v1/worker/attempts/{id}/heartbeat`

use axum::Json;
use axum::extract::State;
use database::queue::{self, Beat};
use domain::AttemptId;
use protocol::worker::{Heartbeat, HeartbeatAnswer};

use crate::auth::WorkerKey;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;

/// Keeps the lease. 409: it was lost, kill the executor at once.
#[utoipa::path(post, path = "/api/v1/worker/attempts/{id}/heartbeat", tag = "worker",
    operation_id = "worker_heartbeat", params(("id" = AttemptId, Path)),
    request_body = Heartbeat,
    responses((status = 200, body = HeartbeatAnswer)), security(("worker_key" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<AttemptId>,
    WorkerKey(key): WorkerKey,
    JsonBody(body): JsonBody<Heartbeat>,
) -> Result<Json<HeartbeatAnswer>, ApiError> {
    let lease = super::lease(key, id, body.lease_token);
    let beat = queue::heartbeat(&state.db, &lease, &state.lease.policy()).await?;
    Ok(Json(HeartbeatAnswer {
        lease_s: state.lease.duration.as_secs_f64(),
        cancel: beat == Beat::Cancelled,
    }))
}
