//! `cp.async`, barriers in shared memory and bulk copies: what lands when, and what is a fault.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, LoadError, Module};

const PIPELINE: &str = include_str!("fixtures/pipeline.ptx");

/// A kernel of one pointer in `%x`, the thread's number in `%t`, 1 KiB of shared memory at `s` and
/// the address of the thread's word there in `%s`, of its word in global memory in `%a`.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b32 %t, %s;
    .reg .b64 %rd<8>;
    .reg .b64 %x, %a, %m;
    .shared .align 128 .b8 s[1024];
    .loc 1 1 0
    ld.param.u64 %x, [k_param_0];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %rd1, %t, 4;
    add.u64 %a, %x, %rd1;
    mov.u32 %s, s;
    mad.lo.u32 %s, %t, 4, %s;
    .loc 1 2 0
{body}
    ret;
}}
"
    ))
}

fn attempt(body: &str, words: &[u32], threads: u32) -> (Result<(), Fault>, Vec<u32>) {
    let mut device = Device::new(&kernel(body));
    let x = device.words("x", words);
    let arguments = Arguments::new().pointer(x);
    let outcome = device.launch("k", [1, 1, 1], [threads, 1, 1], &arguments);
    (outcome.map(|_| ()), device.read_words(x, words.len()))
}

fn run(body: &str, words: &[u32], threads: u32) -> Vec<u32> {
    let (outcome, words) = attempt(body, words, threads);
    outcome.unwrap();
    words
}

fn message(body: &str, words: &[u32], threads: u32) -> String {
    attempt(body, words, threads).0.unwrap_err().message
}

#[test]
fn a_copy_lands_when_its_group_is_waited_for() {
    // Two groups; the values that shared memory holds before, between and after their waits.
    let body = "
    st.shared.u32 [%s], 1;
    st.shared.u32 [%s+128], 2;
    cp.async.ca.shared.global [%s], [%a], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%s+128], [%a+128], 4;
    cp.async.commit_group;
    ld.shared.u32 %r1, [%s];
    cp.async.wait_group 1;
    ld.shared.u32 %r2, [%s];
    ld.shared.u32 %r3, [%s+128];
    cp.async.wait_group 0;
    ld.shared.u32 %r4, [%s+128];
    mad.lo.u32 %r1, %r1, 1000, %r2;
    mad.lo.u32 %r3, %r3, 1000, %r4;
    st.global.u32 [%a], %r1;
    st.global.u32 [%a+128], %r3;";
    let words: Vec<u32> = (0..64).map(|at| 100 + at).collect();
    let expected: Vec<u32> = (0..64)
        .map(|at| {
            if at < 32 {
                1000 + 100 + at
            } else {
                2000 + 100 + at
            }
        })
        .collect();
    assert_eq!(run(body, &words, 32), expected);
}

#[test]
fn a_copy_fills_up_with_zeros_and_reads_no_more_than_its_source_size() {
    // The last word of `x`: 16 bytes are written, 4 - t of them read.
    let body = "
    mov.u32 %r4, -1;
    mov.u32 %s, s;
    st.shared.v4.u32 [%s], {%r4, %r4, %r4, %r4};
    mov.u32 %r5, 3;
    cp.async.cg.shared.global [%s], [%x+16], 16, %r5;
    cp.async.wait_all;
    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%s];
    st.global.v4.u32 [%x], {%r1, %r2, %r3, %r4};";
    let found = run(body, &[9, 9, 9, 9, 0x4433_2211], 1);
    assert_eq!(found[..4], [0x33_2211, 0, 0, 0]);
    // Nothing is read at all: the address may be wild.
    let body = body
        .replace("%r5, 3", "%r5, 0")
        .replace("[%x+16]", "[%rd7]");
    assert_eq!(run(&body, &[9, 9, 9, 9, 9], 1)[..4], [0; 4]);
    let ignored = body
        .replace("16, %r5", "16, %p1")
        .replace("mov.u32 %r5, 0", "setp.eq.u32 %p1, 1, 1");
    assert_eq!(run(&ignored, &[9, 9, 9, 9, 9], 1)[..4], [0; 4]);
}

#[test]
fn a_copy_is_checked_where_it_is_issued() {
    let body = "
    cp.async.ca.shared.global [%s], [%a+124], 4;
    .loc 1 9 0
    cp.async.wait_all;";
    let (outcome, _) = attempt(body, &[0; 32], 32);
    let fault = outcome.unwrap_err();
    assert_eq!((fault.kind, fault.line), (FaultKind::OutOfBounds, Some(2)));
    assert_eq!(
        fault.message,
        "thread (1,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `x`, which has 128 bytes"
    );
    let body = "cp.async.cg.shared.global [%s], [%x], 16;";
    assert_eq!(
        message(body, &[0; 32], 2),
        "thread (1,0,0) of block (0,0,0) writes 16 bytes at offset 4 of shared memory, which is not a \
         multiple of 16"
    );
}

#[test]
fn a_barrier_counts_arrivals_and_its_states_tell_phases() {
    // Two arrivals of three, then one with a count of two of the next phase.
    let body = "
    mbarrier.init.shared::cta.b64 [s], 3;
    mbarrier.arrive.shared::cta.b64 %rd2, [s], 2;
    mbarrier.pending_count.b64 %r1, %rd2;
    mbarrier.test_wait.shared::cta.b64 %p1, [s], %rd2;
    selp.u32 %r2, 1, 0, %p1;
    mbarrier.arrive.release.cta.shared::cta.b64 %rd3, [s];
    mbarrier.pending_count.b64 %r3, %rd3;
    mbarrier.test_wait.shared::cta.b64 %p1, [s], %rd3;
    selp.u32 %r4, 1, 0, %p1;
    st.global.v4.u32 [%x], {%r1, %r2, %r3, %r4};
    mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p1, [s], 0;
    selp.u32 %r1, 1, 0, %p1;
    mbarrier.arrive_drop.shared::cta.b64 _, [s], 1;
    mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd4, [s], 1;
    mbarrier.arrive.shared::cta.b64 %rd4, [s];
    mbarrier.arrive.shared::cta.b64 %rd5, [s];
    mbarrier.pending_count.b64 %r2, %rd5;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [s], 0;
    selp.u32 %r3, 1, 0, %p1;
    mbarrier.inval.shared::cta.b64 [s];
    ld.shared.u32 %r4, [s];
    st.global.v4.u32 [%x+16], {%r1, %r2, %r3, %r4};";
    // After the drop a phase has two arrivals; the last state is of the third phase, parity 0.
    assert_eq!(run(body, &[9; 8], 1), [3, 0, 1, 1, 1, 2, 0, 0]);
}

#[test]
fn a_wait_that_can_never_end_names_barrier_phase_and_what_is_due() {
    let body = "
    mbarrier.init.shared.b64 [s+16], 2;
    mbarrier.arrive.expect_tx.shared.b64 _, [s+16], 64;
    .loc 1 7 0
WAIT:
    mbarrier.WHICH.parity.shared.b64 %p1, [s+16], 0;
    @!%p1 bra WAIT;";
    for which in ["try_wait", "test_wait"] {
        let (outcome, _) = attempt(&body.replace("WHICH", which), &[0], 1);
        let fault = outcome.unwrap_err();
        assert_eq!((fault.kind, fault.line), (FaultKind::Deadlock, Some(7)));
        assert_eq!(
            fault.message,
            "thread (0,0,0) of block (0,0,0) waits for the phase of parity 0 of the mbarrier at offset \
             16 of shared memory, which has 1 arrival of 2 and 64 bytes due"
        );
    }
}

#[test]
fn a_wait_ends_without_success_if_only_its_thread_can_arrive() {
    let body = "
    mbarrier.init.shared.b64 [s], 1;
    mbarrier.try_wait.parity.shared.b64 %p1, [s], 0, 1000;
    @!%p1 mbarrier.arrive.shared.b64 _, [s];
    mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;
    selp.u32 %r1, 10, 0, %p1;
    selp.u32 %r2, 1, 0, %p2;
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%x], %r1;";
    assert_eq!(run(body, &[9], 1), [1]);
}

#[test]
fn lanes_that_wait_and_lanes_that_arrive_are_of_one_warp() {
    // Lane 0 waits first; the others arrive only after the branch meets again.
    let body = "
    setp.eq.u32 %p1, %t, 0;
    @!%p1 bra JOIN;
    mbarrier.init.shared.b64 [s], 31;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [s], 0;
    @!%p2 bra WAIT;
JOIN:
    @!%p1 mbarrier.arrive.shared.b64 _, [s];
    st.global.u32 [%a], %t;";
    assert_eq!(run(body, &[9; 32], 32), (0..32).collect::<Vec<u32>>());
}

#[test]
fn misused_barriers_are_faults() {
    let of = |body: &str| message(body, &[0], 1);
    assert_eq!(
        of("mbarrier.arrive.shared.b64 _, [s+8];"),
        "thread (0,0,0) of block (0,0,0) arrives at the mbarrier at offset 8 of shared memory, which is \
         not initialised"
    );
    assert_eq!(
        of("mbarrier.init.shared.b64 [s], 2;\n mbarrier.arrive.shared.b64 _, [s], 3;"),
        "thread (0,0,0) of block (0,0,0) arrives at the mbarrier at offset 0 of shared memory, which has \
         2 arrivals left: more than the 2 that it expects in a phase"
    );
    assert_eq!(
        of("mbarrier.init.shared.b64 [s+4], 2;"),
        "thread (0,0,0) of block (0,0,0) updates 8 bytes at offset 4 of shared memory, which is not a \
         multiple of 8"
    );
    assert_eq!(
        of("mbarrier.init.shared.b64 [s], 0;"),
        "thread (0,0,0) of block (0,0,0) initialises the mbarrier at offset 0 of shared memory for 0 \
         arrivals; 1 to 1048575 are possible"
    );
}

#[test]
fn bytes_of_a_bulk_copy_complete_a_phase_when_it_is_waited_for() {
    // 64 bytes come, the first word before the wait and after it; then they go back doubled.
    let body = "
    st.shared.u32 [s+128], 5;
    mbarrier.init.shared.b64 [s], 1;
    mov.u32 %r1, s;
    add.u32 %r2, %r1, 128;
    mbarrier.arrive.expect_tx.shared.b64 _, [s], 64;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%x], 64, [%r1];
    ld.shared.u32 %r3, [%r2];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [s], 0;
    @!%p1 bra WAIT;
    ld.shared.u32 %r4, [%r2];
    ld.shared.u32 %r5, [%r2+60];
    mad.lo.u32 %r3, %r3, 100, %r4;
    st.shared.v4.u32 [%r2], {%r3, %r5, %r5, %r5};
    fence.proxy.async;
    cp.async.bulk.global.shared::cta.bulk_group [%x], [%r2], 16;
    cp.async.bulk.commit_group;
    st.shared.u32 [%r2], 77;
    ld.global.u32 %r6, [%x];
    cp.async.bulk.wait_group 0;
    st.global.u32 [%x+16], %r6;";
    let words: Vec<u32> = (0..16).map(|at| 40 + at).collect();
    let found = run(body, &words, 1);
    // The source was overwritten before it was read, and the destination not written yet: both show.
    assert_eq!(found[..5], [77, 55, 55, 55, 40]);
    let waits = body.replace(
        "st.shared.u32 [%r2], 77;",
        "cp.async.bulk.wait_group.read 0;\n st.shared.u32 [%r2], 77;",
    );
    assert_eq!(run(&waits, &words, 1)[..5], [540, 55, 55, 55, 40]);
}

#[test]
fn bulk_reductions_update_global_and_shared_memory() {
    let body = "
    mov.u32 %r1, s;
    st.shared.v4.u32 [s+64], {1, 2, 3, -4};
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%x], [%r1+64], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%x+16], [%r1+64], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;";
    let mut words = [10, 20, 30, 40, 0, 5, 3, 9];
    let found = run(body, &words, 1);
    words = [11, 22, 33, 36, 0, 2, 3, -4i32 as u32];
    assert_eq!(found, words);
}

#[test]
fn what_was_not_waited_for_is_written_when_its_thread_exits() {
    let body = "
    mov.u32 %r1, s;
    st.shared.v4.u32 [s], {1, 2, 3, 4};
    cp.async.bulk.global.shared::cta.bulk_group [%x], [%r1], 16;
    cp.async.bulk.commit_group;";
    assert_eq!(run(body, &[0; 4], 1), [1, 2, 3, 4]);
}

#[test]
fn sizes_and_alignments_of_bulk_copies_are_checked() {
    let of = |size: &str, from: &str, to: &str| {
        let body = format!(
            "    mbarrier.init.shared.b64 [s], 1;
    mov.u32 %r1, s;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+{to}], [%x+{from}], {size}, [%r1];"
        );
        message(&body, &[0; 16], 1)
    };
    assert_eq!(
        of("24", "0", "16"),
        "thread (0,0,0) of block (0,0,0) copies 24 bytes in bulk; a size is a multiple of 16"
    );
    assert_eq!(
        of("32", "8", "16"),
        "thread (0,0,0) of block (0,0,0) reads 16 bytes at offset 8 of `x`, which is not a multiple of 16"
    );
    assert_eq!(
        of("32", "48", "16"),
        "thread (0,0,0) of block (0,0,0) reads 32 bytes at offset 48 of `x`, which has 64 bytes"
    );
    assert_eq!(
        of("32", "0", "1008"),
        "thread (0,0,0) of block (0,0,0) writes 32 bytes at offset 1008 of shared memory, which has 1024 bytes"
    );
}

#[test]
fn the_standard_library_copies_to_a_barrier() {
    let mut device = Device::new(PIPELINE);
    let values: Vec<u32> = (0..256).collect();
    let x = device.words("x", &values);
    let y = device.words("y", &[0; 256]);
    let arguments = Arguments::new().pointer(x).pointer(y);
    device
        .launch("reverse", [2, 1, 1], [128, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<u32> = (0..256).map(|at| at / 128 * 128 + 127 - at % 128).collect();
    assert_eq!(device.read_words(y, 256), expected);
}

#[test]
fn the_standard_library_copies_in_bulk() {
    let mut device = Device::new(PIPELINE);
    let values: Vec<f32> = (0..256).map(|at| at as f32).collect();
    let x = device.floats("x", &values);
    let y = device.floats("y", &[0.0; 256]);
    let arguments = Arguments::new().pointer(x).pointer(y);
    device
        .launch("halves", [1, 1, 1], [64, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<f32> = values.iter().map(|value| value / 2.0).collect();
    assert_eq!(device.read_floats(y, 256), expected);
}

#[test]
fn a_pipeline_of_the_standard_library() {
    let mut device = Device::new(PIPELINE);
    let values: Vec<u32> = (0..5 * 64).map(|at| at * at % 31).collect();
    let x = device.words("x", &values);
    let y = device.words("y", &[0; 5 * 64]);
    let arguments = Arguments::new().pointer(x).pointer(y).int(5);
    device
        .launch("neighbours", [1, 1, 1], [64, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<u32> = (0..5 * 64)
        .map(|at| values[at] + values[at / 64 * 64 + (at + 1) % 64])
        .collect();
    assert_eq!(device.read_words(y, 5 * 64), expected);
}

#[test]
fn forms_that_are_not_executed_are_refused_by_name() {
    for form in [
        "multimem.ld_reduce.relaxed.gpu.global.add.f32 %r1, [%x];",
        "alloca.u64 %rd2, %rd3;",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%x, {%r1, %r1, %r1}], [%r2], {%r3};",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%x, {%r1, %r1, %r1, %r1, %r1}], [%r2];",
        "tensormap.replace.tile.global_address.global.b1024.b64 [%x], %rd1;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%x], [%r1], 16, %r2;",
        "mbarrier.arrive.shared.b32 _, [%r1];",
    ] {
        let module = Module::parse(&kernel(form)).unwrap();
        let refused = module.check("k").unwrap_err();
        let name = form.split(' ').next().unwrap();
        assert!(
            matches!(&refused, LoadError::Unsupported { opcode, .. } if opcode == name),
            "{refused}"
        );
    }
}

#[test]
fn advice_and_fences_change_nothing() {
    let body = "
    createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;
    ld.global.L2::cache_hint.u32 %r1, [%x], %rd2;
    ld.global.nc.L1::no_allocate.L2::256B.u32 %r2, [%x+4];
    add.u32 %r1, %r1, %r2;
    griddepcontrol.wait;
    fence.proxy.async.global;
    fence.proxy.async.shared::cta;
    fence.mbarrier_init.release.cluster;
    fence.proxy.tensormap::generic.acquire.gpu [%x], 128;
    cp.async.bulk.prefetch.L2.global [%x], 16;
    st.global.L2::cache_hint.u32 [%x], %r1, %rd2;
    griddepcontrol.launch_dependents;";
    assert_eq!(run(body, &[3, 4, 0, 0], 1)[..1], [7]);
}
