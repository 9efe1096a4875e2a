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
    let cases: [(&[&str], &str); 11] = [
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
        (
            &["watch", "not-an-id"],
            "`not-an-id` is no id of a submission",
        ),
        (&["cancel", "17"], "`17` is no id of a submission"),
        (
            &["submit", "vector_add", empty, "--mode", "rank"],
            "--mode: `rank` is no mode: did you mean `ranked`? write ranked or practice",
        ),
        (
            &["judge", "p", empty, "--batch", "--pause-s", "x"],
            "--pause-s: `x` is no time to wait: give seconds, 0 or more",
        ),
        (
            &["submissions", "--limit", "101"],
            "--limit: `101` does not fit: give a whole number from 1 to 100",
        ),
        (
            &["up", "--web", "/no/such/folder"],
            "/no/such/folder holds no built web app",
        ),
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

/// The repository's own packages.
fn problems() -> String {
    format!("{}/../../problems", env!("CARGO_MANIFEST_DIR"))
}

fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("one document: {text}"))
}

/// A state folder whose service was at an address where nobody is.
fn forsaken_state() -> tempfile::TempDir {
    let state = tempfile::tempdir().unwrap();
    let credentials = "url = \"http://127.0.0.1:1\"\n";
    std::fs::write(state.path().join("credentials.toml"), credentials).unwrap();
    state
}

#[test]
fn under_json_every_error_is_a_document_on_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.cu");
    std::fs::write(&large, vec![b'x'; 17 << 20]).unwrap();
    let large = large.to_str().unwrap();
    let problems = problems();
    let nowhere = ["devices", "--url", "http://127.0.0.1:1", "--json"];
    let misspelt = [
        "judge",
        "vector_ad",
        large,
        "--json",
        "--problems",
        &problems,
    ];
    let cases: [(&[&str], &str, u8); 7] = [
        (&["sumbit", "--json"], "usage", 2),
        (&["judge", "--json"], "usage", 2),
        (&["watch", "foo", "--json"], "usage", 2),
        (&nowhere, "unavailable", 3),
        (&misspelt, "source_too_large", 2),
        (
            &["submit", "vector_add", large, "--json"],
            "source_too_large",
            2,
        ),
        (
            &["leaderboard", "p", "--device", "h201", "--json"],
            "unknown_device",
            2,
        ),
    ];
    for (arguments, word, status) in cases {
        let output = run(arguments);
        assert_eq!(code(&output), i32::from(status), "{arguments:?}");
        let error = &json(&output)["error"];
        assert_eq!(error["code"], word, "{arguments:?}");
        assert_eq!(error["exit_code"], status, "{arguments:?}");
        let message = error["message"].as_str().unwrap();
        // Clap spreads its words over lines.
        let said = stderr(&output);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(message), "{said}");
        assert!(error["hint"].is_string(), "{arguments:?}");
    }
}

#[test]
fn a_source_over_the_limit_is_told_its_size_and_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.cu");
    std::fs::write(&large, vec![b'x'; 17 << 20]).unwrap();
    for verb in ["judge", "submit"] {
        let output = run(&[verb, "vector_add", large.to_str().unwrap()]);
        assert_eq!(code(&output), 2);
        let said = "the source has 17825792 bytes; the limit is 262144 bytes (source_too_large)";
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn problems_are_read_from_packages_where_no_service_runs() {
    let state = forsaken_state();
    let problems = problems();
    let run = |arguments: &[&str]| {
        let mut command = lightspeed(state.path());
        command.args(arguments).args(["--problems", &problems]);
        command.output().unwrap()
    };
    let list = run(&["problem", "list"]);
    assert_eq!(code(&list), 0, "{}", stderr(&list));
    assert!(
        stderr(&list).contains("reading the packages of"),
        "{}",
        stderr(&list)
    );
    assert!(String::from_utf8_lossy(&list.stdout).contains("matrix_transpose"));
    let list = json(&run(&["problem", "list", "--json"]));
    assert_eq!(list["problems"][0]["solvers"], serde_json::Value::Null);
    let show = run(&["problem", "show", "matmul"]);
    let text = String::from_utf8_lossy(&show.stdout);
    assert!(text.contains("C_ik = ∑(j=0..N-1) A_ij B_jk"), "{text}");
    let misspelt = run(&["problem", "show", "matmull"]);
    assert_eq!(code(&misspelt), 2);
    assert!(stderr(&misspelt).contains("did you mean `matmul`?"));
    // Who names a service wants that one.
    let asked = run(&["problem", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!(code(&asked), 3);
}

#[test]
fn outside_the_repository_the_ways_to_name_packages_are_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cu"), "__global__ void k() {}").unwrap();
    let cases: [&[&str]; 5] = [
        &["judge", "vector_add", "k.cu"],
        &["problem", "verify", "vector_add"],
        &["serve", "--database-url", "postgres://nowhere/x"],
        &["up"],
        &["worker", "--key", "lsw_x", "--url", "http://127.0.0.1:1"],
    ];
    for arguments in cases {
        let mut command = lightspeed(&folder.path().join("state"));
        let output = command
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        for way in ["does not exist", "--problems", "LIGHTSPEED_PROBLEMS"] {
            assert!(
                stderr(&output).contains(way),
                "{arguments:?}: {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn flags_that_contradict_or_name_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.cu");
    std::fs::write(&kernel, "__global__ void k() {}").unwrap();
    let problems = problems();
    let judge = |more: &[&str]| {
        let state = tempfile::tempdir().unwrap();
        let mut command = lightspeed(state.path());
        command.args(["judge", "vector_add", kernel.to_str().unwrap()]);
        command.args(["--problems", &problems, "--allow-unconfined"]);
        command.args(more).output().unwrap()
    };
    let toolchain = judge(&["--toolchain", "/no/such/folder"]);
    assert_eq!(code(&toolchain), 2, "{}", stderr(&toolchain));
    let said = "the folder /no/such/folder of --toolchain (LIGHTSPEED_TOOLCHAIN) does not exist";
    assert!(stderr(&toolchain).contains(said), "{}", stderr(&toolchain));
    let both = judge(&["--device", "emulated", "--gpu", "0"]);
    assert_eq!(code(&both), 2, "{}", stderr(&both));
    let said = "--gpu 0 names a GPU, and --device emulated uses none";
    assert!(stderr(&both).contains(said), "{}", stderr(&both));
}

/// Runs `serve` with the URL that a shell makes of the cluster's own.
fn serve_with(url: &str) -> Output {
    let script = format!(
        "DATABASE_URL={url} exec {} serve --listen 127.0.0.1:0 --problems {}",
        env!("CARGO_BIN_EXE_lightspeed"),
        problems()
    );
    run(&["__with-postgres", "--", "bash", "-c", &script])
}

#[test]
fn a_database_url_that_does_not_work_is_told_by_its_fault_and_without_its_password() {
    let cases = [
        ("nonsense", 2, "is not the URL of a Postgres database"),
        (
            "postgres://u:sesame@host:port/x",
            2,
            "is not the URL of a Postgres database",
        ),
        (
            "postgres://u:sesame@127.0.0.1:1/x",
            3,
            "no Postgres server answers",
        ),
        (
            // The cluster's own URL with another password.
            "$(sed -E 's|//([^:]+):[^@]+@|//\\1:sesame@|' <<<\"$DATABASE_URL\")",
            2,
            "refuses the user or the password",
        ),
        (
            "$(sed -E 's#/lightspeed([?]|$)#/nowhere\\1#' <<<\"$DATABASE_URL\")",
            2,
            "has no database of the name",
        ),
    ];
    for (url, status, said) in cases {
        let output = serve_with(url);
        let text = stderr(&output);
        assert_eq!(code(&output), status, "{url}: {text}");
        assert!(text.contains(said), "{url}: {text}");
        assert!(
            text.contains("DATABASE_URL (--database-url)"),
            "{url}: {text}"
        );
        assert!(!text.contains("sesame"), "{url}: {text}");
    }
}
