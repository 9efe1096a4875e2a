//! What workers say. Every call carries a worker's key; every write its lease.

mod claim;
mod heartbeat;
mod progress;
mod register;
mod report;

use database::accounts::WorkerKeyId;
use database::queue::Lease;
use domain::AttemptId;
use protocol::worker::LeaseToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(register::handler))
        .routes(routes!(claim::handler))
        .routes(routes!(heartbeat::handler))
        .routes(routes!(progress::handler))
        .routes(routes!(report::handler))
}

fn lease(key: WorkerKeyId, attempt_id: AttemptId, token: LeaseToken) -> Lease {
    Lease {
        key,
        attempt_id,
        token: token.0,
    }
}
