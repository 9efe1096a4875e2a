//! `POST /api/v1/worker/register`

use axum::Json;
use axum::extract::State;
use database::queue::{self, NewWorker};
use protocol::timing;
use protocol::worker::{Register, Registered};

use crate::auth::WorkerKey;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::state::AppState;

/// Longest name of a worker, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A worker process introduces itself. The process that had its name before is refused from now on.
#[utoipa::path(post, path = "/api/v1/worker/register", tag = "worker",
    operation_id = "worker_register", request_body = Register,
    responses((status = 200, body = Registered)), security(("worker_key" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    WorkerKey(key): WorkerKey,
    JsonBody(body): JsonBody<Register>,
) -> Result<Json<Registered>, ApiError> {
    check_name(&body.name)?;
    let worker = NewWorker {
        key,
        name: &body.name,
        devices: &body.devices,
        problems: &body.problems,
        toolchain: &body.toolchain,
        now: state.now(),
    };
    let (process, changed) = queue::register(&state.db, &worker, state.lease.max_attempts).await?;
    for changed in &changed {
        state.tell(changed);
    }
    tracing::info!(worker.id = %process.id, worker.name = body.name,
        worker.incarnation = process.incarnation, "registered");
    Ok(Json(Registered {
        worker_id: process.id,
        incarnation: process.incarnation,
        lease_s: state.lease.duration.as_secs_f64(),
        heartbeat_interval_s: state.lease.heartbeat_interval.as_secs_f64(),
        progress_interval_s: timing::PROGRESS_INTERVAL.as_secs_f64(),
        long_poll_s: state.lease.long_poll.as_secs_f64(),
    }))
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let is_fit = (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    if is_fit {
        Ok(())
    } else {
        Err(ApiError::bad_request(format!(
            "A worker's name has 1 to {MAX_NAME_BYTES} bytes and no control characters."
        )))
    }
}
