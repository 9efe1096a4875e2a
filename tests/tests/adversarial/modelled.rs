//! Scores of the emulated device: what is slow anywhere scores low, and what is not counted has no score.

use end_to_end::answers::{HOST, KERNEL, vector_add};

fn score(source: &str) -> f64 {
    let judged = vector_add(source);
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    let score = &judged.report()["score"];
    assert_eq!(score["metric"], "modelled_sol", "{score}");
    score["value"].as_f64().unwrap()
}

/// `vector_add` by one thread of one block.
const ONE_THREAD: &str = "__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<<<1, 1>>>(a, b, c, n);
}
";

#[test]
fn one_thread_scores_less_than_a_hundredth() {
    let alone = score(ONE_THREAD);
    assert!(alone < 0.01, "{alone}");
    let whole = score(&format!("{KERNEL}{HOST}"));
    assert!((0.3..=1.0).contains(&whole), "{whole}");
}

#[test]
fn a_kernel_that_takes_memory_on_the_device_has_no_score() {
    let source = format!(
        "__global__ void add(const float* a, const float* b, float* c, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float* sum = (float*)malloc(4);
    if (sum == nullptr) return;
    *sum = a[i] + b[i];
    c[i] = *sum;
    free(sum);
}}
{HOST}"
    );
    let judged = vector_add(&source);
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    assert!(
        judged.report()["score"].is_null(),
        "{}",
        judged.report()["score"]
    );
    let warnings = judged.report()["warnings"].to_string();
    let why = "nothing counts the malloc and free of";
    assert!(
        warnings.contains("no score is modelled") && warnings.contains(why),
        "{warnings}"
    );
}
