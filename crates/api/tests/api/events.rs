//! Streams of events: replayed, live, resumed.

use std::time::Duration;

use axum::body::BodyDataStream;
use axum::response::Response;
use domain::{Phase, Verdict};
use insta::assert_snapshot;
use protocol::event::{Event, EventId};
use protocol::routes;
use tokio_stream::StreamExt;

use crate::support::{Context, KERNEL};

/// A stream as a client reads it.
struct Watch {
    stream: BodyDataStream,
    buffer: String,
}

impl Watch {
    fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            stream: response.into_body().into_data_stream(),
            buffer: String::new(),
        }
    }

    /// The next event with its id; `None` when the stream has ended.
    async fn next(&mut self) -> Option<(Option<EventId>, Event)> {
        loop {
            while let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.buffer = rest;
                if let Some(event) = parse(&block) {
                    return Some(event);
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(10), self.stream.next())
                .await
                .expect("the stream says something within ten seconds")?;
            self.buffer
                .push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
    }

    async fn rest(mut self) -> String {
        let mut lines = Vec::new();
        while let Some((id, event)) = self.next().await {
            lines.push(line(id, &event));
        }
        lines.join("\n")
    }
}

fn parse(block: &str) -> Option<(Option<EventId>, Event)> {
    let field = |name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let event: Event = serde_json::from_str(field("data")?).unwrap();
    assert_eq!(field("event"), Some(event.name()));
    Some((field("id").map(|id| id.parse().unwrap()), event))
}

fn line(id: Option<EventId>, event: &Event) -> String {
    let seq = id.map_or("-".to_owned(), |id| id.seq.to_string());
    let what = match event {
        Event::Status(status) => match status.verdict {
            Some(verdict) => format!("{:?} {verdict}", status.status),
            None => format!("{:?}", status.status),
        },
        Event::Phase(phase) => phase.phase.to_string(),
        Event::Progress(progress) => {
            format!("{}/{}", progress.progress.done, progress.progress.total)
        }
        Event::Report(report) => report.report.verdict.to_string(),
    };
    format!("{seq} {} {what}", event.name())
}

async fn judge(ctx: &Context) -> protocol::submission::Submitted {
    let submitted = ctx.submit(KERNEL).await;
    let held = ctx.worker("w1").await.claim().await;
    held.progress(Phase::Compiling, 0, 1)
        .await
        .expect_status(204);
    held.progress(Phase::Checking, 0, 1)
        .await
        .expect_status(204);
    held.finish(Verdict::Accepted).await.expect_status(200);
    submitted
}

#[tokio::test]
async fn a_finished_submission_is_replayed_and_the_stream_ends() {
    let ctx = Context::start().await;
    let id = judge(&ctx).await.submission_id;
    let path = routes::submission_events(id);
    let whole = ctx.get(&path).bearer(&ctx.alice.token).open().await;
    assert_eq!(whole.headers()["x-accel-buffering"], "no");
    assert_snapshot!(Watch::new(whole).rest().await, @r"
    1 status Queued
    2 status Running
    3 phase compiling
    4 phase checking
    5 report accepted
    6 status Done accepted
    ");

    let from_header = ctx
        .get(&format!("{path}?after=1"))
        .header("last-event-id", &format!("{id}:4"))
        .bearer(&ctx.alice.token)
        .open()
        .await;
    assert_snapshot!(Watch::new(from_header).rest().await, @r"
    5 report accepted
    6 status Done accepted
    ");
    let after = format!("{path}?after=4");
    let from_query = ctx.get(&after).bearer(&ctx.alice.token).open().await;
    assert_snapshot!(Watch::new(from_query).rest().await, @r"
    5 report accepted
    6 status Done accepted
    ");

    for seen_all in [6, 7] {
        let nothing = ctx
            .get(&path)
            .header("last-event-id", &format!("{id}:{seen_all}"))
            .bearer(&ctx.alice.token)
            .send()
            .await;
        assert_eq!(nothing.status, 204);
    }
    ctx.end().await;
}

#[tokio::test]
async fn an_id_of_another_submission_is_refused() {
    let ctx = Context::start().await;
    let (mine, other) = (judge(&ctx).await, ctx.submit(KERNEL).await);
    let path = routes::submission_events(mine.submission_id);
    for id in [format!("{}:1", other.submission_id), "17".to_owned()] {
        let refused = ctx.get(&path).header("last-event-id", &id);
        let refused = refused.bearer(&ctx.alice.token).send().await;
        assert_eq!(refused.problem(), "400 bad_request");
    }
    ctx.end().await;
}

#[tokio::test]
async fn a_running_submission_is_watched_live() {
    let ctx = Context::start().await;
    let submitted = ctx.submit(KERNEL).await;
    let path = routes::submission_events(submitted.submission_id);
    let mut watch = Watch::new(ctx.get(&path).bearer(&ctx.alice.token).open().await);
    let mut lines = Vec::new();
    let mut hear = async |lines: &mut Vec<String>| {
        let (id, event) = watch.next().await.expect("the stream goes on");
        lines.push(line(id, &event));
    };
    hear(&mut lines).await;
    let held = ctx.worker("w1").await.claim().await;
    hear(&mut lines).await;
    held.progress(Phase::Checking, 0, 3)
        .await
        .expect_status(204);
    hear(&mut lines).await;
    hear(&mut lines).await;
    held.progress(Phase::Checking, 2, 3)
        .await
        .expect_status(204);
    hear(&mut lines).await;
    held.finish(Verdict::WrongAnswer).await.expect_status(200);
    hear(&mut lines).await;
    hear(&mut lines).await;
    assert!(
        watch.next().await.is_none(),
        "the stream ends with the verdict"
    );
    assert_snapshot!(lines.join("\n"), @r"
    1 status Queued
    2 status Running
    3 phase checking
    - progress 0/3
    - progress 2/3
    4 report wrong_answer
    5 status Done wrong_answer
    ");
    ctx.end().await;
}

#[tokio::test]
async fn others_replay_results_without_what_quotes_the_source() {
    let ctx = Context::start().await;
    let id = judge(&ctx).await.submission_id;
    let answer = ctx.get(&routes::submission_events(id)).send().await;
    assert!(answer.text().contains("event: report"));
    assert!(!answer.text().contains("quotes the source"));
    ctx.end().await;
}
