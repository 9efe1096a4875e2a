//! Real programs, broken at random, and bytes of no meaning: nothing panics, keeps its reader for long,
//! or loses the shape of its text. Runs for a second; `LIGHTSPEED_FUZZ_S=600` makes it ten minutes:
//!
//!     LIGHTSPEED_FUZZ_S=600 cargo nextest run --release -p launch-plan --test fuzz --no-capture
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{limits, scalar, tensor};
use domain::{Direction, ElementType, Signature};
use launch_plan::{Argument, Program};

/// What one case may take. An honest plan takes milliseconds; the rest is for a machine whose cores
/// are busy with other things.
const CASE: Duration = Duration::from_secs(30);

/// Words that steer into rarer code than bytes do.
const WORDS: &[&str] = &[
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
    "::",
    "->",
    "...",
    "[",
    "]",
    "=",
    "?",
    ":",
    "-",
    "<<",
    "%",
    "0",
    "1",
    "-1",
    "2147483647",
    "18446744073709551615ull",
    "1e30f",
    "0x",
    "'a'",
    "nullptr",
    "sizeof",
    "decltype",
    "int",
    "float*",
    "auto",
    "auto&",
    "dim3",
    "struct S",
    "class",
    "union",
    "enum",
    "template <typename T>",
    "template <int... N>",
    "void",
    "const",
    "constexpr",
    "static",
    "extern \"C\"",
    "__global__",
    "__device__",
    "__host__",
    "__shared__",
    "__constant__",
    "return",
    "for (;;)",
    "for (auto x : v)",
    "while (1)",
    "do",
    "switch (N)",
    "case 1:",
    "if (N)",
    "else",
    "break",
    "continue",
    "goto",
    "new float[N]",
    "delete[]",
    "operator",
    "using",
    "typedef",
    "namespace n",
    "friend",
    "[&](int i)",
    "[=]",
    "std::vector<float>",
    "std::min",
    "std::swap",
    "cudaMalloc(&p, N)",
    "cudaMemcpy(",
    "cudaMemset(C, 0, 4)",
    "cudaFuncSetAttribute(",
    "cudaStream_t",
    "cudaDeviceSynchronize()",
    "#define Q(a, b) a##b",
    "#define R(...) __VA_ARGS__",
    "#undef",
    "#if",
    "#ifdef X",
    "#elif 1",
    "#else",
    "#endif",
    "#include <cub/cub.cuh>",
    "#pragma unroll",
    "\\\n",
    "\n",
    "\"",
    "R\"(",
    "/*",
    "*/",
    "//",
    "%:",
    "\u{feff}",
    "\u{fc}",
    "\r\n",
];

/// A generator of numbers that needs nothing else (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// A text that is parsed for a signature.
struct Sample {
    text: String,
    signature: Signature,
}

fn main_samples() -> Vec<Sample> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let mut files = Vec::new();
    sources_below(&problems, &mut files);
    files.sort();
    let real = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap());
    let all: Vec<Sample> = real
        .chain(EXTRA.iter().map(|&text| text.to_owned()))
        .map(|text| Sample {
            signature: signature_of(&text),
            text,
        })
        .collect();
    assert!(all.len() > 60, "the packages' sources were not found");
    all
}

fn sources_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_below(&path, files);
        } else if path.extension().is_some_and(|e| e == "cu") {
            files.push(path);
        }
    }
}

/// What a file's own entry function asks for, so that its body is interpreted.
fn signature_of(text: &str) -> Signature {
    let list = text
        .split_once("solve(")
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(list, _)| list);
    let parameters = list.split(',').filter(|word| !word.trim().is_empty());
    let parameter = |text: &str| {
        let element = if text.contains("bfloat16") {
            ElementType::Bf16
        } else if text.contains("half") {
            ElementType::F16
        } else if text.contains("float") {
            ElementType::F32
        } else {
            ElementType::I32
        };
        let name = text.rsplit([' ', '*']).next().unwrap_or("x").trim();
        let direction = match text.contains("const") {
            true => Direction::In,
            false => Direction::Out,
        };
        match text.contains('*') {
            true => tensor(name, element, direction),
            false => scalar(name, element),
        }
    };
    Signature(parameters.map(parameter).collect())
}

fn arguments_for(signature: &Signature, size: i64) -> Vec<Argument> {
    let argument = |parameter: &domain::Parameter| match &parameter.kind {
        domain::ParameterKind::Tensor { .. } => Argument::Buffer {
            bytes: size.unsigned_abs() * 64,
        },
        domain::ParameterKind::Scalar { element } => match element {
            ElementType::I32 => Argument::Int(size),
            _ => Argument::Float(0.5),
        },
    };
    signature.0.iter().map(argument).collect()
}

/// Constructs that no package uses.
const EXTRA: [&str; 3] = [
    "struct S { int x; float y = 2; void host() { std::vector<int> q; } __device__ int f() { return x; } };
template <int B, typename T = float> __global__ void tk(const T* a, T* c, int n) {}
template <typename... A> void all(A... a) { tk<8><<<1, 2>>>(a...); }
void solve(const float* A, const float* B, float* C, int N) {
    std::vector<int> v(3, 1); int sum = 0; for (auto x : v) sum += x; S s{1}; s.x += 2;
    auto f = [&](int i) { return i + sum; }; auto k = tk<8>; k<<<f(1), {2, 2}, N << 2>>>(A, C, N);
    switch (N % 3) { case 1: all(A, C, N); break; default: std::swap(sum, s.x); }
    void* args[] = {&A, &C, &N}; cudaLaunchKernel((void*)k, dim3(1), dim3(2), args, 0, 0);
}
",
    "__constant__ float w[4];
__global__ void k(const float* a, float* c, int n) {}
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf(\"%d\", e); } } while (0)
extern \"C\" void solve(const float* A, const float* B, float* C, int N) {
    float* d = nullptr; CHECK(cudaMalloc((void**)&d, N * sizeof(float))); float h[4] = {1, 2.5f, -3};
    CHECK(cudaMemcpyToSymbol(w, h, sizeof(h))); int flag = 1; cudaStream_t s; cudaStreamCreate(&s);
    while (flag) { k<<<1, 32, 0, s>>>(A, d, N); cudaMemcpy(&flag, d, 4, cudaMemcpyDeviceToHost); }
    int* p = new int[N]; for (int i = 0; i < N; i++) p[i] = i; delete[] p; cudaFree(d);
}
",
    "namespace ops { enum { DEPTH = 3, NEXT }; struct V { float x[DEPTH]; }; __global__ void k(float* c, long n) {} }
#if defined(X) && X > 3
#define N2 2
#else
#define N2 4
#endif
void solve(const float* A, const float* B, float* C, int N) {
    dim3 g(N2, ops::NEXT); unsigned u = 0x20u; do { ops::k<<<g, u>>>(&C[N % 7], -N2); u >>= 1; } while (u);
    int dev; cudaGetDevice(&dev); cudaDeviceProp p; cudaGetDeviceProperties(&p, dev); double x = sqrt(2.0 * N);
    ops::k<<<(int)ceil(x) % p.multiProcessorCount + 1, p.warpSize>>>(C, x);
}
",
];

fn mutate(random: &mut Random, samples: &[Sample], bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    match random.below(8) {
        0 => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        1 | 2 => {
            let word = random.of(WORDS);
            bytes.splice(at..at, word.bytes());
        }
        3 => {
            let piece = piece_of(random, bytes, 80);
            bytes.splice(at..at, piece);
        }
        4 => {
            // From another program.
            let other = &samples[random.below(samples.len())].text;
            let piece = piece_of(random, other.as_bytes(), 200);
            bytes.splice(at..at, piece);
        }
        5 => {
            if let Some(slot) = bytes.get_mut(at) {
                *slot = random.next() as u8;
            }
        }
        6 => {
            // Many times the same: nesting, long lists, long expressions.
            let word = random.of(WORDS).repeat(1 + random.below(300));
            bytes.splice(at..at, word.bytes());
        }
        _ => {
            let end = (at + 1 + random.below(12)).min(bytes.len());
            let word = random.of(WORDS);
            bytes.splice(at..end.max(at), word.bytes());
        }
    }
}

fn piece_of(random: &mut Random, bytes: &[u8], longest: usize) -> Vec<u8> {
    let from = random.below(bytes.len());
    let end = (from + 1 + random.below(longest)).min(bytes.len());
    bytes.get(from..end).unwrap_or_default().to_vec()
}

fn case(random: &mut Random, samples: &[Sample]) -> (String, usize) {
    let sample = random.below(samples.len());
    let mut bytes = match random.below(20) {
        0 => (0..random.below(400))
            .map(|_| random.next() as u8)
            .collect(),
        1 => {
            let words: Vec<&str> = (0..random.below(120)).map(|_| random.of(WORDS)).collect();
            words.join(" ").into_bytes()
        }
        _ => samples[sample].text.clone().into_bytes(),
    };
    for _ in 0..1 + random.below(8) {
        mutate(random, samples, &mut bytes);
    }
    (String::from_utf8_lossy(&bytes).into_owned(), sample)
}

fn shape(text: &str) -> Vec<usize> {
    text.split('\n').map(str::len).collect()
}

/// Whether it was planned. Panics where anything is not as it should be.
fn check(text: &str, signature: &Signature, size: i64) -> bool {
    let failure = match Program::parse(text, signature) {
        Err(failure) => failure,
        Ok(program) => {
            let submitted = text.strip_prefix('\u{feff}').unwrap_or(text);
            let device = program.device_source();
            assert_eq!(shape(device), shape(submitted), "lines keep their lengths");
            let kept = device.bytes().zip(submitted.bytes());
            assert!(kept.into_iter().all(|(d, s)| d == s || d == b' '));
            match program.plan(&arguments_for(signature, size), &limits()) {
                Ok(_) => return true,
                Err(failure) => failure,
            }
        }
    };
    let lines = text.lines().count().max(1) as u32;
    assert!(!failure.diagnostics.is_empty(), "a failure says something");
    for diagnostic in &failure.diagnostics {
        assert!(!diagnostic.message.is_empty());
        assert!(
            diagnostic
                .line
                .is_none_or(|line| (1..=lines + 1).contains(&line))
        );
    }
    false
}

#[test]
fn packages_sources_are_read() {
    let samples = main_samples();
    let planned = samples
        .iter()
        .filter(|sample| check(&sample.text, &sample.signature, 37))
        .count();
    assert!(planned > 50, "{planned} of {}", samples.len());
}

#[test]
fn broken_programs_neither_panic_nor_linger() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = variable("LIGHTSPEED_FUZZ_S").unwrap_or(1);
    let seed: u64 = variable("LIGHTSPEED_FUZZ_SEED").unwrap_or(20_261_130);
    let mut random = Random(seed.max(1));
    let samples = main_samples();
    let start = Instant::now();
    let (mut cases, mut planned, mut longest) = (0_u64, 0_u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let (text, sample) = case(&mut random, &samples);
        let size = [1, 37, 4096, 1 << 20][random.below(4)];
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            check(&text, &samples[sample].signature, size)
        }));
        let took = begun.elapsed();
        if ended.is_err() || took > CASE {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-found.cu");
            std::fs::write(&file, &text).unwrap();
            panic!("case {cases} of seed {seed}, {took:?}: {}", file.display());
        }
        cases += 1;
        planned += u64::from(ended.is_ok_and(|planned| planned));
        longest = longest.max(took);
    }
    println!(
        "{cases} cases of seed {seed} in {seconds} s, {planned} with a plan, the longest {longest:?}"
    );
}
