//! Host functions that read device values back: what their plans say, and what a run does with the values.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{BODY_LINE, limits, parse, plan_of, text, vector_add_arguments, with_body};
use domain::VerdictKind;
use launch_plan::{
    Answer, Buffer, DeviceSide, HostProgram, KernelInstance, LiveFailure, NoFacts, Operation,
    Place, Plan, Refused,
};

/// A device whose reads give what a test wrote down.
#[derive(Default)]
struct Scripted {
    reads: Vec<Vec<u8>>,
    asked: Vec<(Place, Vec<String>)>,
    operations: Vec<Operation>,
    /// The operation that it refuses, counted from 0.
    refuses: Option<usize>,
    /// Kernels whose numbers were asked for and not there, with the lines.
    lacking: Vec<(String, u32)>,
}

impl DeviceSide for Scripted {
    fn submit(&mut self, operation: Operation, _symbols: &[String]) -> Result<(), Refused> {
        if self.refuses == Some(self.operations.len()) {
            return Err(Refused);
        }
        self.operations.push(operation);
        Ok(())
    }

    fn read(
        &mut self,
        source: Place,
        symbols: &[String],
        into: &mut [u8],
    ) -> Result<Answer, Refused> {
        let bytes = self.reads.get(self.asked.len()).ok_or(Refused)?;
        into.copy_from_slice(bytes);
        self.asked.push((source, symbols.to_vec()));
        Ok(Answer::Known)
    }

    fn lacks(&mut self, kernel: &KernelInstance, line: u32) -> Result<(), Refused> {
        self.lacking.push((kernel.0.clone(), line));
        Err(Refused)
    }
}

fn ints(values: &[i32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// The host program as another process would have it.
fn sent(source: &str) -> HostProgram {
    let bytes = parse(source).unwrap().host().to_bytes().unwrap();
    HostProgram::from_bytes(&bytes).unwrap()
}

fn run(body: &str, reads: Vec<Vec<u8>>) -> (Result<(), LiveFailure>, Vec<Operation>) {
    let mut side = Scripted {
        reads,
        ..Scripted::default()
    };
    let ended =
        sent(&with_body(body)).run(&vector_add_arguments(1000), &limits(), &NoFacts, &mut side);
    (ended, side.operations)
}

/// What a run did, one operation a line.
fn done(body: &str, reads: Vec<Vec<u8>>) -> String {
    let (ended, operations) = run(body, reads);
    ended.unwrap_or_else(|failure| panic!("{failure}"));
    text(&Plan {
        operations,
        ..Plan::default()
    })
}

/// Kind, line and message of a run's fault.
fn fault(body: &str, reads: Vec<Vec<u8>>) -> (VerdictKind, u32, String) {
    match run(body, reads).0 {
        Err(LiveFailure::Fault(failure)) => {
            let first = &failure.diagnostics[0];
            (failure.kind, first.line.unwrap_or(0), first.message.clone())
        }
        other => panic!("{other:?}"),
    }
}

fn plan(body: &str) -> Plan {
    plan_of(&with_body(body), 1000).unwrap_or_else(|failure| panic!("{failure}"))
}

const FLAG_LOOP: &str = "int* d; cudaMalloc(&d, sizeof(int)); int changed = 1;
 while (changed) {
   cudaMemset(d, 0, sizeof(int));
   k<<<4, 256>>>(A, B, C, N);
   cudaMemcpy(&changed, d, sizeof(int), cudaMemcpyDeviceToHost);
 }
 cudaFree(d);";

#[test]
fn a_read_back_that_nobody_uses_is_left_out_with_a_warning() {
    let plan = plan(
        "float* h = new float[N]; k<<<4, 256>>>(A, B, C, N);
         cudaMemcpy(h, C, N * sizeof(float), cudaMemcpyDeviceToHost);
         float* copy = new float[N]; cudaMemcpy(copy, h, N * sizeof(float), cudaMemcpyHostToHost);
         delete[] copy; delete[] h;",
    );
    assert_eq!(plan.live, None);
    assert_eq!(text(&plan), "k <4x1x1, 256x1x1, 0> (p0, p1, p2, 1000)");
    let [warning] = &plan.warnings[..] else {
        panic!("{:?}", plan.warnings)
    };
    assert!(warning.message.contains("nothing uses"), "{warning:?}");
    assert_eq!(warning.line, Some(BODY_LINE + 1));
}

#[test]
fn a_value_that_is_written_over_before_its_use_is_not_used() {
    let plan =
        plan("int h; cudaMemcpy(&h, A, 4, cudaMemcpyDeviceToHost); h = 3; one<<<h, 1>>>(C, N);");
    assert_eq!(
        (plan.live.is_none(), text(&plan).as_str()),
        (true, "one <3x1x1, 1x1x1, 0> (p2, 1000)")
    );
}

#[test]
fn the_first_use_of_a_value_from_the_device_makes_a_plan_live() {
    for (uses, line) in [
        ("if (h[0] > 0) one<<<1, 1>>>(C, N);", 1),
        ("one<<<h[0], 1>>>(C, N);", 1),
        ("int n = h[0] + 1;", 1),
        ("cudaMemcpy(C, h, 8, cudaMemcpyHostToDevice);", 1),
        (
            "int t[2]; cudaMemcpy(t, h, 8, cudaMemcpyHostToHost);\nif (t[1]) one<<<1, 1>>>(C, N);",
            2,
        ),
        ("one<<<1, 1>>>(C, N);\nwhile (h[1]) { h[1] = 0; }", 2),
    ] {
        let body = format!("int h[2]; cudaMemcpy(h, A, 8, cudaMemcpyDeviceToHost);\n{uses}");
        let live = plan(&body).live.unwrap_or_else(|| panic!("{uses}"));
        assert_eq!(live.line, BODY_LINE + line, "{uses}");
    }
}

#[test]
fn guesses_meet_the_kernels_on_every_side_of_a_branch() {
    let plan = plan(
        "int h; cudaMemcpy(&h, A, 4, cudaMemcpyDeviceToHost);
         if (h == 0) tk<1><<<1, 1>>>(A, C, N);
         else if (h < 100) tk<2><<<1, 1>>>(A, C, N);
         else tk<3><<<h, 1>>>(A, C, N);",
    );
    let names: Vec<String> = plan.instantiations().into_iter().map(|k| k.0).collect();
    // And those without template parameters, which cost nothing.
    assert_eq!(
        names,
        ["k", "one", "tk<1, float>", "tk<2, float>", "tk<3, float>"]
    );
}

#[test]
fn a_fault_that_only_guesses_meet_is_forgotten_and_one_before_them_is_not() {
    let divided = "int h; cudaMemcpy(&h, A, 4, cudaMemcpyDeviceToHost); one<<<N / h, 1>>>(C, N);";
    assert!(plan(divided).live.is_some());
    let before = format!("int z = 0; int y = N / z; {divided}");
    let failure = plan_of(&with_body(&before), 1000).unwrap_err();
    assert_eq!(failure.kind, VerdictKind::HostFault);
    // No value gets around this.
    let beyond = format!("{divided} asm(\"nop\");");
    let failure = plan_of(&with_body(&beyond), 1000);
    assert!(failure.is_ok(), "0 and 1 end otherwise: the run decides");
    let always = "int h; cudaMemcpy(&h, A, 4, cudaMemcpyDeviceToHost); int x = h; system(\"ls\");";
    let failure = plan_of(&with_body(always), 1000).unwrap_err();
    assert_eq!(failure.kind, VerdictKind::UnsupportedConstruct);
}

#[test]
fn a_flag_loop_goes_on_for_as_long_as_the_device_says() {
    assert!(plan(FLAG_LOOP).live.is_some());
    let round = "memset s0 0 4\nk <4x1x1, 256x1x1, 0> (p0, p1, p2, 1000)\n";
    let reads = [1, 1, 0].map(|flag| ints(&[flag])).to_vec();
    let expected = format!("s0 = alloc 4\n{round}{round}{round}free s0");
    assert_eq!(done(FLAG_LOOP, reads), expected);
}

#[test]
fn an_iteration_converges_by_values_of_the_device() {
    // Newton's method for the square root of 5; the device is to halve the error.
    let body = "float* d; cudaMalloc(&d, 4); float x = 1.0f, old;
        do { old = x; one<<<1, 1>>>(d, N); cudaMemcpy(&x, d, sizeof(float), cudaMemcpyDeviceToHost);
        } while (fabsf(x - old) > 1e-6f);
        int steps = (int)(x * 1000); one<<<steps, 1>>>(C, N); cudaFree(d);";
    let reads = [3.0, 2.333_333_3, 2.238_095_3, 2.236_068, 2.236_068];
    let ran = done(body, reads.map(|x| floats(&[x])).to_vec());
    assert_eq!(ran.matches("one <1x1x1").count(), 5);
    assert!(ran.contains("one <2236x1x1"), "{ran}");
}

#[test]
fn partial_sums_are_added_up_on_the_host() {
    let body = "float h[4]; k<<<4, 256>>>(A, B, C, N);
        cudaMemcpy(h, C, sizeof(h), cudaMemcpyDeviceToHost);
        float sum = 0; for (int i = 0; i < 4; i++) sum += h[i];
        cudaMemcpy(C, &sum, sizeof(float), cudaMemcpyHostToDevice);";
    let ran = done(body, vec![floats(&[1.0, 2.0, 3.5, -0.5])]);
    let last = ran.lines().last().unwrap();
    assert_eq!(last, format!("upload p2 {:?}", floats(&[6.0])));
}

#[test]
fn symbols_are_read_by_name_and_offset() {
    let source = with_body(
        "unsigned n; cudaMemcpyFromSymbol(&n, counters, sizeof(n), 8); one<<<n, 1>>>(C, N);",
    );
    let source = format!("__device__ unsigned counters[4];\n{source}");
    let plan = plan_of(&source, 10).unwrap();
    let live = plan.live.unwrap();
    assert!(live.symbols.contains("counters"), "{live:?}");
    let mut side = Scripted {
        reads: vec![ints(&[7])],
        ..Scripted::default()
    };
    sent(&source)
        .run(&vector_add_arguments(10), &limits(), &NoFacts, &mut side)
        .unwrap();
    let place = Place {
        buffer: Buffer::Symbol(0),
        offset_bytes: 8,
    };
    assert_eq!(side.asked, [(place, vec!["counters".to_owned()])]);
    let past = source.replace("sizeof(n), 8", "sizeof(n), 16");
    assert_eq!(plan_of(&past, 10).unwrap_err().kind, VerdictKind::HostFault);
}

#[test]
fn structs_and_fields_are_read_back() {
    let source = "struct State { char done; int count; };
        __global__ void f(State* s, float* c) {}
        void solve(const float* A, const float* B, float* C, int N) {
            State* d; cudaMalloc(&d, sizeof(State)); State s;
            do { f<<<1, 1>>>(d, C); cudaMemcpy(&s, d, sizeof(State), cudaMemcpyDeviceToHost);
            } while (!s.done);
            cudaMemcpy(&s.count, d, 4, cudaMemcpyDeviceToHost);
            f<<<s.count, 1>>>(d, C); cudaFree(d);
        }";
    assert!(plan_of(source, 10).unwrap().live.is_some());
    let mut side = Scripted {
        reads: vec![
            vec![0, 9, 9, 9, 1, 0, 0, 0],
            vec![1, 9, 9, 9, 2, 0, 0, 0],
            ints(&[12]),
        ],
        ..Scripted::default()
    };
    let ended = sent(source).run(&vector_add_arguments(10), &limits(), &NoFacts, &mut side);
    ended.unwrap();
    let ran = text(&Plan {
        operations: side.operations,
        ..Plan::default()
    });
    assert!(ran.contains("f <12x1x1"), "{ran}");
}

#[test]
fn garbage_from_the_device_is_found_out_where_it_is_used() {
    let read = "int h[2]; cudaMemcpy(h, A, 8, cudaMemcpyDeviceToHost);\n";
    for (uses, values, kind) in [
        (
            "one<<<h[0], 1>>>(C, N);",
            [-1, 0],
            VerdictKind::LaunchConfig,
        ),
        ("int a[4]; a[h[0]] = 1;", [4, 0], VerdictKind::HostFault),
        (
            "int a[4] = {}; int x = a[h[0]];",
            [i32::MIN, 0],
            VerdictKind::HostFault,
        ),
        (
            "int x = h[0] / h[1];",
            [i32::MIN, -1],
            VerdictKind::HostFault,
        ),
        (
            "int x = h[0] + h[1];",
            [i32::MAX, 1],
            VerdictKind::HostFault,
        ),
        (
            "for (int i = 0; i < h[0]; i++) one<<<1, 1>>>(C, N);",
            [i32::MAX, 0],
            VerdictKind::Fuel,
        ),
        ("while (h[0]) h[1]++;", [1, i32::MIN], VerdictKind::Fuel),
        (
            "float* d; cudaMalloc(&d, h[0]);",
            [-4, 0],
            VerdictKind::LaunchConfig,
        ),
        (
            "int* big = new int[h[0]];",
            [i32::MAX, 0],
            VerdictKind::Fuel,
        ),
        (
            "one<<<1, 1>>>(C + h[0], N); cudaMemset(C + h[0], 0, 4);",
            [1 << 30, 0],
            VerdictKind::HostFault,
        ),
    ] {
        let (found, line, message) = fault(&format!("{read}{uses}"), vec![ints(&values)]);
        assert_eq!((found, line), (kind, BODY_LINE + 1), "{uses}: {message}");
    }
    let flag = "bool b; cudaMemcpy(&b, A, 1, cudaMemcpyDeviceToHost); one<<<b + 1, 1>>>(C, N);";
    assert_eq!(
        done(flag, vec![vec![0x80]]),
        "one <2x1x1, 1x1x1, 0> (p2, 1000)"
    );
    let nan = "float x; cudaMemcpy(&x, A, 4, cudaMemcpyDeviceToHost); one<<<(int)x, 1>>>(C, N);";
    let (kind, ..) = fault(nan, vec![floats(&[f32::NAN])]);
    assert!(matches!(
        kind,
        VerdictKind::HostFault | VerdictKind::LaunchConfig
    ));
}

#[test]
fn addresses_and_lengths_are_checked_before_anything_is_read() {
    for (body, kind) in [
        (
            "float* p; cudaMemcpy(&p, A, sizeof(p), cudaMemcpyDeviceToHost);",
            VerdictKind::HostFault,
        ),
        (
            "int h; cudaMemcpy(&h, A, 8, cudaMemcpyDeviceToHost);",
            VerdictKind::HostFault,
        ),
        (
            "int h[2]; cudaMemcpy(h, A + N, 4, cudaMemcpyDeviceToHost);",
            VerdictKind::HostFault,
        ),
        (
            "float* d; cudaMalloc(&d, 4); cudaFree(d); float h; cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);",
            VerdictKind::HostFault,
        ),
    ] {
        let failure = plan_of(&with_body(body), 1000).unwrap_err();
        assert_eq!(failure.kind, kind, "{body}: {failure}");
    }
}

#[test]
fn what_the_device_refuses_ends_the_run_and_is_no_fault_of_the_file() {
    let mut side = Scripted {
        reads: vec![ints(&[1]); 10],
        refuses: Some(3),
        ..Scripted::default()
    };
    let program = sent(&with_body(FLAG_LOOP));
    let ended = program.run(&vector_add_arguments(1000), &limits(), &NoFacts, &mut side);
    assert_eq!(ended, Err(LiveFailure::Refused));
    let mut side = Scripted::default();
    let ended = program.run(&vector_add_arguments(1000), &limits(), &NoFacts, &mut side);
    assert_eq!(ended, Err(LiveFailure::Refused), "nothing to read");
}

#[test]
fn a_loop_that_never_converges_ends() {
    let (kind, line, message) = fault(FLAG_LOOP, vec![ints(&[1]); 5000]);
    assert_eq!(
        (kind, line),
        (VerdictKind::Fuel, BODY_LINE + 3),
        "{message}"
    );
}

#[test]
fn vectors_are_read_into_and_used_like_arrays() {
    let read =
        "std::vector<int> h(4); cudaMemcpy(h.data(), A, 4 * sizeof(int), cudaMemcpyDeviceToHost);";
    assert_eq!(plan(read).live, None, "nothing uses it");
    for uses in [
        "int x = h[2];",
        "int sum = 0; for (int v : h) sum += v;",
        "std::vector<int> g; g.swap(h); one<<<g[0], 1>>>(C, N);",
        "auto g = h; one<<<g[0], 1>>>(C, N);",
    ] {
        assert!(plan(&format!("{read}\n{uses}")).live.is_some(), "{uses}");
    }
    let sum = format!("{read} int sum = 0; for (int v : h) sum += v; one<<<sum, 1>>>(C, N);");
    assert_eq!(
        done(&sum, vec![ints(&[1, 2, 3, 4])]),
        "one <10x1x1, 1x1x1, 0> (p2, 1000)"
    );
}

#[test]
fn a_run_never_goes_by_guessed_numbers_of_a_kernel() {
    let body = "int h; cudaMemcpy(&h, C, sizeof(int), cudaMemcpyDeviceToHost);\n\
                int blocks = 1;\n\
                if (h == 7)\n\
                  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tk<7>, 256, 0);\n\
                one<<<blocks, 256>>>(C, N);";
    let run = |read: i32| {
        let mut side = Scripted {
            reads: vec![ints(&[read])],
            ..Scripted::default()
        };
        let arguments = vector_add_arguments(1000);
        let ended = sent(&with_body(body)).run(&arguments, &limits(), &NoFacts, &mut side);
        (ended, side.lacking)
    };
    assert_eq!(run(6), (Ok(()), Vec::new()));
    let asked = ("tk<7>".to_owned(), BODY_LINE + 3);
    assert_eq!(run(7), (Err(LiveFailure::Refused), vec![asked]));
}
