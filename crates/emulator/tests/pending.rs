//! Copies under way: how much there may be of them, what they cost, and how long they are waited for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, Limits};

/// One thread with a pointer in `%x` and 64 KiB of shared memory at `s`.
fn attempt(body: &str, words: &[u32], fuel: u64) -> (Result<(), Fault>, Vec<u32>) {
    let text = module(&format!(
        ".visible .entry k(.param .u64 p)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b32 %s;
    .reg .b64 %rd<8>;
    .reg .b64 %x;
    .shared .align 128 .b8 s[65536];
    ld.param.u64 %x, [p];
    mov.u32 %s, s;
{body}
    ret;
}}
"
    ));
    let mut device = Device::new(&text);
    let x = device.words("x", words);
    let arguments = Arguments::new().pointer(x);
    let limits = Limits {
        instruction_fuel: fuel,
        ..Limits::default()
    };
    let outcome = device.launch_with("k", [1; 3], [1; 3], 0, &arguments, &limits);
    (outcome.map(|_| ()), device.read_words(x, words.len()))
}

/// `count` times `body`, with the round in `%r9`.
fn repeated(count: u32, body: &str) -> String {
    format!(
        "    mov.u32 %r9, 0;
ROUND:
{body}
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p7, %r9, {count};
    @%p7 bra ROUND;"
    )
}

const MUCH: u64 = 1 << 30;

#[test]
fn no_more_is_under_way_to_a_barrier_than_it_can_count() {
    let copies = |count| {
        let copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%x], 1024, [%s];";
        let body = format!(
            "    mbarrier.init.shared.b64 [s], 1;\n    add.u32 %r2, %s, 128;\n{}",
            repeated(count, copy)
        );
        attempt(&body, &[0; 256], MUCH).0
    };
    // 1023 KiB are less than 2^20 - 1 bytes, 1024 KiB more.
    assert!(copies(1023).is_ok());
    let fault = copies(1024).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) has 1048576 bytes under way to the mbarrier at offset 0 of \
         shared memory; 1048575 is the most"
    );
}

/// To sixteen barriers: those that were issued first are done once there are too many.
#[test]
fn the_oldest_of_a_block_s_copies_land_when_there_are_many() {
    let with = |count: u32| {
        let copy = "
    and.b32 %r3, %r9, 15;
    mad.lo.u32 %r3, %r3, 8, %s;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 32768;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%x], 32768, [%r3];";
        let init = "
    mad.lo.u32 %r3, %r9, 8, %s;
    mbarrier.init.shared.b64 [%r3], 1;";
        let body = format!(
            "    st.shared.u32 [s+1024], 5;\n    add.u32 %r2, %s, 1024;\n{}\n{}
    ld.shared.u32 %r1, [s+1024];\n    st.global.u32 [%x], %r1;",
            repeated(16, init).replace("ROUND", "FIRST"),
            repeated(count, copy)
        );
        let mut words = vec![0; 8192];
        words[0] = 66;
        attempt(&body, &words, MUCH).1[0]
    };
    // 31 * 32 KiB stay under way; 33 do not.
    assert_eq!(with(31), 5);
    assert_eq!(with(33), 66);
}

#[test]
fn a_warp_has_a_few_thousand_small_copies_under_way() {
    let with = |count: u32| {
        let copy = "    cp.async.ca.shared.global [s+8], [%x+4], 4;";
        let body = format!(
            "    st.shared.u32 [s], 5;\n    cp.async.ca.shared.global [s], [%x], 4;\n{}
    ld.shared.u32 %r1, [s];\n    st.global.u32 [%x], %r1;",
            repeated(count, copy)
        );
        attempt(&body, &[66, 77], MUCH).1[0]
    };
    assert_eq!(with(4095), 5);
    assert_eq!(with(4096), 66);
}

#[test]
fn stores_under_way_are_written_when_there_are_many() {
    let with = |count: u32| {
        let copy = "    cp.async.bulk.global.shared::cta.bulk_group [%x+16], [%s], 32768;";
        let body = format!(
            "    st.shared.u32 [s], 5;\n{}
    ld.global.u32 %r1, [%x+16];\n    st.global.u32 [%x], %r1;",
            repeated(count, copy)
        );
        attempt(&body, &vec![9; 8200], MUCH).1[0]
    };
    assert_eq!(with(31), 9);
    assert_eq!(with(33), 5);
}

#[test]
fn a_copy_costs_what_it_moves() {
    // 20 times 32 KiB are 5120 times 128 bytes, and few instructions.
    let copies = "    cp.async.bulk.global.shared::cta.bulk_group [%x], [%s], 32768;
    cp.async.bulk.wait_group 0;";
    let body = repeated(20, copies);
    let words = vec![0; 8192];
    assert!(attempt(&body, &words, 6000).0.is_ok());
    let fault = attempt(&body, &words, 5000).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::InstructionFuel);
    let loads = "    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%x], 32768, [%r2];";
    let init = "    add.u32 %r2, %s, 65528;\n    mbarrier.init.shared.b64 [%r2], 1;\n";
    let body = format!("{init}{}", repeated(20, loads));
    assert!(attempt(&body, &words, 6000).0.is_ok());
    let fault = attempt(&body, &words, 5000).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::InstructionFuel);
}

#[test]
fn a_copy_larger_than_shared_memory_is_refused_before_it_is_read() {
    let body = "    mbarrier.init.shared.b64 [s], 1;
    mov.u32 %r2, 0xfffffff0;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%x], %r2, [%s];";
    let fault = attempt(body, &[0; 4], MUCH).0.unwrap_err();
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) writes 4294967280 bytes at offset 0 of shared memory, which \
         has 65536 bytes"
    );
}

/// A thread that gives up after 300 waits in vain is no deadlock.
#[test]
fn waits_that_are_counted_end() {
    let wait = "    mbarrier.try_wait.parity.shared.b64 %p1, [s], 0;
    @%p1 bra DONE;";
    let body = format!(
        "    mbarrier.init.shared.b64 [s], 1;\n{}\nDONE:\n    st.global.u32 [%x], %r9;",
        repeated(300, wait)
    );
    assert_eq!(attempt(&body, &[0], MUCH).1, [300]);
}

/// Each round one wait ends late, and something else goes on.
#[test]
fn waits_that_end_late_now_and_then_are_no_deadlock() {
    let round = "    mbarrier.try_wait.parity.shared.b64 %p1, [s], 0;
    mov.u32 %r9, %r9;
    ld.global.u32 %r1, [%x];
    add.u32 %r1, %r1, 2;
    st.global.u32 [%x], %r1;
    bar.sync 0;";
    let body = format!(
        "    mbarrier.init.shared.b64 [s], 1;\n{}",
        repeated(300, round)
    );
    assert_eq!(attempt(&body, &[0], MUCH).1, [600]);
}

#[test]
fn arrivals_and_bytes_of_a_barrier_stay_within_its_word() {
    let fault = |body: &str| attempt(body, &[0], MUCH).0.unwrap_err();
    let arrives = fault(
        "    mbarrier.init.shared.b64 [s], 1048575;
    cp.async.mbarrier.arrive.shared.b64 [s];",
    );
    assert_eq!(arrives.kind, FaultKind::BarrierDivergence);
    assert_eq!(
        arrives.message,
        "thread (0,0,0) of block (0,0,0) arrives at the mbarrier at offset 0 of shared memory, which \
         then waits for 1048576 arrivals; 1048575 is the most"
    );
    for operation in ["expect_tx", "complete_tx"] {
        let bytes = fault(&format!(
            "    mbarrier.init.shared.b64 [s], 1;
    mov.u32 %r1, 0x80000000;
    mbarrier.{operation}.relaxed.cta.shared::cta.b64 [s], %r1;"
        ));
        assert_eq!(bytes.kind, FaultKind::BarrierDivergence);
        let what = "bytes; 1048575 is the most";
        assert!(bytes.message.contains(what), "{bytes}");
    }
}
