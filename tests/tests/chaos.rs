//! Processes killed at any moment. Whatever dies, each judging ends with one verdict.

use std::time::Duration;

use end_to_end::rig::{LEASE, Rig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;

const RIGHT: &str = include_str!("../../problems/vector_add/baseline.cu");

/// An endless host loop ends by fuel, an endless kernel by instruction fuel: slow enough to be killed
/// in the middle, and with a verdict that is known.
const SLOW: &str = "__global__ void spin(float* c) { while (true) { c[0] = c[0] + 1.0f; } }
extern \"C\" void solve(const float* a, const float* b, float* c, int n) { spin<<<1, 32>>>(c); }
";

fn long() -> bool {
    std::env::var_os("LIGHTSPEED_TEST_LONG").is_some()
}

fn verdict(submission: &Value) -> &str {
    submission["verdict"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn a_worker_killed_at_any_moment_loses_nothing() {
    let mut rig = Rig::start().await;
    let seed = 20;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let rounds = if long() { 40 } else { 6 };
    for round in 0..rounds {
        let submission = rig.submit("vector_add", RIGHT).await;
        let mut doomed = rig.worker();
        // From before it registers to after it has reported.
        let delay = Duration::from_millis(random.next_u64() % 1500);
        tokio::time::sleep(delay).await;
        doomed.kill();
        let mut heir = rig.worker();
        let done = rig.finished(submission).await;
        assert_eq!(
            verdict(&done),
            "accepted",
            "round {round}, killed after {delay:?}: {done}"
        );
        assert_eq!(
            done["judging_ids"].as_array().map(Vec::len),
            Some(1),
            "one judging"
        );
        heir.kill();
        rig.assert_sound().await;
    }
}

#[tokio::test]
async fn a_worker_killed_while_judging_is_followed_by_another() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", SLOW).await;
    let mut doomed = rig.worker();
    rig.until(submission, "running").await;
    doomed.kill();
    let _heir = rig.worker();
    let done = rig.finished(submission).await;
    assert_eq!(verdict(&done), "time_limit", "{done}");
    assert_eq!(done["kind"], "instruction_fuel");
    rig.assert_sound().await;
}

#[tokio::test]
async fn a_killed_worker_takes_its_children_with_it() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", SLOW).await;
    let mut doomed = rig.worker();
    rig.until(submission, "running").await;
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let mut children = Vec::new();
    while children.is_empty() {
        children = children_of(doomed.id());
        assert!(
            std::time::Instant::now() < deadline,
            "a sandboxed child appears"
        );
    }
    doomed.kill();
    while children.iter().any(|child| is_alive(*child)) {
        assert!(
            std::time::Instant::now() < deadline,
            "children {children:?} outlive their worker"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn three_dead_workers_end_in_a_judge_error() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", SLOW).await;
    for _ in 0..3 {
        let mut doomed = rig.worker();
        rig.until(submission, "running").await;
        doomed.kill();
        let deadline = std::time::Instant::now() + LEASE * 30;
        while rig.submission(submission).await["status"] == "running" {
            assert!(std::time::Instant::now() < deadline, "the lease lapses");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let done = rig.finished(submission).await;
    assert_eq!(verdict(&done), "judge_error", "{done}");
    rig.assert_sound().await;
}

#[tokio::test]
async fn an_api_killed_while_a_worker_judges_is_not_missed() {
    let mut rig = Rig::start().await;
    let _worker = rig.worker();
    for _ in 0..if long() { 10 } else { 2 } {
        let submission = rig.submit("vector_add", RIGHT).await;
        rig.until(submission, "running").await;
        rig.restart_api();
        let done = rig.finished(submission).await;
        assert_eq!(verdict(&done), "accepted", "{done}");
        rig.assert_sound().await;
    }
}

#[tokio::test]
async fn a_worker_told_to_stop_finishes_what_it_has() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", RIGHT).await;
    let mut worker = rig.worker();
    rig.until(submission, "running").await;
    assert_eq!(worker.terminate(), Some(0));
    let done = rig.submission(submission).await;
    assert_eq!(
        (done["status"].as_str(), verdict(&done)),
        (Some("done"), "accepted"),
        "{done}"
    );
    rig.assert_sound().await;
}

/// Four times, one more than attempts are granted: a judging that is handed back is charged for none.
#[tokio::test]
async fn a_worker_told_to_stop_hands_back_what_would_take_too_long() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", SLOW).await;
    for _ in 0..4 {
        let mut worker = rig.worker_with(&["--drain-grace-s", "0"]);
        rig.until(submission, "running").await;
        assert_eq!(worker.terminate(), Some(0));
        let left = rig.submission(submission).await;
        assert_eq!(left["status"], "queued", "{left}");
        rig.assert_sound().await;
    }
    let _heir = rig.worker();
    let done = rig.finished(submission).await;
    assert_eq!(verdict(&done), "time_limit", "{done}");
    rig.assert_sound().await;
}

#[tokio::test]
async fn a_worker_stopped_while_it_claims_keeps_nothing() {
    let mut rig = Rig::start().await;
    for delay in [0, 5, 20, 60] {
        let mut idle = rig.worker();
        tokio::time::sleep(Duration::from_millis(400)).await;
        let submission = rig.submit("vector_add", RIGHT).await;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        assert_eq!(idle.terminate(), Some(0));
        let left = rig.submission(submission).await;
        assert_ne!(left["status"], "running", "after {delay} ms: {left}");
        let mut heir = rig.worker();
        let done = rig.finished(submission).await;
        assert_eq!(verdict(&done), "accepted", "{done}");
        heir.kill();
        rig.assert_sound().await;
    }
}

#[tokio::test]
async fn a_cancelled_judging_stops_and_the_worker_goes_on() {
    let mut rig = Rig::start().await;
    let submission = rig.submit("vector_add", SLOW).await;
    let _worker = rig.worker();
    rig.until(submission, "running").await;
    let path = protocol::routes::submission_cancel(submission);
    let (status, answer) = rig.call("POST", &path, None).await;
    assert!(status < 300, "{status} {answer}");
    assert_eq!(verdict(&rig.finished(submission).await), "cancelled");
    let next = rig.submit("vector_add", RIGHT).await;
    assert_eq!(verdict(&rig.finished(next).await), "accepted");
    rig.assert_sound().await;
}

fn children_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // pid (name) state parent: the name may hold spaces and parentheses.
        let after_name = stat
            .rsplit_once(") ")
            .map(|(_, rest)| rest)
            .unwrap_or_default();
        if after_name.split(' ').nth(1).and_then(|p| p.parse().ok()) == Some(parent) {
            found.push(pid);
        }
    }
    found
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}
