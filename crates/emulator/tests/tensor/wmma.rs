//! `nvcuda::wmma` as NVRTC compiles it (fixtures/wmma.cu).

use super::common::{Arguments, Device};
use super::values::{Format, Matrix, product};

const PTX: &str = include_str!("../fixtures/wmma.ptx");

struct Case {
    kernel: &'static str,
    extents: [usize; 3],
    factors: Format,
    sums: Format,
    /// A, B and the accumulator lie by columns.
    by_column: [bool; 3],
}

fn case(
    kernel: &'static str,
    extents: [usize; 3],
    factors: Format,
    sums: Format,
    by_column: [bool; 3],
) -> Case {
    Case {
        kernel,
        extents,
        factors,
        sums,
        by_column,
    }
}

#[test]
fn every_shape_and_type_gives_the_product() {
    use Format::{Bf16, F16, F32, F64, S8, S32, U8};
    const SQUARE: [usize; 3] = [16, 16, 16];
    const FLAT: [usize; 3] = [8, 32, 16];
    const TALL: [usize; 3] = [32, 8, 16];
    let (row, column) = (false, true);
    for case in [
        case("f16_rr", SQUARE, F16, F32, [row, row, row]),
        case("f16_rc", SQUARE, F16, F32, [row, column, column]),
        case("f16_cr", SQUARE, F16, F32, [column, row, row]),
        case("f16_cc", SQUARE, F16, F16, [column, column, row]),
        case("f16_half", SQUARE, F16, F16, [row, column, column]),
        case("f16_flat", FLAT, F16, F32, [row, row, row]),
        case("f16_flat_col", FLAT, F16, F32, [column, column, column]),
        case("f16_flat_half", FLAT, F16, F16, [row, column, row]),
        case("f16_tall", TALL, F16, F32, [row, column, row]),
        case("f16_tall_col", TALL, F16, F16, [column, row, column]),
        case("bf16", SQUARE, Bf16, F32, [row, row, row]),
        case("bf16_flat", FLAT, Bf16, F32, [column, row, row]),
        case("bf16_tall", TALL, Bf16, F32, [row, column, column]),
        case("tf32", [16, 16, 8], F32, F32, [row, row, row]),
        case("tf32_col", [16, 16, 8], F32, F32, [column, column, column]),
        case("s8", SQUARE, S8, S32, [row, column, row]),
        case("s8_turned", SQUARE, S8, S32, [column, row, column]),
        case("s8_flat", FLAT, S8, S32, [row, column, row]),
        case("u8_tall", TALL, U8, S32, [row, row, row]),
        case("f64", [8, 8, 4], F64, F64, [row, column, row]),
        case("f64_turned", [8, 8, 4], F64, F64, [column, row, column]),
    ] {
        check(&case);
    }
}

fn check(case: &Case) {
    let [m, n, k] = case.extents;
    let signed = case.factors != Format::U8;
    let a = Matrix::new(m, k, 1, signed);
    let b = Matrix::new(k, n, 2, signed);
    let c = Matrix::new(m, n, 3, true);
    // A stride beyond the matrix, as inside a larger one.
    let lines = [[m, k], [k, n], [m, n]];
    let stride = |at: usize| lines[at][usize::from(!case.by_column[at])] + 16;
    let mut device = Device::new(PTX);
    let stored = |matrix: &Matrix, at: usize| matrix.stored(case.by_column[at], stride(at));
    let at_a = device.bytes("a", &case.factors.encode_all(&stored(&a, 0)));
    let at_b = device.bytes("b", &case.factors.encode_all(&stored(&b, 1)));
    let start = case.sums.encode_all(&stored(&c, 2));
    let at_c = device.bytes("c", &start);
    let at_d = device.bytes("d", &vec![0; start.len()]);
    let arguments = Arguments::new()
        .pointer(at_a)
        .pointer(at_b)
        .pointer(at_c)
        .pointer(at_d)
        .int(stride(0) as i32)
        .int(stride(1) as i32)
        .int(stride(2) as i32);
    let outcome = device
        .launch(case.kernel, [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap();
    let mut bytes = vec![0; start.len()];
    device.memory.read(at_d, &mut bytes).unwrap();
    let found = case.sums.decode_all(&bytes);
    let expected = product(&a, &b, &c).stored(case.by_column[2], stride(2));
    assert_eq!(found, expected, "{}", case.kernel);

    let counters = outcome.counters;
    let flop = match (case.factors, k) {
        (Format::F16 | Format::Bf16, _) => counters.flop_tensor_f16,
        (Format::F32, _) => counters.flop_tensor_tf32,
        (Format::F64, _) => counters.flop_tensor_f64,
        _ => counters.flop_tensor_int8,
    };
    assert_eq!(flop, (2 * m * n * k) as u64, "{}", case.kernel);
}

#[test]
fn a_known_shared_tile_is_read_by_rows() {
    for (kernel, by_column) in [("staged_rr", false), ("staged_cc", true)] {
        let (a, b) = (Matrix::new(16, 16, 5, true), Matrix::new(16, 16, 6, true));
        let zero = Matrix {
            values: vec![0; 256],
            ..Matrix::new(16, 16, 0, true)
        };
        let mut device = Device::new(PTX);
        let at_a = device.bytes("a", &Format::F16.encode_all(&a.stored(by_column, 16)));
        let at_b = device.bytes("b", &Format::F16.encode_all(&b.stored(by_column, 16)));
        let at_d = device.bytes("d", &[0; 1024]);
        let arguments = Arguments::new().pointer(at_a).pointer(at_b).pointer(at_d);
        device
            .launch(kernel, [1, 1, 1], [32, 1, 1], &arguments)
            .unwrap();
        let sums = product(&a, &b, &zero);
        let expected: Vec<f32> = sums
            .values
            .iter()
            .map(|&value| 2.0 * value as f32)
            .collect();
        assert_eq!(device.read_floats(at_d, 256), expected, "{kernel}");
    }
}

/// The layout that programs written for sm_80 and later find: groups of four lanes hold a line,
/// each two neighbours; the second half of an f16 factor repeats the first.
#[test]
fn fragments_hold_what_they_hold_on_sm_80_and_later() {
    let mut device = Device::new(PTX);
    let order: Vec<i32> = (0..256).collect();
    let a = device.bytes("a", &Format::F16.encode_all(&order));
    let c = device.bytes("c", &Format::F32.encode_all(&order));
    let held: Vec<u64> = [512, 512, 256]
        .map(|count| device.floats("held", &vec![-1.0; count]))
        .to_vec();
    let arguments = Arguments::new()
        .pointer(a)
        .pointer(c)
        .pointer(held[0])
        .pointer(held[1])
        .pointer(held[2]);
    device
        .launch("hold", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap();
    let (held_a, held_b) = (
        device.read_floats(held[0], 512),
        device.read_floats(held[1], 512),
    );
    let held_c = device.read_floats(held[2], 256);
    for lane in 0..32 {
        let (group, own) = (lane / 4, lane % 4);
        for x in 0..16 {
            let x8 = x % 8;
            let row = group + if x8 & 2 != 0 { 8 } else { 0 };
            let column = 2 * own + x8 % 2 + if x8 & 4 != 0 { 8 } else { 0 };
            assert_eq!(held_a[16 * lane + x], (16 * row + column) as f32);
            let row = 2 * own + x8 % 2 + if x8 & 2 != 0 { 8 } else { 0 };
            let column = group + if x8 & 4 != 0 { 8 } else { 0 };
            assert_eq!(held_b[16 * lane + x], (16 * row + column) as f32);
        }
        for x in 0..8 {
            let row = group + if x & 2 != 0 { 8 } else { 0 };
            let column = 2 * own + x % 2 + if x & 4 != 0 { 8 } else { 0 };
            assert_eq!(held_c[8 * lane + x], (16 * row + column) as f32);
        }
    }
}

#[test]
fn a_matmul_of_tiles_is_right_and_counted() {
    let n = 64;
    let (a, b) = (Matrix::new(n, n, 1, true), Matrix::new(n, n, 2, true));
    let mut device = Device::new(PTX);
    let at_a = device.bytes("a", &Format::F16.encode_all(&a.values));
    let at_b = device.bytes("b", &Format::F16.encode_all(&b.values));
    let at_c = device.bytes("c", &vec![0; 4 * n * n]);
    let arguments = Arguments::new()
        .pointer(at_a)
        .pointer(at_b)
        .pointer(at_c)
        .int(n as i32);
    let outcome = device
        .launch("matmul", [4, 1, 1], [128, 1, 1], &arguments)
        .unwrap();
    let zero = Matrix {
        values: vec![0; n * n],
        ..Matrix::new(n, n, 0, true)
    };
    let sums = product(&a, &b, &zero);
    let expected: Vec<f32> = sums.values.iter().map(|&value| value as f32).collect();
    assert_eq!(device.read_floats(at_c, n * n), expected);
    let counters = outcome.counters;
    assert_eq!(counters.flop_tensor_f16, 2 * 64 * 64 * 64);
    // A tile of f16 is 16 lines of 32 bytes, read as four requests of 8 lines of 16 bytes; of f32 it
    // is 16 lines of 64 bytes, written as four requests of 8 lines of 32 bytes.
    assert_eq!(counters.global_load_sectors, 16 * 4 * 2 * 4 * 8);
    assert_eq!(counters.global_store_sectors, 16 * 4 * 8);
}

#[test]
fn a_tile_outside_the_array_is_out_of_bounds() {
    let mut device = Device::new(PTX);
    let a = device.bytes("a", &[0; 500]);
    let other = device.bytes("b", &[0; 4096]);
    let arguments = Arguments::new()
        .pointer(a)
        .pointer(other)
        .pointer(other)
        .pointer(other)
        .int(16)
        .int(16)
        .int(16);
    let fault = device
        .launch("f16_rr", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap_err();
    assert_eq!(fault.kind, emulator::FaultKind::OutOfBounds);
    assert!(
        fault.message.contains("of `a`, which has 500 bytes"),
        "{fault}"
    );
}

#[test]
fn half_a_warp_cannot_multiply() {
    let mut device = Device::new(PTX);
    let x = device.bytes("x", &[0; 4096]);
    let arguments = Arguments::new()
        .pointer(x)
        .pointer(x)
        .pointer(x)
        .pointer(x)
        .int(16)
        .int(16)
        .int(16);
    let fault = device
        .launch("f16_rr", [1, 1, 1], [16, 1, 1], &arguments)
        .unwrap_err();
    assert_eq!(fault.kind, emulator::FaultKind::BarrierDivergence);
    assert!(fault.message.contains("with 16 of them"), "{fault}");
}
