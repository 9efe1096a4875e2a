//! Sources that attack the compile side: the compiler, its limits, and the host behind it. Every case
//! ends as the author's error or is judged as usual; nothing of the host comes back, and the worker lives.
#![allow(clippy::unwrap_used)] // a step that fails fails the test

use std::time::{Duration, Instant};

use end_to_end::{Judged, judge};

const KERNEL: &str = "__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
";
const HOST: &str = "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
";

/// An erroneous template whose instantiation brings NVRTC 13.5.37 down. (The words in the comment have
/// the judge take the toolkit's own headers, before which sources are not looked through first.)
const CRASH: &str = "#include <cuda/std/cstdint> // as binary_partition needs
template <int B> __global__ void add(half* c) { c[0] = B; }
extern \"C\" void solve(const float* a, const float* b, float* c, int n) {
    add<4><<<1, 1>>>((half*)c);
}
";

fn before_the_answer(text: &str) -> Judged {
    judge("vector_add", format!("{text}\n{KERNEL}{HOST}").as_bytes())
}

#[track_caller]
fn expect(judged: &Judged, verdict: &str, text: &str) {
    assert_eq!(judged.verdict(), verdict, "{}", judged.message());
    let message = judged.message();
    assert!(
        message.contains(text),
        "it does not say `{text}`: {message}"
    );
}

/// No line of a host's file is in a report.
#[track_caller]
fn tells_nothing_of(file: &str, judged: &Judged) {
    let report = judged.report().to_string();
    let content = std::fs::read(file).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    for line in content.split(['\n', '\0']).filter(|line| line.len() > 5) {
        assert!(
            !report.contains(line),
            "the report shows `{line}` of {file}"
        );
    }
}

mod crashes {
    use super::*;

    #[test]
    fn a_crash_is_a_compile_error_with_what_is_known() {
        let judged = judge("vector_add", CRASH.as_bytes());
        expect(
            &judged,
            "compile_error/compiler_crash",
            "the compiler crashed on this source (signal 11), which has errors: line 2: ",
        );
        let report = judged.report();
        let diagnostics = report["diagnostics"].as_array().unwrap();
        let cause = diagnostics
            .iter()
            .find(|told| told["message"] == "identifier \"half\" is undefined")
            .unwrap();
        assert_eq!((&cause["line"], &cause["column"]), (&2.into(), &38.into()));
        assert_eq!(cause["hint"], "#include <cuda_fp16.h>");
        assert_eq!(judged.exit, 1);
    }
}

mod host_files {
    use super::*;

    const SECRETS: [&str; 4] = [
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/environ",
        "/proc/self/maps",
    ];

    #[test]
    fn embedding_shows_nothing() {
        for file in SECRETS {
            let text = format!("__device__ const unsigned char x[] = {{\n#embed \"{file}\"\n}};");
            let judged = before_the_answer(&text);
            assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
            tells_nothing_of(file, &judged);
        }
    }

    #[test]
    fn has_include_does_not_tell_which_files_exist() {
        let mut answers = Vec::new();
        for file in [
            "/etc/passwd",
            "/proc/self/environ",
            "/dev/zero",
            "/no/such/file",
        ] {
            let text = format!(
                "#if __has_include(\"{file}\") || __has_include(<{file}>)\n#error there\n#endif"
            );
            answers.push(before_the_answer(&text).verdict());
        }
        assert_eq!(answers, ["accepted"; 4]);
    }

    #[test]
    fn other_ways_to_a_file_are_closed() {
        for text in [
            "#include_next </etc/passwd>",
            "#import \"/etc/passwd\"",
            "#include __FILE__",
            "#pragma GCC dependency \"/etc/passwd\"",
            "#pragma include_alias(\"x.h\", \"/etc/passwd\")\n#include \"x.h\"",
            "__device__ void f() { asm volatile(\".include \\\"/etc/passwd\\\"\"); }\n__global__ void q() { f(); }",
            "__global__ void q() { asm volatile(\".file 9 \\\"/etc/passwd\\\"\\n.loc 9 1 1\"); }",
        ] {
            let judged = before_the_answer(text);
            let verdict = judged.report()["verdict"].clone();
            assert!(
                verdict == "compile_error" || verdict == "accepted",
                "{text}: {}",
                judged.message()
            );
            tells_nothing_of("/etc/passwd", &judged);
        }
    }

    #[test]
    fn endless_devices_end() {
        let begun = Instant::now();
        for file in ["/dev/zero", "/dev/random", "/proc/kmsg"] {
            let judged = before_the_answer(&format!("#define F <{file}>\n#include F"));
            assert_eq!(judged.report()["verdict"], "compile_error", "{file}");
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

mod directives {
    use super::*;

    #[test]
    fn line_directives_move_no_message() {
        for line in ["#line 500 \"/etc/shadow\"", "# 500 \"x.cu\"", "%:line 500"] {
            let judged = before_the_answer(&format!("{line}\n__device__ int f() {{ return y; }}"));
            expect(
                &judged,
                "compile_error/diagnostics",
                "line 2: identifier \"y\" is undefined",
            );
            assert!(!judged.report().to_string().contains("shadow"));
        }
    }

    #[test]
    fn pragmas_and_options_change_nothing() {
        for text in [
            "#pragma nv_hdrstop",
            "#pragma nv_no_pch",
            "#pragma hdrstop",
            "#pragma GCC system_header",
            "#pragma nv_diag_suppress 20",
            "#pragma comment(linker, \"-o /tmp/x\")",
            "#pragma nvrtc --time=/tmp/lightspeed-x",
            "// nvrtc: --keep --keep-dir=/tmp -I/etc",
        ] {
            let judged = before_the_answer(text);
            expect(&judged, "accepted", "all 12 shapes are correct");
        }
        assert!(!std::path::Path::new("/tmp/lightspeed-x").exists());
        // Errors cannot be turned off.
        let judged =
            before_the_answer("#pragma nv_diag_suppress 20\n__device__ int f() { return y; }");
        expect(&judged, "compile_error/diagnostics", "\"y\" is undefined");
    }
}

mod bombs {
    use super::*;

    /// A compile that never ends by itself costs its limit on time and is the author's.
    #[track_caller]
    fn ends(text: &str) {
        let judged = before_the_answer(text);
        let verdict = judged.verdict();
        assert!(
            verdict.starts_with("compile_error/"),
            "{verdict}: {}",
            judged.message()
        );
        let bytes = judged.report().to_string().len();
        assert!(bytes < 1 << 20, "a report of {bytes} bytes");
    }

    /// The compiler gives up unrolling at some size, or meets a limit; it does not go on for ever.
    #[test]
    fn full_unrolling_is_bounded() {
        let judged = before_the_answer(
            "__global__ void q(float* a) {
            #pragma unroll
            for (int i = 0; i < 2000; i++) {
                #pragma unroll
                for (int j = 0; j < 2000; j++) a[(i * j) % 4099] = __sinf(a[i] * a[j]) + a[i + j];
            }
        }",
        );
        let verdict = judged.verdict();
        assert!(
            verdict == "accepted" || verdict.starts_with("compile_error/"),
            "{verdict}: {}",
            judged.message()
        );
    }

    #[test]
    fn error_texts_without_measure_are_cut() {
        // Each type is twice as long as the one before: the last one's name has 2^27 parts.
        let mut text =
            String::from("template <class A, class B> struct P {};\ntypedef P<int, int> T0;\n");
        for level in 1..27 {
            text += &format!("typedef P<T{0}, T{0}> T{level};\n", level - 1);
        }
        text += "__device__ void f() { T26 x = 1; int y = T26(); T26::no(); }";
        ends(&text);
        // A hundred megabytes of them, were each error printed.
        let flood: String = (0..200)
            .map(|i| format!("__device__ T20 g{i}() {{ return {i}; }}\n"))
            .collect();
        let types = text.split("__device__").next().unwrap_or_default();
        ends(&format!("{types}{flood}"));
    }

    #[test]
    fn errors_without_number_are_cut() {
        let errors: String = (0..4000).map(|i| format!("int e{i} = u{i};\n")).collect();
        let judged = before_the_answer(&format!("__device__ void f() {{\n{errors}}}"));
        assert_eq!(judged.report()["verdict"], "compile_error");
        let shown = judged.report()["diagnostics"]
            .as_array()
            .map_or(0, Vec::len);
        assert!((1..=60).contains(&shown), "{shown} diagnostics");
    }

    #[test]
    fn templates_constants_and_macros_meet_their_limits() {
        for text in [
            "template <int N, int M> struct B { static constexpr long v = B<N - 1, M * 2>::v + B<N - 1, M * 2 + 1>::v; };
             template <int M> struct B<0, M> { static constexpr long v = M; };
             __device__ long boom = B<30, 1>::v;",
            "template <class... T> struct L {}; template <class T> struct D; template <class... T> struct D<L<T...>> { using R = L<T..., T...>; };
             template <int N> struct G { using R = typename D<typename G<N - 1>::R>::R; }; template <> struct G<0> { using R = L<int>; };
             __device__ G<40>::R boom;",
            "constexpr int f() { int i = 0; while (true) i ^= 1; return i; }\n__device__ int boom[f()];",
            "#define A(x) x x x x\n#define B(x) A(A(A(A(A(x)))))\n#define C(x) B(B(B(x)))\n__device__ int boom = 0 C(+ 1);",
        ] {
            ends(text);
        }
    }
}

mod cache {
    use super::*;
    use end_to_end::{lightspeed, run_with_input};
    use std::path::Path;

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
}

mod service {
    use end_to_end::rig::Rig;

    #[tokio::test]
    async fn a_worker_lives_through_hostile_compiles() {
        let mut rig = Rig::start().await;
        let _worker = rig.worker();
        let answer = format!("{}{}", super::KERNEL, super::HOST);
        let types: String = (1..27)
            .map(|level| format!("typedef P<T{0}, T{0}> T{level};\n", level - 1))
            .collect();
        let long = format!(
            "template <class A, class B> struct P {{}};\ntypedef P<int, int> T0;\n{types}__device__ T26 x = 1;"
        );
        for (source, verdict) in [
            (super::CRASH.to_owned(), "compile_error"),
            (format!("#include \"/dev/zero\"\n{answer}"), "compile_error"),
            (format!("{long}\n{answer}"), "compile_error"),
            (
                format!(
                    "constexpr int f() {{ int i = 0; while (true) i ^= 1; return i; }}\n__device__ int boom[f()];\n{answer}"
                ),
                "compile_error",
            ),
            (super::CRASH.to_owned(), "compile_error"),
            (answer.clone(), "accepted"),
        ] {
            let submission = rig.submit("vector_add", &source).await;
            let done = rig.finished(submission).await;
            assert_eq!(done["verdict"], verdict, "{source}: {done}");
        }
        rig.assert_sound().await;
    }
}

mod headers {
    use super::*;

    /// The numbers that Philox4x32-10 is published with, by way of cuRAND's interface.
    #[test]
    fn philox_gives_its_published_numbers() {
        let body = "curandStatePhilox4_32_10_t s; curand_init(0, 0, 0, &s);
            uint4 first = curand4(&s);
            assert(first.x == 0x6627e8d5u && first.y == 0xe169c58du && first.z == 0xbc57ac4cu && first.w == 0x9b00dbd8u);
            curand_init(0, 0, 2, &s);
            assert(curand(&s) == 0xbc57ac4cu && curand(&s) == 0x9b00dbd8u);
            float u = curand_uniform(&s), z = curand_normal(&s);
            assert(u > 0 && u <= 1 && z > -7 && z < 7);
            int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i];";
        let head = "#include <curand_kernel.h>\n__global__ void add(const float* a, const float* b, float* c, int n)";
        let judged = judge(
            "vector_add",
            format!("{head} {{\n{body}\n}}\n{HOST}").as_bytes(),
        );
        expect(&judged, "accepted", "all 12 shapes are correct");
        let xorwow = body
            .replace("curandStatePhilox4_32_10_t", "curandState")
            .replace("curand4(&s)", "make_uint4(0, 0, 0, 0)");
        let judged = judge(
            "vector_add",
            format!("{head} {{\n{xorwow}\n}}\n{HOST}").as_bytes(),
        );
        expect(
            &judged,
            "compile_error/diagnostics",
            "use curandStatePhilox4_32_10_t instead of curandState",
        );
    }
}
