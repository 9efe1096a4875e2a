//! What only practice looks for: races and values that nobody wrote. Each faulty kernel stands beside a right one.

use end_to_end::answers::{HOST, expect};
use end_to_end::{Judged, judge_with};

/// Judges a kernel for `vector_add` that hands its sums on within the block, over shared memory.
fn judged(first: &str, barrier: &str, mode: &str) -> Judged {
    let source = format!(
        "__global__ void add(const float* a, const float* b, float* c, int n) {{
    __shared__ float sums[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    {first}
    {barrier}
    int other = blockIdx.x * 256 + (255 - threadIdx.x);
    float sum = sums[255 - threadIdx.x];
    if (other < n) c[other] = sum;
}}
{HOST}"
    );
    judge_with("vector_add", source.as_bytes(), &["--mode", mode])
}

const WRITE: &str = "if (i < n) sums[threadIdx.x] = a[i] + b[i];";
/// Written before, so that what is read too early holds a value.
const REWRITE: &str =
    "sums[threadIdx.x] = 0; __syncthreads(); if (i < n) sums[threadIdx.x] = a[i] + b[i];";
const HALF: &str = "if (i < n && threadIdx.x < 128) sums[threadIdx.x] = a[i] + b[i];";
const BARRIER: &str = "__syncthreads();";

#[track_caller]
fn is_at(judged: &Judged, line: u32) {
    let diagnostics = judged.report()["diagnostics"].as_array().unwrap();
    let run = diagnostics.iter().find(|found| found["stage"] == "run");
    let run = run.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert_eq!(run["line"], line, "{run}");
    assert_eq!(run["severity"], "error", "{run}");
}

#[test]
fn a_right_kernel_is_accepted() {
    for (write, mode) in [
        (WRITE, "practice"),
        (REWRITE, "practice"),
        (WRITE, "ranked"),
    ] {
        let judged = judged(write, BARRIER, mode);
        assert_eq!(judged.verdict(), "accepted", "{mode}: {}", judged.message());
    }
}

#[test]
fn a_missing_barrier_is_a_race() {
    let practised = judged(REWRITE, "", "practice");
    expect(
        &practised,
        "runtime_error/race",
        "no barrier orders the two",
    );
    is_at(&practised, 4);
    assert!(
        practised.message().contains("on line 7"),
        "{}",
        practised.message()
    );
}

#[test]
fn half_of_shared_memory_is_not_written() {
    let practised = judged(HALF, BARRIER, "practice");
    expect(
        &practised,
        "runtime_error/uninitialised_read",
        "a value that nobody wrote",
    );
    is_at(&practised, 8);
    assert!(
        practised.message().contains("on line 7"),
        "{}",
        practised.message()
    );
}

/// Ranked judgings do not look for either: the order of the emulated device hides the race.
#[test]
fn a_ranked_judging_only_compares_values() {
    let ranked = judged(HALF, BARRIER, "ranked");
    assert_eq!(ranked.verdict(), "wrong_answer", "{}", ranked.message());
}

/// `malloc` without `free`: a warning, not a verdict.
#[test]
fn a_leak_on_the_device_is_told_of() {
    let kernel = |free: &str| {
        format!(
            "__global__ void add(const float* a, const float* b, float* c, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* sum = i < 3 ? (float*)malloc(16) : nullptr;
    c[i] = a[i] + b[i];
    {free}
}}
{HOST}"
        )
    };
    let warnings = |free: &str| {
        let source = kernel(free);
        let judged = judge_with("vector_add", source.as_bytes(), &["--mode", "practice"]);
        assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
        judged.report()["warnings"].to_string()
    };
    let leaking = warnings("if (sum == (float*)8) c[i] = 0;");
    assert!(
        leaking.contains("3 allocations of `malloc` on the device (48 bytes) were never freed"),
        "{leaking}"
    );
    let clean = warnings("free(sum);");
    assert!(!clean.contains("never freed"), "{clean}");
}
