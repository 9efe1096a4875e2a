//! What NVRTC gets to see.
#![allow(missing_docs)]

mod common;

use common::parse;

/// The device source of a file, its kept lines only.
#[track_caller]
fn device(source: &str) -> String {
    let program = match parse(source) {
        Ok(program) => program,
        Err(failure) => panic!("{failure}"),
    };
    let text = program.device_source();
    assert_eq!(shape(text), shape(source), "lines keep their lengths");
    let kept: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    kept.join("\n")
}

fn shape(text: &str) -> Vec<usize> {
    text.split('\n').map(str::len).collect()
}

const SOLVE: &str =
    "void solve(const float* A, const float* B, float* C, int N) {\n  k<<<1, 1>>>(C);\n}\n";

#[test]
fn host_functions_go_and_device_code_stays() {
    let source = format!(
        "#include <cuda_runtime.h>
#include <vector>
using namespace std;
#define TILE 16 // a tile
/* a note */
struct Pair {{ float a, b; }};
__device__ float twice(float x) {{ return 2 * x; }}
__constant__ float table[3];
static inline int ceil_div(int a, int b) {{
    return (a + b - 1) / b; // \u{fc}ber
}}
template <typename T>
__global__ void k(T* c) {{ c[0] = twice(c[1]); }}
void helper(float* p);
template <int B> void launch(float* p) {{ k<<<B, 1>>>(p); }}
void helper(float* p) {{ launch<3>(p); }}
int main() {{ std::vector<float> v; return 0; }}
extern \"C\" {SOLVE}"
    );
    assert_eq!(
        device(&source),
        "#include <cuda_runtime.h>
#include <vector>
using namespace std;
#define TILE 16 // a tile
/* a note */
struct Pair { float a, b; };
__device__ float twice(float x) { return 2 * x; }
__constant__ float table[3];
template <typename T>
__global__ void k(T* c) { c[0] = twice(c[1]); }"
    );
}

#[test]
fn functions_that_device_code_names_stay() {
    let source = format!(
        "constexpr int square(int x) {{ return x * x; }}
template <typename T> T unused(T x) {{ return x; }}
inline float scale(float x) {{ return x * square(3); }}
const int SIZE = 4;
const int HOST_ONLY = 5;
static float cache[HOST_ONLY];
constexpr int WIDTH = SIZE * 2;
int blocks(int n) {{ return n / WIDTH; }}
__global__ void k(float* c) {{ __shared__ float s[WIDTH]; int blocks = 1; c[0] = scale(c[blocks]); }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "constexpr int square(int x) { return x * x; }
inline float scale(float x) { return x * square(3); }
const int SIZE = 4;
constexpr int WIDTH = SIZE * 2;
int blocks(int n) { return n / WIDTH; }
__global__ void k(float* c) { __shared__ float s[WIDTH]; int blocks = 1; c[0] = scale(c[blocks]); }"
    );
}

#[test]
fn host_code_that_device_code_happens_to_name_goes() {
    let source = format!(
        "std::vector<float> data;
struct Host {{ std::vector<int> items; }};
using List = std::vector<Host>;
float* buffer() {{ float* p; cudaMalloc(&p, 4); return p; }}
void run(float* c);
__global__ void k(float* c) {{ float data = 1, run = 2; c[0] = data + run; }}
void run(float* c) {{ k<<<1, 1>>>(c); }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        ";
__global__ void k(float* c) { float data = 1, run = 2; c[0] = data + run; }"
    );
}

#[test]
fn directives_inside_host_functions_stay() {
    let source = "__global__ void k(float* c) {}
#ifdef FAST
void solve(const float* A, const float* B, float* C, int N) { other<<<1, 1>>>(C);
#else
void solve(const float* A, const float* B, float* C, int N) {
#endif
#define LATER 3
  k<<<1, 1>>>(C); /* one
  comment */
}
__device__ int later = LATER;
";
    assert_eq!(
        device(source),
        "__global__ void k(float* c) {}
#ifdef FAST
void solve(const float* A, const float* B, float* C, int N) { other<<<1, 1>>>(C);
#else
#endif
#define LATER 3
__device__ int later = LATER;"
    );
}

#[test]
fn linkage_blocks_namespaces_and_attributes() {
    let source = format!(
        "extern \"C\" {{
__global__ void k(float* c) {{}}
{SOLVE}}}
namespace ops {{
__global__ void __launch_bounds__(128) inner(float* c) {{}}
void host(float* c) {{ inner<<<1, 1>>>(c); }}
}}
struct __align__(16) V {{ float x; }};
template __global__ void tk<4>(float*);
__global__ void tail(float* c) {{ extern __shared__ __align__(128) float s[]; }}
"
    );
    assert_eq!(
        device(&source),
        "extern \"C\" {
__global__ void k(float* c) {}
}
namespace ops {
__global__ void __launch_bounds__(128) inner(float* c) {}
}
struct __align__(16) V { float x; };
template __global__ void tk<4>(float*);
__global__ void tail(float* c) { extern __shared__ __align__(128) float s[]; }"
    );
}

#[test]
fn what_the_grammar_cannot_read_is_left_to_the_compiler() {
    let source = format!(
        "void broken() {{ int x = ; }}
__global__ void k(float* c) {{ c[0] = = 1; }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "void broken() { int x = ; }\n__global__ void k(float* c) { c[0] = = 1; }"
    );
}

#[test]
fn a_macro_that_makes_both_sides_stays() {
    let source = format!(
        "#define BOTH(name) __global__ void name(float* c) {{}} void name##_host(float* c) {{}}
BOTH(other)
#define HOST_ONLY static inline
HOST_ONLY int f() {{ return 1; }}
__global__ void k(float* c) {{}}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "#define BOTH(name) __global__ void name(float* c) {} void name##_host(float* c) {}
BOTH(other)
#define HOST_ONLY static inline
__global__ void k(float* c) {}"
    );
}

#[test]
fn byte_order_mark_goes_and_carriage_returns_stay() {
    let source = format!("__global__ void k(float* c) {{}}\n{SOLVE}").replace('\n', "\r\n");
    let program = parse(&format!("\u{feff}{source}")).unwrap();
    assert_eq!(shape(program.device_source()), shape(&source));
    assert_eq!(
        program.device_source().matches('\r').count(),
        source.matches('\r').count()
    );
    assert_eq!(
        program.device_source().trim_end(),
        "__global__ void k(float* c) {}"
    );
}

#[test]
fn helpers_with_variables_named_like_host_types_stay() {
    let source = format!(
        "float norm(const float* vector, int thread) {{ int string = thread * 2; return vector[string] < vector[0] ? 1.0f : 0.0f; }}
struct Item {{ int thread, vector; }};
int pick(Item item) {{ return item.thread < item.vector ? item.thread : 0; }}
__global__ void k(float* c) {{ Item i = {{1, 2}}; c[0] = norm(c, 0) + pick(i); }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        source.split("void solve").next().unwrap().trim_end()
    );
}

#[test]
fn host_methods_of_structs_that_device_code_uses_go() {
    let source = format!(
        "struct S {{
    int x;
    __device__ void init(int v) {{ x = v; }}
    int twice() const {{ return 2 * x; }}
    void host() {{ std::vector<int> q; }}
    template <typename T> void load(T n) {{ cudaMalloc(&n, 4); }}
    void run(float* c) {{ start(c); }}
    void print(std::ostream& out) const;
    friend std::ostream& operator<<(std::ostream& out, const S& s) {{ return out << s.x; }}
}};
void S::print(std::ostream& out) const {{ out << x; }}
__device__ int more(S s) {{ return s.twice(); }}
void start(float* c) {{ k<<<1, 1>>>(c); }}
__global__ void k(float* c) {{ S s; s.init(3); c[0] = s.x; }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "struct S {
int x;
__device__ void init(int v) { x = v; }
int twice() const { return 2 * x; }
};
__device__ int more(S s) { return s.twice(); }
__global__ void k(float* c) { S s; s.init(3); c[0] = s.x; }"
    );
}

#[test]
fn methods_made_by_a_macro_with_their_neighbours_stay() {
    let source = format!(
        "#define METHODS void host() {{ std::vector<int> q; }} __device__ int f() {{ return x; }}
struct S {{ int x; METHODS }};
__global__ void k(float* c) {{ S s; s.x = 1; c[0] = s.f(); }}
{SOLVE}"
    );
    let kept = device(&source);
    assert!(kept.contains("struct S { int x; METHODS };"), "{kept}");
}

#[test]
fn callers_of_host_functions_go_with_them() {
    let source = format!(
        "void launch(float* c);
void stage(float* c) {{ launch(c); }}
void run(float* c) {{ stage(c); }}
void launch(float* c) {{ k<<<1, 1>>>(c); }}
__device__ float pick(float x) {{ return x; }}
int pick(int x) {{ return x; }}
__global__ void k(float* c) {{ float run = 1; c[0] = pick(run); }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "__device__ float pick(float x) { return x; }
int pick(int x) { return x; }
__global__ void k(float* c) { float run = 1; c[0] = pick(run); }"
    );
}

#[test]
fn nothing_inside_a_parse_error_is_blanked() {
    let source = format!(
        "struct S {{ std::vector<int> v; int x = = 3; void host() {{ std::vector<int> q; }} }};
std::vector<int> data = = 3;
void helper() {{ std::vector<int> v = = 3; }}
__global__ void k(float* c) {{}}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        source.split("void solve").next().unwrap().trim_end()
    );
}

#[test]
fn names_taken_out_of_the_host_s_library_go_and_others_stay() {
    let source = format!(
        "using std::vector;\nusing std::min;\nusing ::std::max;\nusing namespace std;\n\
         __global__ void k(float* c) {{ c[0] = min(1.0f, c[1]); }}\n{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "using std::min;\nusing namespace std;\n__global__ void k(float* c) { c[0] = min(1.0f, c[1]); }"
    );
}

#[test]
fn clocks_of_the_host_go_with_the_variables_that_hold_them() {
    let source = format!(
        "#include <time.h>
struct timer {{ struct timespec from, to; }};
void start(struct timer* t) {{ clock_gettime(CLOCK_MONOTONIC, &t->from); }}
double seconds(struct timer* t) {{ return t->to.tv_sec - t->from.tv_sec; }}
struct timer t;
__global__ void k(float* c) {{ float t = c[1]; c[0] = t; }}
{SOLVE}"
    );
    assert_eq!(
        device(&source),
        "#include <time.h>
;
__global__ void k(float* c) { float t = c[1]; c[0] = t; }"
    );
}

#[test]
fn constants_of_a_record_with_host_methods_stay() {
    let source = format!(
        "struct Tile {{ int m; void print() const {{ fprintf(stderr, \"%d\", m); }} }};
constexpr Tile tile = {{16}};
__global__ void k(float* c) {{ c[0] = tile.m; }}
{SOLVE}"
    );
    let kept = device(&source);
    assert!(kept.contains("constexpr Tile tile = {16};"), "{kept}");
    assert!(kept.contains("struct Tile { int m;"), "{kept}");
}
