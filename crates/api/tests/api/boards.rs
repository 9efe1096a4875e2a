//! Boards and the counts that follow from them.

use std::fmt::Write;

use domain::report::ScoreMetric;
use domain::{Mode, Verdict};
use insta::assert_snapshot;
use protocol::board::Board;
use protocol::problem::ProblemList;
use protocol::routes;

use crate::support::reports::scored;
use crate::support::{Context, KERNEL, Person};

async fn judged(ctx: &Context, who: &Person, mode: Mode, score: f64) {
    ctx.submit_as(who, KERNEL, mode).await;
    let held = ctx.worker("w1").await.claim().await;
    held.send_report(scored(&held.claim, score))
        .await
        .expect_status(200);
}

fn rows(board: &Board) -> String {
    let mut text = format!("{:?}, {} in all", board.metric, board.total);
    for entry in &board.entries {
        write!(
            text,
            "\n{}. {} {}",
            entry.rank, entry.user.name, entry.value
        )
        .unwrap();
    }
    text
}

#[tokio::test]
async fn the_best_of_each_user_is_ranked() {
    let ctx = Context::start().await;
    judged(&ctx, &ctx.alice, Mode::Ranked, 0.25).await;
    judged(&ctx, &ctx.alice, Mode::Ranked, 0.75).await;
    judged(&ctx, &ctx.alice, Mode::Ranked, 0.5).await;
    judged(&ctx, &ctx.bob, Mode::Practice, 0.99).await;
    judged(&ctx, &ctx.bob, Mode::Ranked, 0.75).await;
    judged(&ctx, &ctx.operator, Mode::Ranked, 0.1).await;
    ctx.submit_as(&ctx.bob, KERNEL, Mode::Ranked).await;
    let failed = ctx.worker("w1").await.claim().await;
    let mut report = scored(&failed.claim, 1.0);
    report.verdict = Verdict::Held;
    failed.send_report(report).await.expect_status(200);

    let path = "/api/v1/problems/vector_add/boards/emulated";
    let board: Board = ctx.get(path).send().await.expect_status(200).parse();
    assert_eq!(board.yours, None);
    assert_snapshot!(rows(&board), @r"
    ModelledSol, 3 in all
    1. alice 0.75
    1. bob 0.75
    3. olga 0.1
    ");

    let path = format!("{path}?limit=1");
    let board: Board = ctx
        .get(&path)
        .bearer(&ctx.operator.token)
        .send()
        .await
        .parse();
    assert_eq!(board.entries.len(), 1);
    assert_eq!(board.yours.map(|yours| yours.rank), Some(3));

    let gpu: Board = ctx
        .get("/api/v1/problems/vector_add/boards/h200")
        .send()
        .await
        .parse();
    assert_snapshot!(rows(&gpu), @"Sol, 0 in all");
    ctx.end().await;
}

/// Before times were modelled, the emulated device's score was its traffic efficiency.
#[tokio::test]
async fn a_score_of_another_metric_is_readable_and_not_ranked() {
    let ctx = Context::start().await;
    let submitted = ctx.submit_as(&ctx.alice, KERNEL, Mode::Ranked).await;
    let held = ctx.worker("w1").await.claim().await;
    let mut report = scored(&held.claim, 0.9);
    let score = report.score.as_mut().expect("it is scored");
    score.metric = ScoreMetric::TrafficEfficiency;
    held.send_report(report).await.expect_status(200);
    judged(&ctx, &ctx.bob, Mode::Ranked, 0.25).await;

    let path = "/api/v1/problems/vector_add/boards/emulated";
    let board: Board = ctx.get(path).send().await.expect_status(200).parse();
    assert_snapshot!(rows(&board), @r"
    ModelledSol, 1 in all
    1. bob 0.25
    ");
    let old = ctx.submission(submitted.submission_id).await;
    let read = old.summary.score.map(|score| (score.metric, score.value));
    assert_eq!(read, Some((ScoreMetric::TrafficEfficiency, Some(0.9))));
    ctx.end().await;
}

#[tokio::test]
async fn the_list_says_who_solved() {
    let ctx = Context::start().await;
    judged(&ctx, &ctx.alice, Mode::Ranked, 0.5).await;
    let list = async |token: Option<&str>| {
        let call = ctx.get(routes::PROBLEMS);
        let call = match token {
            Some(token) => call.bearer(token),
            None => call,
        };
        let mut list: ProblemList = call.send().await.expect_status(200).parse();
        let problem = list.problems.remove(0);
        (problem.solvers, problem.solved)
    };
    assert_eq!(list(Some(&ctx.alice.token)).await, (1, Some(true)));
    assert_eq!(list(Some(&ctx.bob.token)).await, (1, Some(false)));
    assert_eq!(list(None).await, (1, None));
    ctx.end().await;
}

#[tokio::test]
async fn a_problem_is_told_without_its_answers() {
    let ctx = Context::start().await;
    let detail = ctx
        .get(&routes::problem("vector_add"))
        .send()
        .await
        .expect_status(200);
    let problem: protocol::problem::ProblemDetail = detail.parse();
    assert!(problem.declaration.starts_with("void solve("));
    assert_eq!(problem.parameters.len(), 4);
    assert!(problem.statement.en.len() > 100 && problem.statement.zh.len() > 50);
    let weights: f64 = problem.strata.iter().map(|stratum| stratum.w).sum();
    assert!((weights - 1.0).abs() < 1e-3, "{weights}");
    let package = crate::support::config(ctx.db(), None).packages.remove(0);
    let text = detail.text();
    let quoted = |source: &domain::Source| serde_json::to_string(source.as_str()).unwrap();
    assert!(text.contains(&quoted(&package.starter_source)));
    assert!(!text.contains(&quoted(&package.reference_source)));
    assert!(!text.contains(&quoted(&package.baseline_source)));
    ctx.end().await;
}

#[tokio::test]
async fn devices_tell_their_workers_and_queue() {
    let ctx = Context::start().await;
    ctx.submit(KERNEL).await;
    ctx.worker("w1").await;
    let load = async || {
        let list: protocol::device::DeviceList = ctx
            .get(routes::DEVICES)
            .send()
            .await
            .expect_status(200)
            .parse();
        assert_eq!(list.devices.len(), domain::DeviceName::ALL.len());
        (list.devices[0].live_workers, list.devices[0].queued)
    };
    assert_eq!(load().await, (1, 1));
    ctx.advance(crate::support::secs(61)).await;
    assert_eq!(load().await, (0, 1));
    ctx.end().await;
}
