//! A process that serves on a socket: it expires leases by itself and stops with streams open.

use std::time::Duration;

use api::ConnectionLimits;
use database::accounts;
use database_testing::TestDatabase;
use domain::{Clock, SystemClock};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::support::{KERNEL, config};

struct Server {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<Result<(), api::StartError>>,
}

impl Server {
    async fn start(test: &TestDatabase) -> Self {
        Self::start_with(test, ConnectionLimits::default()).await
    }

    async fn start_with(test: &TestDatabase, connections: ConnectionLimits) -> Self {
        let mut config = config(&test.db, None);
        config.connections = connections;
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

/// What the server says until it hangs up; it must do so by itself.
async fn rest(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    timeout(Duration::from_secs(5), stream.read_to_end(&mut heard))
        .await
        .expect("the server hangs up")
        .unwrap_or_default();
    String::from_utf8(heard).unwrap()
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

/// Times short enough to wait for.
const SHORT: ConnectionLimits = ConnectionLimits {
    connections: 8,
    header_read: Duration::from_millis(300),
    body_read: Duration::from_millis(300),
    write_stall: Duration::from_millis(300),
};

#[tokio::test]
async fn clients_that_dawdle_are_cut_off() {
    let test = TestDatabase::create().await;
    let server = Server::start_with(&test, SHORT).await;
    // Nothing at all, half a head, a head that trickles.
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(rest(&mut silent).await, "");
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n")
        .await
        .unwrap();
    assert!(!rest(&mut half).await.contains(" 200 "));
    let trickle = TcpStream::connect(server.address).await.unwrap();
    let (mut hear, mut say) = trickle.into_split();
    let dripping = tokio::spawn(async move {
        say.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        while say.write_all(b"a: b\r\n").await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
    });
    let mut heard = Vec::new();
    timeout(Duration::from_secs(5), hear.read_to_end(&mut heard))
        .await
        .expect("the server hangs up")
        .unwrap_or_default();
    dripping.abort();

    // A body that trickles: the whole of it has to be there in time.
    let key = accounts::ensure_worker_key(&test.db, "test", None)
        .await
        .unwrap();
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /api/v1/worker/claim HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: 1000\r\n\r\n"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..20 {
        if slow.write_all(b" ").await.is_err() {
            break;
        }
        sleep(Duration::from_millis(30)).await;
    }
    let heard = rest(&mut slow).await;
    assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
    assert!(heard.contains("\"code\":\"request_timeout\""), "{heard}");
    server.stop.send(()).unwrap();
    server.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let test = TestDatabase::create().await;
    let limits = ConnectionLimits {
        connections: 1,
        ..SHORT
    };
    let server = Server::start_with(&test, limits).await;
    let mut deaf = TcpStream::connect(server.address).await.unwrap();
    // Answers pile up until they fit nowhere; then the client has its time to read.
    let ask = "GET /api/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(500);
    let _ = timeout(Duration::from_secs(1), deaf.write_all(ask.as_bytes())).await;
    // Its place, the only one, is free again.
    let mut next = server.send("GET", "/healthz", "", &Value::Null).await;
    assert!(rest(&mut next).await.starts_with("HTTP/1.1 "));
    drop(deaf);
    server.stop.send(()).unwrap();
    server.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_house_lets_the_next_one_in_when_somebody_leaves() {
    let test = TestDatabase::create().await;
    let limits = ConnectionLimits {
        connections: 1,
        header_read: Duration::from_secs(60),
        ..SHORT
    };
    let server = Server::start_with(&test, limits).await;
    let idle = TcpStream::connect(server.address).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    let mut next = server.send("GET", "/healthz", "", &Value::Null).await;
    let early = timeout(Duration::from_millis(300), next.read_u8()).await;
    assert!(early.is_err(), "there is no place yet");
    drop(idle);
    assert!(rest(&mut next).await.starts_with("HTTP/1.1 "));
    server.stop.send(()).unwrap();
    server.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn streams_and_waiting_claims_outlive_every_limit() {
    let test = TestDatabase::create().await;
    let now = SystemClock::default().now();
    let alice = accounts::ensure_local_user(&test.db, "alice", now)
        .await
        .unwrap();
    let token = accounts::mint_token(&test.db, alice, "test").await.unwrap();
    let key = accounts::ensure_worker_key(&test.db, "test", None)
        .await
        .unwrap();
    let server = Server::start_with(&test, SHORT).await;
    let register = json!({
        "name": "w1", "devices": ["emulated"], "problems": [],
        "toolchain": {"nvrtc": "13.5.37", "cupti": null, "options": []},
    });
    let worker = server
        .call("POST", "/api/v1/worker/register", &key, &register)
        .await;
    let submit = json!({"problem": "vector_add", "device": "emulated", "source": KERNEL});
    let submitted = server
        .call("POST", "/api/v1/submissions", &token, &submit)
        .await;
    let id = submitted["submission_id"].as_str().unwrap();
    let path = format!("/api/v1/submissions/{id}/events");
    let mut watch = server.send("GET", &path, &token, &Value::Null).await;
    let mut heard = String::new();
    read_until(&mut watch, &mut heard, "\"queued\"").await;
    // The claim waits three times as long as any limit, for nothing that this worker can judge.
    let claim = json!({
        "worker_id": worker["worker_id"], "incarnation": worker["incarnation"],
        "claim_id": uuid::Uuid::new_v4(), "wait_s": 1.0,
    });
    let claimed = server
        .call("POST", "/api/v1/worker/claim", &key, &claim)
        .await;
    assert_eq!(claimed["claim"], Value::Null);
    server
        .call(
            "POST",
            &format!("/api/v1/submissions/{id}/cancel"),
            &token,
            &Value::Null,
        )
        .await;
    read_until(&mut watch, &mut heard, "\"cancelled\"").await;
    server.stop.send(()).unwrap();
    server.served.await.unwrap().unwrap();
}
