//! Host code that has no plan: kind, place and message.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::refuses;
use common::values::refusal;

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
        "try { if (N > 0) throw 1; } catch (int) { return; }",
        construct,
        1,
        18,
        "an exception in host code is not in the host subset",
    );
    refuses(
        "cuModuleLoadData(0);",
        construct,
        1,
        1,
        "the call `cuModuleLoadData`: the file that is judged is the only module",
    );
    refuses(
        "cudaMallocArray(&C, 4);",
        construct,
        1,
        1,
        "the call `cudaMallocArray`: textures, surfaces and CUDA arrays are not in the host subset",
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
fn a_name_that_only_begins_as_a_device_function_is_the_file_s_own() {
    let source = "__global__ void k(float* c, int n) {}
        int atomic_count(int n) { return n * 2; } int atomicity = 3; struct atomic_int4 { int x; };
        void solve(const float* A, const float* B, float* C, int N) {
            atomic_int4 a{1}; k<<<1, 1>>>(C, atomic_count(4) + atomicity + a.x);
        }";
    let plan = common::plan_of(source, 8).map_err(|failure| failure.diagnostics);
    assert_eq!(common::text(&plan.unwrap()), "k <1x1x1, 1x1x1, 0> (p2, 12)");
    for call in ["atomicAdd(C, 1.0f)", "atomicMax_system((int*)C, 1)"] {
        let name = call.split('(').next().unwrap();
        assert_eq!(
            refusal(&format!("{call};")),
            format!("unsupported_construct: `{name}` exists only in device code")
        );
    }
    assert_eq!(
        refusal("atomic_total(C);"),
        "unsupported_construct: `atomic_total` is not known to the host interpreter"
    );
}

#[test]
fn a_library_is_named_however_its_names_came_into_sight() {
    let source = |head: &str, body: &str| {
        format!("{head}\nvoid solve(const float* A, const float* B, float* C, int N) {{ {body} }}")
    };
    for (head, body, name, library) in [
        (
            "using namespace cub;",
            "size_t n = 0; DeviceReduce::Sum(nullptr, n, A, C, N);",
            "cub::DeviceReduce::Sum",
            "CUB's device-wide algorithms",
        ),
        (
            "using thrust::device_vector;",
            "device_vector<float> v(N);",
            "thrust::device_vector<float>",
            "Thrust",
        ),
    ] {
        let failure = common::plan_of(&source(head, body), 8).unwrap_err();
        let (_, _, _, message, hint) = common::described(&failure);
        let expected =
            format!("`{name}` is a host call into {library}, which is not in the host subset");
        assert_eq!(message, expected);
        assert!(hint.starts_with("write the kernel yourself"), "{hint}");
    }
}

#[test]
fn thrust_is_refused_by_name_where_its_namespace_is_opened() {
    let source = |call: &str| {
        format!(
            "using namespace thrust;
void solve(const float* A, const float* B, float* C, int N) {{
    {call}
}}"
        )
    };
    for (call, name) in [
        ("sort(device, C, C + N);", "thrust::sort"),
        ("sort(C, C + N);", "thrust::sort"),
        (
            "float s = reduce(thrust::device, A, A + N);",
            "thrust::reduce",
        ),
        ("sequence(C, C + N);", "thrust::sequence"),
        ("device_ptr<float> p(C);", "thrust::device_ptr<float>"),
    ] {
        let (kind, line, _, message, hint) =
            common::described(&common::plan_of(&source(call), 8).unwrap_err());
        assert_eq!(
            (kind.as_str(), line),
            ("unsupported_construct", 3),
            "{call}"
        );
        assert_eq!(
            message,
            format!("`{name}` is a host call into Thrust, which is not in the host subset")
        );
        assert!(hint.contains("write the kernel yourself"), "{hint}");
    }
    // The host's own arrays are the standard library's to sort.
    let own = "int a[2] = {2, 1}; sort(a, a + 2);";
    assert!(common::plan_of(&source(own), 8).is_ok());
}
