//! Answers of each tier of the host subset, by the plan they come to.
#![allow(missing_docs)]

mod common;

use common::plan_text;

#[test]
fn arithmetic_and_launches() {
    let plan = plan_text(
        "int threads = 256; int blocks = (N + threads - 1) / threads;
         k<<<blocks, threads>>>(A, B, C, N);
         cudaDeviceSynchronize();",
        1000,
    );
    assert_eq!(plan, "k <4x1x1, 256x1x1, 0> (p0, p1, p2, 1000)");
}

#[test]
fn dim3_in_all_its_forms() {
    let grid = |declaration: &str| {
        plan_text(
            &format!("const int TILE = 16; {declaration} one<<<g, 1>>>(C, N);"),
            33,
        )
    };
    let expected = |g: &str| format!("one <{g}, 1x1x1, 0> (p2, 33)");
    for (declaration, g) in [
        ("dim3 g(TILE, TILE);", "16x16x1"),
        ("dim3 g(TILE);", "16x1x1"),
        ("dim3 g(N * TILE);", "528x1x1"),
        ("dim3 g(CEIL_DIV(N, TILE), TILE, 2);", "3x16x2"),
        ("dim3 g((N + 15) / 16, N);", "3x33x1"),
        ("dim3 g = {2, 3};", "2x3x1"),
        ("dim3 g{2, 3, 4};", "2x3x4"),
        ("dim3 g = dim3(TILE / 2);", "8x1x1"),
        ("dim3 g; g.x = 5; g.y = TILE;", "5x16x1"),
        ("dim3 g{};", "1x1x1"),
        ("auto g = dim3(2, 2); g.z += 3;", "2x2x4"),
        ("unsigned g(TILE);", "16x1x1"),
        ("size_t g(TILE);", "16x1x1"),
        ("float b = 32; dim3 g(ceil(N / b), 1);", "2x1x1"),
    ] {
        assert_eq!(grid(declaration), expected(g), "{declaration}");
    }
    let inline = "k<<<{2, 3}, dim3(4, 5), 64>>>(A, B, C, N);";
    assert_eq!(plan_text(inline, 7), "k <2x3x1, 4x5x1, 64> (p0, p1, p2, 7)");
}

#[test]
fn an_arithmetic_answer_in_float() {
    let plan = plan_text(
        "float size = N * sizeof(float);
         float* d; cudaMalloc(&d, size);
         int blocks = ceil((float)N / 256);
         one<<<blocks, 256>>>(d, N);
         cudaFree(d);",
        513,
    );
    assert_eq!(
        plan,
        "s0 = alloc 2052\none <3x1x1, 256x1x1, 0> (s0, 513)\nfree s0"
    );
}
