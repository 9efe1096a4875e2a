//! Wake-ups: who waits for work or watches a submission hears of changes at once.
//!
//! Hints only. A lost one costs latency, never correctness: whoever waits re-reads the database
//! when woken, and on a slow timer besides. Signals reach this process directly and others through
//! `NOTIFY`, coalesced to at most 20 statements a second a process and never inside the transaction
//! that made the change.

mod hub;
mod relay;

use std::sync::Arc;

use domain::{DeviceName, JudgingId, Progress, SubmissionId};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::Database;
use hub::Hub;

pub use hub::{Subscription, WorkSubscription};

/// What a watcher of a submission is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Stored events may be new: read them.
    Changed,
    /// A running attempt is this far. Stored nowhere.
    Progress(JudgingId, Progress),
}

/// Sends and receives wake-ups. Clones share one connection; the last one dropped ends the tasks.
#[derive(Clone)]
pub struct Wakeups {
    shared: Arc<Shared>,
}

struct Shared {
    hub: Arc<Hub>,
    outbox: mpsc::UnboundedSender<Signal>,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

impl Drop for Shared {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Signal {
    Work(DeviceName),
    Changed(SubmissionId),
    Progress(SubmissionId, JudgingId, Progress),
}

impl Wakeups {
    /// Starts the two tasks. The listener holds one connection of the pool.
    #[must_use]
    pub fn start(db: &Database) -> Self {
        let hub = Arc::new(Hub::default());
        let (outbox, signals) = mpsc::unbounded_channel();
        let process = Uuid::new_v4();
        let tasks = [
            tokio::spawn(relay::send(db.clone(), process, signals)),
            tokio::spawn(relay::receive(db.clone(), process, Arc::clone(&hub))),
        ];
        Self {
            shared: Arc::new(Shared { hub, outbox, tasks }),
        }
    }

    /// A judging for `device` was queued.
    pub fn work(&self, device: DeviceName) {
        self.signal(Signal::Work(device));
    }

    /// The submission has new stored events.
    pub fn changed(&self, submission: SubmissionId) {
        self.signal(Signal::Changed(submission));
    }

    /// A running attempt is this far.
    pub fn progress(&self, submission: SubmissionId, judging: JudgingId, progress: Progress) {
        self.signal(Signal::Progress(submission, judging, progress));
    }

    /// Hears of one submission from now on. Subscribe first, read the database then.
    #[must_use]
    pub fn watch(&self, submission: SubmissionId) -> Subscription {
        Hub::watch(&self.shared.hub, submission)
    }

    /// Hears of queued work from now on. Subscribe first, try to claim then.
    #[must_use]
    pub fn watch_work(&self) -> WorkSubscription {
        self.shared.hub.watch_work()
    }

    /// How far the running attempt of a submission was when last heard of.
    #[must_use]
    pub fn latest_progress(&self, submission: SubmissionId) -> Option<(JudgingId, Progress)> {
        self.shared.hub.latest_progress(submission)
    }

    fn signal(&self, signal: Signal) {
        self.shared.hub.deliver(signal);
        // Fails only when the relay has ended with the runtime; the local delivery was made.
        let _ = self.shared.outbox.send(signal);
    }
}

impl std::fmt::Debug for Wakeups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wakeups")
    }
}
