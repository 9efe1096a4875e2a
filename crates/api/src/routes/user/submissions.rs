//! `GET /api/v1/submissions`

use axum::Json;
use axum::extract::State;
use database::submissions::list;
use domain::SubmissionId;
use protocol::submission::SubmissionList;
use serde::Deserialize;

use crate::auth::SignedIn;
use crate::error::ApiError;
use crate::parameters::{Parameters, limit};
use crate::state::AppState;
use crate::views;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Query {
    /// Slug: only submissions to this problem.
    problem: Option<String>,
    /// Only submissions older than this one: `next_before` of the page before.
    before: Option<SubmissionId>,
    /// At most this many; 20 unless said otherwise, 100 at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// The caller's own submissions, newest first.
#[utoipa::path(get, path = "/api/v1/submissions", tag = "user", operation_id = "submissions",
    params(Query),
    responses((status = 200, body = SubmissionList)), security(("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    SignedIn(user): SignedIn,
    Parameters(query): Parameters<Query>,
) -> Result<Json<SubmissionList>, ApiError> {
    let limit = limit(query.limit.as_deref(), DEFAULT_LIMIT, MAX_LIMIT)?;
    let problem = query.problem.as_deref();
    // A problem that is no longer published still has submissions; what is no name has none.
    if let Some(slug) = problem.filter(|slug| slug.chars().any(char::is_control)) {
        return Err(ApiError::unknown_problem(slug));
    }
    // One more than asked for tells whether there is another page.
    let mut rows = list(&state.db, user.id, problem, query.before, limit + 1).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok(Json(SubmissionList {
        next_before: rows.last().filter(|_| more).map(|row| row.id),
        submissions: rows.iter().map(|row| views::summary(&state, row)).collect(),
    }))
}
