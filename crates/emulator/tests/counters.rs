//! Counters against values worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device, module};
use emulator::Counters;

/// Counters of one warp that runs `body`, with the address of its own word in `%a` for a stride of
/// `stride` bytes, and the same in shared memory in `%s`.
fn count(body: &str, stride: u32) -> Counters {
    let ptx = module(&format!(
        ".visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b32 %s;
    .reg .f32 %f<8>;
    .reg .f64 %fd<4>;
    .reg .b64 %rd<8>;
    .reg .b64 %a;
    .shared .align 16 .b8 s[16384];
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, {stride};
    add.s64 %a, %rd1, %rd2;
    mov.u32 %r2, s;
    mad.lo.u32 %s, %r1, {stride}, %r2;
{body}
    ret;
}}
"
    ));
    let mut device = Device::new(&ptx);
    let x = device.bytes("x", &[0; 16384]);
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &Arguments::new().pointer(x))
        .unwrap()
        .counters
}

#[test]
fn coalesced_and_strided_sectors() {
    let load = "ld.global.f32 %f1, [%a];";
    assert_eq!(count(load, 4).global_load_sectors, 4);
    assert_eq!(count(load, 8).global_load_sectors, 8);
    assert_eq!(count(load, 32).global_load_sectors, 32);
    assert_eq!(count(load, 128).global_load_sectors, 32);
    assert_eq!(count(load, 0).global_load_sectors, 1);
    // One word further: 128 bytes over 5 sectors.
    assert_eq!(
        count("ld.global.f32 %f1, [%a+4];", 4).global_load_sectors,
        5
    );
    let store = count("st.global.f32 [%a], 0f00000000;", 4);
    assert_eq!(
        (store.global_store_sectors, store.global_load_sectors),
        (4, 0)
    );
    assert_eq!(store.global_requests, 1);
}

#[test]
fn wide_and_vector_elements() {
    assert_eq!(count("ld.global.f64 %fd1, [%a];", 8).global_load_sectors, 8);
    let v4 = count("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%a];", 16);
    assert_eq!((v4.global_requests, v4.global_load_sectors), (1, 16));
    assert_eq!(
        count("ld.global.v2.f32 {%f1,%f2}, [%a];", 8).global_load_sectors,
        8
    );
    assert_eq!(count("ld.global.u8 %r3, [%a];", 1).global_load_sectors, 1);
}

#[test]
fn only_active_lanes_count() {
    let body = "setp.lt.u32 %p1, %r1, 9;\n @%p1 ld.global.f32 %f1, [%a];";
    // 36 bytes.
    assert_eq!(count(body, 4).global_load_sectors, 2);
    let nobody = count(
        "setp.gt.u32 %p1, %r1, 99;\n @%p1 ld.global.f32 %f1, [%a];",
        4,
    );
    assert_eq!((nobody.global_requests, nobody.global_load_sectors), (0, 0));
}

#[test]
fn bank_conflicts() {
    let load = "ld.shared.f32 %f1, [%s];";
    assert_eq!(count(load, 4).shared_wavefronts, 1);
    assert_eq!(count(load, 0).shared_wavefronts, 1);
    assert_eq!(count(load, 8).shared_wavefronts, 2);
    assert_eq!(count(load, 64).shared_wavefronts, 16);
    assert_eq!(count(load, 128).shared_wavefronts, 32);
    assert_eq!(count(load, 132).shared_wavefronts, 1);
    assert_eq!(
        count("ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%s];", 16).shared_wavefronts,
        4
    );
    assert_eq!(count("st.shared.f64 [%s], %fd1;", 8).shared_wavefronts, 2);
    assert_eq!(count(load, 128).shared_requests, 1);
}

#[test]
fn instructions_and_flop() {
    let body = "fma.rn.f32 %f1, %f2, %f3, %f4;
    add.f32 %f1, %f1, %f2;
    mul.f64 %fd1, %fd2, %fd3;
    fma.rn.f16x2 %r3, %r4, %r5, %r6;
    ex2.approx.f32 %f1, %f1;
    setp.lt.u32 %p1, %r1, 10;
    @%p1 add.f32 %f1, %f1, %f2;";
    let counters = count(body, 4);
    assert_eq!(counters.flop_f32, 32 * 2 + 32 + 32 + 10);
    assert_eq!(counters.flop_f64, 32);
    assert_eq!(counters.flop_f16, 32 * 4);
    assert_eq!(counters.special_functions, 32);
    // Six before the body, seven in it, `ret`; however many steps each takes here.
    assert_eq!(counters.warp_instructions, 6 + 7 + 1);
    assert_eq!(counters.thread_instructions, 32 * (6 + 6 + 1) + 10);
    assert_eq!(counters.longest_warp_instructions, 14);
    assert_eq!((counters.blocks, counters.warps), (1, 1));
}

#[test]
fn atomics_count_lanes_and_sectors() {
    let spread = count("atom.global.add.u32 %r3, [%a], 1;", 4);
    assert_eq!((spread.atomics, spread.global_atomic_sectors), (32, 4));
    let same = count("red.global.add.f32 [%a], 0f3F800000;", 0);
    assert_eq!(
        (
            same.atomics,
            same.global_atomic_sectors,
            same.global_requests
        ),
        (32, 1, 1)
    );
    let shared = count("atom.shared.add.u32 %r3, [%s], 1;", 128);
    assert_eq!((shared.atomics, shared.shared_wavefronts), (32, 32));
}

/// Each lane at the address that `place` computes from its number `%r1` into `%r3`, in bytes.
fn count_at(place: &str, access: &str) -> Counters {
    let body = format!(
        "{place}\n cvt.u64.u32 %rd3, %r3;\n add.s64 %a, %rd1, %rd3;\n add.u32 %s, %r2, %r3;\n {access}"
    );
    count(&body, 0)
}

#[test]
fn scattered_and_broadcast_sectors() {
    let load = "ld.global.f32 %f1, [%a];";
    // Lane l at word 37 l mod 64: sectors of 8 words.
    let expected: std::collections::BTreeSet<u32> = (0..32).map(|l| l * 37 % 64 / 8).collect();
    let place = "mul.lo.u32 %r3, %r1, 37;\n and.b32 %r3, %r3, 63;\n shl.b32 %r3, %r3, 2;";
    assert_eq!(
        count_at(place, load).global_load_sectors,
        expected.len() as u64
    );
    // Half the lanes on one word, half on another one 4 KiB away.
    let place = "and.b32 %r3, %r1, 1;\n shl.b32 %r3, %r3, 12;";
    assert_eq!(count_at(place, load).global_load_sectors, 2);
    // 16-byte elements that begin in the middle of a sector: 512 bytes over 17 sectors.
    let place = "mad.lo.u32 %r3, %r1, 16, 16;";
    let vector = "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%a];";
    assert_eq!(count_at(place, vector).global_load_sectors, 17);
}

/// A column of a tile of 32 rows: as it is, padded by one element, and with the column XORed by the row.
#[test]
fn columns_of_padded_and_swizzled_tiles() {
    let row_of = |bytes: u32| format!("mul.lo.u32 %r3, %r1, {bytes};");
    let swizzled = |row: u32, element: u32, rows: u32| {
        format!(
            "and.b32 %r4, %r1, {};\n xor.b32 %r4, %r4, 5;\n mul.lo.u32 %r4, %r4, {element};\n \
             mad.lo.u32 %r3, %r1, {row}, %r4;",
            rows - 1
        )
    };
    let wavefronts = |place: &str, access: &str| count_at(place, access).shared_wavefronts;
    let four = "ld.shared.f32 %f1, [%s];";
    assert_eq!(wavefronts(&row_of(128), four), 32);
    assert_eq!(wavefronts(&row_of(132), four), 1);
    assert_eq!(wavefronts(&swizzled(128, 4, 32), four), 1);
    // Elements of 8 bytes go by half warps, which have two passes' worth of banks in all.
    let eight = "ld.shared.f64 %fd1, [%s];";
    assert_eq!(wavefronts(&row_of(256), eight), 32);
    assert_eq!(wavefronts(&row_of(264), eight), 2);
    assert_eq!(wavefronts(&swizzled(128, 8, 16), eight), 2);
    // Of 16 bytes by quarters of 8 lanes.
    let sixteen = "ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%s];";
    assert_eq!(wavefronts(&row_of(256), sixteen), 32);
    assert_eq!(wavefronts(&row_of(272), sixteen), 4);
    assert_eq!(wavefronts(&swizzled(128, 16, 8), sixteen), 4);
}

#[test]
fn contention_of_atomics() {
    let add = "atom.global.add.u32 %r5, [%a], 1;";
    let contention = |place: &str| {
        let counted = count_at(place, add);
        (counted.atomic_passes, counted.most_lanes_on_one_address)
    };
    assert_eq!(contention("shl.b32 %r3, %r1, 2;"), (1, 1));
    assert_eq!(contention("mov.u32 %r3, 0;"), (32, 32));
    // Lanes 0 to 31 on words 0 to 3 by their low bits.
    assert_eq!(
        contention("and.b32 %r3, %r1, 3;\n shl.b32 %r3, %r3, 2;"),
        (8, 8)
    );
}

#[test]
fn classes_of_instructions() {
    let body = "ld.global.f32 %f1, [%a];
    fma.rn.f32 %f1, %f1, %f1, %f1;
    add.f64 %fd1, %fd1, %fd1;
    fma.rn.f16x2 %r3, %r4, %r5, %r6;
    ex2.approx.f32 %f1, %f1;
    shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;
    bar.sync 0;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra HERE;
    st.shared.f32 [%s], %f1;
HERE:";
    let counted = count(body, 4);
    assert_eq!(counted.f32_instructions, 1);
    assert_eq!(counted.f64_instructions, 1);
    assert_eq!(counted.f16_instructions, 1);
    assert_eq!(counted.special_instructions, 1);
    assert_eq!(counted.exchange_instructions, 1);
    assert_eq!(counted.barriers, 1);
    // The parameter, the load and the store; the branch, and an exit for each side of it.
    assert_eq!(
        (counted.memory_instructions, counted.control_instructions),
        (3, 3)
    );
    // Five before the body and the comparison.
    assert_eq!(counted.integer_instructions(), 6);
    assert_eq!(counted.warp_instructions, 18);
    // Lanes whose guard is false do not count: 8 of 32 take the branch. 24 store; the exits share the
    // lanes; all others are whole.
    assert_eq!(counted.thread_instructions, 15 * 32 + 8 + 24);
    assert!((counted.active_lane_share() - 512.0 / 576.0).abs() < 1e-12);
}

/// Waits for global memory in the chain of one warp, and cycles beyond those of the kernel around the body.
fn path(body: &str) -> (u64, u64) {
    let (with, without) = (count(body, 4), count("", 4));
    let cycles = with.longest_warp_cycles - without.longest_warp_cycles;
    (with.longest_warp_waits, cycles)
}

#[test]
fn loads_that_do_not_need_each_other_wait_once() {
    let two = "ld.global.f32 %f1, [%a];\n ld.global.f32 %f2, [%a+128];\n add.f32 %f3, %f1, %f2;";
    assert_eq!(path(two).0, 1);
    let chain = "ld.global.u32 %r3, [%a];
    mul.wide.u32 %rd3, %r3, 0;
    add.s64 %rd3, %rd3, %a;
    ld.global.u32 %r4, [%rd3];";
    assert_eq!(path(chain).0, 2);
    let apart = "ld.global.f32 %f1, [%a];\n bar.sync 0;\n ld.global.f32 %f2, [%a];";
    assert_eq!(path(apart).0, 2);
}

#[test]
fn a_load_stays_behind_a_store_that_may_change_it() {
    let load = |kind: &str| {
        format!(
            "ld.global.f32 %f1, [%a];
    st.global.f32 [%a+128], %f1;
    ld.global{kind}.f32 %f2, [%a+256];
    st.global.f32 [%a+384], %f2;"
        )
    };
    assert_eq!(path(&load("")).0, 2);
    assert_eq!(path(&load(".nc")).0, 1);
}

/// What a branch goes around is put under a guard; what it goes around in two ways is not.
#[test]
fn short_guarded_blocks_wait_together() {
    let guarded = "setp.lt.u32 %p1, %r1, 40;
    @!%p1 bra FIRST;
    ld.global.f32 %f1, [%a];
    st.shared.f32 [%s], %f1;
FIRST:
    @!%p1 bra SECOND;
    ld.global.f32 %f2, [%a+128];
    st.shared.f32 [%s+128], %f2;
SECOND:
    mov.u32 %r3, 0;";
    assert_eq!(path(guarded).0, 1);
    let looped = "mov.u32 %r3, 0;
LOOP:
    ld.global.f32 %f1, [%a];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 3;
    @%p1 bra LOOP;";
    assert_eq!(path(looped).0, 3);
}

/// The body begins a stretch of its own, behind a barrier: 20 cycles that both sides have.
#[test]
fn cycles_of_a_chain() {
    let after = |body: &str| path(&format!("bar.sync 0;\n{body}\nbar.sync 0;")).1;
    let nothing = after("");
    assert_eq!(after("fma.rn.f32 %f1, %f2, %f3, %f4;"), nothing);
    let three = "fma.rn.f32 %f1, %f2, %f3, %f4;\n".repeat(3);
    // Three that do not need each other: their results are there after four cycles, the barrier after 20.
    assert_eq!(after(&three), nothing);
    let chain = "ld.shared.f32 %f1, [%s];
    fma.rn.f32 %f1, %f1, %f1, %f1;
    ex2.approx.f32 %f1, %f1;
    shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;
    st.shared.f32 [%s], %f1;";
    // 29, 4, 20, and 4 of the store; the shuffle needs none of them.
    assert_eq!(after(chain) - nothing, 29 + 4 + 20 + 4 - 20);
}

#[test]
fn bytes_are_read_from_memory_once() {
    let twice = count("ld.global.f32 %f1, [%a];\n ld.global.f32 %f1, [%a];", 4);
    assert_eq!(twice.global_load_sectors, 8);
    // The allocation has 16 384 bytes, of which the requests name 256.
    assert_eq!(
        (twice.first_read_bytes, twice.first_written_bytes),
        (256, 0)
    );
    let many = count(&"ld.global.f32 %f1, [%a];\n".repeat(130), 128);
    assert_eq!(many.global_load_sectors, 130 * 32);
    assert_eq!(many.first_read_bytes, 16_384);
    let update = count("red.global.add.f32 [%a], %f1;", 0);
    assert_eq!(
        (update.first_read_bytes, update.first_written_bytes),
        (32, 32)
    );
    // 32 lanes on one of 512 sectors: one pass a sector on average.
    assert_eq!(
        (update.atomic_passes, update.atomic_passes_per_sector),
        (32, 1)
    );
}

/// One thread that adds a whole array is not worth a hundredth of the bound; a full grid is.
#[test]
fn one_thread_is_modelled_as_slow() {
    use emulator::{H200, Occupancy, estimate};
    let elements = 1u32 << 20;
    let score = |grid: u32, block: u32, ptx: &str, kernel: &str| {
        let mut device = Device::new(ptx);
        let arrays: Vec<u64> = ["a", "b", "c"]
            .map(|label| device.memory.allocate(4 << 20, label).unwrap())
            .to_vec();
        let arguments = arrays
            .iter()
            .fold(Arguments::new(), |all, &at| all.pointer(at));
        let outcome = device.launch(
            kernel,
            [grid, 1, 1],
            [block, 1, 1],
            &arguments.int(elements as i32),
        );
        let asked = Occupancy {
            block_threads: block,
            registers: 16,
            shared_bytes: 0,
        };
        let bytes = 12 << 20;
        let found = estimate(&outcome.unwrap().counters, &asked, &H200, false).unwrap();
        f64::from(bytes) / 4.8e12 / found.seconds
    };
    let strided = module(
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u64 %rd3, [p2];
    ld.param.u32 %r1, [p3];
    mov.u32 %r2, 0;
LOOP:
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd2];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd3], %f3;
    add.s64 %rd1, %rd1, 4;
    add.s64 %rd2, %rd2, 4;
    add.s64 %rd3, %rd3, 4;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 bra LOOP;
    ret;
}
",
    );
    let alone = score(1, 1, &strided, "k");
    assert!(alone < 0.01, "{alone}");
    let whole = score(
        elements / 256,
        256,
        include_str!("fixtures/basic.ptx"),
        "vector_add",
    );
    assert!(whole > 0.2, "{whole}");
}

#[test]
fn totals_add_up() {
    let one = count("ld.global.f32 %f1, [%a];", 4);
    let sum = one + one;
    assert_eq!(sum.global_load_sectors, 2 * one.global_load_sectors);
    assert_eq!(sum.longest_warp_instructions, one.longest_warp_instructions);
    assert_eq!(sum.global_sectors(), 8);
}
