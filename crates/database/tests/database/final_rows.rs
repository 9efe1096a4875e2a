//! What is final cannot be changed even by a statement of our own.

use database::{judgings, queue};
use domain::{CodeListing, Mode, Verdict};

use crate::support::{Queue, report};

#[tokio::test]
async fn done_judgings_ended_attempts_and_events_refuse_changes() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    let claimed = queue.claim(&queue.worker("w1").await).await.unwrap();
    let lease = queue.lease(&claimed);
    let code = CodeListing::default();
    queue::report(queue.db(), &lease, &report(Verdict::Accepted), Some(&code))
        .await
        .unwrap();
    for statement in [
        "UPDATE judgings SET verdict = 'wrong_answer'",
        "UPDATE judgings SET status = 'queued', verdict = NULL, finished_at = NULL",
        "DELETE FROM judgings",
        "UPDATE attempts SET outcome = NULL, ended_at = NULL",
        "UPDATE events SET message = 'x'",
        "DELETE FROM events",
        "UPDATE judging_code SET listing = ''",
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
async fn code_goes_with_its_judging_and_is_written_once() {
    let queue = Queue::create().await;
    queue.submit(queue.alice, Mode::Ranked).await;
    let claimed = queue.claim(&queue.worker("w1").await).await.unwrap();
    let lease = queue.lease(&claimed);
    let code = |arch: &str| CodeListing {
        arch: arch.to_owned(),
        ..CodeListing::default()
    };
    let (accepted, first, again) = (report(Verdict::Accepted), code("sm_90a"), code("sm_75"));
    for code in [&first, &again] {
        queue::report(queue.db(), &lease, &accepted, Some(code))
            .await
            .unwrap();
    }
    let kept = judgings::code(queue.db(), claimed.judging_id);
    assert_eq!(kept.await.unwrap(), Some(first));
    queue.assert_sound().await;

    // Nothing deletes judgings today; whoever will need not know of their code.
    for statement in [
        "ALTER TABLE judgings DISABLE TRIGGER USER",
        "ALTER TABLE attempts DISABLE TRIGGER USER",
        "ALTER TABLE events DISABLE TRIGGER USER",
        "DELETE FROM events",
        "DELETE FROM attempts",
        "DELETE FROM judgings",
    ] {
        queue.test.execute(statement).await.unwrap();
    }
    let kept = judgings::code(queue.db(), claimed.judging_id);
    assert_eq!(kept.await.unwrap(), None);
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
