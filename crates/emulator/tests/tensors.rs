//! Tiles of tensors between global and shared memory.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::{Arguments, Device, module};
use emulator::{Element, Fault, FaultKind, Swizzle, TensorMapDescriptor};

const TILES: &str = include_str!("fixtures/tiles.ptx");

/// A matrix of `rows` x `columns` elements that lie side by side, in boxes of `tile`.
fn matrix(address: u64, (rows, columns): (u64, u64), tile: [u32; 2]) -> TensorMapDescriptor {
    TensorMapDescriptor {
        address,
        element: Element::F32,
        dimensions: vec![columns, rows],
        strides_bytes: vec![columns * 4],
        box_dimensions: tile.to_vec(),
        element_strides: vec![1, 1],
        swizzle: Swizzle::None,
        fills_with_nan: false,
    }
}

#[test]
fn a_producer_and_its_consumers_work_through_a_matrix() {
    let tiles = 5;
    // The last tile is cut off after three rows.
    let rows = 8 * tiles - 5;
    let mut device = Device::new(TILES);
    let values: Vec<f32> = (0..rows * 32).map(|at| at as f32 - 500.0).collect();
    let x = device.floats("x", &values);
    let y = device.floats("y", &vec![0.0; values.len()]);
    let shape = (rows as u64, 32);
    let arguments = Arguments::new()
        .value(&matrix(x, shape, [32, 8]).encode().unwrap())
        .value(&matrix(y, shape, [32, 8]).encode().unwrap())
        .int(tiles)
        .value(&3.0f32.to_le_bytes());
    device
        .launch("scale_tiles", [1, 1, 1], [96, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<f32> = values.iter().map(|value| 3.0 * value).collect();
    assert_eq!(device.read_floats(y, values.len()), expected);
}

/// Loads one box at `place` and writes the 1 KiB of shared memory that it went to, filled with -1
/// before, to the second parameter.
fn one_box(rank: usize, place: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .align 64 .b8 k_param_0[128], .param .u64 k_param_1)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 s[2048];
    mov.u64 %rd1, k_param_0;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [k_param_1];
    mov.u32 %r1, s;
    mov.u32 %r2, 0;
FILL:
    add.u32 %r3, %r1, %r2;
    st.shared.u32 [%r3], -1;
    add.u32 %r2, %r2, 4;
    setp.lt.u32 %p1, %r2, 1024;
    @%p1 bra FILL;
    mbarrier.init.shared.b64 [s+1024], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], BYTES;
    cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {{{place}}}], [%r1+1024];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [s+1024], 0;
    @!%p1 bra WAIT;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 1024;
    ret;
}}
"
    ))
}

fn load_box(
    map: impl Fn(u64) -> TensorMapDescriptor,
    values: &[u32],
    place: &str,
    bytes: u32,
) -> Result<Vec<u32>, Fault> {
    let rank = place.split(',').count();
    let ptx = one_box(rank, place).replace("BYTES", &bytes.to_string());
    let mut device = Device::new(&ptx);
    let x = device.words("x", values);
    let y = device.words("y", &[0; 256]);
    let arguments = Arguments::new().value(&map(x).encode().unwrap()).pointer(y);
    device.launch("k", [1, 1, 1], [1, 1, 1], &arguments)?;
    Ok(device.read_words(y, 256))
}

#[test]
fn elements_outside_read_as_zero_or_nan_and_count_all_the_same() {
    // A box of 8 columns and 3 rows that begins one column before and two rows before the end.
    let values: Vec<u32> = (1..=4 * 12).collect();
    for (fills_with_nan, fill) in [(false, 0), (true, 0x7fff_ffff)] {
        let map = |address| TensorMapDescriptor {
            fills_with_nan,
            ..matrix(address, (4, 12), [8, 3])
        };
        let found = load_box(map, &values, "-1, 2", 96).unwrap();
        for (at, &word) in found[..24].iter().enumerate() {
            let (row, column) = (2 + at / 8, at % 8);
            let inside = row < 4 && column > 0;
            let expected = if inside {
                values[row * 12 + column - 1]
            } else {
                fill
            };
            assert_eq!(word, expected, "row {row}, column {column}");
        }
        assert_eq!(found[24], u32::MAX);
    }
}

#[test]
fn a_swizzle_exchanges_parts_of_16_bytes_by_their_row() {
    for (swizzle, columns) in [
        (Swizzle::Bytes128, 32),
        (Swizzle::Bytes64, 16),
        (Swizzle::Bytes32, 8),
    ] {
        let values: Vec<u32> = (0..8 * columns).collect();
        let map = |address| TensorMapDescriptor {
            swizzle,
            ..matrix(address, (8, u64::from(columns)), [columns, 8])
        };
        let found = load_box(map, &values, "0, 0", 32 * columns).unwrap();
        for (at, &value) in values.iter().enumerate() {
            // The part's number within its span, exchanged by the number of the 128-byte line.
            let (line, part) = (at / 32, at / 4 % 8);
            let span = columns as usize / 4;
            let moved = part ^ (line % span);
            assert_eq!(found[line * 32 + moved * 4 + at % 4], value);
        }
    }
}

#[test]
fn steps_along_a_dimension_and_three_dimensions() {
    // Every second of four rows, of two planes.
    let values: Vec<u32> = (0..2 * 6 * 4).collect();
    let map = |address| TensorMapDescriptor {
        address,
        element: Element::U32,
        dimensions: vec![4, 6, 2],
        strides_bytes: vec![16, 96],
        box_dimensions: vec![4, 4, 2],
        element_strides: vec![1, 2, 1],
        swizzle: Swizzle::None,
        fills_with_nan: false,
    };
    let found = load_box(map, &values, "0, 1, 0", 64).unwrap();
    let expected: Vec<u32> = [1, 3, 7, 9]
        .iter()
        .flat_map(|row| row * 4..row * 4 + 4)
        .collect();
    assert_eq!(found[..16], expected);
}

#[test]
fn a_map_that_promises_more_than_the_allocation_has_is_a_fault() {
    let map = |address| matrix(address, (16, 4), [4, 4]);
    let fault = load_box(map, &[0; 12], "0, 0", 64).unwrap_err();
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 16 bytes at offset 48 of `x`, which has 48 bytes"
    );
    let narrow = |address| TensorMapDescriptor {
        swizzle: Swizzle::Bytes128,
        ..matrix(address, (16, 8), [8, 4])
    };
    let fault = load_box(narrow, &[0; 128], "0, 0", 128).unwrap_err();
    let opcode = "tensor map with rows of 32 bytes swizzled within 128".to_owned();
    assert_eq!(fault.kind, FaultKind::Unsupported { opcode });
    let fault = load_box(map, &[0; 64], "0", 64).unwrap_err();
    assert!(
        fault
            .message
            .ends_with("uses a tensor map of 2 dimensions with 1 coordinates")
    );
}

#[test]
fn a_tile_is_added_to_a_tensor() {
    let ptx = module(
        ".visible .entry k(.param .align 64 .b8 k_param_0[128])
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 s[128];
    mov.u64 %rd1, k_param_0;
    cvta.param.u64 %rd1, %rd1;
    mov.u32 %r1, s;
    st.shared.v4.f32 [s], {0f3F800000, 0f3F800000, 0f40000000, 0f40000000};
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {2, 1}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}
",
    );
    let mut device = Device::new(&ptx);
    let x = device.floats("x", &[10.0; 8]);
    let map = matrix(x, (2, 4), [4, 1]).encode().unwrap();
    device
        .launch("k", [3, 1, 1], [1, 1, 1], &Arguments::new().value(&map))
        .unwrap();
    // Three blocks add to the last two columns; two columns of the box lie outside.
    let expected = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 13.0, 13.0];
    assert_eq!(device.read_floats(x, 8), expected);
}

#[test]
fn a_box_that_shared_memory_cannot_hold_is_refused() {
    // The product of five extents of 256 is beyond 32 bits, and 0 in them.
    for rank in [3, 4, 5] {
        let map = TensorMapDescriptor {
            address: 1 << 34,
            element: Element::U8,
            dimensions: vec![256; rank],
            strides_bytes: vec![256; rank - 1],
            box_dimensions: vec![256; rank],
            element_strides: vec![1; rank],
            swizzle: Swizzle::None,
            fills_with_nan: false,
        };
        let why = map.encode().unwrap_err().to_string();
        let bytes = 256u64.pow(rank as u32);
        let expected = format!("a box of {bytes} bytes; shared memory holds 232448");
        assert!(why.contains(&expected), "{why}");
        // Bytes that claim to be such a map.
        let small = TensorMapDescriptor {
            box_dimensions: vec![16; rank]
                .into_iter()
                .enumerate()
                .map(|(at, e)| if at < 3 { e } else { 1 })
                .collect(),
            ..map
        };
        let mut forged = small.encode().unwrap();
        for at in 0..rank {
            forged[72 + 2 * at..74 + 2 * at].copy_from_slice(&256u16.to_le_bytes());
        }
        let place = vec!["0"; rank].join(", ");
        let mut device = Device::new(&one_box(rank, &place).replace("BYTES", "16"));
        let y = device.words("y", &[0; 256]);
        let arguments = Arguments::new().value(&forged).pointer(y);
        let fault = device.launch("k", [1; 3], [1; 3], &arguments).unwrap_err();
        assert_eq!(fault.kind, FaultKind::BadLaunch);
    }
}

/// The box lies neither in shared memory nor in the tensor: the first is looked at before anything
/// is read.
#[test]
fn a_box_is_placed_before_it_is_read() {
    let map = |address| matrix(address, (1 << 20, 256), [256, 200]);
    let fault = load_box(map, &[0; 4], "0, 0", 204_800).unwrap_err();
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) writes 204800 bytes at offset 0 of shared memory, which has \
         2048 bytes"
    );
}
