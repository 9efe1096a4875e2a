//! `GET /api/v1/problems`

use axum::Json;
use axum::extract::State;
use database::problems::{Solvers, solvers};
use protocol::problem::{ProblemList, ProblemSummary};

use crate::auth::Caller;
use crate::error::ApiError;
use crate::packages::reference;
use crate::routes::public::problem::view;
use crate::state::AppState;

/// Every problem on offer, by slug.
#[utoipa::path(get, path = "/api/v1/problems", tag = "public", operation_id = "problems",
    responses((status = 200, body = ProblemList)))]
pub(super) async fn handler(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<ProblemList>, ApiError> {
    let problems = summaries(&state, &caller).await?;
    Ok(Json(ProblemList { problems }))
}

/// Every problem as the list shows it to `caller`.
pub(super) async fn summaries(
    state: &AppState,
    caller: &Caller,
) -> Result<Vec<ProblemSummary>, ApiError> {
    let user = caller.user().map(|user| user.id);
    let solvers = solvers(&state.db, user).await?;
    let summary = |package| {
        let counted = solvers.iter().find(|s| s.problem == reference(package));
        let mut summary = view::summary(package);
        summary.solvers = counted.map_or(0, |counted: &Solvers| counted.solvers);
        summary.solved = user.map(|_| counted.is_some_and(|counted| counted.solved));
        summary
    };
    Ok(state.packages().values().map(summary).collect())
}
