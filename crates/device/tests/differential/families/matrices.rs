//! Matrices of a warp: `mma.sync` of every shape and type, and what moves 8 x 8 matrices.

use super::super::forms::{Class, Form};

use Class::{B32, B64};

/// One `mma`: shape, types and how many 32-bit registers each operand has.
struct Product {
    shape: &'static str,
    d: &'static str,
    a: &'static str,
    b: &'static str,
    more: &'static str,
    /// Registers of A, B, and of C and D.
    registers: [usize; 3],
}

pub fn forms() -> Vec<Form> {
    let mut forms: Vec<Form> = products().iter().flat_map(forms_of).collect();
    forms.extend(moves());
    forms
}

fn products() -> Vec<Product> {
    let mut all = Vec::new();
    let mut add = |shape, d, (a, b), more, registers| {
        all.push(Product {
            shape,
            d,
            a,
            b,
            more,
            registers,
        });
    };
    for (shape, a, b) in [("m16n8k8", 2, 1), ("m16n8k16", 4, 2)] {
        add(shape, "f16", ("f16", "f16"), "", [a, b, 2]);
        add(shape, "f32", ("f16", "f16"), "", [a, b, 4]);
        add(shape, "f32", ("bf16", "bf16"), "", [a, b, 4]);
    }
    add("m16n8k4", "f32", ("tf32", "tf32"), "", [2, 1, 4]);
    add("m16n8k8", "f32", ("tf32", "tf32"), "", [4, 2, 4]);
    for left in ["e4m3", "e5m2"] {
        for right in ["e4m3", "e5m2"] {
            for (shape, a, b) in [("m16n8k16", 2, 1), ("m16n8k32", 4, 2)] {
                add(shape, "f32", (left, right), "", [a, b, 4]);
                add(shape, "f16", (left, right), "", [a, b, 2]);
            }
        }
    }
    for left in ["s8", "u8"] {
        for right in ["s8", "u8"] {
            for more in ["", ".satfinite"] {
                add("m8n8k16", "s32", (left, right), more, [1, 1, 2]);
                add("m16n8k16", "s32", (left, right), more, [2, 1, 4]);
                add("m16n8k32", "s32", (left, right), more, [4, 2, 4]);
            }
        }
    }
    for left in ["s4", "u4"] {
        for right in ["s4", "u4"] {
            for more in ["", ".satfinite"] {
                add("m8n8k32", "s32", (left, right), more, [1, 1, 2]);
                add("m16n8k32", "s32", (left, right), more, [2, 1, 4]);
                add("m16n8k64", "s32", (left, right), more, [4, 2, 4]);
            }
        }
    }
    for more in [".xor.popc", ".and.popc"] {
        add("m8n8k128", "s32", ("b1", "b1"), more, [1, 1, 2]);
        add("m16n8k128", "s32", ("b1", "b1"), more, [2, 1, 4]);
        add("m16n8k256", "s32", ("b1", "b1"), more, [4, 2, 4]);
    }
    add("m8n8k4", "f64", ("f64", "f64"), "", [2, 2, 4]);
    add("m16n8k4", "f64", ("f64", "f64"), "", [4, 2, 8]);
    add("m16n8k8", "f64", ("f64", "f64"), "", [8, 4, 8]);
    add("m16n8k16", "f64", ("f64", "f64"), "", [16, 8, 8]);
    all
}

/// Keeps numbers finite and, where their exponents are many, near each other; all bits of integers.
pub fn tame(ty: &str) -> (u32, u32) {
    match ty {
        "f16" => (0xbfff_bfff, 0),
        "bf16" => (0xbfff_bfff, 0x3c00_3c00),
        "tf32" | "f32" | "f64" => (0xbfff_ffff, 0x3c00_0000),
        "e4m3" | "e5m2" => (0xbfbf_bfbf, 0),
        _ => (u32::MAX, 0),
    }
}

/// Six registers `s` of the operands' bits.
pub const SOURCES: &str =
    ".reg .b32 s<6>; mov.b64 {s0, s1}, %1; mov.b64 {s2, s3}, %2; mov.b64 {s4, s5}, %3; ";

/// Bits for a register: of the operands, or made of them where those are used up.
pub fn bits(register: &str, at: usize) -> String {
    let source = at % 6;
    match at / 6 {
        0 => format!("mov.b32 {register}, s{source}; "),
        times => format!(
            "mad.lo.u32 {register}, s{source}, {:#x}, {:#x}; ",
            0x9e37_79b1_u32.wrapping_mul(2 * times as u32 + 1),
            0x85eb_ca6b_u32.wrapping_mul(at as u32)
        ),
    }
}

/// Registers of one operand, named after it, with bits that its type can have.
fn operand(letter: char, ty: &str, count: usize, first: usize) -> String {
    let (and, or) = tame(ty);
    let mut code = format!(".reg .b32 {letter}<{count}>; ");
    for at in 0..count {
        let register = format!("{letter}{at}");
        code += &bits(&register, first + at);
        // The upper word of a double has its exponent.
        if ty != "f64" || at % 2 == 1 {
            code += &format!(
                "and.b32 {register}, {register}, {and:#x}; or.b32 {register}, {register}, {or:#x}; "
            );
        }
    }
    match ty {
        "f64" => {
            code += &format!(".reg .f64 {letter}d<{}>; ", count / 2);
            for at in 0..count / 2 {
                code += &format!(
                    "mov.b64 {letter}d{at}, {{{letter}{}, {letter}{}}}; ",
                    2 * at,
                    2 * at + 1
                );
            }
        }
        "f32" => {
            code += &format!(".reg .f32 {letter}f<{count}>; ");
            for at in 0..count {
                code += &format!("mov.b32 {letter}f{at}, {letter}{at}; ");
            }
        }
        _ => {}
    }
    code
}

fn vector(letter: char, ty: &str, count: usize) -> String {
    let (suffix, count) = match ty {
        "f64" => ("d", count / 2),
        "f32" => ("f", count),
        _ => ("", count),
    };
    let names: Vec<_> = (0..count)
        .map(|at| format!("{letter}{suffix}{at}"))
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// A form for each 64 bits of the result.
fn forms_of(product: &Product) -> Vec<Form> {
    let Product {
        shape,
        d,
        a,
        b,
        more,
        registers: [of_a, of_b, of_d],
    } = product;
    let instruction = match more.ends_with("popc") {
        true => format!("mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}{more}"),
        false => format!("mma.sync.aligned.{shape}.row.col{more}.{d}.{a}.{b}.{d}"),
    };
    let operands = operand('a', a, *of_a, 0)
        + &operand('b', b, *of_b, *of_a)
        + &operand('c', d, *of_d, of_a + of_b);
    let (va, vb, vd) = (
        vector('a', a, *of_a),
        vector('b', b, *of_b),
        vector('c', d, *of_d),
    );
    let piece = |at: usize| {
        let result = match *d {
            "f64" => format!("mov.b64 %0, cd{at};"),
            "f32" => format!("mov.b64 %0, {{cf{}, cf{}}};", 2 * at, 2 * at + 1),
            _ => format!("mov.b64 %0, {{c{}, c{}}};", 2 * at, 2 * at + 1),
        };
        let code =
            format!("{{ {SOURCES}{operands}{instruction} {vd}, {va}, {vb}, {vd}; {result} }}");
        Form::of(format!("{instruction} words {at}"), code, B64, &[B64; 3])
    };
    (0..of_d / 2).map(piece).collect()
}

/// Rows of 16 bytes, one a lane, as `ldmatrix` and `stmatrix` take them.
fn moves() -> Vec<Form> {
    let mut forms = Vec::new();
    for (count, registers) in [(1, "{r0}"), (2, "{r0, r1}"), (4, "{r0, r1, r2, r3}")] {
        for trans in ["", ".trans"] {
            let name = format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16");
            for half in 0..if count == 4 { 2 } else { 1 } {
                let code = format!(
                    "{{ .reg .b32 r<4>; mov.b32 r1, 0; st.shared.v2.b64 [SHARED], {{%1, %2}}; bar.warp.sync -1; \
                     {name} {registers}, [SHARED]; bar.warp.sync -1; mov.b64 %0, {{r{}, r{}}}; }}",
                    2 * half,
                    2 * half + 1
                );
                forms.push(Form::of(
                    format!("{name} words {half}"),
                    code,
                    B64,
                    &[B64; 2],
                ));
            }
            let name = format!("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16");
            let code = format!(
                "{{ .reg .b32 r<4>; .reg .b64 x, y; mov.b64 {{r0, r1}}, %1; mov.b64 {{r2, r3}}, %2; mov.b64 x, 5; \
                 st.shared.v2.b64 [SHARED], {{x, x}}; bar.warp.sync -1; {name} [SHARED], {registers}; \
                 bar.warp.sync -1; ld.shared.v2.b64 {{x, y}}, [SHARED]; mad.lo.u64 %0, x, 0x9E3779B97F4A7C15, y; }}"
            );
            forms.push(Form::of(name, code, B64, &[B64; 2]));
        }
    }
    forms.push(Form::plain(
        "movmatrix.sync.aligned.m8n8.trans.b16",
        B32,
        &[B32],
    ));
    forms
}
