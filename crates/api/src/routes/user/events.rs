//! `GET /api/v1/submissions/{id}/events`: stored events from where the caller stopped, then live.
//!
//! A stream ends after the `status` event that says `done`, and when the process stops; a client that
//! reconnects with the last id it saw misses nothing and sees nothing twice.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use database::DatabaseError;
use database::wakeups::Wake;
use domain::{Status, SubmissionId};
use protocol::event::{Event, EventId, ProgressEvent};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::access::View;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::parameters::{Id, Parameters};
use crate::routes::user::submission::visible;
use crate::state::AppState;
use crate::views;

/// Stored events are looked for this often even if no wake-up came.
const POLL: Duration = Duration::from_secs(5);
/// A comment keeps proxies from closing a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a browser waits before it reconnects.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Query {
    /// Number of the last event seen; the header `Last-Event-ID: submission:seq` goes before it.
    after: Option<u64>,
}

/// Events of a submission as server-sent events; resumes behind `Last-Event-ID`. Answers 204 when
/// every event has been seen and none can follow.
#[utoipa::path(get, path = "/api/v1/submissions/{id}/events", tag = "user",
    operation_id = "events",
    params(("id" = SubmissionId, Path), Query),
    responses(
        (status = 200, body = Event, content_type = "text/event-stream"),
        (status = 204, description = "Nothing can follow")),
    security((), ("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<SubmissionId>,
    Parameters(query): Parameters<Query>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = resume_behind(&headers, id)?.or(query.after).unwrap_or(0);
    let (row, view) = visible(&state, id, &caller).await?;
    if row.status == Status::Done && after >= row.last_seq {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let (sender, receiver) = mpsc::channel(16);
    let pump = Pump {
        state,
        submission: id,
        view,
        after,
        sender,
    };
    tokio::spawn(async move {
        if let Err(error) = pump.run().await {
            // The client reconnects and resumes.
            tracing::warn!(%error, submission.id = %id, "a stream of events broke off");
        }
    });
    let stream = Sse::new(ReceiverStream::new(receiver))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE).text("keep-alive"));
    // Asks proxies that buffer not to.
    let unbuffered = [(HeaderName::from_static("x-accel-buffering"), "no")];
    Ok((unbuffered, stream).into_response())
}

type Sent = Result<sse::Event, Infallible>;

struct Pump {
    state: AppState,
    submission: SubmissionId,
    view: View,
    after: u64,
    sender: mpsc::Sender<Sent>,
}

/// The client went away, or nothing can follow.
struct Ended;

impl Pump {
    async fn run(mut self) -> Result<(), DatabaseError> {
        // Subscribed before the first read, so that nothing falls between the two.
        let mut wakes = self.state.wakeups.watch(self.submission);
        if self.send(sse::Event::default().retry(RETRY)).await.is_err() {
            return Ok(());
        }
        while let Ok(()) = self.send_stored().await? {
            if self.wait(&mut wakes).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn send_stored(&mut self) -> Result<Result<(), Ended>, DatabaseError> {
        let stored = database::events::after(&self.state.db, self.submission, self.after).await?;
        let mut done = false;
        for event in stored {
            let id = EventId {
                submission_id: self.submission,
                seq: event.seq,
            };
            let event = views::event(event, self.view);
            done = event.is_last();
            let message = encode(&event).id(id.to_string());
            if self.send(message).await.is_err() {
                return Ok(Err(Ended));
            }
            self.after = id.seq;
        }
        Ok(if done { Err(Ended) } else { Ok(()) })
    }

    /// Sends progress until there may be stored events to read.
    async fn wait(&self, wakes: &mut database::wakeups::Subscription) -> Result<(), Ended> {
        let poll = tokio::time::sleep(POLL);
        tokio::pin!(poll);
        loop {
            tokio::select! {
                wake = wakes.next() => match wake {
                    Wake::Changed => return Ok(()),
                    Wake::Progress(judging_id, progress) => {
                        let event = Event::Progress(ProgressEvent { judging_id, progress });
                        self.send(encode(&event)).await?;
                    }
                },
                () = &mut poll => return Ok(()),
                () = self.sender.closed() => return Err(Ended),
                () = self.state.stopping.cancelled() => return Err(Ended),
            }
        }
    }

    async fn send(&self, event: sse::Event) -> Result<(), Ended> {
        tokio::select! {
            sent = self.sender.send(Ok(event)) => sent.map_err(|_| Ended),
            () = self.state.stopping.cancelled() => Err(Ended),
        }
    }
}

fn encode(event: &Event) -> sse::Event {
    let data = serde_json::to_string(event).expect("events hold nothing but plain data");
    sse::Event::default().event(event.name()).data(data)
}

fn resume_behind(headers: &HeaderMap, id: SubmissionId) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let last: Option<EventId> = value.to_str().ok().and_then(|text| text.parse().ok());
    match last {
        Some(last) if last.submission_id == id => Ok(Some(last.seq)),
        _ => Err(ApiError::bad_request(
            "`Last-Event-ID` does not name an event of this submission.",
        )),
    }
}
