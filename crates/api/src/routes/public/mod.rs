//! What anybody may read.

mod board;
mod devices;
mod health;
mod problem;
mod problems;

pub(crate) use problem::view;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(problems::handler))
        .routes(routes!(problem::handler))
        .routes(routes!(board::handler))
        .routes(routes!(devices::handler))
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
}
