//! The binary as a shell sees it: exit status, what goes to stdout, and the way out on stderr.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::Path;
use std::process::{Command, Output};

/// The binary with an environment of its own.
fn lightspeed(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lightspeed"));
    for name in [
        "URL",
        "TOKEN",
        "DEVICE",
        "PROBLEMS",
        "TOOLCHAIN",
        "WORKER_KEY",
        "LISTEN",
    ] {
        command.env_remove(format!("LIGHTSPEED_{name}"));
    }
    command
        .env("LIGHTSPEED_STATE", state)
        .env_remove("DATABASE_URL");
    command
}

fn run(arguments: &[&str]) -> Output {
    let state = tempfile::tempdir().unwrap();
    lightspeed(state.path()).args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [&["--help"][..], &["--version"], &["submit", "--help"]] {
        let output = run(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn wrong_usage_is_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.cu");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["sumbit"], "unrecognized subcommand"),
        (&["submit", "vector_add", "/no/such.cu"], "cannot read"),
        (&["submit", "vector_add", empty], "invalid_source"),
        (
            &["leaderboard", "vector_add", "--device", "h201"],
            "unknown_device",
        ),
        (
            &["devices", "--url", "localhost"],
            "not the URL of a service",
        ),
        (&["watch", "not-an-id"], "invalid value"),
    ];
    for (arguments, said) in cases {
        let output = run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_service_that_is_not_there_is_status_3_with_a_way_out() {
    // Port 1 is never served.
    let output = run(&["devices", "--url", "http://127.0.0.1:1"]);
    assert_eq!(code(&output), 3);
    assert!(
        stderr(&output).contains("./lightspeed up"),
        "{}",
        stderr(&output)
    );
    let status = run(&["status", "--json"]);
    assert_eq!(code(&status), 3);
    let document: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(document["running"], false);
}

#[test]
fn an_unknown_problem_is_status_2_and_names_the_known() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.cu");
    std::fs::write(&kernel, "__global__ void k() {}").unwrap();
    let problems = folder.path().to_str().unwrap();
    let arguments = [
        "judge",
        "vector_ad",
        kernel.to_str().unwrap(),
        "--problems",
        problems,
    ];
    let output = run(&arguments);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("unknown_problem"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_openapi_document_needs_no_service() {
    let output = run(&["openapi"]);
    assert_eq!(code(&output), 0);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["paths"]["/api/v1/submissions"].is_object());
}

#[test]
fn a_command_gets_a_database_and_its_status_comes_back() {
    let script = r#"psql "$DATABASE_URL" -Atc 'SELECT 6 * 7' && exit 9"#;
    let output = run(&["__with-postgres", "--", "sh", "-c", script]);
    assert_eq!(code(&output), 9, "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "42");
}

#[test]
fn a_migrated_database_is_migrated() {
    let script =
        r#"psql "$DATABASE_URL" -Atc "SELECT count(*) > 0 FROM _sqlx_migrations WHERE success""#;
    let output = run(&["__with-postgres", "--migrated", "--", "sh", "-c", script]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "t");
}

#[test]
fn down_without_a_service_says_so() {
    let output = run(&["down"]);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("nothing runs"));
}
