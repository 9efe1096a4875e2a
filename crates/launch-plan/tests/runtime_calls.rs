//! Launches by call, symbols, rows, pinned and managed memory, queries.
#![allow(missing_docs)]

mod common;

use common::{BODY_LINE, failure_of, plan_of, plan_text, text, with_body};
use launch_plan::Operation;

fn launches(body: &str) -> Vec<launch_plan::Launch> {
    let plan = plan_of(&with_body(body), 1000).unwrap_or_else(|failure| panic!("{failure}"));
    let operations = plan.operations.into_iter();
    operations
        .filter_map(|operation| match operation {
            Operation::Launch(launch) => Some(launch),
            _ => None,
        })
        .collect()
}

#[test]
fn cuda_launch_kernel_reads_its_arguments_through_pointers() {
    let body = "void* args[] = {&A, (void*)&B, &C, &N};\n\
                cudaLaunchKernel((void*)k, dim3((N + 255) / 256), dim3(256), args, 0, 0);\n\
                int n = 7; void* two[2] = {&C, &n};\n\
                cudaLaunchKernel((const void*)one, 4, 32, two, 128, nullptr);";
    assert_eq!(
        plan_text(body, 1000),
        "k <4x1x1, 256x1x1, 0> (p0, p1, p2, 1000)\none <4x1x1, 32x1x1, 128> (p2, 7)"
    );
}

#[test]
fn templates_of_kernels_are_launched_by_call() {
    let body = "void* args[] = {&A, &C, &N};\n\
                cudaLaunchKernel((void*)tk<4, float>, dim3(1), dim3(32), args, 0, 0);";
    assert_eq!(
        plan_text(body, 8),
        "tk<4, float> <1x1x1, 32x1x1, 0> (p0, p2, 8)"
    );
}

#[test]
fn an_argument_array_that_would_be_misread_is_refused() {
    let (kind, line, _, message, hint) = failure_of(
        "size_t n = N; void* args[] = {&C, &n};\n\
         cudaLaunchKernel((void*)one, dim3(1), dim3(32), args, 0, 0);",
        8,
    );
    assert_eq!((kind.as_str(), line), ("launch_config", BODY_LINE + 1));
    assert_eq!(
        message,
        "argument 2 of `one` is read as `int`, but its address is that of a `unsigned long`"
    );
    assert!(hint.contains("copies bytes"), "{hint}");

    let (kind, _, _, message, hint) = failure_of(
        "int n = N; void* args[] = {C, &n};\n\
         cudaLaunchKernel((void*)one, dim3(1), dim3(32), args, 0, 0);",
        8,
    );
    assert_eq!(kind, "launch_config");
    assert_eq!(
        message,
        "argument 1 of `one` is passed as a device pointer itself"
    );
    assert!(hint.contains("&pointer"), "{hint}");
}

#[test]
fn a_cooperative_launch_is_marked() {
    let body = "void* args[] = {&C, &N};\n\
                cudaLaunchCooperativeKernel((void*)one, dim3(4), dim3(32), args);\n\
                one<<<4, 32>>>(C, N);";
    let marks: Vec<bool> = launches(body).iter().map(|l| l.cooperative).collect();
    assert_eq!(marks, [true, false]);
}

const CONFIG: &str = "cudaLaunchConfig_t config = {0};\n\
     config.gridDim = dim3(8); config.blockDim = 128; config.dynamicSmemBytes = 64;\n\
     cudaLaunchAttribute attrs[2];\n\
     attrs[0].id = cudaLaunchAttributeClusterDimension;\n\
     attrs[0].val.clusterDim.x = CLUSTER; attrs[0].val.clusterDim.y = 1;\n\
     attrs[0].val.clusterDim.z = 1;\n\
     attrs[1].id = cudaLaunchAttributeCooperative; attrs[1].val.cooperative = 1;\n\
     config.attrs = attrs; config.numAttrs = COUNT;\n\
     cudaLaunchKernelEx(&config, one, C, N);";

fn configured(cluster: &str, count: &str) -> String {
    CONFIG.replace("CLUSTER", cluster).replace("COUNT", count)
}

#[test]
fn a_configured_launch_has_clusters_and_cooperation_as_its_attributes_say() {
    let [launch] = &launches(&configured("4", "1"))[..] else {
        panic!("one launch");
    };
    assert_eq!((launch.grid, launch.block), ([8, 1, 1], [128, 1, 1]));
    assert_eq!(launch.dynamic_shared_bytes, 64);
    assert_eq!(
        (launch.cluster, launch.cooperative),
        (Some([4, 1, 1]), false)
    );
    assert!(launches(&configured("4", "2"))[0].cooperative);
    assert_eq!(launches(&configured("4", "0"))[0].cluster, None);
    let by_array = "cudaLaunchConfig_t config; config.gridDim = 2; config.blockDim = 32;\n\
                    config.attrs = nullptr; config.numAttrs = 0;\n\
                    void* args[] = {&C, &N};\n\
                    cudaLaunchKernelExC(&config, (const void*)one, args);";
    assert_eq!(plan_text(by_array, 5), "one <2x1x1, 32x1x1, 0> (p2, 5)");
}

#[test]
fn clusters_that_the_device_would_refuse_are_refused() {
    let (kind, _, _, message, _) = failure_of(&configured("3", "1"), 8);
    assert_eq!(kind, "launch_config");
    assert_eq!(
        message,
        "grid.x is 8, which is no multiple of the cluster's 3"
    );
    let large = configured("16", "1").replace("dim3(8)", "dim3(16)");
    let (kind, _, _, message, hint) = failure_of(&large, 8);
    assert_eq!(kind, "launch_config");
    assert_eq!(
        message,
        "a cluster of 16 x 1 x 1 has 16 blocks; the limit is 8"
    );
    assert!(hint.contains("NonPortableClusterSizeAllowed"), "{hint}");
    let allowed = format!(
        "cudaFuncSetAttribute(one, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n{large}"
    );
    assert_eq!(launches(&allowed)[0].cluster, Some([16, 1, 1]));
}

fn with_symbols(body: &str) -> String {
    format!(
        "__device__ float table[16]; __constant__ int size;\n{}",
        with_body(body)
    )
}

#[test]
fn a_device_variable_is_a_pointer_like_others_once_its_address_is_asked_for() {
    let source = with_symbols(
        "float* t; size_t bytes; cudaGetSymbolAddress((void**)&t, table);\n\
         cudaGetSymbolSize(&bytes, table);\n\
         cudaMemset(t, 0, bytes);\n\
         cudaMemcpy(t + 4, A, 12 * sizeof(float), cudaMemcpyDeviceToDevice);\n\
         one<<<1, 32>>>(t, N);",
    );
    let plan = plan_of(&source, 100).unwrap();
    assert_eq!(plan.symbols, ["table"]);
    assert_eq!(
        text(&plan),
        "memset v0 0 64\ncopy v0+16 p0 48\none <1x1x1, 32x1x1, 0> (v0, 100)"
    );
    let past =
        with_symbols("float* t; cudaGetSymbolAddress((void**)&t, table); cudaMemset(t, 0, 65);");
    let failure = plan_of(&past, 100).unwrap_err();
    assert!(
        failure
            .to_string()
            .ends_with("runs past `table`, which has 64 bytes"),
        "{failure}"
    );
}

#[test]
fn rows_that_touch_are_one_operation_and_others_one_each() {
    assert_eq!(
        plan_text("cudaMemset2D(C, 64, 0, 64, 3);", 100),
        "memset p2 0 192"
    );
    assert_eq!(
        plan_text(
            "float* p; size_t pitch; cudaMallocPitch(&p, &pitch, 40, 2);\n\
             cudaMemcpy2D(p, pitch, A, 40, 40, 2, cudaMemcpyDeviceToDevice);\n\
             cudaFree(p);",
            100
        ),
        "s0 = alloc 1024\ncopy s0 p0 40\ncopy s0+512 p0+40 40\nfree s0"
    );
    let (kind, _, _, message, _) = failure_of("cudaMemset2D(C, 32, 0, 64, 3);", 100);
    assert_eq!(kind, "host_fault");
    assert_eq!(
        message,
        "cudaMemset2D of rows of 64 bytes that start 32 bytes apart"
    );
}

#[test]
fn pinned_memory_is_the_host_s() {
    let body = "int* h; cudaMallocHost(&h, 2 * sizeof(int)); h[0] = 5; h[1] = 6;\n\
                cudaMemcpy(C, h, 8, cudaMemcpyHostToDevice); cudaFreeHost(h);";
    assert_eq!(plan_text(body, 10), "upload p2 [5, 0, 0, 0, 6, 0, 0, 0]");
}

#[test]
fn managed_memory_is_the_device_s_and_says_so() {
    let allocate = "float* m; cudaMallocManaged(&m, 64);\n";
    assert_eq!(
        plan_text(&format!("{allocate}one<<<1, 32>>>(m, N); cudaFree(m);"), 8),
        "s0 = alloc 64\none <1x1x1, 32x1x1, 0> (s0, 8)\nfree s0"
    );
    let (kind, _, _, message, hint) = failure_of(&format!("{allocate}m[0] = 1.0f;"), 8);
    assert_eq!(kind, "unsupported_construct");
    assert_eq!(
        message,
        format!(
            "host code touches the managed memory that line {BODY_LINE} allocates, which kernels \
             alone can use here"
        )
    );
    assert!(hint.contains("cudaMemcpy"), "{hint}");
}

#[test]
fn elapsed_time_is_zero_with_a_warning() {
    let body = "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float ms = 1;\n\
                cudaEventRecord(a); one<<<1, 32>>>(C, N); cudaEventRecord(b);\n\
                cudaEventElapsedTime(&ms, a, b);\n\
                if (ms == 0.0f) one<<<2, 32>>>(C, N);";
    let plan = plan_of(&with_body(body), 8).unwrap();
    assert_eq!(plan.launch_count(), 2);
    let warning = &plan.warnings[0];
    assert_eq!(warning.line, Some(BODY_LINE + 2));
    assert!(warning.message.starts_with("cudaEventElapsedTime gives 0"));
}

#[test]
fn queries_are_answered_from_the_target() {
    let body = "size_t free_bytes, total; cudaMemGetInfo(&free_bytes, &total);\n\
                cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);\n\
                int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n\
                int cluster; cudaDeviceGetAttribute(&cluster, cudaDevAttrClusterLaunch, 0);\n\
                cudaPointerAttributes where; cudaPointerGetAttributes(&where, A);\n\
                int version; cudaRuntimeGetVersion(&version);\n\
                size_t stack; cudaDeviceGetLimit(&stack, cudaLimitStackSize);\n\
                if (total > free_bytes && where.type == cudaMemoryTypeDevice\n\
                    && version >= 12000 && stack == 1024 && prop.name[0] == 'N'\n\
                    && prop.canMapHostMemory && prop.reservedSharedMemPerBlock == 1024)\n\
                    one<<<sms, prop.maxThreadsPerBlock>>>(C, cluster);";
    assert_eq!(plan_text(body, 8), "one <132x1x1, 1024x1x1, 0> (p2, 1)");
}

/// A file whose kernel takes a parameter pack, and a wrapper that forwards one.
fn with_packs(body: &str) -> String {
    format!(
        "template <typename... Ts> __global__ void packed(float* c, Ts... rest) {{}}\n\
         template <typename Kernel, typename... Ts>\n\
         void run(Kernel kernel, dim3 grid, dim3 block, Ts... rest) {{\n\
         cudaLaunchConfig_t config = {{}}; config.gridDim = grid; config.blockDim = block;\n\
         cudaLaunchAttribute attrs[1];\n\
         attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;\n\
         attrs[0].val.programmaticStreamSerializationAllowed = 1;\n\
         config.attrs = attrs; config.numAttrs = 1;\n\
         cudaLaunchKernelEx(&config, kernel, rest...);\n}}\n{}",
        with_body(body)
    )
}

#[test]
fn a_configured_launch_takes_a_parameter_pack() {
    let plan = plan_of(
        &with_packs("run(one, 2, 64, C, N); run(k, 1, 32, A, B, C, N);"),
        7,
    )
    .unwrap();
    assert_eq!(
        text(&plan),
        "one <2x1x1, 64x1x1, 0> (p2, 7)\nk <1x1x1, 32x1x1, 0> (p0, p1, p2, 7)"
    );
}

#[test]
fn a_kernel_may_take_a_parameter_pack() {
    let body = "packed<<<1, 32>>>(C, N, 2 * N); packed<<<1, 32>>>(C);\n\
                cudaLaunchConfig_t config = {}; config.gridDim = 1; config.blockDim = 32;\n\
                cudaLaunchKernelEx(&config, packed<const float*>, C, A);";
    assert_eq!(
        text(&plan_of(&with_packs(body), 7).unwrap()),
        "packed<int, int> <1x1x1, 32x1x1, 0> (p2, 7, 14)\n\
         packed<> <1x1x1, 32x1x1, 0> (p2)\n\
         packed<const float*> <1x1x1, 32x1x1, 0> (p2, p0)"
    );
    let by_array = "void* args[] = {&C, &N};\n\
                    cudaLaunchKernel((void*)packed<int>, 1, 32, args, 0, 0);";
    let failure = plan_of(&with_packs(by_array), 7).unwrap_err();
    assert!(
        failure.to_string().contains("takes a parameter pack"),
        "{failure}"
    );
}

#[test]
fn a_reference_is_the_address_of_what_the_launch_names() {
    let source = "struct Pair { float a, b; };
__global__ void move(float& to, const float& from, int n) { to = from; }
__global__ void swap(Pair& pair) { }
void solve(const float* A, const float* B, float* C, int N) {
    move<<<1, 1>>>(C[3], A[N - 1], N);
    move<<<1, 1>>>(*C, B[0], N);
    Pair* pairs = (Pair*)C;
    swap<<<1, 1>>>(pairs[2]);
}";
    let plan = plan_of(source, 8).unwrap();
    assert_eq!(
        text(&plan),
        "move <1x1x1, 1x1x1, 0> (p2+12, p0+28, 8)\n\
         move <1x1x1, 1x1x1, 0> (p2, p1, 8)\n\
         swap <1x1x1, 1x1x1, 0> (p2+16)"
    );
    let of_host = plan_of(
        &source
            .replace("C[3]", "x")
            .replace("move<<<1, 1>>>(x", "float x = 0; move<<<1, 1>>>(x"),
        8,
    );
    assert_eq!(
        of_host.unwrap_err().to_string(),
        "5:33: argument 1 of `move` points to host memory"
    );
}

#[test]
fn structs_take_device_pointers_with_them() {
    let source = "struct View { float* data; int rows; };
struct Params { View in; const float* more[2]; View* none; };
__global__ void k(Params params, View view) {}
void solve(const float* A, const float* B, float* C, int N) {
    Params params{};
    params.in = {C + 2, N};
    params.more[1] = B;
    k<<<1, 1>>>(params, View{C, 3});
}";
    let mut bytes = vec![0_u8; 40];
    bytes[8] = 7;
    assert_eq!(
        text(&plan_of(source, 7).unwrap()),
        format!(
            "k <1x1x1, 1x1x1, 0> ({bytes:?} with p2+8 at 0, null at 16, p1 at 24, null at 32, \
             [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0] with p2 at 0)"
        )
    );
    let of_host = source.replace("params.more[1] = B", "float x[2]; params.more[1] = x");
    assert_eq!(
        plan_of(&of_host, 7).unwrap_err().to_string(),
        "8:17: argument 1 of `k` points to host memory"
    );
}
