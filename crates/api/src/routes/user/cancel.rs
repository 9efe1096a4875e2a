//! `POST /api/v1/submissions/{id}/cancel`

use axum::Json;
use axum::extract::State;
use database::submissions::cancel;
use domain::SubmissionId;
use protocol::ErrorCode;
use protocol::submission::Submission;

use crate::access::View;
use crate::auth::{Caller, SignedIn};
use crate::error::ApiError;
use crate::parameters::Id;
use crate::routes::user::submission::{answer, visible};
use crate::state::AppState;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("Only its owner may cancel a submission.")]
    NotYours,
    #[error("The submission has its verdict; there is nothing left to cancel.")]
    Done,
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::NotYours => ErrorCode::Forbidden,
            Error::Done => ErrorCode::AlreadyDone,
        };
        Self::new(code, error.to_string())
    }
}

/// Ends the submission with the verdict `cancelled`, at once; a worker at it stops.
#[utoipa::path(post, path = "/api/v1/submissions/{id}/cancel", tag = "user",
    operation_id = "cancel",
    params(("id" = SubmissionId, Path)),
    responses((status = 200, body = Submission)), security(("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<SubmissionId>,
    SignedIn(user): SignedIn,
) -> Result<Json<Submission>, ApiError> {
    let caller = Caller::User(user);
    let (_, view) = visible(&state, id, &caller).await?;
    if view != View::Full {
        return Err(Error::NotYours.into());
    }
    if cancel(&state.db, id).await? == 0 {
        return Err(Error::Done.into());
    }
    state.wakeups.changed(id);
    let (row, view) = visible(&state, id, &caller).await?;
    answer(&state, row, view).await.map(Json)
}
