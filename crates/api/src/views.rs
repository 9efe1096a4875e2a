//! From what the database and the packages hold to what callers are told.

use domain::{JudgingId, Phase, Progress, Status, SubmissionId};
use protocol::account::{Account, UserRef};
use protocol::event::{Event, PhaseEvent, ReportEvent, StatusEvent};
use protocol::judging::Judging;
use protocol::submission::SubmissionSummary;

use crate::access::{View, redact};
use crate::state::AppState;

/// What lists and pages show of a submission.
pub(crate) fn summary(
    state: &AppState,
    submission: &database::submissions::Submission,
) -> SubmissionSummary {
    SubmissionSummary {
        submission_id: submission.id,
        judging_id: submission.judging_id,
        problem: submission.problem.clone(),
        device: submission.device,
        mode: submission.mode,
        status: submission.status,
        progress: submission
            .phase
            .filter(|_| submission.status == Status::Running)
            .map(|phase| progress(state, submission.id, submission.judging_id, phase)),
        verdict: submission.verdict,
        kind: submission.kind,
        message: submission.message.clone(),
        score: submission.score.clone(),
        created_at: submission.created_at,
        finished_at: submission.finished_at,
    }
}

/// A judging as `view` allows; never called with [`View::Nothing`].
pub(crate) fn judging(
    state: &AppState,
    judging: database::judgings::Judging,
    view: View,
) -> Judging {
    let mut report = judging.report;
    if let Some(report) = &mut report {
        redact(view, report);
    }
    Judging {
        judging_id: judging.id,
        submission_id: judging.submission_id,
        problem: judging.problem,
        device: judging.device,
        mode: judging.mode,
        status: judging.status,
        progress: judging
            .phase
            .filter(|_| judging.status == Status::Running)
            .map(|phase| progress(state, judging.submission_id, judging.id, phase)),
        attempts: judging.attempts,
        verdict: judging.verdict,
        kind: judging.kind,
        message: judging.message,
        report,
        queued_at: judging.queued_at,
        started_at: judging.started_at,
        finished_at: judging.finished_at,
    }
}

/// A stored event as `view` allows; never called with [`View::Nothing`].
pub(crate) fn event(stored: database::events::StoredEvent, view: View) -> Event {
    use database::events::EventBody;
    let (judging_id, attempt) = (stored.judging_id, stored.attempt);
    match stored.body {
        EventBody::Status {
            status,
            verdict,
            kind,
            message,
        } => Event::Status(StatusEvent {
            judging_id,
            status,
            attempt,
            verdict,
            kind,
            message,
        }),
        EventBody::Phase(phase) => Event::Phase(PhaseEvent {
            judging_id,
            attempt,
            phase,
        }),
        EventBody::Report(mut report) => {
            redact(view, &mut report);
            Event::Report(Box::new(ReportEvent {
                judging_id,
                report: *report,
            }))
        }
    }
}

/// The caller's own account.
pub(crate) fn account(user: database::accounts::User) -> Account {
    Account {
        user_id: user.id,
        name: user.name,
        operator: user.operator,
    }
}

/// Somebody, as others see them.
pub(crate) fn user_ref(id: domain::UserId, name: String) -> UserRef {
    UserRef { user_id: id, name }
}

/// The stored phase, with the steps last heard of if they belong to it.
fn progress(
    state: &AppState,
    submission: SubmissionId,
    judging: JudgingId,
    phase: Phase,
) -> Progress {
    match state.wakeups.latest_progress(submission) {
        Some((of, latest)) if of == judging && latest.phase == phase => latest,
        _ => Progress {
            phase,
            done: 0,
            total: 0,
        },
    }
}
