//! `POST /api/v1/worker/claim`

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use database::queue::{self, Claimed, WorkerProcess};
use domain::{AttemptId, DeviceName};
use protocol::worker::{Claim, ClaimAnswer, ClaimRequest, LeaseToken};
use tokio::time::Instant;

use crate::auth::WorkerKey;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::state::AppState;

/// Work is looked for this often even if no wake-up came.
const POLL: Duration = Duration::from_secs(2);

/// Takes the next judging, waiting up to `wait_s` for one.
#[utoipa::path(post, path = "/api/v1/worker/claim", tag = "worker", operation_id = "worker_claim",
    request_body = ClaimRequest,
    responses((status = 200, body = ClaimAnswer)), security(("worker_key" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    WorkerKey(key): WorkerKey,
    JsonBody(body): JsonBody<ClaimRequest>,
) -> Result<Json<ClaimAnswer>, ApiError> {
    let worker = WorkerProcess {
        key,
        id: body.worker_id,
        incarnation: body.incarnation,
    };
    let wait = Duration::try_from_secs_f64(body.wait_s)
        .unwrap_or_default()
        .min(state.lease.long_poll);
    let deadline = Instant::now() + wait;
    // Subscribed before the first try, so that nothing falls between the two.
    let mut work = state.wakeups.watch_work();
    loop {
        let attempt = AttemptId::new(state.now());
        let policy = state.lease.policy();
        let claimed = queue::claim(&state.db, &worker, body.claim_id, attempt, &policy).await?;
        if let Some(claimed) = claimed {
            state.wakeups.changed(claimed.submission_id);
            tracing::info!(judging.id = %claimed.judging_id, attempt.id = %claimed.attempt_id,
                worker.id = %worker.id, "claimed");
            return Ok(answer(Some(claim(&state, claimed))));
        }
        let now = Instant::now();
        if now >= deadline || state.stopping.is_cancelled() {
            return Ok(answer(None));
        }
        tokio::select! {
            () = work.next(DeviceName::ALL) => {}
            () = tokio::time::sleep_until(deadline.min(now + POLL)) => {}
            () = state.stopping.cancelled() => {}
        }
    }
}

fn answer(claim: Option<Claim>) -> Json<ClaimAnswer> {
    Json(ClaimAnswer {
        claim: claim.map(Box::new),
    })
}

fn claim(state: &AppState, claimed: Claimed) -> Claim {
    Claim {
        submission_id: claimed.submission_id,
        judging_id: claimed.judging_id,
        attempt_id: claimed.attempt_id,
        attempt: claimed.number,
        lease_token: LeaseToken(claimed.token),
        lease_s: state.lease.duration.as_secs_f64(),
        problem: claimed.problem,
        device: claimed.device,
        mode: claimed.mode,
        source: claimed.source,
        queued_s: claimed.queued_s,
    }
}
