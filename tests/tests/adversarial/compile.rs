//! Sources that attack the compiler and its limits: each ends as the author's error or is judged as usual.

use end_to_end::answers::{CRASH, HOST, KERNEL, before_the_answer, expect, vector_add};
use end_to_end::judge;

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
    let judged = before_the_answer("#pragma nv_diag_suppress 20\n__device__ int f() { return y; }");
    expect(&judged, "compile_error/diagnostics", "\"y\" is undefined");
}

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

#[test]
fn compiler_bombs_end_in_a_compile_error() {
    for bomb in [
        "template<int N> struct B { static constexpr long v = B<N-1>::v + B<N-2>::v; };\n\
         __device__ long boom = B<100000>::v;",
        "constexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n\
         __device__ long boom = f(60);",
        "__constant__ char big[1u << 31];",
        "__global__ void q() { __shared__ char big[1u << 31]; big[threadIdx.x] = 1; __syncthreads(); big[0] = big[9]; }",
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
