//! `GET /api/v1/problems/{slug}`

pub(crate) mod view;

use axum::Json;
use axum::extract::State;
use protocol::problem::ProblemDetail;

use crate::auth::Caller;
use crate::error::ApiError;
use crate::parameters::{Id, package};
use crate::routes::public::problems::summaries;
use crate::state::AppState;

/// A problem with its statement, parameters, strata and starter.
#[utoipa::path(get, path = "/api/v1/problems/{slug}", tag = "public", operation_id = "problem",
    params(("slug" = String, Path)),
    responses((status = 200, body = ProblemDetail)))]
pub(in crate::routes) async fn handler(
    State(state): State<AppState>,
    Id(slug): Id<String>,
    caller: Caller,
) -> Result<Json<ProblemDetail>, ApiError> {
    let package = package(&state, &slug)?;
    let mut summaries = summaries(&state, &caller).await?;
    summaries.retain(|summary| summary.slug == slug);
    let summary = summaries.pop().ok_or_else(ApiError::not_found)?;
    Ok(Json(view::detail(package, summary)))
}
