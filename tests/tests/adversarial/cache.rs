//! What is kept of compiles: damage and loss cost a compile, never a judging.

use std::path::Path;

use end_to_end::answers::{CRASH, HOST, KERNEL};
use end_to_end::{lightspeed, run_with_input};

fn judged_in(state: &Path, source: &str) -> serde_json::Value {
    let toolchain = std::env::var("LIGHTSPEED_TOOLCHAIN").map_or_else(
        |_| {
            let state = end_to_end::binary().with_file_name("end-to-end-state");
            let mut folders = std::fs::read_dir(state.join("toolchain")).unwrap();
            folders.next().unwrap().unwrap().path()
        },
        Into::into,
    );
    let mut command = lightspeed();
    command
        .args(["judge", "vector_add", "-", "--device", "emulated", "--json"])
        .env("LIGHTSPEED_STATE", state)
        .env("LIGHTSPEED_TOOLCHAIN", toolchain);
    let output = run_with_input(&mut command, source.as_bytes());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn files(state: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(state.join("cache")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_submission_is_compiled_once_whatever_happens_to_the_cache() {
    let state = tempfile::tempdir().unwrap();
    let source = format!("{KERNEL}{HOST}");
    let first = judged_in(state.path(), &source);
    assert_eq!(first["verdict"], "accepted");
    let kept = files(state.path());
    assert!(kept.len() >= 2, "the answer and the reference: {kept:?}");
    // What comes from the cache says what the first compile took.
    let again = judged_in(state.path(), &source);
    assert_eq!(again["verdict"], "accepted");
    assert_eq!(files(state.path()).len(), kept.len());
    // Another text, if only by a space, is another compile.
    judged_in(state.path(), &format!("{source} "));
    assert_eq!(files(state.path()).len(), kept.len() + 1);
    for file in files(state.path()) {
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
    }
    assert_eq!(judged_in(state.path(), &source)["verdict"], "accepted");
    std::fs::remove_dir_all(state.path().join("cache")).unwrap();
    assert_eq!(judged_in(state.path(), &source)["verdict"], "accepted");
}

#[test]
fn crashes_are_not_kept_and_errors_are() {
    let state = tempfile::tempdir().unwrap();
    judged_in(state.path(), &format!("{KERNEL}{HOST}"));
    let before = files(state.path()).len();
    let crash = judged_in(state.path(), CRASH);
    assert_eq!(crash["kind"], "compiler_crash", "{crash}");
    assert_eq!(files(state.path()).len(), before);
    let error = judged_in(
        state.path(),
        &format!("__device__ int f() {{ return y; }}\n{KERNEL}{HOST}"),
    );
    assert_eq!(error["kind"], "diagnostics", "{error}");
    assert_eq!(files(state.path()).len(), before + 1);
}
