//! No input makes the crate panic or lose the shape of the text.
#![allow(missing_docs)]

mod common;

use common::{limits, vector_add, vector_add_arguments};
use launch_plan::Program;
use proptest::prelude::*;

const SAMPLES: [&str; 3] = [
    "\
#include <cuda_runtime.h>
#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf(\"%d\", e); } } while (0)
__constant__ float w[4];
__global__ void k(const float* a, float* c, int n) { int i = blockIdx.x; if (i < n) c[i] = a[i] * w[0]; }
extern \"C\" void solve(const float* A, const float* B, float* C, int N) {
    dim3 block(TILE, TILE), grid(CEIL_DIV(N, TILE));
    float* d = nullptr; CHECK(cudaMalloc((void**)&d, N * sizeof(float)));
    float h[4] = {1, 2.5f, -3}; cudaMemcpyToSymbol(w, h, sizeof(h));
    for (int i = 0; i < 3; i++) { k<<<grid, block>>>(A, d + i, N); if (i % 2) continue; }
    cudaMemcpy(C, d, N * sizeof(float), cudaMemcpyDeviceToDevice); cudaFree(d);
}
",
    "\
template <int B, typename T = float> __global__ void tk(const T* a, T* c, int n) {}
template <typename T> __global__ void d(T* c, T s) {}
static int ceil_div(int a, int b = 32) { return (a + b - 1) / b; }
template <int B> void launch(const float* a, float*& c, int n) { tk<B><<<ceil_div(n), B>>>(a, c, n); }
struct S { int x; float y = 2; };
enum { DEPTH = 3, NEXT };
void solution(const float* A, const float* B, float* C, int N) {
    S s{1}; s.x += NEXT; launch<64>(A, C, N); d<<<1, s.x>>>(C, 1.0f);
    int n = N; while (n > 1) { n = n / 2 + (n & 1 ? 1 : 0); if (n < 5) break; }
    switch (n) { case 1: d<<<n, 1>>>(C, s.y); break; default: std::swap(n, s.x); }
    auto f = tk<8>; f<<<1, {2, 2}, n << 2>>>(A, C, n); int* p = &n; *p -= 1;
}
",
    "\
namespace ops {
__global__ void k(float* c, long n) {}
}
#if defined(X) && X > 3
#define N2 2
#else
#define N2 4 /* four */
#endif
void solve(const float* A, const float* B, float* C, int N) {
    unsigned g((unsigned)N), b = 0x20u; size_t bytes = sizeof(float) * N;
    do { ops::k<<<g % 7 + 1, b>>>(&C[g], -N2); g >>= 1; } while (g);
    cudaMemset(C, 0, bytes); cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
    double x = std::max(sqrt(2.0 * N), (double)p.warpSize); ops::k<<<(int)ceil(x), 1>>>(C, x);
}
",
];

/// Words that mutations insert: they steer into rarer code than random bytes do.
const WORDS: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "<<<",
    ">>>",
    ";",
    ",",
    "*",
    "&",
    "-",
    "0",
    "1",
    "4294967296",
    "1e30f",
    "sizeof",
    "int",
    "float*",
    "auto",
    "dim3",
    "struct S",
    "template <typename T>",
    "void",
    "const",
    "static",
    "return",
    "for (;;)",
    "while (1)",
    "if (N)",
    "else",
    "#define Q(",
    "#if",
    "#endif",
    "\\\n",
    "\"",
    "/*",
    "//",
    "new float[N]",
];

#[derive(Clone, Debug)]
enum Mutation {
    Delete(usize, usize),
    Insert(usize, usize),
    Copy(usize, usize, usize),
    Byte(usize, u8),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = 0..2_000_usize;
    prop_oneof![
        (place.clone(), 1..40_usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        (place.clone(), 0..WORDS.len()).prop_map(|(at, word)| Mutation::Insert(at, word)),
        (place.clone(), place.clone(), 1..60_usize)
            .prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
        (place, any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
    ]
}

fn mutated(sample: &str, mutations: &[Mutation]) -> String {
    let mut bytes = sample.as_bytes().to_vec();
    for mutation in mutations {
        let length = bytes.len().max(1);
        match *mutation {
            Mutation::Delete(at, count) => {
                let at = at % length;
                let end = (at + count).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            Mutation::Insert(at, word) => {
                let at = (at % length).min(bytes.len());
                bytes.splice(at..at, WORDS[word].bytes());
            }
            Mutation::Copy(from, to, count) => {
                let from = (from % length).min(bytes.len());
                let piece = bytes[from..(from + count).min(bytes.len())].to_vec();
                let to = (to % length).min(bytes.len());
                bytes.splice(to..to, piece);
            }
            Mutation::Byte(at, byte) => {
                if let Some(slot) = bytes.get_mut(at % length) {
                    *slot = byte;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shape(text: &str) -> Vec<usize> {
    text.split('\n').map(str::len).collect()
}

/// Parses and plans; a failure must say something at a real place.
fn check(source: &str) -> Result<(), TestCaseError> {
    let lines = source.lines().count().max(1) as u32;
    let failure = match Program::parse(source, &vector_add()) {
        Ok(program) => {
            let device = program.device_source();
            let text = source.strip_prefix('\u{feff}').unwrap_or(source);
            prop_assert_eq!(shape(device), shape(text));
            for (kept, submitted) in device.bytes().zip(text.bytes()) {
                prop_assert!(kept == submitted || kept == b' ');
            }
            let arguments = vector_add_arguments(37);
            let plan = program.plan(&arguments, &limits());
            prop_assert_eq!(&plan, &program.plan(&arguments, &limits()));
            plan.err()
        }
        Err(failure) => Some(failure),
    };
    if let Some(failure) = failure {
        prop_assert!(!failure.diagnostics.is_empty());
        for diagnostic in failure.diagnostics {
            prop_assert!(!diagnostic.message.is_empty());
            prop_assert!(
                diagnostic
                    .line
                    .is_none_or(|line| (1..=lines + 1).contains(&line))
            );
        }
    }
    Ok(())
}

#[test]
fn samples_have_plans() {
    for sample in SAMPLES {
        let program = Program::parse(sample, &vector_add()).expect("the sample parses");
        let plan = program.plan(&vector_add_arguments(37), &limits());
        assert!(plan.is_ok(), "{plan:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn mutated_answers_never_panic(
        sample in 0..SAMPLES.len(),
        mutations in prop::collection::vec(mutation(), 1..8),
    ) {
        check(&mutated(SAMPLES[sample], &mutations))?;
    }

    #[test]
    fn any_text_never_panics(words in prop::collection::vec(0..WORDS.len(), 0..60)) {
        let text: Vec<&str> = words.iter().map(|&word| WORDS[word]).collect();
        check(&text.join(" "))?;
    }

    #[test]
    fn any_body_never_panics(words in prop::collection::vec(0..WORDS.len(), 0..40)) {
        let text: Vec<&str> = words.iter().map(|&word| WORDS[word]).collect();
        check(&common::with_body(&text.join(" ")))?;
    }
}
