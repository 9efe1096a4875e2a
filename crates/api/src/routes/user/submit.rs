//! `POST /api/v1/submissions`

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use database::submissions::{NewSubmission, submit};
use domain::source::{Source, SourceError};
use domain::{JudgingId, SubmissionId};
use protocol::ErrorCode;
use protocol::submission::{Submit, Submitted};

use crate::auth::SignedIn;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::packages::reference;
use crate::parameters::{device, package};
use crate::state::AppState;

/// What a judging is taken to cost before anybody has measured it, for fairness among users.
const ESTIMATE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("The source cannot be judged: {0}")]
    Source(#[from] SourceError),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let Error::Source(reason) = &error;
        let code = match reason {
            SourceError::TooLarge(_) => ErrorCode::SourceTooLarge,
            SourceError::Empty | SourceError::Nul(_) | SourceError::NotUtf8(_) => {
                ErrorCode::InvalidSource
            }
        };
        Self::new(code, error.to_string())
    }
}

/// Hands in a source. The answer names the submission and its first judging.
#[utoipa::path(post, path = "/api/v1/submissions", tag = "user", operation_id = "submit",
    request_body = Submit,
    responses((status = 201, body = Submitted)), security(("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    SignedIn(user): SignedIn,
    JsonBody(body): JsonBody<Submit>,
) -> Result<impl IntoResponse, ApiError> {
    let problem = reference(package(&state, &body.problem)?);
    let device = device(&body.device)?;
    let source = Source::try_from(body.source).map_err(Error::from)?;
    let now = state.now();
    let new = NewSubmission {
        id: SubmissionId::new(now),
        judging_id: JudgingId::new(now),
        user_id: user.id,
        problem: &problem,
        device,
        mode: body.mode,
        source: &source,
        estimate: ESTIMATE,
    };
    submit(&state.db, &new)
        .await?
        .ok_or_else(|| ApiError::unknown_problem(&problem.slug))?;
    state.wakeups.work(device);
    tracing::info!(submission.id = %new.id, problem.slug = problem.slug, %device, "submitted");
    let location = protocol::routes::submission(new.id);
    let answer = Submitted {
        submission_id: new.id,
        judging_id: new.judging_id,
    };
    Ok((
        StatusCode::CREATED,
        [(header::LOCATION, location)],
        Json(answer),
    ))
}
