//! Delivers signals to those who wait in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{DeviceName, JudgingId, Progress, SubmissionId};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Signal, Wake};

/// Signals a slow receiver may fall behind; it then re-reads everything, which is always right.
const BACKLOG: usize = 64;
/// Latest progress is kept for at most this many submissions.
const MAX_PROGRESS: usize = 10_000;

pub(super) struct Hub {
    work: broadcast::Sender<DeviceName>,
    watched: Mutex<HashMap<SubmissionId, broadcast::Sender<Wake>>>,
    progress: Mutex<HashMap<SubmissionId, (JudgingId, Progress)>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            work: broadcast::channel(BACKLOG).0,
            watched: Mutex::default(),
            progress: Mutex::default(),
        }
    }
}

impl Hub {
    pub(super) fn deliver(&self, signal: Signal) {
        match signal {
            // Sending fails only when nobody waits.
            Signal::Work(device) => drop(self.work.send(device)),
            Signal::Changed(submission) => {
                // Whatever was running may have ended; the next progress call says where it is.
                lock(&self.progress).remove(&submission);
                self.wake(submission, Wake::Changed);
            }
            Signal::Progress(submission, judging, progress) => {
                self.remember(submission, judging, progress);
                self.wake(submission, Wake::Progress(judging, progress));
            }
        }
    }

    /// Signals may have been lost: everybody looks.
    pub(super) fn wake_everybody(&self) {
        for sender in lock(&self.watched).values() {
            let _ = sender.send(Wake::Changed);
        }
        for &device in DeviceName::ALL {
            let _ = self.work.send(device);
        }
    }

    pub(super) fn watch(hub: &Arc<Self>, submission: SubmissionId) -> Subscription {
        let receiver = lock(&hub.watched)
            .entry(submission)
            .or_insert_with(|| broadcast::channel(BACKLOG).0)
            .subscribe();
        Subscription {
            hub: Arc::clone(hub),
            submission,
            receiver,
        }
    }

    pub(super) fn watch_work(&self) -> WorkSubscription {
        WorkSubscription {
            receiver: self.work.subscribe(),
        }
    }

    pub(super) fn latest_progress(
        &self,
        submission: SubmissionId,
    ) -> Option<(JudgingId, Progress)> {
        lock(&self.progress).get(&submission).copied()
    }

    fn wake(&self, submission: SubmissionId, wake: Wake) {
        if let Some(sender) = lock(&self.watched).get(&submission) {
            let _ = sender.send(wake);
        }
    }

    fn remember(&self, submission: SubmissionId, judging: JudgingId, progress: Progress) {
        let mut latest = lock(&self.progress);
        if latest.len() >= MAX_PROGRESS && !latest.contains_key(&submission) {
            latest.clear();
        }
        latest.insert(submission, (judging, progress));
    }
}

/// Hears of one submission.
pub struct Subscription {
    hub: Arc<Hub>,
    submission: SubmissionId,
    receiver: broadcast::Receiver<Wake>,
}

impl Subscription {
    /// Waits for the next wake-up. Safe to cancel.
    pub async fn next(&mut self) -> Wake {
        match self.receiver.recv().await {
            Ok(wake) => wake,
            Err(RecvError::Lagged(_)) => Wake::Changed,
            // The hub keeps the sender for as long as a subscription lives.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut watched = lock(&self.hub.watched);
        if let Some(sender) = watched.get(&self.submission)
            && sender.receiver_count() <= 1
        {
            watched.remove(&self.submission);
        }
    }
}

/// Hears of queued work.
pub struct WorkSubscription {
    receiver: broadcast::Receiver<DeviceName>,
}

impl WorkSubscription {
    /// Waits until there may be work for one of `devices`. Safe to cancel.
    pub async fn next(&mut self, devices: &[DeviceName]) {
        loop {
            match self.receiver.recv().await {
                Ok(device) if !devices.contains(&device) => {}
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here panics while holding a lock, and a half-done change of a map is still a map.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use domain::Phase;

    use super::*;

    fn progress(done: u32) -> Progress {
        Progress {
            phase: Phase::Checking,
            done,
            total: 4,
        }
    }

    #[tokio::test]
    async fn a_watcher_hears_of_its_submission_alone_and_leaves_nothing_behind() {
        let hub = Arc::new(Hub::default());
        let (mine, other): (SubmissionId, SubmissionId) = (
            "0190b5a0-0000-7000-8000-000000000001".parse().unwrap(),
            "0190b5a0-0000-7000-8000-000000000002".parse().unwrap(),
        );
        let judging = JudgingId(mine.0);
        let mut watcher = Hub::watch(&hub, mine);
        hub.deliver(Signal::Changed(other));
        hub.deliver(Signal::Progress(mine, judging, progress(1)));
        assert_eq!(watcher.next().await, Wake::Progress(judging, progress(1)));
        assert_eq!(hub.latest_progress(mine), Some((judging, progress(1))));
        hub.deliver(Signal::Changed(mine));
        assert_eq!(watcher.next().await, Wake::Changed);
        assert_eq!(hub.latest_progress(mine), None);
        drop(watcher);
        assert!(lock(&hub.watched).is_empty());
    }

    #[tokio::test]
    async fn a_slow_watcher_is_told_to_read_again() {
        let hub = Arc::new(Hub::default());
        let mine: SubmissionId = "0190b5a0-0000-7000-8000-000000000001".parse().unwrap();
        let mut watcher = Hub::watch(&hub, mine);
        for done in 0..200 {
            hub.deliver(Signal::Progress(mine, JudgingId(mine.0), progress(done)));
        }
        assert_eq!(watcher.next().await, Wake::Changed);
    }

    #[tokio::test]
    async fn a_worker_hears_of_work_for_its_devices() {
        let hub = Hub::default();
        let mut worker = hub.watch_work();
        hub.deliver(Signal::Work(DeviceName::H200));
        hub.deliver(Signal::Work(DeviceName::Emulated));
        worker.next(&[DeviceName::Emulated]).await;
        assert!(worker.receiver.is_empty());
    }
}
