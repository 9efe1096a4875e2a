//! What a practice judging tells beyond the verdict.

use end_to_end::answers::HOST;
use end_to_end::judge_with;

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
