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

#[test]
fn totals_add_up() {
    let one = count("ld.global.f32 %f1, [%a];", 4);
    let sum = one + one;
    assert_eq!(sum.global_load_sectors, 2 * one.global_load_sectors);
    assert_eq!(sum.longest_warp_instructions, one.longest_warp_instructions);
    assert_eq!(sum.global_sectors(), 8);
}
