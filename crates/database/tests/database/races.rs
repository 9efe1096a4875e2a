//! Statements that meet.

use std::collections::BTreeMap;
use std::time::Duration;

use database::queue::{self, LeaseError};
use database::submissions::cancel;
use domain::{Mode, Phase, Verdict};

use crate::support::{POLICY, Queue, report};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn judgings_are_handed_out_once_while_everything_else_goes_on() {
    let queue = Queue::create().await;
    for n in 0..60 {
        let user = if n % 3 == 0 { queue.alice } else { queue.bob };
        queue.submit(user, Mode::Ranked).await;
    }
    let worker_loop = async |name: String| {
        let worker = queue.worker(&name).await;
        let mut finished = Vec::new();
        let mut turn = 0_u32;
        while let Some(claimed) = queue.claim(&worker).await {
            turn += 1;
            let lease = queue.lease(&claimed);
            // Any of these may meet the cancelling and expiring below.
            let _ = queue::enter_phase(queue.db(), &lease, Phase::Compiling).await;
            let _ = queue::heartbeat(queue.db(), &lease, &POLICY).await;
            let ended = if turn.is_multiple_of(5) {
                queue::release(queue.db(), &lease, "test").await
            } else {
                queue::report(queue.db(), &lease, &report(Verdict::Accepted), None).await
            };
            match ended {
                Ok(changed) if changed.verdict.is_some() => finished.push(changed.judging_id),
                Ok(_) | Err(LeaseError::Superseded) => {}
                Err(LeaseError::Database(error)) => panic!("{error:?}"),
            }
        }
        finished
    };
    let meddle = async {
        for _ in 0..20 {
            queue.test.advance(Duration::from_secs(31)).await;
            queue::expire(queue.db(), &POLICY).await.unwrap();
            queue::age(queue.db(), Duration::from_secs(60))
                .await
                .unwrap();
            tokio::task::yield_now().await;
        }
    };
    let loops = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| worker_loop(name.to_owned()));
    let [a, b, c, d, e, f, g, h] = loops;
    let finished = tokio::join!(a, b, c, d, e, f, g, h, meddle);
    let mut times = BTreeMap::new();
    for id in [
        finished.0, finished.1, finished.2, finished.3, finished.4, finished.5, finished.6,
        finished.7,
    ]
    .concat()
    {
        *times.entry(id).or_insert(0) += 1;
    }
    assert!(
        times.values().all(|&n| n == 1),
        "a verdict was written twice: {times:?}"
    );
    queue.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_cancel_and_report_one_wins() {
    let queue = Queue::create().await;
    let worker = queue.worker("w1").await;
    for _ in 0..20 {
        queue.submit(queue.alice, Mode::Ranked).await;
        let claimed = queue.claim(&worker).await.unwrap();
        let lease = queue.lease(&claimed);
        let verdict = report(Verdict::Accepted);
        let (cancelled, reported) = tokio::join!(
            cancel(queue.db(), claimed.submission_id),
            queue::report(queue.db(), &lease, &verdict, None),
        );
        let cancelled = cancelled.unwrap() == 1;
        assert_ne!(cancelled, reported.is_ok());
        let judging = database::judgings::get(queue.db(), claimed.judging_id)
            .await
            .unwrap();
        let expected = if cancelled {
            Verdict::Cancelled
        } else {
            Verdict::Accepted
        };
        assert_eq!(judging.unwrap().verdict, Some(expected));
    }
    queue.assert_sound().await;
}

#[tokio::test]
async fn two_processes_do_not_expire_at_once() {
    let queue = Queue::create().await;
    for _ in 0..10 {
        queue.submit(queue.alice, Mode::Ranked).await;
        queue.claim(&queue.worker("w1").await).await;
    }
    queue.test.advance(Duration::from_secs(31)).await;
    let (a, b) = tokio::join!(
        queue::expire(queue.db(), &POLICY),
        queue::expire(queue.db(), &POLICY)
    );
    let given_back = [a.unwrap(), b.unwrap()].map(|round| round.map_or(0, |changed| changed.len()));
    assert_eq!(
        given_back.iter().sum::<usize>(),
        1,
        "nine were given back by registering"
    );
    queue.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_that_meets_a_claim_leaves_no_attempt_behind() {
    let queue = Queue::create().await;
    let worker = queue.worker("w1").await;
    for _ in 0..100 {
        queue.submit(queue.alice, Mode::Ranked).await;
        let id = database::submissions::list(queue.db(), queue.alice, None, None, 1)
            .await
            .unwrap()[0]
            .id;
        let (cancelled, claimed) = tokio::join!(cancel(queue.db(), id), queue.claim(&worker));
        assert_eq!(cancelled.unwrap(), 1);
        if let Some(claimed) = claimed {
            let lease = queue.lease(&claimed);
            let ended = queue::report(queue.db(), &lease, &report(Verdict::Accepted), None).await;
            assert!(matches!(ended, Err(LeaseError::Superseded)), "{ended:?}");
        }
    }
    // What it left would break every later round.
    queue.test.advance(Duration::from_secs(31)).await;
    let round = queue::expire(queue.db(), &POLICY).await.unwrap();
    assert_eq!(round.map(|changed| changed.len()), Some(0));
    queue.assert_sound().await;
}
