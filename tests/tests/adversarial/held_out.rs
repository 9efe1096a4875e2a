//! Sources that try to tell a held-out shape by the way they fail, warn, launch, allocate, print or run: of
//! such a shape a report says whether it was judged right, and nothing else.

use std::sync::{Arc, OnceLock};

use domain::report::ShapeRole;
use domain::{DeviceName, Mode, Source, SystemClock};
use end_to_end::{binary, root};
use judge::{Environment, JudgeRequest, Toolchain, judge_over};
use problems::{Package, Shape};
use serde_json::Value;

/// The held-out shape that the sources look for, and one that they do not know.
pub(crate) const THERE: i64 = 4711;
pub(crate) const ELSEWHERE: i64 = 4712;

pub(crate) fn environment() -> Environment {
    let folder = match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(folder) => folder.into(),
        None => Toolchain::default_dir(&binary().with_file_name("end-to-end-state")),
    };
    let toolchain = Toolchain::install(&folder, &mut |_| {}).unwrap();
    Environment {
        program: binary(),
        ..Environment::new(toolchain, Arc::new(SystemClock::default())).unwrap()
    }
}

pub(crate) fn package() -> Arc<Package> {
    static PACKAGE: OnceLock<Arc<Package>> = OnceLock::new();
    let load = || Arc::new(Package::load(&root().join("problems/vector_add")).unwrap());
    Arc::clone(PACKAGE.get_or_init(load))
}

/// A source whose kernel and host function have these lines before the usual ones, over open shapes and a
/// held-out one of `size` elements.
pub(crate) fn request(
    before: &str,
    kernel: &str,
    host: &str,
    mode: Mode,
    size: i64,
) -> (JudgeRequest, Vec<Shape>) {
    let source = format!(
        "#include <stdio.h>\n{before}
template <int W> __global__ void add(const float* a, const float* b, float* c, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {kernel}
    if (i < n) c[i] = a[i] + b[i];
}}
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {{
    add<1><<<(n + 255) / 256, 256>>>(a, b, c, n);
    {host}
}}
"
    );
    let package = package();
    let mut shapes = package.shapes(mode, domain::DeviceKind::Emulated, None);
    shapes.truncate(3);
    shapes.push(Shape {
        id: "tiny.held_out".to_owned(),
        role: ShapeRole::HeldOut,
        axes: [("N".to_owned(), size)].into(),
        stratum: Some("tiny".to_owned()),
        ..shapes[0].clone()
    });
    let request = JudgeRequest {
        package,
        source: Source::from_bytes(source.into_bytes()).unwrap(),
        device: DeviceName::Emulated,
        mode,
        queued: None,
        master_seed: [7; 32],
    };
    (request, shapes)
}

/// Its report.
fn report(before: &str, kernel: &str, host: &str, mode: Mode, size: i64) -> Value {
    let (request, shapes) = request(before, kernel, host, mode, size);
    serde_json::to_value(judge_over(&environment(), &request, shapes, &mut |_| {})).unwrap()
}

/// What a reader can tell by, without times and the one score that all shapes make together.
fn told(mut report: Value) -> Value {
    let fields = report.as_object_mut().unwrap();
    for field in ["phases_s", "started_at", "finished_at", "score"] {
        fields.remove(field);
    }
    report
}

/// With the held-out shape that the source looks for, and with another: one report like the other, but for
/// whether it was passed.
#[track_caller]
fn tells_nothing(before: &str, kernel: &str, host: &str, passes: bool) {
    for mode in [Mode::Ranked, Mode::Practice] {
        let [mut there, elsewhere] =
            [THERE, ELSEWHERE].map(|size| told(report(before, kernel, host, mode, size)));
        assert_eq!(elsewhere["verdict"], "accepted", "{elsewhere}");
        assert!(!elsewhere.to_string().contains(&ELSEWHERE.to_string()));
        let row = there["shapes"].as_array().unwrap().len() - 1;
        if !passes {
            assert_eq!(there["verdict"], "wrong_answer", "{there}");
            assert_eq!(there["kind"], Value::Null);
            assert_eq!(there["message"], "failed on a held-out shape");
            assert_eq!(
                there["shapes"][row]["message"],
                "failed on a held-out shape"
            );
            assert_eq!(there["shapes"][row]["verdict"], "wrong_answer");
            for field in ["verdict", "message"] {
                there[field] = elsewhere[field].clone();
                there["shapes"][row][field] = elsewhere["shapes"][row][field].clone();
            }
        }
        assert_eq!(there, elsewhere);
    }
}

/// Lines that fail where the shape is there.
#[track_caller]
fn fails_silently(before: &str, kernel: &str, host: &str) {
    tells_nothing(before, kernel, host, false);
}

#[test]
fn plan_errors_tell_nothing() {
    fails_silently("", "", "int x[1]; if (n == 4711) x[n] = 0;");
    fails_silently("", "", "if (n == 4711) throw n;");
    fails_silently("", "", "if (n == 4711) while (true) n = n + 0;");
    fails_silently("", "", "if (n == 4711) add<1><<<1, n>>>(a, b, c, n);");
}

#[test]
fn scratch_tells_nothing() {
    // More than the problem admits, and more than the device has.
    for bytes in ["3ull << 30", "1ull << 44"] {
        let allocate =
            format!("if (n == 4711) {{ float* p; cudaMalloc(&p, {bytes}); cudaFree(p); }}");
        fails_silently("", "", &allocate);
    }
}

#[test]
fn warnings_tell_nothing() {
    let leak = "if (n == 4711) { float* p; cudaMalloc(&p, n); }";
    tells_nothing("", "", leak, true);
    let read = "float h; if (n == 4711) cudaMemcpy(&h, c, 4, cudaMemcpyDeviceToHost);";
    tells_nothing("", "", read, true);
}

#[test]
fn kernels_tell_nothing() {
    tells_nothing(
        "",
        "",
        "if (n == 4711) add<4711><<<n, 256>>>(a, b, c, n);",
        true,
    );
}

#[test]
fn errors_of_the_compiler_tell_nothing() {
    fails_silently(
        "",
        "static_assert(W != 2, \"n is 4711\");",
        "if (n == 4711) add<2><<<1, 32>>>(a, b, c, n);",
    );
    fails_silently(
        "",
        "__shared__ float s[W * 100]; s[threadIdx.x % W] = a[0]; __syncthreads(); if (n < 0) c[0] = s[n];",
        "if (n == 4711) add<4711><<<1, 32>>>(a, b, c, n);",
    );
}

#[test]
fn runs_tell_nothing() {
    for kernel in [
        "if (n == 4711 && i < n) { c[i] = n; return; }",
        "if (n == 4711) c[n + i] = 1;",
        "if (n == 4711) __trap();",
        "if (n == 4711) { printf(\"n is %d\\n\", n); __trap(); }",
        "if (n == 4711) while (true) c[0] += 1;",
        "if (n == 4711) const_cast<float*>(a)[0] = n;",
    ] {
        fails_silently("", kernel, "");
    }
}

#[test]
fn prints_tell_nothing() {
    let print = "if (n == 4711 && i == 0) printf(\"n is %d\\n\", n);";
    tells_nothing("", print, "", true);
}

#[test]
fn live_runs_tell_nothing() {
    let live = "if (n == 4711) { int left = 1; cudaMemcpyFromSymbol(&left, flag, 4); while (left > 0) left--; }";
    tells_nothing("__device__ int flag;", "", live, true);
    let faulty = "int x[1]; if (n == 4711) { int at = 1; cudaMemcpyFromSymbol(&at, flag, 4); x[at + 5] = 0; }";
    fails_silently("__device__ int flag;", "", faulty);
}
