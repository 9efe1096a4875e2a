//! Who sees what of a submission.

use domain::{Mode, Verdict};
use protocol::judging::Judging;
use protocol::routes;
use protocol::submission::{Submission, SubmissionList};

use crate::support::{Context, KERNEL};

#[tokio::test]
async fn the_source_is_its_owners_and_operators_alone() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let path = routes::submission(submitted.submission_id);
    let judging_path = routes::judging(submitted.judging_id);
    for path in [&path, &judging_path] {
        let hidden = ctx.get(path).bearer(&ctx.bob.token).send().await;
        assert_eq!(hidden.problem(), "404 not_found", "while it is judged");
    }
    let held = ctx.worker("w1").await.claim().await;
    held.finish(Verdict::Accepted).await.expect_status(200);

    for token in [&ctx.alice.token, &ctx.operator.token] {
        let seen: Submission = ctx.get(&path).bearer(token).send().await.parse();
        assert_eq!(seen.source.as_deref(), Some(KERNEL));
    }
    for caller in [ctx.get(&path), ctx.get(&path).bearer(&ctx.bob.token)] {
        let seen: Submission = caller.send().await.expect_status(200).parse();
        assert_eq!(seen.source, None);
        assert_eq!(seen.summary.verdict, Some(Verdict::Accepted));
    }
    let own: Judging = ctx
        .get(&judging_path)
        .bearer(&ctx.alice.token)
        .send()
        .await
        .parse();
    assert_eq!(own.report.unwrap().diagnostics.len(), 1);
    let others = ctx.get(&judging_path).send().await;
    assert!(!others.text().contains("quotes the source"));
    ctx.end().await;
}

#[tokio::test]
async fn failures_and_practice_are_nobody_elses_business() {
    let ctx = Context::start().await;
    let worker = ctx.worker("w1").await;
    for (mode, verdict) in [
        (Mode::Practice, Verdict::Accepted),
        (Mode::Ranked, Verdict::WrongAnswer),
        (Mode::Ranked, Verdict::Held),
    ] {
        let submitted = ctx.submit_as(&ctx.alice, KERNEL, mode).await;
        worker
            .claim()
            .await
            .finish(verdict)
            .await
            .expect_status(200);
        let events = routes::submission_events(submitted.submission_id);
        for path in [
            routes::submission(submitted.submission_id),
            routes::judging(submitted.judging_id),
            events,
        ] {
            let hidden = ctx.get(&path).bearer(&ctx.bob.token).send().await;
            assert_eq!(hidden.problem(), "404 not_found", "{mode} {verdict}");
        }
    }
    ctx.end().await;
}

#[tokio::test]
async fn nobody_cancels_anothers_submission() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let path = routes::submission_cancel(submitted.submission_id);
    let refused = ctx.post(&path).bearer(&ctx.bob.token).send().await;
    assert_eq!(refused.problem(), "404 not_found");
    ctx.worker("w1")
        .await
        .claim()
        .await
        .finish(Verdict::Accepted)
        .await
        .expect_status(200);
    let refused = ctx.post(&path).bearer(&ctx.bob.token).send().await;
    assert_eq!(refused.problem(), "403 forbidden");
    ctx.end().await;
}

#[tokio::test]
async fn a_list_holds_the_callers_own_in_pages() {
    let ctx = Context::start().await;
    let mut submitted = Vec::new();
    for n in 0..5 {
        submitted.push(ctx.submit(&format!("{KERNEL} // {n}")).await.submission_id);
    }
    ctx.submit_as(&ctx.bob, KERNEL, Mode::Ranked).await;
    submitted.sort();
    submitted.reverse();

    let mut seen = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!("{}?problem=vector_add&limit=2{before}", routes::SUBMISSIONS);
        let page = ctx.get(&path).bearer(&ctx.alice.token).send().await;
        let page: SubmissionList = page.expect_status(200).parse();
        seen.extend(page.submissions.iter().map(|row| row.submission_id));
        match page.next_before {
            Some(id) => before = format!("&before={id}"),
            None => break,
        }
    }
    assert_eq!(seen, submitted);
    let other = format!("{}?problem=matmul", routes::SUBMISSIONS);
    let none: SubmissionList = ctx
        .get(&other)
        .bearer(&ctx.alice.token)
        .send()
        .await
        .parse();
    assert_eq!(none.submissions, []);
    let no_name = format!("{}?problem=%00", routes::SUBMISSIONS);
    let refused = ctx.get(&no_name).bearer(&ctx.alice.token).send().await;
    assert_eq!(refused.problem(), "404 unknown_problem");
    ctx.end().await;
}
