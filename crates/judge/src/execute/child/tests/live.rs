//! Host functions that read device values back, on the emulated device.

use super::*;
use crate::execute::wire::{LiveCounts, Run};
use crate::host_code::{HostCode, HostWork, LiveWork};
use crate::kernel_table::KernelTable;

pub(super) const SCRATCH_BYTES: u64 = 1 << 20;

/// A whole file; its kernels and variables are `extern "C"`.
fn live_within(source: &str, bounds: Bounds) -> Executor {
    let program = parsed(source);
    let arguments = arguments().to_vec();
    let rehearsal = program.plan(&arguments, &emulated().limits).unwrap();
    let needs = rehearsal.live.clone().expect("it needs the device");
    let mut code = compiled(program.device_source());
    for kernel in rehearsal.instantiations() {
        code.lowered_names.insert(kernel.0.clone(), kernel.0);
    }
    for symbol in needs.symbols {
        code.lowered_names.insert(format!("&{symbol}"), symbol);
    }
    let work = LiveWork {
        arguments,
        limits: emulated().limits,
        kernels: KernelTable::of(&code.ptx, &code.lowered_names, &[], &emulated().limits),
        scratch_bytes: SCRATCH_BYTES,
        rehearsal,
    };
    let shape = ShapeJob {
        id: "s".to_owned(),
        work: HostWork::Live(Box::new(work)),
        parameters: parameters(),
    };
    let program = Program {
        code,
        host: Some(HostCode(program.host().to_bytes().unwrap())),
        shapes: vec![shape],
    };
    loaded(program, bounds)
}

pub(super) fn live(source: &str) -> Executor {
    live_within(source, bounds())
}

pub(super) fn outputs(executor: &Executor) -> Vec<f64> {
    let slot = mailbox_slots(&parameters())[1].clone().unwrap();
    let bytes = executor.mailbox.read(slot.start, slot.len()).unwrap();
    element::widen(&bytes, ElementType::F32)
}

/// What a run did and left.
fn right(executor: &mut Executor) -> (LiveCounts, Vec<f64>) {
    match ran(executor) {
        Ok(Executed::Ran(Run { live, .. })) => (live.unwrap(), outputs(executor)),
        other => panic!("{other:?}"),
    }
}

fn wrong(executor: &mut Executor) -> Blame {
    match ran(executor) {
        Ok(Executed::Failed(blame)) => blame,
        other => panic!("{other:?}"),
    }
}

/// Levels of a graph whose nodes form a line, by a flag that the host looks at after each level.
const BFS: &str = "
extern \"C\" __global__ void begin(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i == 0 ? 0 : -1;
}
extern \"C\" __global__ void level(float* y, int* changed, int depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n && y[i] < 0 && y[i - 1] == depth) { y[i] = depth + 1; *changed = 1; }
}
extern \"C\" void solve(const float* x, float* y, int n) {
    int* d_changed; cudaMalloc(&d_changed, sizeof(int));
    begin<<<(n + 255) / 256, 256>>>(y, n);
    int changed = 1;
    for (int depth = 0; changed; ++depth) {
        cudaMemset(d_changed, 0, sizeof(int));
        level<<<(n + 255) / 256, 256>>>(y, d_changed, depth, n);
        cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(d_changed);
}";

#[test]
fn a_search_goes_level_by_level_until_nothing_changes() {
    let mut executor = live(BFS);
    let (counts, levels) = right(&mut executor);
    let expected: Vec<f64> = (0..N).map(|i| i as f64).collect();
    assert_eq!(levels, expected);
    // N - 1 levels and one that finds nothing.
    let rounds = u32::try_from(N).unwrap();
    let expected = LiveCounts {
        read_backs: rounds,
        launches: rounds + 1,
        operations: 3 * rounds + 2,
    };
    assert_eq!(counts, expected);
}

/// Two clusters of 1 ... N, from bad centres.
const K_MEANS: &str = "
extern \"C\" __global__ void assign(const float* x, const float* centres, float* sums, int* counts, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = fabsf(x[i] - centres[0]) <= fabsf(x[i] - centres[1]) ? 0 : 1;
    y[i] = k;
    atomicAdd(&sums[k], x[i]);
    atomicAdd(&counts[k], 1);
}
extern \"C\" void solve(const float* x, float* y, int n) {
    const int K = 2;
    float *centres, *sums; int* counts;
    cudaMalloc(&centres, K * sizeof(float)); cudaMalloc(&sums, K * sizeof(float)); cudaMalloc(&counts, K * sizeof(int));
    float h[K] = {1.0f, 2.0f}, total[K]; int count[K];
    float shift;
    do {
        cudaMemcpy(centres, h, sizeof(h), cudaMemcpyHostToDevice);
        cudaMemset(sums, 0, K * sizeof(float)); cudaMemset(counts, 0, K * sizeof(int));
        assign<<<(n + 127) / 128, 128>>>(x, centres, sums, counts, y, n);
        cudaMemcpy(total, sums, sizeof(total), cudaMemcpyDeviceToHost);
        cudaMemcpy(count, counts, sizeof(count), cudaMemcpyDeviceToHost);
        shift = 0;
        for (int k = 0; k < K; ++k) {
            float next = count[k] > 0 ? total[k] / count[k] : h[k];
            shift += fabsf(next - h[k]);
            h[k] = next;
        }
    } while (shift > 1e-3f);
    cudaFree(centres); cudaFree(sums); cudaFree(counts);
}";

#[test]
fn clusters_settle_by_centres_that_the_host_computes() {
    let mut executor = live(K_MEANS);
    let (counts, clusters) = right(&mut executor);
    let expected: Vec<f64> = (0..N).map(|i| f64::from(u8::from(i >= N / 2))).collect();
    assert_eq!(clusters, expected);
    assert!(counts.launches > 2, "{counts:?}");
    assert_eq!(counts.read_backs, 2 * counts.launches);
}

#[test]
fn an_iteration_stops_where_its_values_do() {
    // Newton's method for the roots of 1 ... N, all at once; the largest step decides.
    let mut executor = live(
        "__device__ int largest;
        extern \"C\" __global__ void f(const float* x, float* y, int first, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float old = first ? x[i] : y[i];
            float next = 0.5f * (old + x[i] / old);
            y[i] = next;
            atomicMax(&largest, __float_as_int(fabsf(next - old)));
        }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int bits = 0; int zero = 0; int first = 1;
            do {
                cudaMemcpyToSymbol(largest, &zero, sizeof(int));
                f<<<2, 256>>>(x, y, first, n); first = 0;
                cudaMemcpyFromSymbol(&bits, largest, sizeof(int));
            } while (bits > 0x38000000);
        }",
    );
    let (counts, roots) = right(&mut executor);
    for (i, root) in roots.iter().enumerate() {
        let expected = ((i + 1) as f64).sqrt();
        assert!(
            (root - expected).abs() < 1e-4,
            "{root} instead of {expected}"
        );
    }
    assert!((5..20).contains(&counts.launches), "{counts:?}");
}

#[test]
fn the_last_sum_can_be_the_host_s() {
    let mut executor = live(
        "extern \"C\" __global__ void f(const float* x, float* partial, float* y, int n) {
            __shared__ float s[64];
            int i = blockIdx.x * 64 + threadIdx.x;
            s[threadIdx.x] = i < n ? x[i] : 0; if (i < n) y[i] = 0;
            __syncthreads();
            for (int half = 32; half > 0; half /= 2) {
                if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
        }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int blocks = (n + 63) / 64;
            float* partial; cudaMalloc(&partial, blocks * sizeof(float));
            f<<<blocks, 64>>>(x, partial, y, n);
            float* h = new float[blocks];
            cudaMemcpy(h, partial, blocks * sizeof(float), cudaMemcpyDeviceToHost);
            float sum = 0; for (int b = 0; b < blocks; b++) sum += h[b];
            cudaMemcpy(y, &sum, sizeof(float), cudaMemcpyHostToDevice);
            delete[] h; cudaFree(partial);
        }",
    );
    let (counts, y) = right(&mut executor);
    assert_eq!(y[0], (N * (N + 1) / 2) as f64);
    assert_eq!((counts.launches, counts.read_backs), (1, 1));
}

/// Each round needs another scratch buffer, whose size the device says.
const CHANGING_SCRATCH: &str = "
extern \"C\" __global__ void next(int* size) { *size = *size < 4096 ? *size * 2 : 0; }
extern \"C\" __global__ void fill(float* scratch, int elements, float* y, int n) {
    for (int i = threadIdx.x; i < elements; i += blockDim.x) scratch[i] = elements;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = scratch[elements - 1];
}
extern \"C\" void solve(const float* x, float* y, int n) {
    int* d; cudaMalloc(&d, sizeof(int)); int size = 256;
    cudaMemcpy(d, &size, sizeof(int), cudaMemcpyHostToDevice);
    while (size) {
        float* scratch; cudaMalloc(&scratch, size * sizeof(float));
        fill<<<1, 256>>>(scratch, size, y, n);
        cudaFree(scratch);
        next<<<1, 1>>>(d);
        cudaMemcpy(&size, d, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(d);
}";

#[test]
fn scratch_of_changing_size_comes_and_goes() {
    let mut executor = live(CHANGING_SCRATCH);
    let (counts, y) = right(&mut executor);
    assert_eq!(y, vec![4096.0; 300]);
    assert_eq!(counts.launches, 10);
}

#[test]
fn timed_runs_are_interpreted_too_and_can_be_looked_at() {
    for source in [BFS, K_MEANS, CHANGING_SCRATCH] {
        let mut executor = live(source);
        let (_, expected) = right(&mut executor);
        for key in 0..3 {
            let timed = timed(&mut executor, key);
            assert!(
                matches!(timed, Ok(Executed::Timed(TimedRun::NotMeasured))),
                "{timed:?}"
            );
            assert_eq!(delivered(&mut executor).unwrap(), expected);
        }
        let slope = executor.answer(ExecuteRequest::Slope { shape: 0 });
        assert!(matches!(slope, Ok(Executed::Slope(None))), "{slope:?}");
        let finished = executor.answer(ExecuteRequest::Finish);
        assert!(matches!(finished, Ok(Executed::Done)), "{finished:?}");
    }
}

#[test]
fn the_instruction_limit_is_of_the_whole_run() {
    let source = "extern \"C\" __global__ void f(int* d, float* y) { *d = 1; y[threadIdx.x] = 0; }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int* d; cudaMalloc(&d, 4); int more = 1;
            while (more) { f<<<1, 32>>>(d, y); cudaMemcpy(&more, d, 4, cudaMemcpyDeviceToHost); }
        }";
    let mut executor = live_within(
        source,
        Bounds {
            instruction_fuel: 2000,
            ..bounds()
        },
    );
    let blame = wrong(&mut executor);
    assert_eq!(
        (blame.verdict, blame.kind),
        (Verdict::TimeLimit, Some(VerdictKind::InstructionFuel)),
        "{blame:?}"
    );
    // With instructions enough it is the number of launches that ends it.
    let blame = wrong(&mut live(source));
    assert_eq!(
        (blame.verdict, blame.kind, blame.line),
        (Verdict::PlanError, Some(VerdictKind::Fuel), Some(4)),
        "{blame:?}"
    );
}

const GARBAGE: &str = "extern \"C\" __global__ void f(int* d, float* y, int value) { *d = value; y[threadIdx.x] = value; }
extern \"C\" void solve(const float* x, float* y, int n) {
    int* d; cudaMalloc(&d, 4); int h; int table[4] = {1, 2, 3, 4};
    f<<<1, 300>>>(d, y, VALUE); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    f<<<1, 300>>>(d, y, table[h]); cudaFree(d);
}";

#[test]
fn a_fault_of_the_host_function_is_the_shape_s_and_leaves_the_device_as_it_was() {
    let mut executor = live(&GARBAGE.replace("VALUE", "4"));
    for _ in 0..2 {
        let blame = wrong(&mut executor);
        assert_eq!(
            (blame.verdict, blame.kind, blame.line),
            (Verdict::PlanError, Some(VerdictKind::HostFault), Some(5)),
            "{blame:?}"
        );
    }
    let mut executor = live(&GARBAGE.replace("VALUE", "(int)(table[n % 4] + 2)"));
    assert_eq!(right(&mut executor).1, vec![4.0; 300]);
    assert_eq!(right(&mut executor).1, vec![4.0; 300], "and again");
}

#[test]
fn a_fault_of_a_kernel_counts_before_what_the_host_makes_of_it() {
    let mut executor = live(
        "extern \"C\" __global__ void f(int* d, float* y, int n) { y[n + threadIdx.x] = 1; *d = 0; }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int* d; cudaMalloc(&d, 4); int h;
            f<<<1, 32>>>(d, y, n); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
            f<<<n / h, 32>>>(d, y, n);
        }",
    );
    let blame = wrong(&mut executor);
    assert_eq!(
        (blame.verdict, blame.kind),
        (Verdict::RuntimeError, Some(VerdictKind::OutOfBounds)),
        "{blame:?}"
    );
}

#[test]
fn scratch_is_counted_as_the_host_function_holds_it() {
    let source =
        "extern \"C\" __global__ void f(int* d, float* y) { *d = 1 << 16; y[threadIdx.x] = 0; }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int* d; cudaMalloc(&d, 4); int h; float* s;
            f<<<1, 300>>>(d, y); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
            for (int i = 0; i < 40; i++) { cudaMalloc(&s, h * sizeof(float)); FREE }
        }";
    let blame = wrong(&mut live(&source.replace("FREE", "")));
    assert_eq!(
        (blame.verdict, blame.line),
        (Verdict::MemoryLimit, Some(5)),
        "{blame:?}"
    );
    let (counts, _) = right(&mut live(&source.replace("FREE", "cudaFree(s);")));
    assert_eq!(counts.read_backs, 1);
}

#[test]
fn a_live_run_that_writes_an_input_is_found_out() {
    let mut executor = live(
        "extern \"C\" __global__ void f(const float* x, int* d, float* y) {
            *d = 0; y[threadIdx.x] = 0; const_cast<float*>(x)[0] = 3;
        }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int* d; cudaMalloc(&d, 4); int h = 1;
            while (h) { f<<<1, 300>>>(x, d, y); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); }
            cudaFree(d);
        }",
    );
    let blame = wrong(&mut executor);
    assert_eq!(blame.kind, Some(VerdictKind::InputModified), "{blame:?}");
}

#[test]
fn host_functions_that_are_none_are_the_judge_s_fault() {
    let mut executor = Executor::new(Mailbox::create(4096).unwrap());
    let open = ExecuteRequest::Open {
        request: Box::new(emulated()),
        kernels: None,
    };
    executor.answer(open).unwrap();
    let program = Program {
        code: compiled(DOUBLE),
        host: Some(HostCode(vec![0xff; 100])),
        shapes: Vec::new(),
    };
    let load = ExecuteRequest::Load {
        program: Box::new(program),
        bounds: bounds(),
    };
    let failed = executor.answer(load).unwrap_err();
    assert!(failed.starts_with("no host program"), "{failed}");
}
