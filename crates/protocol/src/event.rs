//! What `GET /api/v1/submissions/{id}/events` streams as server-sent events.
//!
//! Stored events (`status`, `phase`, `report`) carry the id `submission:seq` and are replayed to a
//! caller that resumes; `progress` is streamed only, and has no id. A stream ends after the `status`
//! event that says `done`; resuming behind it answers 204.

use domain::{JudgingId, Phase, Progress, Report, Status, SubmissionId, Verdict, VerdictKind};
use serde::{Deserialize, Serialize};

/// One event: the SSE event name is [`Event::name`], the data its JSON without the tag's wrapper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Event {
    /// The judging is queued, running or done. `done` is the last event of a judging.
    Status(StatusEvent),
    /// A running attempt entered a phase.
    Phase(PhaseEvent),
    /// Steps of the phase are finished. Streamed, never stored.
    Progress(ProgressEvent),
    /// The report was written; `status` done follows.
    Report(Box<ReportEvent>),
}

impl Event {
    /// The SSE event name, which is also the `event` field of the JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Status(_) => "status",
            Self::Phase(_) => "phase",
            Self::Progress(_) => "progress",
            Self::Report(_) => "report",
        }
    }

    /// Whether no event of this judging can follow.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Status(event) if event.status == Status::Done)
    }
}

/// Where the judging stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusEvent {
    /// The judging.
    pub judging_id: JudgingId,
    /// Where it stands.
    pub status: Status,
    /// Which attempt runs or ran, from 1; 0 before the first.
    pub attempt: u32,
    /// The verdict, once done.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person: the report's, or why it was queued again.
    pub message: Option<String>,
}

/// A phase began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PhaseEvent {
    /// The judging.
    pub judging_id: JudgingId,
    /// Which attempt runs, from 1.
    pub attempt: u32,
    /// The phase.
    pub phase: Phase,
}

/// How far the phase is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProgressEvent {
    /// The judging.
    pub judging_id: JudgingId,
    /// How far.
    #[serde(flatten)]
    pub progress: Progress,
}

/// The report, as the caller may see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportEvent {
    /// The judging.
    pub judging_id: JudgingId,
    /// Everything it found out.
    pub report: Report,
}

/// `submission:seq`, the SSE id of a stored event. `seq` counts from 1 within a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventId {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The event's number within it.
    pub seq: u64,
}

/// The text is not `submission:seq`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event id reads `submission:seq`")]
pub struct BadEventId;

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.submission_id, self.seq)
    }
}

impl std::str::FromStr for EventId {
    type Err = BadEventId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (submission, seq) = text.split_once(':').ok_or(BadEventId)?;
        Ok(Self {
            submission_id: submission.parse().map_err(|_| BadEventId)?,
            seq: seq.parse().map_err(|_| BadEventId)?,
        })
    }
}

impl TryFrom<String> for EventId {
    type Error = BadEventId;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<EventId> for String {
    fn from(id: EventId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_round_trip_and_reject_nonsense() {
        let text = "0190b5a0-0000-7000-8000-000000000001:17";
        let id: EventId = text.parse().unwrap();
        assert_eq!(id.seq, 17);
        assert_eq!(id.to_string(), text);
        for bad in [
            "",
            "17",
            ":17",
            "x:17",
            "0190b5a0-0000-7000-8000-000000000001:-1",
        ] {
            assert_eq!(bad.parse::<EventId>(), Err(BadEventId), "{bad}");
        }
    }

    #[test]
    fn the_json_carries_its_name() {
        let event = Event::Progress(ProgressEvent {
            judging_id: "0190b5a0-0000-7000-8000-000000000001".parse().unwrap(),
            progress: Progress {
                phase: Phase::Checking,
                done: 3,
                total: 9,
            },
        });
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["event"], event.name());
        assert_eq!(json["phase"], "checking");
        assert_eq!(json["done"], 3);
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }

    #[test]
    fn only_a_done_status_is_last() {
        let mut status = StatusEvent {
            judging_id: "0190b5a0-0000-7000-8000-000000000001".parse().unwrap(),
            status: Status::Running,
            attempt: 1,
            verdict: None,
            kind: None,
            message: None,
        };
        assert!(!Event::Status(status.clone()).is_last());
        status.status = Status::Done;
        assert!(Event::Status(status).is_last());
    }
}
