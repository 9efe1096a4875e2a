//! Every way in which a file has no plan: kind, place, message and hint.
#![allow(missing_docs)]

mod common;

use common::{
    BODY_LINE, described, failure_of, limits, parse, plan_of, scalar, tensor, vector_add,
    vector_add_arguments, with_body,
};
use domain::{Direction, ElementType, Signature};
use launch_plan::{Argument, Program};

/// Checks a body of `solve` for N = 100. Lines of the body count from 1.
#[track_caller]
fn refuses(body: &str, kind: &str, line: u32, column: u32, message: &str) {
    let (found_kind, found_line, found_column, found_message, _) = failure_of(body, 100);
    assert_eq!(
        (
            found_kind.as_str(),
            found_line + 1 - BODY_LINE,
            found_column,
            found_message.as_str()
        ),
        (kind, line, column, message)
    );
}

#[test]
fn host_input_and_output() {
    let construct = "unsupported_construct";
    refuses(
        "int n; std::cin >> n;",
        construct,
        1,
        8,
        "host input and output (`std::cin`) is not in the host subset",
    );
    refuses(
        "FILE* f = fopen(\"/etc/passwd\", \"r\");",
        construct,
        1,
        11,
        "host input and output (`fopen`) is not in the host subset",
    );
    refuses(
        "system(\"id\");",
        construct,
        1,
        1,
        "the system call `system` in host code is not in the host subset",
    );
}

#[test]
fn libraries_threads_and_assembly() {
    let construct = "unsupported_construct";
    refuses(
        "cublasSgemm(h, 0, 0, N, N, N, 0, A, N, B, N, 0, C, N);",
        construct,
        1,
        1,
        "`cublasSgemm` is a host call into cuBLAS, which is not in the host subset",
    );
    refuses(
        "thrust::sort(thrust::device, C, C + N);",
        construct,
        1,
        1,
        "`thrust::sort` is a host call into Thrust, which is not in the host subset",
    );
    refuses(
        "cub::DeviceReduce::Sum(nullptr, N, A, C, N);",
        construct,
        1,
        1,
        "`cub::DeviceReduce::Sum` is a host call into CUB's device-wide algorithms, which is not \
         in the host subset",
    );
    refuses(
        "std::thread t(f);",
        construct,
        1,
        13,
        "host threads (`std::thread`) are not in the host subset",
    );
    refuses(
        "std::map<int, float> m;",
        construct,
        1,
        22,
        "the container `std::map<int, float>` in host code is not in the host subset",
    );
    refuses(
        "asm volatile(\"syscall\");",
        construct,
        1,
        1,
        "inline assembly in host code is not in the host subset",
    );
    refuses(
        "auto f = [&](int x) mutable { return x; };",
        construct,
        1,
        10,
        "a `mutable` lambda is not in the host subset",
    );
    refuses(
        "goto end;",
        construct,
        1,
        1,
        "`goto` in host code is not in the host subset",
    );
    refuses(
        "int x = 0;\nwhile (x < 3)\n  throw x;",
        construct,
        3,
        3,
        "an exception in host code is not in the host subset",
    );
    refuses(
        "cuModuleLoadData(0);",
        construct,
        1,
        1,
        "the call `cuModuleLoadData` is not in the host subset",
    );
    refuses(
        "static float* ws = nullptr;",
        construct,
        1,
        15,
        "the static variable `ws` would keep its value from call to call",
    );
    refuses(
        "cudaMallocArray(&C, 4);",
        construct,
        1,
        1,
        "the call `cudaMallocArray` is not in the host subset",
    );
    refuses(
        "nonsense(N);",
        construct,
        1,
        1,
        "`nonsense` is not known to the host interpreter",
    );
    refuses(
        "int i = blockIdx.x;",
        construct,
        1,
        9,
        "`blockIdx` exists only in device code",
    );
}

#[test]
fn device_memory_on_the_host() {
    let construct = "unsupported_construct";
    let reads = "host code reads device memory: `A` points to the device";
    refuses("float x = A[0];", construct, 1, 11, reads);
    refuses("float x = 1 + *A;", construct, 1, 15, reads);
    refuses(
        "C[N - 1] = 1.0f;",
        construct,
        1,
        1,
        "host code writes device memory: `C` points to the device",
    );
    refuses(
        "float* d;\ncudaMalloc(&d, 4);\nd[0] += 1;",
        construct,
        3,
        1,
        "host code writes device memory: the memory that line 9 allocates points to the device",
    );
}

#[test]
fn undefined_host_arithmetic() {
    refuses(
        "int big = N * 1000000;\nint x = big * 1000;",
        "host_fault",
        2,
        9,
        "signed overflow: 100000000 * 1000 does not fit `int`",
    );
    refuses(
        "int x = N / (N - 100);",
        "host_fault",
        1,
        9,
        "100 / 0: division by zero",
    );
    refuses(
        "int x = 1 << (N - 60);",
        "host_fault",
        1,
        9,
        "`<<` by 40 on a type of 32 bits",
    );
    refuses(
        "int x = N * 1e9;",
        "host_fault",
        1,
        9,
        "`100000000000` of type `double` does not fit `int`",
    );
    refuses(
        "int x;\nint y = x + 1;",
        "host_fault",
        2,
        9,
        "`x` is read before it has a value",
    );
    refuses(
        "int a[3];\na[N] = 1;",
        "host_fault",
        2,
        1,
        "element 100 of a host array of 3 is accessed",
    );
    refuses(
        "float* p = nullptr; float x = *p;",
        "host_fault",
        1,
        31,
        "host code follows a null pointer",
    );
    refuses(
        "cudaFree(C);",
        "host_fault",
        1,
        1,
        "cudaFree of `C`, which belongs to the judge",
    );
    refuses(
        "float* d;\ncudaMalloc(&d, 4);\ncudaFree(d);\none<<<1, 1>>>(d, N);",
        "host_fault",
        4,
        15,
        "the memory that line 9 allocates is used after line 10 freed it",
    );
    refuses(
        "cudaMemset(C, 0, N * sizeof(double));",
        "host_fault",
        1,
        1,
        "cudaMemset of 800 bytes from offset 0 runs past `C`, which has 400 bytes",
    );
    refuses(
        "assert(N == 3);",
        "host_fault",
        1,
        1,
        "an assertion in host code fails",
    );
}

#[test]
fn launches_that_the_device_would_refuse() {
    let launch = "launch_config";
    refuses("one<<<0, 1>>>(C, N);", launch, 1, 1, "grid.x is 0");
    refuses(
        "one<<<1, dim3(32, N - 100)>>>(C, N);",
        launch,
        1,
        1,
        "block.y is 0",
    );
    refuses(
        "dim3 b(32, 64);\n  one<<<1, b>>>(C, N);",
        launch,
        2,
        3,
        "a block of 32 x 64 x 1 has 2048 threads; the limit is 1024",
    );
    refuses(
        "one<<<1, 2000>>>(C, N);",
        launch,
        1,
        1,
        "block.x is 2000; the limit is 1024",
    );
    refuses(
        "one<<<dim3(1, 70000), 1>>>(C, N);",
        launch,
        1,
        1,
        "grid.y is 70000; the limit is 65535",
    );
    refuses(
        "one<<<-1, 1>>>(C, N);",
        launch,
        1,
        1,
        "grid.x is 4294967295; the limit is 2147483647",
    );
    refuses(
        "one<<<1, 1, 50000>>>(C, N);",
        launch,
        1,
        1,
        "dynamic shared memory is 50000 bytes; the limit is 49152",
    );
    refuses(
        "cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);",
        launch,
        1,
        1,
        "1048576 bytes of dynamic shared memory are asked for; the limit is 232448",
    );
    refuses(
        "float* d; cudaMalloc(&d, -4);",
        launch,
        1,
        11,
        "18446744073709551612 bytes are allocated; the device has 150000000000",
    );
    refuses(
        "one<<<1, 1>>>(C);",
        launch,
        1,
        1,
        "the kernel `one` takes 2 arguments; the launch passes 1",
    );
    refuses(
        "one<<<1, 1>>>(C, A);",
        launch,
        1,
        18,
        "argument 2 of `one` is a `const float*` where `int` is expected",
    );
    refuses(
        "one<<<1, 1>>>(N, N);",
        launch,
        1,
        15,
        "argument 1 of `one` is a `int` where `float*` is expected",
    );
    refuses(
        "one<<<1, 1>>>((int*)C, N);",
        launch,
        1,
        15,
        "argument 1 of `one` is a `int*` where `float*` is expected",
    );
    refuses(
        "float h[2];\none<<<1, 1>>>(h, N);",
        launch,
        2,
        15,
        "argument 1 of `one` points to host memory",
    );
    refuses(
        "gone<<<1, 1>>>(C, N);",
        launch,
        1,
        1,
        "`gone` is launched, and no kernel of that name is in the file",
    );
    refuses(
        "tk<<<1, 1>>>(A, C, N);",
        launch,
        1,
        1,
        "the template parameter `T` of `tk` is not given and does not follow from the arguments",
    );
    refuses(
        "one<3><<<1, 1>>>(C, N);",
        launch,
        1,
        1,
        "`one` is no template and takes no `<...>`",
    );
    refuses(
        "one(C, N);",
        "unsupported_construct",
        1,
        1,
        "the kernel `one` is called without <<<grid, block>>>",
    );
}

#[test]
fn work_without_end() {
    refuses(
        "int i = 0;\nwhile (true) { i = 1 - i; }",
        "fuel",
        2,
        24,
        "the host function takes more than 1000000 steps",
    );
    refuses(
        "for (int i = 0; i < 5000; ++i)\n  one<<<1, 1>>>(C, i);",
        "fuel",
        2,
        3,
        "the plan has more than 4096 kernel launches",
    );
    refuses(
        "float* h = new float[10000000];",
        "fuel",
        1,
        12,
        "host memory of 10000004 elements in all; the limit is 1048576",
    );
    let source = "int f(int n) {\n  return f(n + 1);\n}\n\
        void solve(const float* a, const float* b, float* c, int n) { f(n); }";
    let (kind, line, _, message, hint) = described(&plan_of(source, 1).unwrap_err());
    assert_eq!((kind.as_str(), line), ("fuel", 2));
    assert_eq!(message, "host code nests more than 400 levels deep");
    assert_eq!(hint, "is there a recursion without an end?");
}

#[test]
fn entries_that_do_not_fit() {
    let failure = |source: &str| described(&parse(source).unwrap_err());
    let expected = "void solve(const float* A, const float* B, float* C, int N)";
    assert_eq!(
        failure("__global__ void k() {}\nvoid main_loop() {}"),
        (
            "signature".into(),
            0,
            0,
            "the file defines no function `solve` (or `solution`)".into(),
            format!("expected: {expected}")
        )
    );
    assert_eq!(
        failure("\n extern \"C\" void solve(const float* A, float* C,\n   int N) {}"),
        (
            "signature".into(),
            2,
            18,
            "the parameters do not match the problem: `solve` takes 3 parameters, the problem \
             passes 4"
                .into(),
            format!("expected: {expected}; found: void solve(const float* A, float* C, int N)")
        )
    );
    let reason = |parameters: &str| {
        let source = format!("void solution({parameters}) {{}}");
        failure(&source)
            .3
            .replace("the parameters do not match the problem: ", "")
    };
    assert_eq!(
        reason("const float* A, const float* B, int* C, int N"),
        "parameter 3 (`C`) is `int*`, expected `float*`"
    );
    assert_eq!(
        reason("const float* A, const float* B, float* C, float N"),
        "parameter 4 (`N`) is `float`, expected `int` or another integer"
    );
    assert_eq!(
        reason("const float* A, const float* B, float* C, int* N"),
        "parameter 4 (`N`) is `int*`, expected `int` or another integer"
    );
    assert_eq!(
        reason("std::vector<float> A, const float* B, float* C, int N"),
        "parameter 1 (`A`) is `std::vector`, expected `float*`"
    );
    assert_eq!(
        failure("__global__ void solve(const float* a, const float* b, float* c, int n) {}").3,
        "`solve` is a kernel; the entry is a host function"
    );
    assert_eq!(
        failure("void solve(const float* a, const float* b, float* c, int n);").3,
        "`solve` is declared and not defined"
    );
}

#[test]
fn entries_that_fit_by_position() {
    for parameters in [
        "float* x, float* y, float* z, long long n",
        "const float *__restrict__ a, const float a2[], float *const c, size_t n",
        "Real* a, const Real* b, Real c[8], const unsigned& n",
        "const float* const a, float const* b, float* c, uint64_t",
    ] {
        let source = format!("using Real = float;\nvoid solution({parameters}) {{}}");
        let plan = plan_of(&source, 8);
        assert!(plan.is_ok(), "{parameters}: {plan:?}");
    }
    let narrow = "void solve(float* a, float* b, float* c, short n) {}";
    let (kind, _, _, message, _) = described(&plan_of(narrow, 70_000).unwrap_err());
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("host_fault", "`n` is 70000, which does not fit `short`")
    );
}

#[test]
fn element_types_of_tensors_must_agree() {
    let cases = [
        (ElementType::Bf16, "__nv_bfloat16*", true),
        (ElementType::Bf16, "const nv_bfloat16*", true),
        (ElementType::F16, "half*", true),
        (ElementType::F16, "float*", false),
        (ElementType::I64, "long long*", true),
        (ElementType::I64, "int64_t*", true),
        (ElementType::I32, "int*", true),
        (ElementType::I32, "unsigned int*", false),
        (ElementType::U8, "unsigned char*", true),
        (ElementType::U8, "uint8_t*", true),
        (ElementType::F64, "double*", true),
        (ElementType::F32, "double*", false),
        (ElementType::F32, "void*", false),
        (ElementType::F32, "float4*", false),
    ];
    for (element, spelling, fits) in cases {
        let signature = Signature(vec![
            tensor("x", element, Direction::Inout),
            scalar("eps", ElementType::F32),
        ]);
        let source = format!("void solve({spelling} x, float eps) {{}}");
        let parsed = Program::parse(&source, &signature);
        assert_eq!(parsed.is_ok(), fits, "{spelling}: {parsed:?}");
        if let Ok(program) = parsed {
            let arguments = [Argument::Buffer { bytes: 8 }, Argument::Float(1e-5)];
            assert!(program.plan(&arguments, &limits()).is_ok());
        }
    }
}

#[test]
fn text_that_is_not_cpp_is_a_compile_error() {
    let cases = [
        (
            "void solve(const float* a, const float* b, float* c, int n) {\n  int x = ;\n}",
            2,
        ),
        (
            "void solve(const float* a, const float* b, float* c, int n) {\n  k<<<1, 1>>>(a\n}",
            2,
        ),
        (
            "void solve(const float* a, const float* b, float* c, int n {\n}",
            1,
        ),
    ];
    for (source, line) in cases {
        let failure = parse(source).unwrap_err();
        let (kind, found, _, message, _) = described(&failure);
        assert_eq!(
            (kind.as_str(), found),
            ("diagnostics", line),
            "{source}: {message}"
        );
        assert_eq!(failure.diagnostics[0].stage, domain::Stage::Compile);
        assert_eq!(failure.verdict(), domain::Verdict::CompileError);
        assert!(message.starts_with("syntax error"), "{message}");
    }
    let mut bomb = String::from("#define A0 x x\n");
    for level in 1..30 {
        bomb += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    let failure = parse(&format!("{bomb}A29\n")).unwrap_err();
    assert_eq!(described(&failure).0, "compile_limit");
}

#[test]
fn a_wrong_number_of_arguments_is_told() {
    let program = Program::parse(&with_body(""), &vector_add()).unwrap();
    let failure = program
        .plan(&vector_add_arguments(3)[1..], &limits())
        .unwrap_err();
    assert_eq!(described(&failure).0, "signature");
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("int x = {}1{};", open.repeat(count), close.repeat(count))
    };
    for body in [
        deep("(", ")", 20_000),
        deep("-", "", 20_000),
        deep("f(", ")", 20_000),
        format!("int x = 1{};", " + 1".repeat(20_000)),
        format!(
            "{}one<<<1, 1>>>(C, N);{}",
            "{".repeat(20_000),
            "}".repeat(20_000)
        ),
        format!("{} ;", "if (N) ".repeat(20_000)),
        format!(
            "std::vector<{}int{}> v;",
            "std::vector<".repeat(5_000),
            ">".repeat(5_000)
        ),
        format!("float {}p;", "*".repeat(20_000)),
    ] {
        let (kind, ..) = failure_of(&body, 3);
        assert!(
            ["unsupported_construct", "diagnostics", "fuel"].contains(&kind.as_str()),
            "{kind}"
        );
    }
    let spaces = format!(
        "{}{}{}",
        "namespace a {".repeat(20_000),
        with_body(""),
        "}".repeat(20_000)
    );
    assert!(parse(&spaces).is_err());
}
