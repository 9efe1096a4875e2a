//! Following a submission's events to the end, across broken connections.

use std::time::Duration;

use domain::SubmissionId;
use futures_util::StreamExt;
use protocol::{Event, EventId};
use sse_stream::SseStream;

use crate::answer;
use crate::client::Client;
use crate::failure::Failure;

/// Waits between attempts to connect again: 0.5 s, doubled up to 5 s.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// What one connection may bring; a report is some megabytes at most.
const MAX_CONNECTION_BYTES: usize = 64 << 20;
/// Attempts in a row without an event before the service counts as gone; about a minute.
const PATIENCE: u32 = 14;

/// Hands every event to `on_event`, each once and in order, until the judging is done.
///
/// A broken connection is taken up behind the last stored event. The first connection must succeed:
/// a wrong URL or id is said at once.
pub(crate) async fn follow(
    client: &Client,
    id: SubmissionId,
    on_event: &mut (dyn FnMut(&Event) + Send),
    on_break: &mut (dyn FnMut() + Send),
) -> Result<(), Failure> {
    let mut last: Option<EventId> = None;
    let mut stream = client.events(id, None).await?;
    let mut fruitless = 0;
    loop {
        let Some(response) = stream else {
            return Ok(());
        };
        let before = last;
        if read(response, &mut last, on_event).await {
            return Ok(());
        }
        if last != before {
            fruitless = 0;
        }
        on_break();
        stream = loop {
            tokio::time::sleep(wait(fruitless)).await;
            fruitless += 1;
            match client.events(id, last).await {
                Ok(stream) => break stream,
                Err(failure @ Failure::Unavailable { .. }) if fruitless < PATIENCE => drop(failure),
                Err(failure) => return Err(failure),
            }
        };
    }
}

/// Reads one connection to its end. Says whether the last event was among what it brought.
async fn read(
    response: reqwest::Response,
    last: &mut Option<EventId>,
    on_event: &mut (dyn FnMut(&Event) + Send),
) -> bool {
    // Bounded, whatever the frames in it: a connection that brings more is taken up behind its last event.
    let mut brought = 0;
    let bytes = response.bytes_stream().take_while(move |chunk| {
        brought += chunk.as_deref().map_or(0, <[u8]>::len);
        std::future::ready(brought <= MAX_CONNECTION_BYTES)
    });
    let mut frames = SseStream::from_bytes_stream(bytes);
    while let Some(Ok(frame)) = frames.next().await {
        // Comments keep the connection alive; events of a later version are skipped.
        let Some(event) = frame.data.as_deref().and_then(parse) else {
            continue;
        };
        if let Some(id) = frame.id.as_deref().and_then(|id| id.parse().ok()) {
            *last = Some(id);
        }
        on_event(&event);
        if event.is_last() {
            return true;
        }
    }
    false
}

fn parse(data: &str) -> Option<Event> {
    answer::parse(data.as_bytes()).ok()
}

fn wait(fruitless: u32) -> Duration {
    FIRST_WAIT
        .saturating_mul(1 << fruitless.min(8))
        .min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const ID: &str = "0190b5a0-0000-7000-8000-000000000001";

    fn status(seq: u32, status: &str) -> String {
        let data = format!(
            r#"{{"event":"status","judging_id":"{ID}","status":"{status}","attempt":1,"verdict":null,"kind":null,"message":null}}"#
        );
        format!("event: status\nid: {ID}:{seq}\ndata: {data}\n\n")
    }

    /// Answers each connection with the next body, then closes it; returns what was asked.
    async fn serve(bodies: Vec<String>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let mut asked = Vec::new();
            for body in bodies {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 4096];
                let length = socket.read(&mut request).await.unwrap();
                asked.push(String::from_utf8_lossy(&request[..length]).to_lowercase());
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                socket.write_all(head.as_bytes()).await.unwrap();
                socket.write_all(body.as_bytes()).await.unwrap();
            }
            asked
        });
        (url, task)
    }

    #[tokio::test]
    async fn a_broken_stream_is_taken_up_behind_the_last_event() {
        crate::install_crypto();
        let first = format!(": hello\n\n{}", status(1, "queued"));
        let second = format!("{}{}", status(2, "running"), status(3, "done"));
        let (url, server) = serve(vec![first, second]).await;
        let client = Client::with(&url, None).unwrap();
        let (mut seen, mut breaks) = (Vec::new(), 0);
        follow(
            &client,
            ID.parse().unwrap(),
            &mut |event| {
                if let Event::Status(status) = event {
                    seen.push(serde_json::to_value(status.status).unwrap());
                }
            },
            &mut || breaks += 1,
        )
        .await
        .unwrap();
        assert_eq!(seen, ["queued", "running", "done"]);
        assert_eq!(breaks, 1);
        let asked = server.await.unwrap();
        assert!(!asked[0].contains("last-event-id"));
        assert!(
            asked[1].contains(&format!("last-event-id: {ID}:1")),
            "{}",
            asked[1]
        );
    }

    #[test]
    fn waits_grow_and_are_bounded() {
        assert_eq!(wait(0), FIRST_WAIT);
        assert_eq!(wait(1), FIRST_WAIT * 2);
        assert_eq!(wait(40), LONGEST_WAIT);
    }
}
