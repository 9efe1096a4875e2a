//! What is final cannot be changed even by a statement of our own.

use database::queue;
use domain::{Mode, Verdict};

use crate::support::{Queue, report};

#[tokio::test]
async fn done_judgings_ended_attempts_and_events_refuse_changes() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    let claimed = queue.claim(&queue.worker("w1").await).await.unwrap();
    let lease = queue.lease(&claimed);
    queue::report(queue.db(), &lease, &report(Verdict::Accepted))
        .await
        .unwrap();
    for statement in [
        "UPDATE judgings SET verdict = 'wrong_answer'",
        "UPDATE judgings SET status = 'queued', verdict = NULL, finished_at = NULL",
        "DELETE FROM judgings",
        "UPDATE attempts SET outcome = NULL, ended_at = NULL",
        "UPDATE events SET message = 'x'",
        "DELETE FROM events",
    ] {
        let error = queue.test.execute(statement).await.unwrap_err();
        assert!(
            error.to_string().contains("is final"),
            "{statement}: {error}"
        );
    }
    queue.assert_sound().await;
}

#[tokio::test]
async fn a_second_live_lease_is_refused_by_the_schema() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    queue.claim(&queue.worker("w1").await).await.unwrap();
    let second = "INSERT INTO attempts (id, judging_id, number, worker_id, incarnation, claim_id,
                                        lease_until, started_at)
                  SELECT gen_random_uuid(), judging_id, 2, worker_id, 1, gen_random_uuid(),
                         lease_until, started_at FROM attempts";
    let error = queue.test.execute(second).await.unwrap_err();
    assert!(error.to_string().contains("attempts_one_live"), "{error}");
}

#[tokio::test]
async fn a_verdict_and_being_done_go_together() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    for statement in [
        "UPDATE judgings SET status = 'done'",
        "UPDATE judgings SET verdict = 'accepted'",
        "UPDATE judgings SET score = 1",
    ] {
        let error = queue.test.execute(statement).await.unwrap_err();
        assert!(
            error.to_string().contains("check constraint"),
            "{statement}: {error}"
        );
    }
}
