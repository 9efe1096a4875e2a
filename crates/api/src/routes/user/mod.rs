//! What users do with their submissions. Results that stand on a board may be read by anybody.

mod cancel;
mod code;
mod events;
mod judging;
pub(super) mod login;
mod logout;
mod me;
mod submission;
mod submissions;
mod submit;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(submit::handler, submissions::handler))
        .routes(routes!(submission::handler))
        .routes(routes!(events::handler))
        .routes(routes!(cancel::handler))
        .routes(routes!(judging::handler))
        .routes(routes!(code::handler))
        .routes(routes!(me::handler))
        .routes(routes!(logout::handler))
}
