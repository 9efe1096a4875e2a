//! Broken and twisted host code of the later kinds: it never panics, and fuel ends it.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use std::time::{Duration, Instant};

use common::dice::Dice;
use common::{limits, vector_add, vector_add_arguments};
use launch_plan::Program;

const SAMPLE: &str = "\
#include <vector>
__global__ void k(const float* a, float* c, int n) {}
template <int X> struct Cfg { static constexpr int T = X, U = T + 1; using type = float; };
struct P { int t = 3; float w[2][2]; P(int x) : t(x) {} int g(int n) const { return (n + t - 1) / t; } };
struct Mul { int k; int operator()(int x) const { return k * x; } };
template <typename T, int N> struct Buf { T data[N]; T& at(int i) { return data[i]; } };
template <class F, class... Ts> auto call(F f, Ts&&... ts) { return f(std::forward<Ts>(ts)...); }
template <class... Ts> int sum(Ts... ts) { return (ts + ... + sizeof...(ts)); }
std::vector<int> upto(int n) { std::vector<int> r; for (int i = 0; i < n; i++) r.push_back(i); return r; }
void solve(const float* A, const float* B, float* C, int N) {
  struct Q { int a; P p = 4; } q{1}; enum { E = 2, F };
  std::vector<std::vector<int>> vv(2, std::vector<int>(3, 1)); vv[1][2] = Cfg<5>::U;
  for (auto& row : vv) for (int x : row) q.a += x;
  std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
  auto [x, y] = std::make_pair(fib(6), F); std::array<int, 3> a = {1, 2, 3};
  std::sort(a.begin(), a.end(), [](int p, int q) { return p > q; }); Mul m{2}; Buf<Cfg<1>::type, 4> b; b.data[1] = m(3);
  if (int k = sum(x, y, a[0])) k<<<k, 1>>>(A, C, N);
  while (int z = N - 100) { break; }
  decltype(N) w = call([=](auto u, int v) { return u * v + N; }, 2, q.p.g(N)); std::cout << w << std::endl;
  int* h = (int*)calloc(4, sizeof(int)); memset(h, 1, 16); auto u4 = upto(4); h[0] = std::accumulate(u4.begin(), u4.end(), 0); free(h);
  k<<<dim3(q.p.g(N), std::numeric_limits<short>::max()), Cfg<64>::T>>>(A, C, w);
}
";

const WORDS: [&str; 28] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "...",
    "&",
    "*",
    "[&]",
    "[=]",
    "auto",
    "this->",
    "struct P",
    "template <class T>",
    "std::vector<",
    "std::array<int, 1 << 30>",
    "Cfg<",
    "::T",
    "for (;;)",
    "P p;",
    "return",
    "1e9",
    "static",
];

impl Dice {
    fn twist(&mut self, text: &mut String) {
        let at = self.roll(text.len());
        let length = 1 + self.roll(40);
        let end = (at + length).min(text.len());
        match self.roll(3) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, WORDS[self.roll(WORDS.len())]),
            _ => {
                let copied = text[at..end].to_owned();
                let place = self.roll(text.len());
                text.insert_str(place, &copied);
            }
        }
    }
}

fn run(text: &str) -> bool {
    let Ok(program) = Program::parse(text, &vector_add()) else {
        return false;
    };
    program.plan(&vector_add_arguments(100), &limits()).is_ok()
}

#[test]
fn twisted_host_code_ends_without_a_panic() {
    assert!(run(&SAMPLE
        .replace("k = sum", "kk = sum")
        .replace("k<<<k,", "k<<<kk,")));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3_000 {
        let mut text = SAMPLE.to_owned();
        for _ in 0..=dice.roll(3) {
            dice.twist(&mut text);
        }
        let start = Instant::now();
        run(&text);
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "too long:\n{text}"
        );
    }
}

#[test]
fn types_within_types_are_bounded() {
    let mut body = String::from("using T0 = int; ");
    for level in 1..3_000 {
        body += &format!("using T{level} = std::vector<T{}>; ", level - 1);
    }
    let (kind, ..) = common::failure_of(&body, 1);
    assert_eq!(kind, "fuel");
    let mut body = String::from("using T0 = int; ");
    for level in 1..3_000 {
        body += &format!("using T{level} = T{}*; ", level - 1);
    }
    let (kind, ..) = common::failure_of(&body, 1);
    assert_eq!(kind, "fuel");
    let (kind, ..) = common::failure_of("std::array<std::array<int, 262144>, 262144> a;", 1);
    assert_eq!(kind, "fuel");
}
