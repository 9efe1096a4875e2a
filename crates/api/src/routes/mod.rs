//! All routes, by audience. A route and its documentation are registered together, so that neither
//! can exist without the other.

mod operator;
mod public;
mod user;
mod worker;

pub(crate) use public::view;

use axum::Router;
use axum::middleware;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::error::ApiError;
use crate::state::AppState;
use crate::{openapi, outer, web};

pub(crate) fn router(state: AppState) -> Router {
    let (routes, document) = documented().split_for_parts();
    routes
        .merge(openapi::route(document))
        .merge(user::login::route())
        .fallback(web::serve)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(outer::panicked))
        .layer(middleware::from_fn_with_state(state.clone(), outer::outer))
        .with_state(state)
}

/// The routes that the OpenAPI document tells of: all but itself, the login link and the page.
pub(crate) fn documented() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .merge(public::routes())
        .merge(user::routes())
        .merge(worker::routes())
        .merge(operator::routes())
}

async fn method_not_allowed() -> ApiError {
    ApiError::new(
        protocol::ErrorCode::MethodNotAllowed,
        "The path exists, but not for this method.",
    )
}
