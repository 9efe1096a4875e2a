//! Faulty kernels that the checks must catch, each beside a correct twin that they must not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::checked::{fault, is_clean, kernel, run, run_ordered};
use common::{Arguments, Device};
use emulator::{Checks, FaultKind, Limits, Order};

/// Each thread hands its value to the thread 32 further on, over shared memory.
const HANDED_ON: [&str; 3] = [
    "ld.global.u32 %r3, [%a];
st.shared.u32 [%s], %r3;",
    "bar.sync 0;",
    "xor.b32 %r4, %t, 32;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 4, %r5;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%b], %r6;",
];

#[test]
fn a_missing_barrier() {
    let [write, barrier, read] = HANDED_ON;
    is_clean(&format!("{write}\n{barrier}\n{read}"), 2, 64);
    let body = format!("{write}\n// none\n{read}");
    fault(&body, 2, 64, &FaultKind::Race);
    let read_first = format!("st.shared.u32 [%s], 0;\nbar.sync 0;\n{write}\n// none\n{read}");
    let fault = fault(&read_first, 2, 64, &FaultKind::Race);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 0 of shared memory, which thread (32,0,0) read on line 28: no barrier orders the two"
    );
    assert_eq!(fault.line, Some(23));
    let other =
        format!("st.shared.u32 [%s], 0;\nbar.sync 0;\n{write}\nbar.sync 0;\n{read}\n{write}");
    let fault = run(&other, 1, 64).map(|_| ()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Race);
}

#[test]
fn a_missing_warp_barrier() {
    let write = "st.shared.u32 [%s], %t;";
    let read = "xor.b32 %r4, %t, 1;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 4, %r5;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%b], %r6;";
    is_clean(&format!("{write}\nbar.warp.sync -1;\n{read}"), 1, 32);
    is_clean(
        &format!("{write}\nshfl.sync.bfly.b32 %r7, %t, 1, 31, -1;\n{read}"),
        1,
        32,
    );
    let fault = fault(&format!("{write}\n\n{read}"), 1, 32, &FaultKind::Race);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 4 of shared memory, which thread (1,0,0) wrote on line 20: no __syncwarp() orders the two"
    );
    // The idiom of old: volatile accesses of one warp.
    let volatile = format!(
        "st.volatile.shared.u32 [%s], %t;\n{}",
        read.replace("ld.shared", "ld.volatile.shared")
    );
    is_clean(&volatile, 1, 32);
    // A barrier among the lanes that exchange is enough.
    let pairs = format!(
        "and.b32 %r3, %t, 30;\nmov.u32 %r8, 3;\nshl.b32 %r8, %r8, %r3;\n{write}\nbar.warp.sync %r8;\n{read}"
    );
    is_clean(&pairs, 1, 32);
}

#[test]
fn neighbouring_bytes_are_no_race() {
    let body = "mov.u32 %r3, s;
add.s32 %r3, %r3, %t;
st.shared.u8 [%r3], %t;
ld.shared.u8 %r4, [%r3];
add.s32 %r4, %r4, 1;
st.shared.u8 [%r3], %r4;
bar.sync 0;
xor.b32 %r5, %t, 33;
mov.u32 %r3, s;
add.s32 %r3, %r3, %r5;
ld.shared.u8 %r6, [%r3];
st.global.u32 [%b], %r6;";
    is_clean(body, 1, 64);
    fault(&body.replace("bar.sync 0;", ""), 1, 64, &FaultKind::Race);
}

/// `bar.arrive` hands over in one direction only.
#[test]
fn a_producer_and_a_consumer() {
    let body = |producer: &str, consumer: &str| {
        format!(
            "xor.b32 %r4, %t, 32;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 4, %r5;
setp.ge.u32 %p1, %t, 32;
@%p1 bra CONSUMER;
st.shared.u32 [%s], %t;
{producer}
bra.uni DONE;
CONSUMER:
{consumer}
ld.shared.u32 %r6, [%r5];
st.global.u32 [%b], %r6;
DONE:"
        )
    };
    is_clean(&body("bar.arrive 1, 64;", "bar.sync 1, 64;"), 1, 64);
    // The consumer's barrier is another one.
    let wrong = body("bar.arrive 1, 32;", "bar.sync 2, 32;");
    let fault = fault(&wrong, 1, 64, &FaultKind::Race);
    assert_eq!(
        fault.message,
        "thread (32,0,0) of block (0,0,0) reads 4 bytes at offset 0 of shared memory, which thread (0,0,0) wrote on line 25: no barrier orders the two"
    );
}

#[test]
fn atomics_do_not_race_with_atomics() {
    let body = "st.shared.u32 [%s], 0;
bar.sync 0;
atom.shared.add.u32 %r3, [s], 1;
bar.sync 0;
ld.shared.u32 %r4, [s];
st.global.u32 [%b], %r4;";
    is_clean(body, 2, 128);
    let plain = body.replacen("bar.sync 0;\nld", "// none\nld", 1);
    let fault = fault(&plain, 2, 128, &FaultKind::Race);
    assert!(
        fault
            .message
            .contains("reads 4 bytes at offset 0 of shared memory, which thread")
            && fault.message.contains("updated on line 22"),
        "{fault}"
    );
}

#[test]
fn equal_values_may_be_written_together() {
    is_clean("st.shared.u32 [s], 7;\nst.global.u32 [%y], 7;", 3, 128);
    let shared = fault("st.shared.u32 [s], %t;", 1, 32, &FaultKind::Race);
    assert_eq!(
        shared.message,
        "thread (1,0,0) of block (0,0,0) writes 4 bytes at offset 0 of shared memory, to which thread (0,0,0) writes another value at the same time"
    );
    let blocks = fault("st.global.u32 [%y+8], %c;", 2, 1, &FaultKind::Race);
    assert_eq!(
        blocks.message,
        "thread (0,0,0) of block (1,0,0) writes 4 bytes at offset 8 of `y`, which thread (0,0,0) of block (0,0,0) wrote on line 20: nothing orders the two"
    );
    assert_eq!(
        (blocks.line, blocks.allocation.as_deref()),
        (Some(20), Some("y"))
    );
    assert_eq!((blocks.block, blocks.thread), ([1, 0, 0], [0, 0, 0]));
}

/// A stencil in place reads what the neighbouring block writes; with another array it does not.
#[test]
fn blocks_that_read_what_others_write() {
    let body = |to: &str| {
        format!(
            "ld.global.u32 %r3, [%a];
setp.eq.u32 %p1, %i, 0;
@%p1 bra DONE;
ld.global.u32 %r4, [%a+-4];
add.s32 %r3, %r3, %r4;
bar.warp.sync -2;
st.global.u32 [{to}], %r3;
DONE:"
        )
    };
    is_clean(&body("%b"), 4, 32);
    let fault = fault(&body("%a"), 4, 32, &FaultKind::Race);
    assert_eq!(fault.allocation.as_deref(), Some("x"));
    assert!(
        fault
            .message
            .contains("which thread (31,0,0) of block (0,0,0) wrote on line 26"),
        "{fault}"
    );
}

/// The last block to finish sums what all of them wrote: by a counter, and a fence before it.
#[test]
fn the_last_block_needs_the_others_fences() {
    let body = "setp.ne.u32 %p1, %t, 0;
@%p1 bra DONE;
st.global.u32 [%b+512], %i;
membar.gl;
atom.global.add.u32 %r3, [%x], 1;
setp.ne.u32 %p2, %r3, 4;
@%p2 bra DONE;
ld.global.u32 %r4, [%y+512];
ld.global.u32 %r5, [%y+516];
ld.global.u32 %r6, [%y+520];
add.s32 %r4, %r4, %r5;
add.s32 %r4, %r4, %r6;
st.global.u32 [%y], %r4;
DONE:";
    is_clean(body, 4, 1);
    let fault = fault(&body.replace("membar.gl;", ""), 4, 1, &FaultKind::Race);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (3,0,0) reads 4 bytes at offset 512 of `y`, which thread (0,0,0) of block (0,0,0) wrote on line 22: nothing orders the two"
    );
    let ordered = body
        .replace("membar.gl;", "")
        .replace("atom.global", "atom.acq_rel.gpu.global");
    is_clean(&ordered, 4, 1);
}

/// A lock around a plain read-modify-write.
#[test]
fn a_lock_with_fences() {
    let body = "setp.ne.u32 %p1, %t, 0;
@%p1 bra DONE;
LOCK:
atom.global.cas.b32 %r3, [%x+1020], 256, 0;
setp.ne.u32 %p2, %r3, 256;
@%p2 bra LOCK;
membar.gl;
ld.global.u32 %r4, [%x];
add.s32 %r4, %r4, 1;
st.global.u32 [%x], %r4;
membar.gl;
atom.global.exch.b32 %r5, [%x+1020], 256;
DONE:";
    is_clean(body, 5, 32);
    fault(&body.replace("membar.gl;", ""), 5, 32, &FaultKind::Race);
}

#[test]
fn shared_memory_that_nobody_wrote() {
    let fault = fault(
        "ld.shared.f32 %f1, [%s+4];
add.f32 %f1, %f1, %f1;
st.global.f32 [%b], %f1;",
        1,
        32,
        &FaultKind::UndefinedValue,
    );
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) stores to `y` what comes of a value that nobody wrote: 4 bytes read at offset 4 of shared memory on line 20"
    );
    assert_eq!(fault.line, Some(22));
    is_clean(
        "st.shared.u32 [%s], %t;\nld.shared.f32 %f1, [%s];\nst.global.f32 [%b], %f1;",
        1,
        32,
    );
}

/// Reading past a tile's filled part is harmless as long as what comes of it is thrown away.
#[test]
fn undefined_values_may_be_thrown_away() {
    let body = |limit: u32| {
        format!(
            "setp.ge.u32 %p1, %t, 20;
@%p1 bra FILLED;
st.shared.u32 [%s], %t;
FILLED:
bar.sync 0;
ld.shared.u32 %r3, [%s];
mad.lo.s32 %r3, %r3, %r3, %t;
shfl.sync.idx.b32 %r4, %r3, %t, 31, -1;
setp.lt.s32 %p2, %r4, 100;
selp.b32 %r4, %r4, 0, %p2;
setp.ge.u32 %p3, %t, {limit};
@%p3 bra DONE;
st.global.u32 [%b], %r4;
DONE:"
        )
    };
    is_clean(&body(20), 1, 32);
    let fault = fault(&body(21), 1, 32, &FaultKind::UndefinedValue);
    assert_eq!(fault.thread, [20, 0, 0]);
    assert!(
        fault
            .message
            .ends_with("4 bytes read at offset 80 of shared memory on line 25"),
        "{fault}"
    );
}

#[test]
fn undefined_values_that_decide() {
    let load = "ld.shared.u32 %r3, [%s];";
    let branch = fault(
        &format!("{load}\nsetp.gt.s32 %p1, %r3, 0;\n@%p1 bra DONE;\nst.global.u32 [%b], 1;\nDONE:"),
        1,
        32,
        &FaultKind::UndefinedValue,
    );
    assert_eq!(branch.line, Some(22));
    assert!(
        branch
            .message
            .contains("branches on a value that nobody wrote"),
        "{branch}"
    );
    let address = fault(
        &format!(
            "{load}\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd2, %rd2, %y;\nst.global.u32 [%rd2], 1;"
        ),
        1,
        32,
        &FaultKind::UndefinedValue,
    );
    assert!(
        address.message.contains("stores to an address made of"),
        "{address}"
    );
    let sum = fault(
        "atom.shared.add.u32 %r3, [%s], 1;",
        1,
        32,
        &FaultKind::UndefinedValue,
    );
    assert_eq!(
        sum.message,
        "thread (0,0,0) of block (0,0,0) updates 4 bytes at offset 0 of shared memory, which nobody has written"
    );
    is_clean(
        "st.shared.u32 [%s], 0;\natom.shared.add.u32 %r3, [%s], 1;",
        1,
        32,
    );
}

/// Scratch is undefined until the host or a kernel writes it, and a copy copies that.
#[test]
fn global_memory_that_nobody_wrote() {
    let body = "ld.global.u32 %r3, [%a];\nst.global.u32 [%b], %r3;";
    let mut device = Device::new(&kernel(body));
    let scratch = device.memory.allocate_undefined(1024, "scratch").unwrap();
    let copied = device.memory.allocate_undefined(1024, "copied").unwrap();
    let out = device.memory.allocate(1024, "out").unwrap();
    let limits = Limits {
        checks: Checks::FULL,
        ..Limits::default()
    };
    let launch = |device: &mut Device, from, to, threads| {
        let arguments = Arguments::new().pointer(from).pointer(to);
        device.launch_with("k", [1, 1, 1], [threads, 1, 1], 0, &arguments, &limits)
    };
    device.memory.fill(scratch, 0, 128).unwrap();
    launch(&mut device, scratch, out, 32).unwrap();
    let fault = launch(&mut device, scratch, out, 33).unwrap_err();
    assert_eq!(fault.kind, FaultKind::UndefinedValue);
    assert_eq!(
        (fault.thread, fault.allocation.as_deref()),
        ([32, 0, 0], Some("scratch"))
    );
    // A kernel may pass undefined values on, and its copy is as undefined.
    launch(&mut device, scratch, copied, 64).unwrap();
    assert!(device.memory.is_defined(copied + 127).unwrap());
    assert!(!device.memory.is_defined(copied + 128).unwrap());
    device.memory.copy(copied, scratch, 256).unwrap();
    assert!(!device.memory.is_defined(copied + 128).unwrap());
    device.memory.copy(copied + 128, scratch, 4).unwrap();
    assert!(device.memory.is_defined(copied + 128).unwrap());
    // Without the check nothing is followed, so that everything counts as written afterwards.
    device
        .launch(
            "k",
            [1, 1, 1],
            [1, 1, 1],
            &Arguments::new().pointer(out).pointer(out),
        )
        .unwrap();
    launch(&mut device, scratch, out, 64).unwrap();
}

#[test]
fn footprints_count_each_byte_once() {
    let body = "ld.global.u32 %r3, [%a];
ld.global.u32 %r4, [%a];
ld.global.u8 %r5, [%x+1023];
st.global.u16 [%b], %r3;
red.global.add.u32 [%x], 1;";
    let outcome = run(&body.replace("red.global.add.u32 [%x], 1;", ""), 2, 32).unwrap();
    let touched: Vec<_> = outcome
        .footprints
        .iter()
        .map(|f| (f.allocation.as_str(), f.read_bytes, f.written_bytes))
        .collect();
    assert_eq!(touched, [("x", 64 * 4 + 1, 0), ("y", 0, 64 * 2)]);
    let updated = run("red.global.add.u32 [%x], 1;", 2, 32).unwrap();
    assert_eq!(
        (
            updated.footprints[0].read_bytes,
            updated.footprints[0].written_bytes
        ),
        (4, 4)
    );
    assert!(run("", 1, 1).unwrap().footprints.is_empty());
}

#[test]
fn seeds_change_the_order_and_nothing_else() {
    let [write, barrier, read] = HANDED_ON;
    let body = format!("{write}\n{barrier}\n{read}");
    let (outcome, expected) = run_ordered(&body, 4, 64, Order::Index);
    let expected_counters = outcome.unwrap().counters;
    for seed in 0..8 {
        let (outcome, results) = run_ordered(&body, 4, 64, Order::Seeded(seed));
        assert_eq!(results, expected);
        assert_eq!(outcome.unwrap().counters, expected_counters);
    }
    // Tickets show the order in which the blocks come.
    let tickets = "atom.global.add.u32 %r3, [%x], 1;\nst.global.u32 [%b], %r3;";
    let by_index = run_ordered(tickets, 64, 1, Order::Index).1;
    assert_eq!(by_index[..64], (1..=64).collect::<Vec<_>>());
    let of = |seed| run_ordered(tickets, 64, 1, Order::Seeded(seed)).1;
    assert_ne!(of(1), by_index);
    assert_ne!(of(1), of(2));
    assert_eq!(of(1), of(1));
}
