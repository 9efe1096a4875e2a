//! The compiled code of a judging: from a worker to those who may read the source, and to nobody else.

use domain::{CodeKind, CodeListing, CodePart, CodeText, Mode, Verdict};
use protocol::judging::JudgingCode;
use protocol::routes;

use crate::support::{Context, KERNEL};

fn code(text: &str) -> CodeListing {
    let part = CodePart {
        kind: CodeKind::Kernel,
        name: "add<256>".to_owned(),
        text: text.to_owned(),
        source_lines: text.lines().map(|_| Some(3)).collect(),
    };
    CodeListing {
        arch: "sm_90a".to_owned(),
        ptx: CodeText {
            parts: vec![part],
            lines_left_out: 0,
        },
        sass: None,
        no_sass: None,
    }
}

#[tokio::test]
async fn code_is_for_those_who_may_read_the_source() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let path = routes::judging_code(submitted.judging_id);
    let early = ctx.get(&path).bearer(&ctx.alice.token).send().await;
    assert_eq!(early.problem(), "404 no_code");
    assert!(early.detail().contains("not over"), "{}", early.detail());

    let listing = code("add.f32 %f3, %f1, %f2;\nret;");
    let held = ctx.worker("w1").await.claim().await;
    held.finish_with(Verdict::Accepted, listing.clone())
        .await
        .expect_status(200);
    for token in [&ctx.alice.token, &ctx.operator.token] {
        let told = ctx.get(&path).bearer(token).send().await.expect_status(200);
        let told: JudgingCode = told.parse();
        assert_eq!(told.judging_id, submitted.judging_id);
        assert_eq!(told.code, listing);
    }
    // It stands on a board: others see the result, and no more.
    for caller in [
        ctx.get(&path),
        ctx.get(&path).bearer(&ctx.bob.token),
        ctx.get(&path).bearer(&ctx.worker_key),
    ] {
        assert_eq!(caller.send().await.problem(), "404 not_found");
    }
    ctx.end().await;
}

#[tokio::test]
async fn a_judging_without_code_says_so() {
    let ctx = Context::start().await;
    let submitted = ctx.submit_as(&ctx.alice, KERNEL, Mode::Practice).await;
    let held = ctx.worker("w1").await.claim().await;
    held.finish(Verdict::CompileError).await.expect_status(200);
    let path = routes::judging_code(submitted.judging_id);
    let none = ctx.get(&path).bearer(&ctx.alice.token).send().await;
    assert_eq!(none.problem(), "404 no_code");
    assert!(none.detail().contains("Nothing was compiled"));
    let hidden = ctx.get(&path).bearer(&ctx.bob.token).send().await;
    assert_eq!(hidden.problem(), "404 not_found");
    ctx.end().await;
}

#[tokio::test]
async fn code_that_breaks_the_contract_costs_no_verdict() {
    let ctx = Context::start().await;
    let worker = ctx.worker("w1").await;
    let mut shifted = code("ret;");
    shifted.ptx.parts[0].source_lines.clear();
    let long = "x".repeat(domain::code::MAX_CODE_LINE_BYTES + 1);
    for (n, unsound) in [code("\u{1b}[31mret;"), shifted, code(&long)]
        .iter()
        .enumerate()
    {
        let submitted = ctx.submit(&format!("{KERNEL} // {n}")).await;
        let held = worker.claim().await;
        held.finish_with(Verdict::Accepted, unsound.clone())
            .await
            .expect_status(200);
        let path = routes::judging_code(submitted.judging_id);
        let none = ctx.get(&path).bearer(&ctx.alice.token).send().await;
        assert_eq!(none.problem(), "404 no_code");
        let submission = ctx.submission(submitted.submission_id).await;
        assert_eq!(submission.summary.verdict, Some(Verdict::Accepted));
    }
    ctx.end().await;
}

/// As large as a listing may be, every byte of it one that JSON escapes.
#[tokio::test]
async fn the_largest_code_fits_into_a_report() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let lines = vec!["\"".repeat(domain::code::MAX_CODE_LINE_BYTES); 1300];
    let listing = code(&lines.join("\n"));
    let listing = CodeListing {
        sass: Some(listing.ptx.clone()),
        ..listing
    };
    assert_eq!(listing.check(), Ok(()));
    let held = ctx.worker("w1").await.claim().await;
    held.finish_with(Verdict::Accepted, listing.clone())
        .await
        .expect_status(200);
    let path = routes::judging_code(submitted.judging_id);
    let told = ctx.get(&path).bearer(&ctx.alice.token).send().await;
    assert_eq!(told.expect_status(200).parse::<JudgingCode>().code, listing);
    ctx.end().await;
}
