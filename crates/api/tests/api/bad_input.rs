//! What is refused before any judging, and how it is said.

use insta::assert_snapshot;
use protocol::routes::SUBMISSIONS;
use serde_json::json;

use crate::support::{Answer, Context, KERNEL};

async fn submit(ctx: &Context, problem: &str, device: &str, source: &str) -> Answer {
    ctx.post(SUBMISSIONS)
        .bearer(&ctx.alice.token)
        .json(&json!({"problem": problem, "device": device, "mode": "ranked", "source": source}))
        .send()
        .await
}

fn said(answer: &Answer) -> String {
    format!("{}: {}", answer.problem(), answer.detail())
}

#[tokio::test]
async fn bad_sources_are_named() {
    let ctx = Context::start().await;
    let cases = [
        "",
        "\u{feff} \r\n",
        "ab\0c",
        &"x".repeat(300 * 1024),
        &"\u{1}".repeat(262_145),
    ];
    let mut lines = Vec::new();
    for source in cases {
        lines.push(said(&submit(&ctx, "vector_add", "emulated", source).await));
    }
    assert_snapshot!(lines.join("\n"), @r"
    422 invalid_source: The source cannot be judged: the source is empty
    422 invalid_source: The source cannot be judged: the source is empty
    422 invalid_source: The source cannot be judged: the source contains a NUL byte at offset 2: is it a binary file?
    413 source_too_large: The source cannot be judged: the source has 307200 bytes; the limit is 262144
    413 source_too_large: The source cannot be judged: the source has 262145 bytes; the limit is 262144
    ");
    // The largest one is taken, even if JSON has to escape every byte of it.
    let largest = "\u{1}".repeat(262_144);
    submit(&ctx, "vector_add", "emulated", &largest)
        .await
        .expect_status(201);
    ctx.end().await;
}

#[tokio::test]
async fn unknown_words_are_named() {
    let ctx = Context::start().await;
    let lines = [
        said(&submit(&ctx, "vector_subtract", "emulated", KERNEL).await),
        said(&submit(&ctx, "vector_add", "h201", KERNEL).await),
        said(&submit(&ctx, &"x".repeat(5000), "emulated", KERNEL).await),
        said(&ctx.get("/api/v1/problems/nope").send().await),
        said(
            &ctx.get("/api/v1/problems/vector_add/boards/nope")
                .send()
                .await,
        ),
    ];
    assert_snapshot!(lines.join("\n"), @r"
    404 unknown_problem: There is no problem `vector_subtract`.
    404 unknown_device: There is no device `h201`.
    404 unknown_problem: There is no problem `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`.
    404 unknown_problem: There is no problem `nope`.
    404 unknown_device: There is no device `nope`.
    ");
    ctx.end().await;
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_named() {
    let ctx = Context::start().await;
    let board = "/api/v1/problems/vector_add/boards/h200";
    for limit in ["0", "-1", "1001", "99999999999999999999", "x", "", "1.5"] {
        let answer = ctx.get(&format!("{board}?limit={limit}")).send().await;
        assert_eq!(
            said(&answer),
            "400 bad_request: The parameter `limit` must be a whole number from 1 to 1000.",
            "{limit}"
        );
    }
    for limit in ["1", "1000"] {
        let answer = ctx.get(&format!("{board}?limit={limit}")).send().await;
        answer.expect_status(200);
    }
    let mut lines = Vec::new();
    for query in [
        "limit=0",
        "limit=-1",
        "limit=101",
        "limit=1&limit=2",
        "before=17",
    ] {
        let path = format!("{SUBMISSIONS}?{query}");
        lines.push(said(&ctx.get(&path).bearer(&ctx.alice.token).send().await));
    }
    let id = ctx.submit(KERNEL).await.submission_id;
    let events = protocol::routes::submission_events(id);
    for after in ["-1", "x", "99999999999999999999"] {
        let path = format!("{events}?after={after}");
        lines.push(said(&ctx.get(&path).bearer(&ctx.alice.token).send().await));
    }
    assert_snapshot!(lines.join("\n"), @r"
    400 bad_request: The parameter `limit` must be a whole number from 1 to 100.
    400 bad_request: The parameter `limit` must be a whole number from 1 to 100.
    400 bad_request: The parameter `limit` must be a whole number from 1 to 100.
    400 bad_request: The parameter `limit` stands there twice.
    400 bad_request: The parameter `before` does not hold what belongs there.
    400 bad_request: The parameter `after` does not hold what belongs there.
    400 bad_request: The parameter `after` does not hold what belongs there.
    400 bad_request: The parameter `after` does not hold what belongs there.
    ");
    ctx.end().await;
}

#[tokio::test]
async fn malformed_requests_are_named() {
    let ctx = Context::start().await;
    let post = |body: &[u8]| {
        ctx.post(SUBMISSIONS)
            .bearer(&ctx.alice.token)
            .raw_json(body.to_vec())
            .send()
    };
    let no_type = ctx.post(SUBMISSIONS).bearer(&ctx.alice.token).send();
    let lines = [
        said(&post(b"{").await),
        said(&post(b"{} {}").await),
        said(&post(br#"{"problem":"vector_add","device":"emulated"}"#).await),
        said(&post(br#"{"problem":"vector_add","device":"emulated","source":3}"#).await),
        said(&post(br#"{"problem":"a","device":"emulated","mode":"fast","source":""}"#).await),
        said(
            &post(b"{\"problem\":\"vector_add\",\"device\":\"emulated\",\"source\":\"\xff\"}")
                .await,
        ),
        said(&post(&vec![b' '; 2 << 20]).await),
        said(&no_type.await),
        said(
            &ctx.get("/api/v1/submissions/17")
                .bearer(&ctx.alice.token)
                .send()
                .await,
        ),
        said(&ctx.get("/api/v1/nothing").send().await),
        said(&ctx.post("/api/v1/problems").send().await),
    ];
    assert_snapshot!(lines.join("\n"), @r"
    400 bad_request: The body is not valid JSON: it ends too early.
    400 bad_request: The field `problem` is missing.
    400 bad_request: The field `source` is missing.
    400 bad_request: The field `source` must be a string.
    400 bad_request: The field `mode` must be `practice` or `ranked`.
    422 invalid_source: The body is not UTF-8 (first bad byte at offset 54).
    413 source_too_large: The body has more than 1576960 bytes. The limit of the source is 262144.
    415 unsupported_media_type: Send the body as `Content-Type: application/json`.
    404 not_found: There is no such thing here.
    404 not_found: There is no such thing here.
    405 method_not_allowed: The path exists, but not for this method.
    ");
    ctx.end().await;
}

#[tokio::test]
async fn ranked_is_the_default_mode() {
    let ctx = Context::start().await;
    let submitted = ctx
        .post(SUBMISSIONS)
        .bearer(&ctx.alice.token)
        .json(&json!({"problem": "vector_add", "device": "emulated", "source": KERNEL}))
        .send()
        .await
        .expect_status(201);
    let location = submitted.header("location").to_owned();
    let submission = ctx.get(&location).bearer(&ctx.alice.token).send().await;
    assert_eq!(submission.json()["mode"], "ranked");
    ctx.end().await;
}
