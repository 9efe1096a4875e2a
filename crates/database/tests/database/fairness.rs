//! Who is judged before whom.

use std::time::Duration;

use database::queue;
use database::submissions::queued_ahead;
use domain::Mode;

use crate::support::{POLICY, Queue};

#[tokio::test]
async fn a_burst_of_one_user_stands_behind_the_first_of_another() {
    let queue = Queue::create().await;
    let mut burst = Vec::new();
    for _ in 0..4 {
        burst.push(queue.submit(queue.alice, Mode::Ranked).await);
    }
    let other = queue.submit(queue.bob, Mode::Ranked).await;
    assert_eq!(queued_ahead(queue.db(), burst[0]).await.unwrap(), Some(0));
    assert_eq!(queued_ahead(queue.db(), other).await.unwrap(), Some(1));
    assert_eq!(queued_ahead(queue.db(), burst[3]).await.unwrap(), Some(4));
    let order = queue.drain().await;
    assert_eq!(order, [burst[0], other, burst[1], burst[2], burst[3]]);
    assert_eq!(queued_ahead(queue.db(), burst[3]).await.unwrap(), None);
    queue.assert_sound().await;
}

#[tokio::test]
async fn practice_goes_first_until_the_others_have_aged() {
    let queue = Queue::create().await;
    let ranked = queue.submit(queue.alice, Mode::Ranked).await;
    queue.test.advance(Duration::from_secs(599)).await;
    let ten_minutes = Duration::from_secs(600);
    assert_eq!(queue::age(queue.db(), ten_minutes).await.unwrap(), 0);
    let practice = queue.submit(queue.bob, Mode::Practice).await;
    assert_eq!(queued_ahead(queue.db(), ranked).await.unwrap(), Some(1));
    queue.test.advance(Duration::from_secs(1)).await;
    assert_eq!(queue::age(queue.db(), ten_minutes).await.unwrap(), 1);
    assert_eq!(queue.drain().await, [ranked, practice]);
}

#[tokio::test]
async fn what_is_given_back_keeps_its_place() {
    let queue = Queue::create().await;
    let first = queue.submit(queue.alice, Mode::Ranked).await;
    let second = queue.submit(queue.bob, Mode::Ranked).await;
    let worker = queue.worker("w1").await;
    let claimed = queue.claim(&worker).await.unwrap();
    assert_eq!(claimed.judging_id, first);
    queue.test.advance(Duration::from_secs(31)).await;
    let changed = queue::expire(queue.db(), &POLICY).await.unwrap().unwrap();
    assert_eq!(changed.len(), 1);
    let next = queue.worker("w2").await;
    assert_eq!(queue.claim(&next).await.unwrap().judging_id, first);
    assert_eq!(queue.claim(&next).await.unwrap().judging_id, second);
    queue.assert_sound().await;
}

#[tokio::test]
async fn a_worker_gets_only_what_it_can_run() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    let db = queue.db();
    let key = database::accounts::ensure_worker_key(db, "other", None)
        .await
        .unwrap();
    let key = database::accounts::worker_key(db, &key)
        .await
        .unwrap()
        .unwrap();
    let has = crate::support::problem();
    let lacks = domain::report::ProblemRef {
        version: 2,
        ..has.clone()
    };
    for (name, device, problem) in [
        ("gpu", domain::DeviceName::H200, &has),
        ("old", domain::DeviceName::Emulated, &lacks),
    ] {
        let worker = queue::NewWorker {
            key,
            name,
            devices: &[device],
            problems: std::slice::from_ref(problem),
            toolchain: &domain::report::ToolchainRef::default(),
            now: crate::support::now(),
        };
        let (process, _) = queue::register(db, &worker, 3).await.unwrap();
        assert_eq!(queue.claim(&process).await, None, "{name}");
    }
}
