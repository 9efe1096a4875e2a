//! A process that serves on a socket: it expires leases by itself and stops with streams open.

use std::time::Duration;

use database::accounts;
use database::testing::TestDatabase;
use domain::{Clock, SystemClock};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::support::{KERNEL, config};

struct Server {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<Result<(), api::StartError>>,
}

impl Server {
    async fn start(test: &TestDatabase) -> Self {
        let mut config = config(&test.db, None);
        config.lease.expiry_interval = Duration::from_millis(50);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(api::serve(listener, config, async {
            let _ = stopped.await;
        }));
        Self {
            address,
            stop,
            served,
        }
    }

    /// Sends a request of HTTP/1.1 and returns the connection to read the answer from.
    async fn send(&self, method: &str, path: &str, secret: &str, body: &Value) -> TcpStream {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {secret}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn call(&self, method: &str, path: &str, secret: &str, body: &Value) -> Value {
        let mut text = String::new();
        let mut stream = self.send(method, path, secret, body).await;
        stream.read_to_string(&mut text).await.unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

async fn read_until(stream: &mut TcpStream, heard: &mut String, wanted: &str) {
    let mut buffer = [0; 4096];
    while !heard.contains(wanted) {
        let read = timeout(Duration::from_secs(10), stream.read(&mut buffer))
            .await
            .unwrap_or_else(|_| panic!("nothing new after: {heard}"))
            .unwrap();
        assert_ne!(read, 0, "the stream ended after: {heard}");
        heard.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
}

#[tokio::test]
async fn a_lost_worker_is_noticed_and_open_streams_end_with_the_process() {
    let test = TestDatabase::create().await;
    let now = SystemClock::default().now();
    let alice = accounts::ensure_local_user(&test.db, "alice", now)
        .await
        .unwrap();
    let token = accounts::mint_token(&test.db, alice, "test").await.unwrap();
    let key = accounts::ensure_worker_key(&test.db, "test", None)
        .await
        .unwrap();
    let server = Server::start(&test).await;

    let submit = json!({"problem": "vector_add", "device": "emulated", "source": KERNEL});
    let submitted = server
        .call("POST", "/api/v1/submissions", &token, &submit)
        .await;
    let id = submitted["submission_id"].as_str().unwrap();
    let path = format!("/api/v1/submissions/{id}/events");
    let mut watch = server.send("GET", &path, &token, &Value::Null).await;
    let mut heard = String::new();
    read_until(&mut watch, &mut heard, "\"queued\"").await;

    let version = server
        .call("GET", "/api/v1/problems/vector_add", &token, &Value::Null)
        .await;
    let register = json!({
        "name": "w1", "devices": ["emulated"],
        "problems": [{"slug": "vector_add", "version": version["version"]}],
        "toolchain": {"nvrtc": "13.5.37", "cupti": null, "options": []},
    });
    let worker = server
        .call("POST", "/api/v1/worker/register", &key, &register)
        .await;
    let claim = json!({
        "worker_id": worker["worker_id"], "incarnation": worker["incarnation"],
        "claim_id": uuid::Uuid::new_v4(),
    });
    let claimed = server
        .call("POST", "/api/v1/worker/claim", &key, &claim)
        .await;
    assert_eq!(
        claimed["claim"]["submission_id"],
        submitted["submission_id"]
    );
    read_until(&mut watch, &mut heard, "\"running\"").await;

    // The worker says nothing more; the process itself finds out.
    test.advance(Duration::from_secs(31)).await;
    read_until(&mut watch, &mut heard, "queued again").await;

    server.stop.send(()).unwrap();
    let mut rest = Vec::new();
    timeout(Duration::from_secs(5), watch.read_to_end(&mut rest))
        .await
        .expect("the stream ends when the process stops")
        .unwrap();
    timeout(Duration::from_secs(5), server.served)
        .await
        .expect("the process stops")
        .unwrap()
        .unwrap();
    assert_eq!(database::invariants::check(&test.db).await.unwrap(), []);
}
