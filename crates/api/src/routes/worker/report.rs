//! `POST /api/v1/worker/attempts/{id}/report`

use axum::Json;
use axum::extract::State;
use database::queue::{self, Changed, Lease, LeaseError, Subject};
use domain::report::REPORT_SCHEMA;
use domain::{AttemptId, CodeListing, Report};
use protocol::ErrorCode;
use protocol::worker::{AttemptOutcome, AttemptReport, ReportAnswer};

use crate::auth::WorkerKey;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("The report's `{0}` is not that of the claim it answers.")]
    Contradicts(&'static str),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::new(ErrorCode::InvalidReport, error.to_string())
    }
}

/// Ends the attempt. Sending the same again is safe. 409: the lease was lost, and nothing was written.
#[utoipa::path(post, path = "/api/v1/worker/attempts/{id}/report", tag = "worker",
    operation_id = "worker_report", params(("id" = AttemptId, Path)),
    request_body = AttemptReport,
    responses((status = 200, body = ReportAnswer)), security(("worker_key" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<AttemptId>,
    WorkerKey(key): WorkerKey,
    JsonBody(body): JsonBody<AttemptReport>,
) -> Result<Json<ReportAnswer>, ApiError> {
    let lease = super::lease(key, id, body.lease_token);
    let changed = match end(&state, &lease, &body.outcome).await? {
        Ok(changed) => changed,
        Err(error) => {
            if matches!(error, LeaseError::Superseded) {
                tracing::info!(attempt.id = %id, "a late result was dropped");
            }
            return Err(error.into());
        }
    };
    state.tell(&changed);
    tracing::info!(judging.id = %changed.judging_id, attempt.id = %id,
        verdict = changed.verdict.map(tracing::field::display), "attempt ended");
    Ok(Json(ReportAnswer {
        verdict: changed.verdict,
    }))
}

async fn end(
    state: &AppState,
    lease: &Lease,
    outcome: &AttemptOutcome,
) -> Result<Result<Changed, LeaseError>, ApiError> {
    Ok(match outcome {
        AttemptOutcome::Report { report, code } => {
            let subject = match queue::subject(&state.db, lease).await {
                Ok(subject) => subject,
                Err(error) => return Ok(Err(error)),
            };
            check(&subject, report)?;
            let code = code.as_deref().filter(|code| is_sound(lease, code));
            queue::report(&state.db, lease, report, code).await
        }
        AttemptOutcome::Retry { reason } => {
            tracing::warn!(attempt.id = %lease.attempt_id, reason, "a worker could not judge");
            queue::retry(&state.db, lease, reason, state.lease.max_attempts).await
        }
        AttemptOutcome::Release { reason } => {
            tracing::info!(attempt.id = %lease.attempt_id, reason, "a judging was handed back");
            queue::release(&state.db, lease, reason).await
        }
    })
}

/// A listing that breaks the contract is left out: the verdict does not depend on it.
fn is_sound(lease: &Lease, code: &CodeListing) -> bool {
    let checked = code.check();
    if let Err(fault) = checked {
        tracing::warn!(attempt.id = %lease.attempt_id, %fault, "a worker's code was left out");
    }
    checked.is_ok()
}

/// A report about something else must not become this judging's.
fn check(subject: &Subject, report: &Report) -> Result<(), Error> {
    let fits = [
        ("schema", report.schema == REPORT_SCHEMA),
        ("problem", report.problem == subject.problem),
        ("device", report.device.name == subject.device),
        ("mode", report.mode == subject.mode),
        (
            "source_sha256",
            report.source_sha256 == subject.source_sha256,
        ),
    ];
    match fits.into_iter().find(|(_, fits)| !fits) {
        Some((field, _)) => Err(Error::Contradicts(field)),
        None => Ok(()),
    }
}
