//! `wmma`: fragments loaded from shared memory, multiplied, stored there again. What lanes hold is their own affair.

use super::super::forms::{Class, Form};
use super::matrices::{SOURCES, bits, tame};

use Class::B64;

/// Where a warp's matrices lie in its 2048 bytes.
const B_AT: u32 = 512;
const C_AT: u32 = 1024;

/// One `wmma`: shape, types, registers of A, B, and of C and D.
struct Product {
    shape: &'static str,
    d: &'static str,
    factor: &'static str,
    registers: [usize; 3],
}

pub fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    let shapes = ["m16n16k16", "m8n32k16", "m32n8k16"];
    for shape in shapes {
        for (d, registers) in [("f32", [8, 8, 8]), ("f16", [8, 8, 4])] {
            forms.extend(of_layouts(&Product {
                shape,
                d,
                factor: "f16",
                registers,
            }));
        }
        let [a, b] = match shape {
            "m8n32k16" => [1, 4],
            "m32n8k16" => [4, 1],
            _ => [2, 2],
        };
        forms.extend(of_layouts(&Product {
            shape,
            d: "f32",
            factor: "bf16",
            registers: [2 * a, 2 * b, 8],
        }));
        for factor in ["s8", "u8"] {
            forms.extend(of_layouts(&Product {
                shape,
                d: "s32",
                factor,
                registers: [a, b, 8],
            }));
        }
    }
    forms.extend(of_layouts(&Product {
        shape: "m16n16k8",
        d: "f32",
        factor: "tf32",
        registers: [4, 4, 8],
    }));
    forms.extend(of_layouts(&Product {
        shape: "m8n8k4",
        d: "f64",
        factor: "f64",
        registers: [1, 1, 2],
    }));
    for factor in ["s4", "u4"] {
        forms.push(form(
            &Product {
                shape: "m8n8k32",
                d: "s32",
                factor,
                registers: [1, 1, 2],
            },
            "row",
            "col",
            "",
        ));
    }
    for more in [".xor.popc", ".and.popc"] {
        let product = Product {
            shape: "m8n8k128",
            d: "s32",
            factor: "b1",
            registers: [1, 1, 2],
        };
        forms.push(form(&product, "row", "col", more));
    }
    forms
}

/// Both orders of each factor; those of whole numbers may stop at their ends.
fn of_layouts(product: &Product) -> Vec<Form> {
    let mut forms = Vec::new();
    for a in ["row", "col"] {
        for b in ["row", "col"] {
            forms.push(form(product, a, b, ""));
            if product.d == "s32" {
                forms.push(form(product, a, b, ".satfinite"));
            }
        }
    }
    forms
}

/// Rows and columns of A, B and C.
fn extents(shape: &str) -> [u32; 3] {
    let numbers: Vec<u32> = shape[1..]
        .split(['n', 'k'])
        .map(|number| number.parse().unwrap())
        .collect();
    [numbers[0], numbers[1], numbers[2]]
}

fn vector(letter: char, count: usize) -> String {
    let names: Vec<_> = (0..count).map(|at| format!("{letter}{at}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// A register's type for an element type.
fn register(ty: &str) -> &str {
    match ty {
        "f32" | "f64" => ty,
        _ => "b32",
    }
}

fn form(product: &Product, a: &str, b: &str, more: &str) -> Form {
    let Product {
        shape,
        d,
        factor,
        registers: [of_a, of_b, of_d],
    } = product;
    let [m, n, k] = extents(shape);
    // Lines of a matrix are as long as its rows or its columns are.
    let stride = |layout: &str, row: u32, column: u32| if layout == "row" { column } else { row };
    let (a_stride, b_stride) = (stride(a, m, k), stride(b, k, n));
    let types = match (*d, *factor) {
        ("f16" | "f32", "f16") => format!("{d}.{d}"),
        ("f32", "bf16") => "f32.bf16.bf16.f32".to_owned(),
        ("f32", _) => "f32.tf32.tf32.f32".to_owned(),
        ("f64", _) => "f64.f64.f64.f64".to_owned(),
        _ => format!("s32.{factor}.{factor}.s32"),
    };
    let mma = match more.ends_with("popc") {
        true => format!("wmma.mma{more}.sync.aligned.{a}.{b}.{shape}.{types}"),
        false => format!("wmma.mma.sync.aligned.{a}.{b}.{shape}.{types}{more}"),
    };
    let (va, vb, vc) = (vector('a', *of_a), vector('b', *of_b), vector('c', *of_d));
    let (rf, rd) = (register(factor), register(d));
    let mut code = format!(
        "{{ {SOURCES}.reg .{rf} a<{of_a}>, b<{of_b}>; .reg .{rd} c<{of_d}>; .reg .b32 t<4>, base, lane, kept, given; \
         .reg .pred p, q; .reg .b64 x<4>; mov.u32 lane, %%laneid; mad.lo.u32 base, lane, -64, SHARED; "
    );
    code += &fill(factor, d);
    code += &format!(
        "bar.warp.sync -1; wmma.load.a.sync.aligned.{a}.{shape}.shared.{factor} {va}, [base], {a_stride}; \
         wmma.load.b.sync.aligned.{b}.{shape}.shared.{factor} {vb}, [base+{B_AT}], {b_stride}; \
         wmma.load.c.sync.aligned.row.{shape}.shared.{d} {vc}, [base+{C_AT}], {n}; "
    );
    code += &format!(
        "{mma} {vc}, {va}, {vb}, {vc}; bar.warp.sync -1; \
         wmma.store.d.sync.aligned.row.{shape}.shared.{d} [base], {vc}, {n}; bar.warp.sync -1; "
    );
    // Each lane tells of a 32nd of the result, which lies at the beginning.
    let words = m
        * n
        * if *d == "f16" {
            2
        } else if *d == "f64" {
            8
        } else {
            4
        }
        / 32
        / 8;
    code += &format!(
        "mad.lo.u32 base, lane, {}, base; mov.b64 %0, 0; ",
        8 * words
    );
    for at in 0..words {
        code += &format!(
            "ld.shared.b64 x0, [base+{}]; mad.lo.u64 %0, %0, 0x9E3779B97F4A7C15, x0; ",
            8 * at
        );
    }
    Form::of(mma, code + "bar.warp.sync -1; }", B64, &[B64; 3])
}

/// Fills a lane's 64 bytes: those of the upper half of the lanes are C's.
fn fill(factor: &str, d: &str) -> String {
    let (low, high) = (tame(factor), tame(if d == "s32" { "s32" } else { d }));
    let mut code = format!(
        "setp.lt.u32 p, lane, 16; selp.b32 kept, {:#x}, {:#x}, p; selp.b32 given, {:#x}, {:#x}, p; ",
        low.0, high.0, low.1, high.1
    );
    for row in 0..4 {
        for at in 0..4 {
            code += &bits(&format!("t{at}"), 4 * row + at);
            // The upper word of a double has its exponent.
            if d != "f64" || at % 2 == 1 {
                code += &format!("and.b32 t{at}, t{at}, kept; or.b32 t{at}, t{at}, given; ");
            }
        }
        code += &format!(
            "st.shared.v4.b32 [SHARED+{}], {{t0, t1, t2, t3}}; ",
            16 * row
        );
    }
    code
}
