//! Host functions that read device values back, through the real binary and its sandboxed children.

use end_to_end::{Judged, judge, judge_with};

/// Adds in place of `c`, then asks the device whether all is done.
fn vector_add(body: &str) -> Judged {
    let source = format!(
        "__device__ int rounds;
__global__ void add(const float* a, const float* b, float* c, int* left, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) {{ *left = *left - 1; rounds = rounds + 1; }}
}}
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {{
    int* d; cudaMalloc(&d, sizeof(int)); int left = 3;
    cudaMemcpy(d, &left, sizeof(int), cudaMemcpyHostToDevice);
{body}
    cudaFree(d);
}}
"
    );
    judge("vector_add", source.as_bytes())
}

const LAUNCH: &str = "add<<<(n + 255) / 256, 256>>>(a, b, c, d, n);";
const READ: &str = "cudaMemcpy(&left, d, sizeof(int), cudaMemcpyDeviceToHost);";

#[test]
fn a_loop_over_a_flag_is_accepted_and_said_to_be_live() {
    let judged = vector_add(&format!("while (left > 0) {{ {LAUNCH} {READ} }}"));
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    let report = judged.report();
    assert_eq!(report["execution"], "live");
    for shape in report["shapes"].as_array().unwrap() {
        assert_eq!(
            (&shape["read_backs"], &shape["launches"]),
            (&3.into(), &3.into())
        );
    }
}

#[test]
fn a_read_back_that_nobody_uses_is_only_warned_of() {
    let judged = vector_add(&format!("{LAUNCH} {READ}"));
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    let report = judged.report();
    assert_eq!(report["execution"], "planned");
    assert!(report["shapes"][0]["read_backs"].is_null());
    let diagnostics = report["diagnostics"].to_string();
    assert!(diagnostics.contains("nothing uses"), "{diagnostics}");
}

#[test]
fn variables_of_the_device_are_read_by_name() {
    let judged = vector_add(&format!(
        "int seen = 0; do {{ {LAUNCH} cudaMemcpyFromSymbol(&seen, rounds, sizeof(int)); }} while (seen < 4);"
    ));
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    assert_eq!(judged.report()["shapes"][0]["launches"], 4);
}

#[test]
fn a_loop_that_never_ends_is_ended() {
    let judged = vector_add(&format!("while (left < 4) {{ {LAUNCH} {READ} }}"));
    assert_eq!(judged.verdict(), "plan_error/fuel", "{}", judged.message());
    // Of a kernel that does not end either it is the instructions.
    let source = "__global__ void spin(int* d) { *d = 1; while (*(volatile int*)d) ; }
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    int* d; cudaMalloc(&d, 4); int more = 1;
    while (more) { spin<<<1, 1>>>(d); cudaMemcpy(&more, d, 4, cudaMemcpyDeviceToHost); }
}";
    let judged = judge("vector_add", source.as_bytes());
    assert_eq!(
        judged.report()["verdict"],
        "time_limit",
        "{}",
        judged.message()
    );
}

#[test]
fn garbage_of_the_device_is_a_fault_at_its_line() {
    let judged = vector_add(&format!(
        "{LAUNCH} {READ}\n int t[2] = {{0, 1}}; left = t[left];"
    ));
    assert_eq!(
        judged.verdict(),
        "plan_error/host_fault",
        "{}",
        judged.message()
    );
    let line = &judged.report()["diagnostics"][0]["line"];
    assert_eq!(line, 11, "{}", judged.report()["diagnostics"]);
}

#[test]
fn ranked_judgings_take_live_answers() {
    let source = "__global__ void add(const float* a, const float* b, float* c, int* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) *d = 0;
}
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    int* d; cudaMalloc(&d, 4); int more = 1;
    while (more) { add<<<(n + 255) / 256, 256>>>(a, b, c, d, n);
        cudaMemcpy(&more, d, 4, cudaMemcpyDeviceToHost); }
    cudaFree(d);
}";
    let judged = judge_with("vector_add", source.as_bytes(), &["--mode", "ranked"]);
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    assert_eq!(judged.report()["execution"], "live");
}

/// A kernel of width `W`, of which the device says which one is needed: `widths` in turn, then none.
fn widening(widths: &[u32]) -> String {
    let table: Vec<String> = widths.iter().map(u32::to_string).collect();
    let cases: Vec<String> = widths
        .iter()
        .map(|width| {
            format!("if (w == {width}) wide<{width}><<<(n + 255) / 256, 256>>>(a, b, c, n);\n")
        })
        .collect();
    format!(
        "__device__ int at;
template <int W> __global__ void wide(const float* a, const float* b, float* c, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}}
__global__ void next(int* d) {{
    const int widths[] = {{{}, 0}};
    *d = widths[at]; at = at + 1;
}}
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {{
    int* d; cudaMalloc(&d, sizeof(int)); int w = 1;
    while (w) {{
        next<<<1, 1>>>(d);
        cudaMemcpy(&w, d, sizeof(int), cudaMemcpyDeviceToHost);
{}    }}
    cudaFree(d);
}}
",
        table.join(", "),
        cases.concat()
    )
}

#[test]
fn a_template_that_only_a_run_asks_for_is_compiled_and_the_run_begins_anew() {
    let judged = judge("vector_add", widening(&[96, 97, 98]).as_bytes());
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    let report = judged.report();
    let kernels = report["kernels"].as_array().unwrap();
    let mut names: Vec<&str> = kernels.iter().filter_map(|k| k["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["next", "wide<96>", "wide<97>", "wide<98>"]);
    for shape in report["shapes"].as_array().unwrap() {
        assert_eq!(
            (&shape["launches"], &shape["read_backs"]),
            (&7.into(), &4.into())
        );
    }
}

#[test]
fn a_fourth_template_that_only_a_run_asks_for_is_refused_at_its_line() {
    let judged = judge("vector_add", widening(&[96, 97, 98, 99]).as_bytes());
    assert_eq!(
        judged.verdict(),
        "plan_error/unsupported_construct",
        "{}",
        judged.message()
    );
    assert!(
        judged.message().contains("`wide<99>`"),
        "{}",
        judged.message()
    );
    assert_eq!(judged.report()["shapes"][0]["verdict"], "plan_error");
}
