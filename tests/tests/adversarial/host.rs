//! Host functions that do what none may: every case names the exact verdict and the text shown.

use end_to_end::answers::{HOST, KERNEL, expect, host, vector_add};

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
    let text = "17592186044416 bytes are allocated; the device has 150109880320";
    expect(&host(body), "plan_error/launch_config", text);
}

#[test]
fn more_scratch_than_the_problem_admits() {
    let body = "float* p; cudaMalloc(&p, 5ull << 30); add<<<1, 256>>>(a, b, c, n); cudaFree(p);";
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
    let text = "line 5: function \"add\" has already been defined (previous definition at line 1)";
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
            "%:include \"/x.h\"",
            "line 5: cannot open source file \"/x.h\"",
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
