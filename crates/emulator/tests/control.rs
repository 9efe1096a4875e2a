//! Divergence, barriers, waiting, calls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device, module};
use emulator::FaultKind;

fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b32 %t;
    .reg .b64 %rd<8>;
    .reg .b64 %x;
    .reg .b64 %a;
    .shared .align 4 .b8 s[4096];
    .loc 1 1 0
    ld.param.u64 %x, [k_param_0];
    mov.u32 %t, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.s32 %r3, %r1, %r2, %t;
    mul.wide.s32 %rd1, %r3, 4;
    add.s64 %a, %x, %rd1;
{body}
    ret;
}}
"
    ))
}

/// Runs a kernel over `grid` blocks of `block` threads on zeroed words; gives them and the
/// counters.
fn run(body: &str, grid: u32, block: u32) -> (Vec<u32>, emulator::Counters) {
    let mut device = Device::new(&kernel(body));
    let count = (grid * block) as usize;
    let x = device.words("x", &vec![0; count]);
    let arguments = Arguments::new().pointer(x);
    let outcome = device
        .launch("k", [grid, 1, 1], [block, 1, 1], &arguments)
        .unwrap();
    (device.read_words(x, count), outcome.counters)
}

fn fault(body: &str, block: u32) -> emulator::Fault {
    let mut device = Device::new(&kernel(body));
    let x = device.words("x", &vec![0; block as usize]);
    let arguments = Arguments::new().pointer(x);
    device
        .launch("k", [1, 1, 1], [block, 1, 1], &arguments)
        .unwrap_err()
}

#[test]
fn addresses_of_32_bits_wrap_as_their_registers_do() {
    // Compilers fold a window's left edge into the immediate: register -8, then +8 and more.
    let (words, counters) = run(
        "    shl.b32 %r4, %t, 2;
    mov.u32 %r5, s;
    add.s32 %r4, %r4, %r5;
    add.s32 %r4, %r4, -8;
    st.shared.u32 [%r4+8], %t;
    atom.shared.add.u32 %r6, [%r4+8], 100;
    bar.sync 0;
    ld.shared.u32 %r7, [%r4+8];
    st.global.u32 [%a], %r7;",
        1,
        64,
    );
    assert_eq!(words, (100..164).collect::<Vec<u32>>());
    // As many as without the detour: one store, one load, one atomic for each warp.
    assert_eq!(counters.shared_requests, 6);
}

#[test]
fn both_sides_of_a_branch_meet_again() {
    // After the join all 32 lanes are active together: the vote sees every lane.
    let body = "
    setp.lt.u32 %p1, %t, 10;
    @%p1 bra LESS;
    mov.u32 %r4, 7;
    bra.uni JOIN;
LESS:
    mov.u32 %r4, 3;
JOIN:
    activemask.b32 %r5;
    setp.eq.s32 %p2, %r5, -1;
    selp.b32 %r6, 100, 0, %p2;
    add.s32 %r4, %r4, %r6;
    st.global.u32 [%a], %r4;";
    let (values, counters) = run(body, 1, 32);
    let expected: Vec<u32> = (0..32).map(|t| if t < 10 { 103 } else { 107 }).collect();
    assert_eq!(values, expected);
    assert_eq!(counters.divergent_branches, 1);
}

#[test]
fn a_loop_with_a_trip_count_of_each_lane_and_a_break() {
    // i runs to t, but stops at 20; lanes meet behind the loop.
    let body = "
    mov.u32 %r4, 0;
LOOP:
    setp.ge.u32 %p1, %r4, %t;
    @%p1 bra DONE;
    setp.eq.u32 %p2, %r4, 20;
    @%p2 bra DONE;
    add.s32 %r4, %r4, 1;
    bra.uni LOOP;
DONE:
    activemask.b32 %r5;
    popc.b32 %r5, %r5;
    shl.b32 %r5, %r5, 8;
    or.b32 %r4, %r4, %r5;
    st.global.u32 [%a], %r4;";
    let (values, _) = run(body, 1, 32);
    let expected: Vec<u32> = (0..32).map(|t| 32 << 8 | t.min(20)).collect();
    assert_eq!(values, expected);
}

#[test]
fn lanes_that_return_early_hold_up_no_barrier() {
    let body = "
    setp.ge.u32 %p1, %t, 40;
    @%p1 bra END;
    mov.u32 %r4, s;
    shl.b32 %r5, %t, 2;
    add.s32 %r6, %r4, %r5;
    st.shared.u32 [%r6], %t;
    bar.sync 0;
    sub.s32 %r7, 39, %t;
    shl.b32 %r7, %r7, 2;
    add.s32 %r7, %r4, %r7;
    ld.shared.u32 %r8, [%r7];
    st.global.u32 [%a], %r8;
END:";
    let (values, counters) = run(body, 1, 64);
    for (t, &value) in values.iter().enumerate() {
        assert_eq!(value, if t < 40 { 39 - t as u32 } else { 0 });
    }
    assert_eq!(counters.barriers, 2);
}

#[test]
fn two_barriers_of_two_warps_are_divergent() {
    // A device only counts threads, and so would open both; CUDA forbids it.
    let body = "
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra LOW;
    .loc 1 20 0
    bar.sync 0;
    bra.uni JOIN;
LOW:
    .loc 1 21 0
    bar.sync 0;
JOIN:
    st.global.u32 [%a], %t;";
    let fault = fault(body, 64);
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert_eq!(
        fault.message,
        "thread (32,0,0) of block (0,0,0) reaches a __syncthreads() while thread (0,0,0) waits at another one on line 21"
    );
    assert_eq!(fault.line, Some(20));
}

#[test]
fn barriers_with_a_count_meet_at_different_instructions() {
    let body = "
    setp.lt.u32 %p1, %t, 32;
    @%p1 bra LOW;
    bar.sync 1, 64;
    bra.uni JOIN;
LOW:
    st.shared.u32 [s], 5;
    bar.sync 1, 64;
JOIN:
    ld.shared.u32 %r4, [s];
    st.global.u32 [%a], %r4;";
    assert_eq!(run(body, 1, 64).0, vec![5; 64]);
}

/// `if (condition) __syncthreads();` and then more work.
fn around(condition: &str) -> String {
    format!(
        "
    {condition}
    @!%p1 bra JOIN;
    .loc 1 7 0
    bar.sync 0;
JOIN:
    .loc 1 8 0
    st.global.u32 [%a], %t;"
    )
}

#[test]
fn going_around_a_barrier_is_divergence() {
    let message = |condition: &str| {
        let fault = fault(&around(condition), 96);
        assert_eq!(fault.kind, FaultKind::BarrierDivergence);
        (fault.message, fault.line)
    };
    // Within a warp; by whole warps, earlier and later ones.
    assert_eq!(
        message("setp.lt.u32 %p1, %t, 7;"),
        (
            "thread (7,0,0) of block (0,0,0) has gone around the __syncthreads() on line 7 that thread (0,0,0) waits at".into(),
            Some(8)
        )
    );
    assert_eq!(
        message("setp.lt.u32 %p1, %t, 32;"),
        (
            "thread (32,0,0) of block (0,0,0) has gone around the __syncthreads() on line 7 that thread (0,0,0) waits at".into(),
            Some(8)
        )
    );
    assert_eq!(
        message("setp.ge.u32 %p1, %t, 32;"),
        (
            "thread (32,0,0) of block (0,0,0) reaches a __syncthreads() that thread (0,0,0) has gone around".into(),
            Some(7)
        )
    );
    // All or nobody.
    for condition in ["setp.lt.u32 %p1, %t, 96;", "setp.ge.u32 %p1, %t, 96;"] {
        let expected: Vec<u32> = (0..96).collect();
        assert_eq!(run(&around(condition), 1, 96).0, expected);
    }
}

#[test]
fn a_loop_of_barriers_is_left_by_all_or_none() {
    // `for (i = 0; i < turns; ++i) { __syncthreads(); s[t] = i; } x[t] = s[t];`
    let loops = |turns: &str| {
        format!(
            "
    {turns}
    mov.u32 %r4, 0;
    mov.u32 %r6, s;
    shl.b32 %r7, %t, 2;
    add.s32 %r6, %r6, %r7;
LOOP:
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra DONE;
    bar.sync 0;
    st.shared.u32 [%r6], %r4;
    add.s32 %r4, %r4, 1;
    bra.uni LOOP;
DONE:
    ld.shared.u32 %r8, [%r6];
    st.global.u32 [%a], %r8;"
        )
    };
    assert_eq!(run(&loops("mov.u32 %r5, 5;"), 2, 64).0, vec![4; 128]);
    assert_eq!(run(&loops("mov.u32 %r5, 0;"), 2, 64).0, vec![0; 128]);
    // The second warp takes one turn less; then the first.
    for turns in [
        "setp.lt.u32 %p2, %t, 32; selp.b32 %r5, 3, 2, %p2;",
        "setp.lt.u32 %p2, %t, 32; selp.b32 %r5, 2, 3, %p2;",
        "shr.u32 %r5, %t, 2;",
    ] {
        assert_eq!(fault(&loops(turns), 64).kind, FaultKind::BarrierDivergence);
    }
}

#[test]
fn counts_that_no_device_takes() {
    let message = |count: &str| {
        let fault = fault(&format!(".loc 1 9 0\n bar.sync 1, {count};"), 64);
        assert_eq!(
            (fault.kind, fault.line),
            (FaultKind::BarrierDivergence, Some(9))
        );
        fault.message
    };
    let thread = "thread (0,0,0) of block (0,0,0)";
    assert_eq!(
        message("40"),
        format!("{thread} uses a barrier for 40 threads; a count is a multiple of 32")
    );
    assert_eq!(
        message("0"),
        format!("{thread} uses a barrier for 0 threads; a count is a multiple of 32")
    );
    assert_eq!(
        message("96"),
        format!("{thread} uses a barrier for 96 threads; its block has 64")
    );
    let differing = "
    shr.u32 %r4, %t, 5;
    mul.lo.u32 %r4, %r4, 32;
    add.s32 %r4, %r4, 64;
    bar.sync 1, %r4;";
    assert_eq!(
        fault(differing, 96).message,
        "thread (32,0,0) of block (0,0,0) uses a barrier for 96 threads where another thread expects 64"
    );
}

#[test]
fn two_barriers_within_a_warp_are_divergent() {
    let body = "
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    .loc 1 20 0
    bar.sync 0;
    bra.uni JOIN;
LOW:
    .loc 1 21 0
    bar.sync 0;
JOIN:
    st.global.u32 [%a], %t;";
    let fault = fault(body, 32);
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert_eq!(
        fault.message,
        "thread (16,0,0) of block (0,0,0) reaches a __syncthreads() while thread (0,0,0) waits at another one on line 21"
    );
    assert_eq!(fault.line, Some(20));
}

#[test]
fn a_barrier_that_not_enough_threads_reach() {
    let body = "
    setp.ge.u32 %p1, %t, 32;
    @%p1 bra END;
    .loc 1 9 0
    bar.sync 1, 64;
END:";
    let fault = fault(body, 64);
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) waits at a barrier that the other threads of its block do not reach"
    );
    assert_eq!(fault.line, Some(9));
}

#[test]
fn lanes_that_wait_for_one_another_in_vain_are_a_deadlock() {
    // The low half waits for the whole warp, the high half at a barrier for the low one.
    let body = "
    setp.lt.u32 %p1, %t, 16;
    @%p1 bra LOW;
    bar.sync 0;
    bra.uni JOIN;
LOW:
    shfl.sync.down.b32 %r4, %t, 1, 31, -1;
JOIN:
    st.global.u32 [%a], %t;";
    let fault = fault(body, 32);
    assert_eq!(fault.kind, FaultKind::Deadlock);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) waits for threads of its warp that do not arrive"
    );
}

#[test]
fn barriers_that_reduce() {
    let body = "
    setp.lt.u32 %p1, %t, 37;
    bar.red.popc.u32 %r4, 0, %p1;
    bar.red.or.pred %p2, 0, %p1;
    bar.red.and.pred %p3, 0, %p1;
    selp.b32 %r5, 1000, 0, %p2;
    selp.b32 %r6, 2000, 0, %p3;
    add.s32 %r4, %r4, %r5;
    add.s32 %r4, %r4, %r6;
    st.global.u32 [%a], %r4;";
    assert_eq!(run(body, 1, 64).0, vec![1037; 64]);
}

#[test]
fn a_lock_taken_within_one_warp() {
    // Each lane spins for the lock, adds one and lets go; the winner would wait at the loop's exit
    // for the losers if lanes could not go on alone.
    let body = "
SPIN:
    atom.global.cas.b32 %r4, [%x], 0, 1;
    setp.ne.s32 %p1, %r4, 0;
    @%p1 bra SPIN;
    ld.volatile.global.u32 %r5, [%x+4];
    add.s32 %r5, %r5, 1;
    st.volatile.global.u32 [%x+4], %r5;
    membar.gl;
    atom.global.exch.b32 %r6, [%x], 0;";
    let (values, _) = run(body, 2, 64);
    assert_eq!(values[..2], [0, 128]);
}

#[test]
fn a_block_may_wait_for_a_later_one() {
    // Block b waits for block b + 1: all have to be resident.
    let body = "
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra END;
    mov.u32 %r4, %nctaid.x;
    add.s32 %r5, %r1, 1;
    setp.ge.u32 %p2, %r5, %r4;
    mov.u32 %r6, 0;
    @%p2 bra STORE;
SPIN:
    ld.acquire.gpu.global.u32 %r6, [%a+128];
    setp.eq.u32 %p3, %r6, 0;
    @%p3 bra SPIN;
STORE:
    add.s32 %r6, %r6, 1;
    st.release.gpu.global.u32 [%a], %r6;
END:";
    let (values, _) = run(body, 40, 32);
    let firsts: Vec<u32> = values.iter().copied().step_by(32).collect();
    assert_eq!(firsts, (1..=40).rev().collect::<Vec<u32>>());
}

#[test]
fn recursion_and_results_by_lane() {
    let ptx = module(
        ".func (.param .b32 result) sum(.param .b32 sum_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    ld.param.u32 %r1, [sum_param_0];
    mov.u32 %r4, 0;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra DONE;
    add.s32 %r2, %r1, -1;
    { // callseq 0, 0
    .param .b32 param0;
    st.param.b32 [param0+0], %r2;
    .param .b32 retval0;
    call.uni (retval0), sum, (param0);
    ld.param.b32 %r3, [retval0+0];
    } // callseq 0
    add.s32 %r4, %r3, %r1;
DONE:
    st.param.b32 [result+0], %r4;
    ret;
}
.visible .entry k(.param .u64 k_param_0)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [k_param_0];
    mov.u32 %r1, %tid.x;
    { // callseq 1, 0
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 retval0;
    call.uni (retval0), sum, (param0);
    ld.param.b32 %r2, [retval0+0];
    } // callseq 1
    setp_free:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
",
    );
    let mut device = Device::new(&ptx);
    let x = device.words("x", &[0; 32]);
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &Arguments::new().pointer(x))
        .unwrap();
    let expected: Vec<u32> = (0..32).map(|t| t * (t + 1) / 2).collect();
    assert_eq!(device.read_words(x, 32), expected);
}

#[test]
fn a_jump_table_sends_each_lane_its_way() {
    let body = "
    and.b32 %r4, %t, 3;
TABLE: .branchtargets A, B, A, C;
    brx.idx %r4, TABLE;
A:
    mov.u32 %r5, 10;
    bra.uni JOIN;
B:
    mov.u32 %r5, 20;
    bra.uni JOIN;
C:
    mov.u32 %r5, 30;
JOIN:
    activemask.b32 %r6;
    popc.b32 %r6, %r6;
    add.s32 %r5, %r5, %r6;
    st.global.u32 [%a], %r5;";
    let expected: Vec<u32> = (0..32).map(|t| 32 + [10, 20, 10, 30][t % 4]).collect();
    assert_eq!(run(body, 1, 32).0, expected);
}

#[test]
fn names_of_inline_assembly_stay_in_their_braces() {
    let body = "
    { .reg .b32 q; .reg .pred p; mov.u32 q, 5; setp.lt.u32 p, %t, 4; @p bra L; add.s32 q, q, 1; L: mov.u32 %r4, q; }
    { .reg .b32 q; .reg .pred p; mov.u32 q, 50; setp.lt.u32 p, %t, 8; @p bra L; add.s32 q, q, 1; L: add.s32 %r4, %r4, q; }
    st.global.u32 [%a], %r4;";
    let expected: Vec<u32> = (0..32)
        .map(|t| 55 + u32::from(t >= 4) + u32::from(t >= 8))
        .collect();
    assert_eq!(run(body, 1, 32).0, expected);
}

#[test]
fn printed_text_comes_in_block_order() {
    let ptx = module(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 $str[12] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 10};
.global .align 1 .b8 $text[3] = {111, 107};
.visible .entry k()
{
    .local .align 16 .b8 depot[24];
    .reg .b32 %r<4>;
    .reg .f64 %fd<3>;
    .reg .b64 %rd<8>;
    mov.u64 %rd1, depot;
    cvta.local.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    st.local.u32 [%rd1], %r1;
    cvt.rn.f64.u32 %fd1, %r1;
    mul.f64 %fd1, %fd1, 0d3FD0000000000000;
    st.local.f64 [%rd1+8], %fd1;
    mov.u64 %rd3, $text;
    cvta.global.u64 %rd3, %rd3;
    st.local.u64 [%rd1+16], %rd3;
    mov.u64 %rd4, $str;
    cvta.global.u64 %rd5, %rd4;
    { // callseq 0, 0
    .param .b64 param0;
    st.param.b64 [param0+0], %rd5;
    .param .b64 param1;
    st.param.b64 [param1+0], %rd2;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r2, [retval0+0];
    } // callseq 0
    ret;
}
",
    );
    for threads in [1, 3] {
        let mut device = Device::new(&ptx);
        let limits = emulator::Limits {
            threads,
            ..Default::default()
        };
        let arguments = Arguments::new();
        let outcome = device
            .launch_with("k", [4, 1, 1], [1, 1, 1], 0, &arguments, &limits)
            .unwrap();
        assert_eq!(
            outcome.output.text,
            "0 0.00 ok\n1 0.25 ok\n2 0.50 ok\n3 0.75 ok\n"
        );
        let limits = emulator::Limits {
            threads,
            output_bytes: 15,
            ..Default::default()
        };
        let fault = device
            .launch_with("k", [4, 1, 1], [1, 1, 1], 0, &arguments, &limits)
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutputLimit);
        assert_eq!(fault.output, "0 0.00 ok\n1 0.2");
    }
}
