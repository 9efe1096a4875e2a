//! What becomes of a submission, told as scenarios.

use std::collections::BTreeSet;

use domain::{Phase, Status, Verdict};
use insta::assert_snapshot;
use protocol::worker::{ClaimAnswer, HeartbeatAnswer, ReportAnswer};
use uuid::Uuid;

use crate::support::reports::{report, scored};
use crate::support::{Context, KERNEL, secs};

#[tokio::test]
async fn a_submission_is_judged() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let waiting = ctx.submission(submitted.submission_id).await;
    assert_eq!(waiting.summary.status, Status::Queued);
    assert_eq!(waiting.queued_ahead, Some(0));
    assert_eq!(waiting.source.as_deref(), Some(KERNEL));

    let held = ctx.worker("w1").await.claim().await;
    assert_eq!(held.claim.source.as_str(), KERNEL);
    assert_eq!(held.claim.judging_id, submitted.judging_id);
    held.progress(Phase::Compiling, 0, 1)
        .await
        .expect_status(204);
    held.progress(Phase::Checking, 1, 5)
        .await
        .expect_status(204);
    held.progress(Phase::Checking, 3, 5)
        .await
        .expect_status(204);
    let running = ctx.submission(submitted.submission_id).await.summary;
    assert_eq!(running.status, Status::Running);
    assert_eq!(
        running.progress.map(|p| (p.phase, p.done)),
        Some((Phase::Checking, 3))
    );

    let answer = held.send_report(scored(&held.claim, 0.5)).await;
    let answer: ReportAnswer = answer.expect_status(200).parse();
    assert_eq!(answer.verdict, Some(Verdict::Accepted));
    let done = ctx.submission(submitted.submission_id).await.summary;
    assert_eq!(done.score.and_then(|score| score.value), Some(0.5));
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: phase compiling
    4 attempt 1: phase checking
    5 attempt 1: report accepted
    6 attempt 1: done accepted "The judging ended as accepted."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_worker_dies_and_another_takes_over() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let (first, second) = (ctx.worker("w1").await, ctx.worker("w2").await);
    first.claim().await.die();
    ctx.advance(secs(29)).await;
    assert!(second.try_claim().await.is_none(), "the lease still holds");
    ctx.advance(secs(2)).await;
    let held = second.claim().await;
    assert_eq!(held.claim.attempt, 2);
    held.finish(Verdict::Accepted).await.expect_status(200);
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: queued "The worker could not finish; the judging is queued again."
    4 attempt 2: running
    5 attempt 2: report accepted
    6 attempt 2: done accepted "The judging ended as accepted."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn three_deaths_end_as_judge_error() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    for name in ["w1", "w2", "w3"] {
        ctx.worker(name).await.claim().await.die();
        ctx.advance(secs(31)).await;
    }
    assert!(ctx.worker("w4").await.try_claim().await.is_none());
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: queued "The worker could not finish; the judging is queued again."
    4 attempt 2: running
    5 attempt 2: queued "The worker could not finish; the judging is queued again."
    6 attempt 3: running
    7 attempt 3: done judge_error "The judge failed on this submission 3 times and gave up. This is our fault, not yours."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_late_report_is_refused_and_dropped() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let late = ctx.worker("w1").await.claim().await;
    ctx.advance(secs(31)).await;
    assert_eq!(
        late.finish(Verdict::Accepted).await.problem(),
        "409 superseded"
    );
    let held = ctx.worker("w2").await.claim().await;
    for refused in [
        late.finish(Verdict::Accepted).await,
        late.heartbeat().await,
        late.progress(Phase::Timing, 1, 2).await,
        late.retry("no").await,
        late.release("no").await,
    ] {
        assert_eq!(refused.problem(), "409 superseded");
    }
    held.finish(Verdict::WrongAnswer).await.expect_status(200);
    assert_eq!(
        late.finish(Verdict::Accepted).await.problem(),
        "409 superseded"
    );
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: queued "The worker could not finish; the judging is queued again."
    4 attempt 2: running
    5 attempt 2: report wrong_answer
    6 attempt 2: done wrong_answer "The judging ended as wrong_answer."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn heartbeats_keep_the_lease() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    for _ in 0..4 {
        ctx.advance(secs(20)).await;
        let beat: HeartbeatAnswer = held.heartbeat().await.expect_status(200).parse();
        assert!(!beat.cancel);
    }
    held.finish(Verdict::Accepted).await.expect_status(200);
    ctx.end().await;
}

#[tokio::test]
async fn a_repeated_claim_returns_the_same_lease() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    ctx.submit(KERNEL).await;
    let worker = ctx.worker("w1").await;
    let claim_id = Uuid::new_v4();
    let once: ClaimAnswer = worker.claim_as(claim_id, 0.0).await.parse();
    let again: ClaimAnswer = worker.claim_as(claim_id, 0.0).await.parse();
    assert!(once.claim.is_some());
    assert_eq!(once, again);
    let other: ClaimAnswer = worker.claim_as(Uuid::new_v4(), 0.0).await.parse();
    assert_ne!(
        once.claim.unwrap().judging_id,
        other.claim.unwrap().judging_id
    );
    // What the claim took has ended: there is nothing to hand out again.
    ctx.advance(secs(31)).await;
    let late: ClaimAnswer = worker.claim_as(claim_id, 0.0).await.parse();
    assert!(late.claim.is_none());
    ctx.end().await;
}

#[tokio::test]
async fn a_claim_that_races_itself_takes_one_judging() {
    let ctx = Context::start().await;
    for _ in 0..4 {
        ctx.submit(KERNEL).await;
    }
    let worker = ctx.worker("w1").await;
    let claim_id = Uuid::new_v4();
    let (a, b, c) = tokio::join!(
        worker.claim_as(claim_id, 0.0),
        worker.claim_as(claim_id, 0.0),
        worker.claim_as(claim_id, 0.0)
    );
    let taken: BTreeSet<_> = [a, b, c]
        .map(|answer| answer.expect_status(200).parse::<ClaimAnswer>())
        .into_iter()
        .map(|answer| answer.claim.unwrap().attempt_id)
        .collect();
    assert_eq!(taken.len(), 1);
    ctx.end().await;
}

#[tokio::test]
async fn a_queued_submission_is_cancelled() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    ctx.cancel(submitted.submission_id).await.expect_status(200);
    assert!(ctx.worker("w1").await.try_claim().await.is_none());
    let again = ctx.cancel(submitted.submission_id).await;
    assert_eq!(again.problem(), "409 already_done");
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 0: done cancelled "Cancelled on request."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_running_submission_is_cancelled_and_its_worker_told() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    held.progress(Phase::Compiling, 0, 1)
        .await
        .expect_status(204);
    ctx.cancel(submitted.submission_id).await.expect_status(200);
    let beat: HeartbeatAnswer = held.heartbeat().await.expect_status(200).parse();
    assert!(beat.cancel);
    assert_eq!(
        held.finish(Verdict::Accepted).await.problem(),
        "409 superseded"
    );
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: phase compiling
    4 attempt 1: done cancelled "Cancelled on request."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_report_is_written_once() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    held.finish(Verdict::WrongAnswer).await.expect_status(200);
    for verdict in [Verdict::WrongAnswer, Verdict::Accepted] {
        let again: ReportAnswer = held.finish(verdict).await.expect_status(200).parse();
        assert_eq!(again.verdict, Some(Verdict::WrongAnswer));
    }
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: report wrong_answer
    4 attempt 1: done wrong_answer "The judging ended as wrong_answer."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_report_about_something_else_is_refused() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    let mut other = report(&held.claim, Verdict::Accepted);
    other.source_sha256 = "0".repeat(64);
    let refused = held.send_report(other).await;
    assert_eq!(refused.problem(), "422 invalid_report");
    assert!(refused.detail().contains("source_sha256"));
    // The lease is still held, so the right report can follow.
    held.finish(Verdict::Accepted).await.expect_status(200);
    ctx.end().await;
}

#[tokio::test]
async fn text_that_the_database_cannot_hold_is_kept_as_far_as_it_goes() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    let mut odd = report(&held.claim, Verdict::Accepted);
    odd.printed = Some("before\0after".to_owned());
    held.send_report(odd).await.expect_status(200);
    let judging = ctx
        .get(&protocol::routes::judging(submitted.judging_id))
        .bearer(&ctx.alice.token)
        .send()
        .await;
    assert_eq!(judging.json()["report"]["printed"], "before\u{fffd}after");
    ctx.end().await;
}

#[tokio::test]
async fn faults_are_counted_and_releases_are_not() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let worker = ctx.worker("w1").await;
    for _ in 0..2 {
        worker
            .claim()
            .await
            .release("draining")
            .await
            .expect_status(200);
    }
    for _ in 0..3 {
        worker
            .claim()
            .await
            .retry("the GPU fell off")
            .await
            .expect_status(200);
    }
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: queued "The worker could not finish; the judging is queued again."
    4 attempt 2: running
    5 attempt 2: queued "The worker could not finish; the judging is queued again."
    6 attempt 3: running
    7 attempt 3: queued "The worker could not finish; the judging is queued again."
    8 attempt 4: running
    9 attempt 4: queued "The worker could not finish; the judging is queued again."
    10 attempt 5: running
    11 attempt 5: done judge_error "The judge failed on this submission 3 times and gave up. This is our fault, not yours."
    "#);
    ctx.end().await;
}

#[tokio::test]
async fn a_worker_leaves_what_it_lost_to_another() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    let (first, second) = (ctx.worker("w1").await, ctx.worker("w2").await);
    first.claim().await.retry("flaky").await.expect_status(200);
    assert!(
        first.try_claim().await.is_none(),
        "w2 is live and has not lost it"
    );
    // Nobody else is live any more: better the same worker than none.
    ctx.advance(secs(61)).await;
    first.claim().await.retry("flaky").await.expect_status(200);
    second
        .claim()
        .await
        .finish(Verdict::Accepted)
        .await
        .expect_status(200);
    ctx.end().await;
}

#[tokio::test]
async fn a_new_process_supersedes_the_old_one_of_its_name() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let old = ctx.worker("w1").await;
    let held = old.claim().await;
    let new = ctx.worker("w1").await;
    assert_eq!(new.registered.worker_id, old.registered.worker_id);
    assert_eq!(new.registered.incarnation, 2);
    assert_eq!(held.heartbeat().await.problem(), "409 superseded");
    let refused = old.claim_as(Uuid::new_v4(), 0.0).await;
    assert_eq!(refused.problem(), "409 stale_incarnation");
    new.claim()
        .await
        .finish(Verdict::Accepted)
        .await
        .expect_status(200);
    assert_snapshot!(ctx.timeline(submitted.submission_id).await, @r#"
    1 attempt 0: queued
    2 attempt 1: running
    3 attempt 1: queued "The worker could not finish; the judging is queued again."
    4 attempt 2: running
    5 attempt 2: report accepted
    6 attempt 2: done accepted "The judging ended as accepted."
    "#);
    ctx.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_workers_never_share_a_judging() {
    let ctx = Context::start().await;
    for n in 0..40 {
        ctx.submit(&format!("{KERNEL} // {n}")).await;
    }
    let mut workers = Vec::new();
    for n in 0..8 {
        workers.push(ctx.worker(&format!("w{n}")).await);
    }
    let drain = async |worker: &crate::support::Worker<'_>| {
        let mut taken = Vec::new();
        while let Some(held) = worker.try_claim().await {
            taken.push(held.claim.judging_id);
            held.finish(Verdict::Accepted).await.expect_status(200);
        }
        taken
    };
    let [a, b, c, d, e, f, g, h] = &workers[..] else {
        unreachable!("eight were registered")
    };
    let taken = tokio::join!(
        drain(a),
        drain(b),
        drain(c),
        drain(d),
        drain(e),
        drain(f),
        drain(g),
        drain(h)
    );
    let taken = [
        taken.0, taken.1, taken.2, taken.3, taken.4, taken.5, taken.6, taken.7,
    ]
    .concat();
    assert_eq!(taken.len(), 40);
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 40);
    ctx.end().await;
}

#[tokio::test]
async fn a_waiting_claim_wakes_when_work_comes() {
    let ctx = Context::start().await;
    let worker = ctx.worker("w1").await;
    let (answer, submitted) = tokio::join!(worker.claim_as(Uuid::new_v4(), 20.0), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        ctx.submit(KERNEL).await
    });
    let claimed: ClaimAnswer = answer.expect_status(200).parse();
    assert_eq!(claimed.claim.unwrap().judging_id, submitted.judging_id);
    ctx.end().await;
}

#[tokio::test]
async fn the_lease_of_another_key_is_of_no_use() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    let other = database::accounts::ensure_worker_key(ctx.db(), "other", None)
        .await
        .unwrap();
    let refused = ctx
        .post(&protocol::routes::heartbeat(held.claim.attempt_id))
        .bearer(&other)
        .json(&serde_json::json!({ "lease_token": held.claim.lease_token }))
        .send()
        .await;
    assert_eq!(refused.problem(), "409 superseded");
    held.finish(Verdict::Accepted).await.expect_status(200);
    ctx.end().await;
}
