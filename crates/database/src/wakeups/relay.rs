//! Carries signals between the processes of the API, through `NOTIFY`.

use std::sync::Arc;
use std::time::Duration;

use domain::{DeviceName, JudgingId, Progress, SubmissionId};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgListener;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::Signal;
use super::hub::Hub;
use crate::Database;

const CHANNEL: &str = "lightspeed";
/// At most 20 statements a second.
const INTERVAL: Duration = Duration::from_millis(50);
/// Signals in one payload. PostgreSQL admits 7999 bytes; the longest signal takes under 200.
const PER_PAYLOAD: usize = 32;
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

#[derive(Serialize, Deserialize)]
struct Message {
    from: Uuid,
    signals: Vec<Signal>,
}

/// Sends what the process has to say. The first signal after a pause goes out at once; those that
/// come within the interval go together.
pub(super) async fn send(
    db: Database,
    process: Uuid,
    mut signals: mpsc::UnboundedReceiver<Signal>,
) {
    while let Some(first) = signals.recv().await {
        let mut batch = Batch::default();
        batch.add(first);
        while let Ok(next) = signals.try_recv() {
            batch.add(next);
        }
        let payloads = batch.payloads(process);
        let sent = sqlx::query!(
            r#"SELECT pg_notify($1, payload) AS "sent: ()" FROM unnest($2::text[]) AS payload"#,
            CHANNEL,
            &payloads,
        )
        .execute(db.pool())
        .await;
        if let Err(error) = sent {
            // Others poll, so this costs them latency only.
            tracing::warn!(%error, "a wake-up was not sent");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Delivers what other processes say, for ever.
pub(super) async fn receive(db: Database, process: Uuid, hub: Arc<Hub>) {
    loop {
        if let Err(error) = listen(&db, process, &hub).await {
            tracing::warn!(%error, "listening for wake-ups failed; trying again");
        }
        tokio::time::sleep(RECONNECT_AFTER).await;
    }
}

async fn listen(db: &Database, process: Uuid, hub: &Hub) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(db.pool()).await?;
    listener.listen(CHANNEL).await?;
    loop {
        // Whatever was sent while nobody listened is lost.
        hub.wake_everybody();
        while let Some(notification) = listener.try_recv().await? {
            match serde_json::from_str::<Message>(notification.payload()) {
                Ok(message) if message.from == process => {}
                Ok(message) => message
                    .signals
                    .into_iter()
                    .for_each(|signal| hub.deliver(signal)),
                // A newer version of this code speaks; its watchers here poll.
                Err(_) => hub.wake_everybody(),
            }
        }
    }
}

/// Signals without repetition, in the order that matters: changes before the progress after them.
#[derive(Default)]
struct Batch {
    work: Vec<DeviceName>,
    changed: Vec<SubmissionId>,
    progress: Vec<(SubmissionId, JudgingId, Progress)>,
}

impl Batch {
    fn add(&mut self, signal: Signal) {
        match signal {
            Signal::Work(device) if !self.work.contains(&device) => self.work.push(device),
            Signal::Work(_) => {}
            Signal::Changed(submission) => {
                self.progress.retain(|(other, ..)| *other != submission);
                if !self.changed.contains(&submission) {
                    self.changed.push(submission);
                }
            }
            Signal::Progress(submission, judging, progress) => {
                self.progress.retain(|(other, ..)| *other != submission);
                self.progress.push((submission, judging, progress));
            }
        }
    }

    fn payloads(self, process: Uuid) -> Vec<String> {
        let signals: Vec<Signal> = (self.work.into_iter().map(Signal::Work))
            .chain(self.changed.into_iter().map(Signal::Changed))
            .chain(
                self.progress
                    .into_iter()
                    .map(|(submission, judging, progress)| {
                        Signal::Progress(submission, judging, progress)
                    }),
            )
            .collect();
        signals
            .chunks(PER_PAYLOAD)
            .map(|chunk| {
                let message = Message {
                    from: process,
                    signals: chunk.to_vec(),
                };
                serde_json::to_string(&message).expect("ids and words always serialise")
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use domain::Phase;

    use super::*;

    fn id(n: u64) -> Uuid {
        Uuid::from_u64_pair(n, u64::MAX)
    }

    #[test]
    fn repeated_signals_travel_once_and_payloads_fit() {
        let mut batch = Batch::default();
        for n in 0..500 {
            let submission = SubmissionId(id(n));
            for done in 0..3 {
                batch.add(Signal::Work(DeviceName::A100_80gb));
                batch.add(Signal::Changed(submission));
                let progress = Progress {
                    phase: Phase::Compiling,
                    done: u32::MAX - done,
                    total: u32::MAX,
                };
                batch.add(Signal::Progress(submission, JudgingId(id(n)), progress));
            }
        }
        let payloads = batch.payloads(id(0));
        assert!(payloads.iter().all(|payload| payload.len() < 7999));
        let signals: Vec<Signal> = payloads
            .iter()
            .flat_map(|payload| serde_json::from_str::<Message>(payload).unwrap().signals)
            .collect();
        assert_eq!(signals.len(), 1 + 500 + 500);
    }
}
