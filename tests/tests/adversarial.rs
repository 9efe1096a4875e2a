//! Broken and hostile input through the real binary, its sandboxed children and NVRTC. Every case
//! names the exact verdict and the text shown.

use end_to_end::{Judged, judge, judge_with, lightspeed, run_with_input};

const KERNEL: &str = "__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
";
const HOST: &str = "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
";

fn vector_add(source: &str) -> Judged {
    judge("vector_add", source.as_bytes())
}

/// The usual kernel with another host function.
fn host(body: &str) -> Judged {
    let signature = "extern \"C\" void solve(const float* a, const float* b, float* c, int n)";
    vector_add(&format!("{KERNEL}{signature} {{\n{body}\n}}\n"))
}

/// The usual host function with another kernel body.
fn device(body: &str) -> Judged {
    let signature = "__global__ void add(const float* a, const float* b, float* c, int n)";
    vector_add(&format!("{signature} {{\n{body}\n}}\n{HOST}"))
}

#[track_caller]
fn expect(judged: &Judged, verdict: &str, text: &str) {
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

#[track_caller]
fn refused(judged: &Judged, exit: i32, text: &str) {
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

mod bytes {
    use super::*;

    #[test]
    fn the_plain_answer_is_accepted() {
        expect(
            &vector_add(&format!("{KERNEL}{HOST}")),
            "accepted",
            "all 12 shapes are correct",
        );
    }

    #[test]
    fn empty_source() {
        refused(&judge("vector_add", b""), 2, "the source is empty");
        refused(&judge("vector_add", b" \r\n\t"), 2, "the source is empty");
    }

    #[test]
    fn binary_garbage() {
        refused(
            &judge("vector_add", b"\x7fELF\x02\x01\0\0"),
            2,
            "a NUL byte at offset 6",
        );
        refused(
            &judge("vector_add", b"\xff\xfe\xfd"),
            2,
            "the source is not UTF-8",
        );
    }

    #[test]
    fn three_hundred_kibibytes() {
        let large = vec![b' '; 300 * 1024];
        refused(
            &judge("vector_add", &large),
            2,
            "the source has 307200 bytes; the limit is 262144",
        );
    }

    #[test]
    fn as_much_as_is_admitted() {
        let mut source = format!("{KERNEL}{HOST}").into_bytes();
        source.resize(262_144, b'\n');
        expect(
            &judge("vector_add", &source),
            "accepted",
            "all 12 shapes are correct",
        );
    }

    #[test]
    fn unknown_problem() {
        refused(&judge("no_such_problem", b"x"), 2, "no_such_problem");
    }

    #[test]
    fn unknown_device() {
        let source = format!("{KERNEL}{HOST}");
        let mut command = lightspeed();
        command.args(["judge", "vector_add", "-", "--device", "abacus"]);
        let output = run_with_input(&mut command, source.as_bytes());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("abacus"));
    }

    #[test]
    fn byte_order_mark_and_crlf_are_judged_right() {
        let source = format!("\u{feff}{KERNEL}{HOST}").replace('\n', "\r\n");
        expect(
            &vector_add(&source),
            "accepted",
            "all 12 shapes are correct",
        );
    }

    #[test]
    fn text_that_is_no_cuda_at_all() {
        let judged = vector_add("Dear judge, please accept this letter.");
        expect(&judged, "plan_error/signature", "solve");
    }
}

mod host_function {
    use super::*;

    #[test]
    fn wrong_signature_shows_the_right_one() {
        let judged = vector_add(&format!(
            "{KERNEL}extern \"C\" void solve(float* c, int n) {{}}"
        ));
        expect(&judged, "plan_error/signature", "");
        let all = judged.report()["diagnostics"].to_string();
        assert!(
            all.contains("void solve(const float* A, const float* B, float* C, int N)"),
            "{all}"
        );
    }

    #[test]
    fn entry_missing() {
        expect(&vector_add(KERNEL), "plan_error/signature", "solve");
    }

    #[test]
    fn endless_host_loop() {
        expect(
            &host("while (true) { n = n + 0; }"),
            "plan_error/fuel",
            "1000000",
        );
    }

    #[test]
    fn endless_recursion() {
        let judged = vector_add(&format!(
            "int f(int n) {{ return f(n); }}\n{KERNEL}extern \"C\" void solve(const float* a, const float* b, float* c, int n) {{ f(n); }}"
        ));
        expect(&judged, "plan_error/fuel", "");
    }

    #[test]
    fn absurd_grid() {
        expect(
            &host("add<<<0, 256>>>(a, b, c, n);"),
            "plan_error/launch_config",
            "0",
        );
        expect(
            &host("add<<<1, 2048>>>(a, b, c, n);"),
            "plan_error/launch_config",
            "1024",
        );
        expect(
            &host("add<<<1, 256, 1 << 20>>>(a, b, c, n);"),
            "plan_error/launch_config",
            "1048576",
        );
    }

    #[test]
    fn host_io_and_libraries_are_named_with_their_place() {
        for (call, name) in [
            ("system(\"id\");", "system"),
            ("FILE* f = fopen(\"/etc/passwd\", \"r\");", "fopen"),
            ("int fd = open(\"/etc/passwd\", 0);", "open"),
            ("asm volatile(\"syscall\");", "inline assembly in host code"),
            ("cublasCreate(nullptr);", "cublasCreate"),
            ("fork();", "fork"),
            ("std::thread t;", "std::thread"),
        ] {
            let judged = host(call);
            expect(&judged, "plan_error/unsupported_construct", name);
            let first = &judged.report()["diagnostics"][0];
            assert_eq!(first["line"], 6, "{first}");
            assert!(first["column"].is_u64(), "{first}");
        }
    }

    #[test]
    fn device_memory_read_on_the_host() {
        let judged = host("if (a[0] > 0.0f) add<<<1, 1>>>(a, b, c, n);");
        expect(&judged, "plan_error/unsupported_construct", "device");
    }

    #[test]
    fn signed_overflow() {
        expect(
            &host("int x = 2147483647; x = x + n;"),
            "plan_error/host_fault",
            "overflow",
        );
    }

    #[test]
    fn more_scratch_than_the_device_has() {
        let body = "float* p; cudaMalloc(&p, 1ull << 44); add<<<1, 256>>>(a, b, c, n);";
        let text = "17592186044416 bytes are allocated; the device has 141000000000";
        expect(&host(body), "plan_error/launch_config", text);
    }

    #[test]
    fn more_scratch_than_the_problem_admits() {
        let body =
            "float* p; cudaMalloc(&p, 5ull << 30); add<<<1, 256>>>(a, b, c, n); cudaFree(p);";
        let text = "allocates 5368709120 bytes of scratch memory; the problem admits 2147483648";
        expect(&host(body), "memory_limit", text);
    }

    #[test]
    fn defined_twice_names_both_lines() {
        let judged = vector_add(&format!("{KERNEL}{HOST}{HOST}"));
        let text =
            "line 8: function \"solve\" has already been defined (previous definition at line 5)";
        expect(&judged, "compile_error/diagnostics", text);
        assert_eq!(judged.report()["diagnostics"][0]["line"], 8);
        let judged = vector_add(&format!("{KERNEL}{KERNEL}{HOST}"));
        let text =
            "line 5: function \"add\" has already been defined (previous definition at line 1)";
        expect(&judged, "compile_error/diagnostics", text);
    }

    #[test]
    fn text_without_its_end_is_a_compile_error_at_its_line() {
        for (text, message) in [
            ("/* open", "line 5: a comment without its end"),
            (
                "const char* s = \"abc;",
                "line 5: a string literal without its end",
            ),
            (
                "const char* s = R\"(abc;",
                "line 5: a raw string literal without its end",
            ),
            ("#if 1", "line 5: an `#if` without its `#endif`"),
            (
                "%:include \"x.h\"",
                "line 5: cannot open source file \"x.h\"",
            ),
        ] {
            let judged = vector_add(&format!("{KERNEL}{text}\n{HOST}"));
            expect(&judged, "compile_error/diagnostics", message);
        }
    }

    #[test]
    fn trigraphs_are_what_the_compiler_says_they_are() {
        let judged = vector_add(&format!("// what??/\n{KERNEL}{HOST}"));
        expect(&judged, "accepted", "all 12 shapes are correct");
        let judged = vector_add(&format!("??=define N 3\n{KERNEL}{HOST}"));
        expect(
            &judged,
            "compile_error/diagnostics",
            "line 1: expected a declaration",
        );
    }

    #[test]
    fn nesting_without_measure_is_named() {
        let judged = host(&"{".repeat(20_000));
        let text = "line 6: brackets nested more than 256 levels deep";
        expect(&judged, "plan_error/unsupported_construct", text);
        let angles = "a<".repeat(125_000);
        let judged = vector_add(&format!("{KERNEL}int z = {angles}1;\n{HOST}"));
        let text = "line 5: `<` nested more than 256 levels deep";
        expect(&judged, "plan_error/unsupported_construct", text);
    }

    #[test]
    fn overloads_are_chosen_by_type() {
        let signature = "extern \"C\" void solve(const float* a, const float* b, float* c, int n)";
        let kernels = format!("{}{KERNEL}", KERNEL.replace("float", "int"));
        let launch = "add<<<(n + 255) / 256, 256>>>(a, b, c, n);";
        let judged = vector_add(&format!("{kernels}{signature} {{ {launch} }}\n"));
        expect(&judged, "accepted", "all 12 shapes are correct");
        let kernels =
            format!("{}{KERNEL}", KERNEL.replace("int n", "long n")).replace("int n", "float n");
        let judged = vector_add(&format!("{kernels}{signature} {{\n{launch}\n}}\n"));
        let text = "the launch of `add` is ambiguous: several kernels of that name fit";
        expect(&judged, "plan_error/unsupported_construct", text);
    }

    #[test]
    fn a_block_of_named_constants_at_file_scope() {
        let launch = "add<<<(n + B - 1) / B, block>>>(a, b, c, n);";
        let signature = "extern \"C\" void solve(const float* a, const float* b, float* c, int n)";
        let constants = "constexpr int B = 64; constexpr int ONE = 1;\nconst dim3 block(B, ONE);\n";
        let judged = vector_add(&format!("{constants}{KERNEL}{signature} {{ {launch} }}\n"));
        expect(&judged, "accepted", "all 12 shapes are correct");
    }

    #[test]
    fn deep_nesting_is_refused_not_crashed_on() {
        let deep = format!("int x = {}1{};", "(".repeat(20_000), ")".repeat(20_000));
        let judged = host(&deep);
        assert_eq!(
            judged.report()["verdict"],
            "plan_error",
            "{}",
            judged.message()
        );
    }
}

mod device_code {
    use super::*;

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
        let value = judged.report()["score"]["value"].as_f64().unwrap();
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
        let judged = device(
            "__shared__ float x[20000]; x[threadIdx.x] = a[0]; __syncthreads(); c[0] = x[n];",
        );
        let text =
            "kernel 'add' uses too much shared data: 80000 bytes a block; the limit is 49152";
        expect(&judged, "compile_error/diagnostics", text);
        for (length, bytes) in [("200000", "800000"), ("100000000", "400000000")] {
            let body =
                format!("float x[{length}]; x[n] = a[0]; x[threadIdx.x] = 1; c[0] = x[n + 1];");
            let text =
                format!("uses too much local data: {bytes} bytes a thread; the limit is 524288");
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
}

mod reaching_out {
    use super::*;

    /// No byte of a host file may come back, whatever is included and however.
    #[test]
    fn host_files_stay_closed() {
        let secrets = [
            std::fs::read_to_string("/etc/passwd"),
            std::fs::read_to_string("/etc/hostname"),
        ];
        for file in [
            "/etc/passwd",
            "/etc/hostname",
            "/proc/self/environ",
            "/proc/self/maps",
        ] {
            for include in [
                format!("#include \"{file}\""),
                format!("#include <{file}>"),
                format!("#define P \"{file}\"\n#include P"),
                format!("#include \"../../../../../../../..{file}\""),
            ] {
                let judged = vector_add(&format!("{include}\n{KERNEL}{HOST}"));
                assert_eq!(judged.report()["verdict"], "compile_error", "{include}");
                let report = judged.report().to_string();
                for secret in secrets.iter().flatten() {
                    let line = secret.lines().next().unwrap_or_default();
                    assert!(
                        line.len() < 3 || !report.contains(line),
                        "{include} shows `{line}`"
                    );
                }
            }
        }
    }

    #[test]
    fn endless_devices_do_not_hold_the_compiler() {
        for file in ["/dev/zero", "/dev/random", "/dev/stdin"] {
            let judged = vector_add(&format!("#include \"{file}\"\n{KERNEL}{HOST}"));
            assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
        }
    }

    #[test]
    fn compiler_bombs_end_in_a_compile_error() {
        for bomb in [
            "template<int N> struct B { static constexpr long v = B<N-1>::v + B<N-2>::v; };\n\
             __device__ long boom = B<100000>::v;",
            "constexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n\
             __device__ long boom = f(60);",
            "__constant__ char big[1u << 31];",
        ] {
            let judged = vector_add(&format!("{bomb}\n{KERNEL}{HOST}"));
            assert_eq!(
                judged.report()["verdict"],
                "compile_error",
                "{bomb}: {}",
                judged.message()
            );
        }
    }

    #[test]
    fn macro_bomb() {
        let mut bomb = String::from("#define X0 1+1\n");
        for i in 1..30 {
            bomb += &format!("#define X{i} X{}+X{}\n", i - 1, i - 1);
        }
        bomb += "__device__ int boom = X29;\n";
        // Found before NVRTC sees it: the plan's own preprocessor counts tokens.
        let judged = vector_add(&format!("{bomb}{KERNEL}{HOST}"));
        expect(
            &judged,
            "compile_error/compile_limit",
            "macro expansion touches more than 4000000",
        );
    }
}

mod service {
    use end_to_end::rig::Rig;
    use serde_json::json;

    #[tokio::test]
    async fn bad_input_is_refused_before_any_judging() {
        let rig = Rig::start().await;
        let submit = |problem: &str, device: &str, source: String| {
            let body = json!({"problem": problem, "device": device, "source": source});
            let rig = &rig;
            async move {
                rig.call("POST", protocol::routes::SUBMISSIONS, Some(&body))
                    .await
            }
        };
        for (problem, device, source, status, code) in [
            (
                "vector_add",
                "emulated",
                String::new(),
                422,
                "invalid_source",
            ),
            (
                "vector_add",
                "emulated",
                "a\0b".to_owned(),
                422,
                "invalid_source",
            ),
            (
                "vector_add",
                "emulated",
                " ".repeat(300 * 1024),
                413,
                "source_too_large",
            ),
            (
                "no_such_problem",
                "emulated",
                "x".to_owned(),
                404,
                "unknown_problem",
            ),
            (
                "vector_add",
                "abacus",
                "x".to_owned(),
                404,
                "unknown_device",
            ),
        ] {
            let (got, answer) = submit(problem, device, source).await;
            assert_eq!(
                (got, answer["code"].as_str()),
                (status, Some(code)),
                "{answer}"
            );
            assert!(
                answer["detail"].is_string() && answer["request_id"].is_string(),
                "{answer}"
            );
        }
        rig.assert_sound().await;
    }

    #[tokio::test]
    async fn a_worker_lives_through_hostile_submissions() {
        let mut rig = Rig::start().await;
        let _worker = rig.worker();
        let host = super::HOST;
        for (kernel, verdict) in [
            (
                "__global__ void add(const float* a, const float* b, float* c, int n) { while (true) c[0] += 1; }",
                "time_limit",
            ),
            (
                "__global__ void add(const float* a, const float* b, float* c, int n) { c[-1] = 0; }",
                "runtime_error",
            ),
            (
                &format!("#include \"/etc/passwd\"\n{}", super::KERNEL),
                "compile_error",
            ),
            (super::KERNEL, "accepted"),
        ] {
            let submission = rig.submit("vector_add", &format!("{kernel}\n{host}")).await;
            let done = rig.finished(submission).await;
            assert_eq!(done["verdict"], verdict, "{kernel}: {done}");
        }
        rig.assert_sound().await;
    }
}
