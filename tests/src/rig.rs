//! A whole service on one machine: a database of its own, a real API process, real workers.
//!
//! Every process is the built binary. Dropping the rig kills what is left of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use database::accounts;
use database_testing::TestDatabase;
use domain::{Clock, SubmissionId, SystemClock};
use protocol::routes;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{lightspeed, root};

/// Lease of the services under test: short, so that a death is noticed while the test waits.
pub const LEASE: Duration = Duration::from_secs(2);
/// Longer than three lost attempts and a judging take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running service.
pub struct Rig {
    /// Its database.
    pub database: TestDatabase,
    /// Where it listens.
    pub url: String,
    /// Token of its one user.
    pub token: String,
    key: String,
    state: TempDir,
    api: Process,
    http: reqwest::Client,
    workers_started: u32,
}

impl Rig {
    /// Starts the API; no worker yet.
    ///
    /// # Panics
    /// When anything of it does not start: a test can do nothing else.
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = TestDatabase::create().await;
        let now = SystemClock::default().now();
        let user = accounts::ensure_local_user(&database.db, "tester", now)
            .await
            .expect("a user");
        let token = accounts::mint_token(&database.db, user, "test")
            .await
            .expect("a token");
        let key = accounts::ensure_worker_key(&database.db, "test", None)
            .await
            .expect("a key");
        let state = TempDir::new().expect("a folder");
        let (api, url) = start_api(&database.url(), state.path(), "127.0.0.1:0");
        let http = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        Self {
            database,
            url,
            token,
            key,
            state,
            api,
            http,
            workers_started: 0,
        }
    }

    /// Kills the API process outright and starts another on the same address.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart_api(&mut self) {
        self.api.kill();
        let address = self.url.trim_start_matches("http://").to_owned();
        let (api, url) = start_api(&self.database.url(), self.state.path(), &address);
        assert_eq!(url, self.url, "the address is free again");
        self.api = api;
    }

    /// Starts a worker process on the emulated device.
    pub fn worker(&mut self) -> Process {
        self.worker_with(&[])
    }

    /// The same with more flags.
    pub fn worker_with(&mut self, flags: &[&str]) -> Process {
        self.workers_started += 1;
        let name = format!("w{}", self.workers_started);
        let mut command = lightspeed();
        command
            .args([
                "worker", "--url", &self.url, "--key", &self.key, "--name", &name,
            ])
            .args(["--device", "emulated", "--state"])
            .arg(self.state.path())
            .args(flags)
            .stderr(log(self.state.path(), &name));
        Process::start(command)
    }

    /// What the processes logged, for a failing test's message.
    #[must_use]
    pub fn logs(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.state.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            if entry.path().extension().is_some_and(|e| e == "log") {
                text += &format!("== {}\n", entry.path().display());
                let _ = File::open(entry.path()).and_then(|mut f| f.read_to_string(&mut text));
            }
        }
        text
    }

    /// Submits and returns the submission's id.
    ///
    /// # Panics
    /// When the API refuses.
    pub async fn submit(&self, problem: &str, source: &str) -> SubmissionId {
        let body = json!({
            "problem": problem, "device": "emulated", "mode": "ranked", "source": source,
        });
        let (status, answer) = self.call("POST", routes::SUBMISSIONS, Some(&body)).await;
        assert_eq!(status, 201, "{answer}");
        answer["submission_id"]
            .as_str()
            .and_then(|id| id.parse().ok())
            .expect("an id")
    }

    /// One API call with the user's token.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let method = method.parse().expect("a method");
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("the API answers");
        let status = response.status().as_u16();
        (status, response.json().await.unwrap_or(Value::Null))
    }

    /// The submission as the API shows it. Reading is repeated while the API is away.
    ///
    /// # Panics
    /// When it stays away.
    pub async fn submission(&self, id: SubmissionId) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let url = format!("{}{}", self.url, routes::submission(id));
        loop {
            let answer = self.http.get(&url).bearer_auth(&self.token).send().await;
            if let Ok(response) = answer {
                return response.json().await.expect("the API answers JSON");
            }
            assert!(Instant::now() < deadline, "the API does not come back");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the submission is done; returns it.
    ///
    /// # Panics
    /// When that takes far too long.
    pub async fn finished(&self, id: SubmissionId) -> Value {
        self.until(id, "done").await
    }

    /// Waits until the submission has a status.
    ///
    /// # Panics
    /// When that takes far too long.
    pub async fn until(&self, id: SubmissionId, status: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let submission = self.submission(id).await;
            if submission["status"] == status {
                return submission;
            }
            assert!(
                Instant::now() < deadline,
                "still {submission} after {PATIENCE:?}\n{}",
                self.logs()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Fails the test when the database breaks a rule of the queue.
    ///
    /// # Panics
    /// When it does.
    pub async fn assert_sound(&self) {
        let violations = database::invariants::check(&self.database.db)
            .await
            .expect("a check");
        assert_eq!(violations, []);
    }
}

fn start_api(database_url: &str, state: &Path, address: &str) -> (Process, String) {
    let mut command = lightspeed();
    command
        .args(["serve", "--listen", address, "--state"])
        .arg(state)
        .env("DATABASE_URL", database_url)
        .env("LIGHTSPEED_WEB", root().join("web/build"))
        .env("LIGHTSPEED_LEASE_S", LEASE.as_secs_f64().to_string())
        .stderr(Stdio::piped());
    let mut process = Process::start(command);
    let stderr = process.0.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(stderr).lines();
    let url = loop {
        let line = lines
            .next()
            .expect("serve says where it listens")
            .expect("text");
        if let Some((_, url)) = line.split_once("serving at ") {
            break url.trim().to_owned();
        }
    };
    // Keep the pipe drained, or the API would block on a full one.
    std::thread::spawn(move || lines.for_each(drop));
    (process, url)
}

fn log(folder: &Path, name: &str) -> Stdio {
    File::create(folder.join(format!("{name}.log")))
        .expect("a log file")
        .into()
}

/// A process that is killed when it is dropped.
pub struct Process(Child);

impl Process {
    /// Starts a command with no standard input or output.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        Self(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .expect("it starts"),
        )
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// SIGTERM, then waits for the end; returns the exit status.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn terminate(&mut self) -> Option<i32> {
        let terminated = Command::new("kill").arg(self.id().to_string()).status();
        assert!(terminated.is_ok_and(|status| status.success()), "kill");
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait().expect("it can be waited for") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
