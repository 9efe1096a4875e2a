//! Sources that the adversarial tests send, and what they expect of the reports.

use crate::{Judged, judge};

/// A right kernel for `vector_add`.
pub const KERNEL: &str = "__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
";

/// Its host function.
pub const HOST: &str = "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
";

/// An erroneous template whose instantiation brings NVRTC 13.5.37 down. (Sources with large headers are
/// not looked through first.)
pub const CRASH: &str = "#include <cuda/std/cstdint>
template <int B> __global__ void add(half* c) { c[0] = B; }
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<4><<<1, 1>>>((half*)c);
}
";

/// Judges a source for `vector_add`.
#[must_use]
pub fn vector_add(source: &str) -> Judged {
    judge("vector_add", source.as_bytes())
}

/// Judges a right answer with something before it.
#[must_use]
pub fn before_the_answer(text: &str) -> Judged {
    vector_add(&format!("{text}\n{KERNEL}{HOST}"))
}

/// Judges the usual kernel with another host function.
#[must_use]
pub fn host(body: &str) -> Judged {
    let signature = "extern \"C\" void solve(const float* a, const float* b, float* c, int n)";
    vector_add(&format!("{KERNEL}{signature} {{\n{body}\n}}\n"))
}

/// Judges the usual host function with another kernel body.
#[must_use]
pub fn device(body: &str) -> Judged {
    let signature = "__global__ void add(const float* a, const float* b, float* c, int n)";
    vector_add(&format!("{signature} {{\n{body}\n}}\n{HOST}"))
}

/// A verdict with its kind, a part of the message, and the exit status that goes with them.
///
/// # Panics
/// When the report says something else.
#[track_caller]
pub fn expect(judged: &Judged, verdict: &str, text: &str) {
    assert_eq!(judged.verdict(), verdict, "{}", judged.message());
    assert!(
        judged.message().contains(text),
        "the message does not say `{text}`: {}",
        judged.message()
    );
    let exit = match judged.report()["verdict"].as_str() {
        Some("accepted") => 0,
        Some("judge_error" | "unsupported") => 3,
        _ => 1,
    };
    assert_eq!(judged.exit, exit);
}

/// Input that is turned away before any judging.
///
/// # Panics
/// When it was judged, or for another reason.
#[track_caller]
pub fn refused(judged: &Judged, exit: i32, text: &str) {
    assert!(
        judged.report.is_none(),
        "a report was written: {:?}",
        judged.report
    );
    assert_eq!(judged.exit, exit, "{}", judged.stderr);
    assert!(
        judged.stderr.contains(text),
        "it does not say `{text}`: {}",
        judged.stderr
    );
}
