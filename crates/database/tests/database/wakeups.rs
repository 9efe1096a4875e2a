//! Wake-ups between two processes that share a database.

use std::time::Duration;

use database::wakeups::{Wake, Wakeups};
use database_testing::TestDatabase;
use domain::{DeviceName, JudgingId, Phase, Progress, SubmissionId};
use tokio::time::timeout;

use crate::support::now;

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn another_process_hears_of_changes_progress_and_work() {
    let test = TestDatabase::create().await;
    let (here, there) = (Wakeups::start(&test.db), Wakeups::start(&test.db));
    let (submission, judging) = (SubmissionId::new(now()), JudgingId::new(now()));
    let mut watcher = there.watch(submission);
    // The first wake-up says that it listens now.
    assert_eq!(timeout(SOON, watcher.next()).await.unwrap(), Wake::Changed);

    here.changed(submission);
    assert_eq!(timeout(SOON, watcher.next()).await.unwrap(), Wake::Changed);
    let progress = Progress {
        phase: Phase::Timing,
        done: 2,
        total: 8,
    };
    here.progress(submission, judging, progress);
    let wake = timeout(SOON, watcher.next()).await.unwrap();
    assert_eq!(wake, Wake::Progress(judging, progress));
    assert_eq!(there.latest_progress(submission), Some((judging, progress)));

    let mut worker = there.watch_work();
    here.work(DeviceName::Emulated);
    timeout(SOON, worker.next(&[DeviceName::Emulated]))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_own_process_hears_at_once_and_once() {
    let test = TestDatabase::create().await;
    let here = Wakeups::start(&test.db);
    let submission = SubmissionId::new(now());
    let mut watcher = here.watch(submission);
    timeout(SOON, watcher.next()).await.unwrap();
    here.changed(submission);
    assert_eq!(watcher.next().await, Wake::Changed);
    let again = timeout(Duration::from_millis(300), watcher.next()).await;
    assert!(
        again.is_err(),
        "its own notification is not delivered a second time"
    );
}
