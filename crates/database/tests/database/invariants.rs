//! The check itself: each rule is broken on purpose and must be reported, or a silent check would
//! pass for a sound database.

use domain::Mode;

use crate::support::Queue;

/// What breaks each rule, from a queue with one running and one queued judging.
const BREAKAGES: &[(&str, &[&str])] = &[
    (
        "at most one live lease per judging",
        &[
            "DROP INDEX attempts_one_live",
            "INSERT INTO attempts (id, judging_id, number, worker_id, incarnation, claim_id,
                                   lease_until, started_at)
             SELECT gen_random_uuid(), judging_id, 2, worker_id, 1, gen_random_uuid(),
                    lease_until, started_at FROM attempts",
        ],
    ),
    (
        "running exactly while an attempt is live",
        &["UPDATE attempts SET outcome = 'released', ended_at = now()"],
    ),
    (
        "running exactly while an attempt is live",
        &["UPDATE judgings SET status = 'running'"],
    ),
    (
        "attempts and faults are those of the rows",
        &["UPDATE judgings SET faults = 1"],
    ),
    (
        "a report is written by the attempt that ended with it",
        &["UPDATE judgings SET report = '{}'"],
    ),
    (
        "a cancelled attempt belongs to a cancelled judging",
        &["UPDATE attempts SET outcome = 'cancelled', ended_at = now()"],
    ),
    (
        "no lease is held by a worker from its future",
        &["UPDATE attempts SET incarnation = 9"],
    ),
    (
        "every submission has a judging",
        &[
            "INSERT INTO submissions (id, user_id, problem_version, device, mode, source_sha256,
                                      created_at)
             SELECT gen_random_uuid(), user_id, problem_version, device, mode, source_sha256,
                    created_at FROM submissions LIMIT 1",
        ],
    ),
    (
        "a judging is of its submission's problem and device",
        &["UPDATE judgings SET device = 'h200'"],
    ),
    (
        "events are numbered without gaps",
        &["UPDATE submissions SET last_seq = last_seq + 1"],
    ),
    (
        "the verdict was announced once, as the last event",
        &[
            "ALTER TABLE judgings DISABLE TRIGGER judgings_events",
            "UPDATE judgings SET status = 'done', verdict = 'accepted', finished_at = now()",
        ],
    ),
];

#[tokio::test]
async fn every_broken_rule_is_reported() {
    for (rule, statements) in BREAKAGES {
        let queue = Queue::create().await;
        queue.submit(queue.alice, Mode::Ranked).await;
        queue.submit(queue.alice, Mode::Ranked).await;
        queue.claim(&queue.worker("w1").await).await.unwrap();
        queue.assert_sound().await;
        for statement in *statements {
            queue.test.execute(statement).await.unwrap();
        }
        let found = database::invariants::check(queue.db()).await.unwrap();
        let reported = found.iter().any(|violation| violation.invariant == *rule);
        assert!(reported, "{rule}: {found:?}");
    }
}
