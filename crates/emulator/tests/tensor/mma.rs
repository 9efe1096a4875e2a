//! `mma.sync`: each lane's registers are loaded from an array, the result's are stored to one.

use super::common::{Arguments, Device, module};
use super::values::{Format, Matrix, product};
use std::fmt::Write as _;

/// A kernel of one instruction: every lane has `counts` registers of a, b, c and d, of `wide` bits.
pub fn kernel(instruction: &str, counts: [usize; 4], wide: bool) -> String {
    let (ty, bytes) = if wide { ("f64", 8) } else { ("b32", 4) };
    let mut body = String::new();
    let mut lists = Vec::new();
    for (matrix, &count) in counts.iter().enumerate() {
        let names: Vec<String> = (0..count)
            .map(|at| format!("%x{}", 64 * matrix + at))
            .collect();
        lists.push(format!("{{{}}}", names.join(", ")));
        let _ = writeln!(
            body,
            "ld.param.u64 %a, [k_param_{matrix}]; mad.wide.u32 %p{matrix}, %t, {}, %a;",
            count * bytes
        );
        if matrix < 3 {
            for (at, name) in names.iter().enumerate() {
                let _ = writeln!(body, "ld.global.{ty} {name}, [%p{matrix}+{}];", at * bytes);
            }
        }
    }
    let [a, b, c, d] = &lists[..] else {
        panic!("four matrices");
    };
    let _ = writeln!(body, "{instruction} {d}, {a}, {b}, {c};");
    for at in 0..counts[3] {
        let _ = writeln!(body, "st.global.{ty} [%p3+{}], %x{};", at * bytes, 192 + at);
    }
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3)
{{
    .reg .{ty} %x<256>;
    .reg .b32 %t;
    .reg .b64 %a;
    .reg .b64 %p<4>;
    mov.u32 %t, %tid.x;
{body}
    ret;
}}
"
    ))
}

/// Where PTX puts element `i` of lane `lane`: its tables for `mma`, by the bits of an element.
fn a_place(m: usize, bits: usize, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane / 4, lane % 4);
    let each = (32 / bits).max(1);
    let (register, part) = (i / each, i % each);
    if m == 8 {
        return (group, own * each + part);
    }
    let row = if register % 2 == 0 { group } else { group + 8 };
    (row, own * each + part + register / 2 * 4 * each)
}

fn b_place(bits: usize, lane: usize, i: usize) -> (usize, usize) {
    let (group, own) = (lane / 4, lane % 4);
    let each = (32 / bits).max(1);
    (own * each + i % each + i / each * 4 * each, group)
}

fn c_place(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + if i < 2 { 0 } else { 8 }, lane % 4 * 2 + i % 2)
}

fn gather(
    matrix: &Matrix,
    format: Format,
    count: usize,
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for lane in 0..32 {
        for i in 0..count {
            let (row, column) = place(lane, i);
            bytes.extend(format.encode(matrix.at(row, column)));
        }
    }
    bytes
}

fn check(extents: [usize; 3], types: &str, factors: Format, sums: Format) {
    let [m, n, k] = extents;
    let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{types}");
    let signed = factors != Format::U8;
    let a = Matrix::new(m, k, 1, signed);
    let b = Matrix::new(k, n, 2, signed);
    let c = Matrix::new(m, n, 3, true);
    let bits = 8 * factors.bytes();
    let (of_a, of_b, of_c) = (m * k / 32, k * n / 32, m * n / 32);
    let registers = |count: usize, format: Format| {
        let bytes = count * format.bytes();
        bytes / if format == Format::F64 { 8 } else { 4 }
    };
    let counts = [
        registers(of_a, factors),
        registers(of_b, factors),
        registers(of_c, sums),
        registers(of_c, sums),
    ];
    let mut device = Device::new(&kernel(&name, counts, factors == Format::F64));
    let bytes_a = gather(&a, factors, of_a, |lane, i| a_place(m, bits, lane, i));
    let bytes_b = gather(&b, factors, of_b, |lane, i| b_place(bits, lane, i));
    let bytes_c = gather(&c, sums, of_c, c_place);
    let expected = gather(&product(&a, &b, &c), sums, of_c, c_place);
    let mut arguments = Arguments::new();
    for (label, bytes) in [("a", &bytes_a), ("b", &bytes_b), ("c", &bytes_c)] {
        arguments = arguments.pointer(device.bytes(label, bytes));
    }
    let d = device.bytes("d", &vec![0; expected.len()]);
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments.pointer(d))
        .unwrap();
    let mut found = vec![0; expected.len()];
    device.memory.read(d, &mut found).unwrap();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn every_shape_and_type_gives_the_product() {
    use Format::{Bf16, E4m3, E5m2, F16, F32, F64, S8, S32, U8};
    for k in [8, 16] {
        check([16, 8, k], "f32.f16.f16.f32", F16, F32);
        check([16, 8, k], "f16.f16.f16.f16", F16, F16);
        check([16, 8, k], "f32.bf16.bf16.f32", Bf16, F32);
    }
    for k in [4, 8] {
        check([16, 8, k], "f32.tf32.tf32.f32", F32, F32);
    }
    for extents in [[8, 8, 16], [16, 8, 16], [16, 8, 32]] {
        check(extents, "s32.s8.s8.s32", S8, S32);
        check(extents, "satfinite.s32.u8.u8.s32", U8, S32);
    }
    for k in [16, 32] {
        check([16, 8, k], "f32.e4m3.e4m3.f32", E4m3, F32);
        check([16, 8, k], "f16.e5m2.e5m2.f16", E5m2, F16);
    }
    for extents in [[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]] {
        check(extents, "f64.f64.f64.f64", F64, F64);
    }
}

/// Runs one instruction on registers given lane by lane and gives d's.
fn run(instruction: &str, a: &[u32], b: &[u32], c: &[u32]) -> Vec<u32> {
    let counts = [a.len() / 32, b.len() / 32, c.len() / 32, c.len() / 32];
    let mut device = Device::new(&kernel(instruction, counts, false));
    let mut arguments = Arguments::new();
    for values in [a, b, c] {
        arguments = arguments.pointer(device.words("x", values));
    }
    let d = device.words("d", &vec![0; c.len()]);
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments.pointer(d))
        .unwrap();
    device.read_words(d, c.len())
}

#[test]
fn saturation_holds_the_largest_sum() {
    let (a, b) = (vec![0x7f7f_7f7f; 64], vec![0x7f7f_7f7f; 32]);
    let full = vec![i32::MAX as u32; 128];
    let mma = "mma.sync.aligned.m16n8k16.row.col";
    let held = run(&format!("{mma}.satfinite.s32.s8.s8.s32"), &a, &b, &full);
    assert!(held.iter().all(|&sum| sum == i32::MAX as u32));
    let wrapped = run(&format!("{mma}.s32.s8.s8.s32"), &a, &b, &full);
    let expected = (i32::MAX as u32).wrapping_add(16 * 127 * 127);
    assert!(wrapped.iter().all(|&sum| sum == expected));
}

#[test]
fn four_bit_integers_and_single_bits() {
    // a: all -1 (0xf); b: all 3. 32 products of -3, or of 45 without signs.
    let (a, b, c) = (vec![u32::MAX; 32], vec![0x3333_3333; 32], vec![7; 64]);
    let mma = "mma.sync.aligned.m8n8k32.row.col";
    let signed = run(&format!("{mma}.s32.s4.s4.s32"), &a, &b, &c);
    assert!(signed.iter().all(|&sum| sum as i32 == 7 - 96));
    let unsigned = run(&format!("{mma}.s32.u4.u4.s32"), &a, &b, &c);
    assert!(unsigned.iter().all(|&sum| sum == 7 + 32 * 45));
    // Row r of a has lane 4 r's bits; b is all ones in its lower halves.
    let a: Vec<u32> = (0..32)
        .map(|lane| if lane % 4 == 0 { lane / 4 } else { 0 })
        .collect();
    let b = vec![0xffff; 32];
    let mma = "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32";
    let and = run(&format!("{mma}.and.popc"), &a, &b, &vec![0; 64]);
    let xor = run(&format!("{mma}.xor.popc"), &a, &b, &vec![0; 64]);
    for lane in 0..32usize {
        let ones = (lane as u32 / 4).count_ones();
        assert_eq!(and[2 * lane], ones);
        assert_eq!(xor[2 * lane], 64 - ones);
    }
}

#[test]
fn missing_forms_are_refused_by_name() {
    for opcode in [
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32",
    ] {
        let loaded = emulator::Module::parse(&kernel(opcode, [4, 2, 4, 4], false)).unwrap();
        match loaded.check("k") {
            Err(emulator::LoadError::Unsupported { opcode: named, .. }) => {
                assert_eq!(named, opcode);
            }
            other => panic!("{opcode}: {other:?}"),
        }
    }
}
