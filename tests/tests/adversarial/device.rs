//! Kernels that are broken or hostile: every case names the exact verdict and the text shown.

use end_to_end::answers::{HOST, KERNEL, device, expect, host, vector_add};
use end_to_end::judge_with;

#[test]
fn syntax_error_has_line_and_column() {
    let judged = device("    int i = threadIdx.x\n    c[i] = 0;");
    expect(&judged, "compile_error/diagnostics", "expected a \";\"");
    let first = &judged.report()["diagnostics"][0];
    assert_eq!(
        (&first["stage"], &first["line"]),
        (&"compile".into(), &3.into()),
        "{first}"
    );
}

#[test]
fn syntax_error_in_a_kernels_head_is_the_compilers_to_explain() {
    let judged = vector_add(&format!(
        "__global__ void add(const float* a, {{ }}\n{HOST}"
    ));
    assert_eq!(
        judged.verdict(),
        "compile_error/diagnostics",
        "{}",
        judged.message()
    );
    assert_eq!(judged.report()["diagnostics"][0]["line"], 1);
}

#[test]
fn copies_of_the_host_function_count_as_traffic() {
    let body = "float* s; cudaMalloc(&s, 4 * n > 1048576 ? 4 : 4 * n);
        add<<<(n + 255) / 256, 256>>>(a, b, c, n);
        if (4 * n <= 1048576) {
            cudaMemcpy(s, c, 4 * n, cudaMemcpyDeviceToDevice);
            cudaMemcpy(c, s, 4 * n, cudaMemcpyDeviceToDevice);
        }
        cudaFree(s);";
    let judged = host(body);
    assert_eq!(judged.verdict(), "accepted", "{}", judged.message());
    // 12 bytes an element must move; 12 + 16 do.
    let shapes = judged.report()["shapes"].as_array().unwrap();
    let value = shapes.last().unwrap()["traffic_efficiency"]
        .as_f64()
        .unwrap();
    assert!((value - 12.0 / 28.0).abs() < 0.001, "{value}");
}

#[test]
fn endless_kernel() {
    let judged = device("while (true) { c[0] = c[0] + 1.0f; }");
    expect(&judged, "time_limit/instruction_fuel", "");
}

#[test]
fn out_of_bounds_write_names_thread_block_offset_and_line() {
    let judged =
        device("int i = blockIdx.x * blockDim.x + threadIdx.x;\nc[i] = a[i % n] + b[i % n];");
    expect(
        &judged,
        "runtime_error/out_of_bounds",
        "`C`, which has 4 bytes",
    );
    let all = judged.report()["diagnostics"].to_string();
    assert!(all.contains("\"stage\":\"run\""), "{all}");
    let run = judged.report()["diagnostics"]
        .as_array()
        .and_then(|d| d.last().cloned());
    assert_eq!(run.unwrap()["line"], 3);
}

#[test]
fn more_static_memory_than_a_kernel_can_have() {
    let judged =
        device("__shared__ float x[20000]; x[threadIdx.x] = a[0]; __syncthreads(); c[0] = x[n];");
    let text = "kernel 'add' uses too much shared data: 80000 bytes a block; the limit is 49152";
    expect(&judged, "compile_error/diagnostics", text);
    for (length, bytes) in [("200000", "800000"), ("100000000", "400000000")] {
        let body = format!("float x[{length}]; x[n] = a[0]; x[threadIdx.x] = 1; c[0] = x[n + 1];");
        let text = format!("uses too much local data: {bytes} bytes a thread; the limit is 524288");
        expect(&device(&body), "compile_error/diagnostics", &text);
    }
}

#[test]
fn device_variables_cost_what_is_touched() {
    let started = std::time::Instant::now();
    let judged = vector_add(&format!("__device__ char big[2000000000];\n{KERNEL}{HOST}"));
    expect(&judged, "accepted", "all 12 shapes are correct");
    let used = KERNEL.replace("int i", "big[n] = 1; int i");
    let judged = vector_add(&format!("__device__ char big[60000000000];\n{used}{HOST}"));
    expect(&judged, "memory_limit", "60000000000");
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn barriers_that_some_threads_go_around() {
    let work = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i];";
    for condition in ["threadIdx.x < 7", "threadIdx.x < 32", "threadIdx.x >= 32"] {
        let judged = device(&format!("if ({condition}) __syncthreads();\n{work}"));
        let text = "around";
        expect(&judged, "runtime_error/barrier_divergence", text);
    }
    let branches = format!(
        "__shared__ float s; if (threadIdx.x < 32) {{ s = 1;\n__syncthreads(); c[0] = s; }} else {{\n__syncthreads(); c[0] = 2 * s; }} {work}"
    );
    let text = "reaches a __syncthreads() while thread (0,0,0) waits at another one";
    expect(&device(&branches), "runtime_error/barrier_divergence", text);
    // What everybody writes.
    let early = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
        __shared__ float s[256]; s[threadIdx.x] = a[i] + b[i]; __syncthreads(); c[i] = s[threadIdx.x];";
    expect(&device(early), "accepted", "all 12 shapes are correct");
}

#[test]
fn control_characters_are_not_repeated() {
    let judged = vector_add(&format!(
        "#error \"{}[31mred{}\"\n{KERNEL}{HOST}",
        '\u{1b}', '\u{7}'
    ));
    let text = "line 1: #error directive: \"\u{fffd}[31mred\u{fffd}\"";
    expect(&judged, "compile_error/diagnostics", text);
}

#[test]
fn null_pointer() {
    // Volatile, or the compiler would see the null and drop the store.
    let judged = device("float* volatile p = nullptr; p[threadIdx.x] = 1.0f;");
    expect(
        &judged,
        "runtime_error/out_of_bounds",
        "writes 4 bytes through a null pointer (address 0x0)",
    );
}

#[test]
fn input_written() {
    let judged = device("const_cast<float*>(a)[0] = 0.0f;");
    expect(&judged, "runtime_error/input_modified", "`A`");
}

#[test]
fn wrong_values_are_shown_with_their_index() {
    let body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] - b[i];";
    let judged = device(body);
    expect(
        &judged,
        "wrong_answer",
        "`C`: 1 of 1 elements are wrong; first at C[0]: expected ",
    );
    let mismatch = &judged.report()["shapes"][0]["mismatches"][0];
    assert_eq!(
        (&mismatch["output"], &mismatch["count"]),
        (&"C".into(), &1.into())
    );
    assert_eq!(mismatch["first"][0]["index"], serde_json::json!([0]));
}

#[test]
fn nothing_written() {
    expect(&device(""), "wrong_answer", "`C` was never written");
}

#[test]
fn trap_and_assert() {
    expect(&device("__trap();"), "runtime_error/trap", "");
    expect(&device("assert(n < 0);"), "runtime_error/assert", "");
}

#[test]
fn printf_flood() {
    let body = "for (int i = 0; i < 100000; i++) printf(\"all work and no play %d\\n\", i);";
    expect(&device(body), "output_limit", "65536");
}

#[test]
fn printf_is_kept_in_practice_only() {
    let body = "if (threadIdx.x == 0 && blockIdx.x == 0) printf(\"n is %d\\n\", n);";
    let signature = "__global__ void add(const float* a, const float* b, float* c, int n)";
    let source = format!("{signature} {{\n{body}\n}}\n{HOST}");
    let practice = judge_with("vector_add", source.as_bytes(), &["--mode", "practice"]);
    let printed = practice.report()["printed"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(printed.starts_with("n is 1\n"), "{printed}");
    let ranked = vector_add(&source);
    assert!(ranked.report()["printed"].is_null());
}
