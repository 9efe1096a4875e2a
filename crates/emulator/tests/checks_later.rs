//! The checks on what ends later than it begins, on matrices and on calls through pointers: faulty kernels,
//! each beside a correct twin.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::checked::{fault, is_clean, kernel, run};
use common::{Arguments, Device, module};
use emulator::{Checks, FaultKind, Limits};

/// Each thread's word comes by `cp.async`; its neighbour's goes to the result.
const COPY: &str = "cp.async.ca.shared.global [%s], [%a], 4;
cp.async.commit_group;";
const WAIT: &str = "cp.async.wait_group 0;";
const NEIGHBOUR: &str = "xor.b32 %r4, %t, 32;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 4, %r5;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%b], %r6;";

#[test]
fn a_copy_that_is_waited_for() {
    is_clean(&format!("{COPY}\n{WAIT}\nbar.sync 0;\n{NEIGHBOUR}"), 2, 64);
}

#[test]
fn a_copy_without_a_wait() {
    let body = format!("{COPY}\n// none\nbar.sync 0;\n{NEIGHBOUR}");
    let found = run(&body, 1, 64).unwrap_err();
    // Shared memory holds nothing yet.
    assert_eq!(found.kind, FaultKind::UndefinedValue, "{found}");
    assert_eq!(found.line, Some(28));
    assert!(found.message.contains("on line 27"), "{found}");
}

/// The second tile lies where the first one did, which hides the missing wait from a glance at the values.
#[test]
fn a_second_copy_without_a_wait() {
    let body = |wait: &str| {
        format!(
            "{COPY}\n{WAIT}\nbar.sync 0;\nbar.sync 0;\n{COPY}\n{wait}\nbar.sync 0;\n{NEIGHBOUR}"
        )
    };
    is_clean(&body(WAIT), 1, 64);
    fault(&body("// none"), 1, 64, &FaultKind::UndefinedValue);
}

#[test]
fn a_copy_that_others_read_without_a_barrier() {
    let body = format!("st.shared.u32 [%s], 0;\nbar.sync 0;\n{COPY}\n{WAIT}\n// none\n{NEIGHBOUR}");
    fault(&body, 1, 64, &FaultKind::Race);
}

#[test]
fn a_copy_over_what_others_still_read() {
    let body = |barrier: &str| {
        format!("{COPY}\n{WAIT}\nbar.sync 0;\n{NEIGHBOUR}\n{barrier}\n{COPY}\n{WAIT}")
    };
    is_clean(&body("bar.sync 0;"), 1, 64);
    fault(&body("// none"), 1, 64, &FaultKind::Race);
}

/// Two stages: while one is read, the other is under way.
#[test]
fn a_pipeline_of_two_stages() {
    let body = |keep: u32| {
        format!(
            "cp.async.ca.shared.global [%s], [%a], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%s+512], [%a], 4;
cp.async.commit_group;
cp.async.wait_group {keep};
bar.sync 0;
{NEIGHBOUR}
cp.async.wait_group 0;
bar.sync 0;
ld.shared.u32 %r7, [%r5+512];
st.global.u32 [%b], %r7;"
        )
    };
    is_clean(&body(1), 1, 64);
    fault(&body(2), 1, 64, &FaultKind::UndefinedValue);
}

#[test]
fn what_a_copy_takes_from_nowhere() {
    let body = |store: &str| {
        format!(
            "cp.async.ca.shared.global [%s], [%b], 4;\n{WAIT}\nld.shared.u32 %r6, [%s];\n{store}"
        )
    };
    is_clean(&body("add.u32 %r6, %r6, 1;"), 1, 32);
    fault(
        &body("st.global.u32 [%b], %r6;"),
        1,
        32,
        &FaultKind::UndefinedValue,
    );
}

/// Each thread hands its word on over an `mbarrier` at the end of shared memory.
fn over_a_barrier(after_start: &str, wait: &str) -> String {
    format!(
        "mov.u32 %r8, s;
setp.eq.u32 %p1, %t, 0;
@%p1 mbarrier.init.shared.b64 [%r8+2040], 64;
{after_start}
ld.global.u32 %r3, [%a];
st.shared.u32 [%s], %r3;
mbarrier.arrive.shared.b64 _, [%r8+2040];
{wait}
{NEIGHBOUR}"
    )
}

const PHASE: &str = "WAIT:
mbarrier.try_wait.parity.shared.b64 %p2, [%r8+2040], 0;
@!%p2 bra WAIT;";

#[test]
fn a_barrier_in_shared_memory_orders() {
    is_clean(&over_a_barrier("bar.sync 0;", PHASE), 2, 64);
    let polled = PHASE.replace("try_wait", "test_wait");
    is_clean(&over_a_barrier("bar.sync 0;", &polled), 2, 64);
}

#[test]
fn a_barrier_in_shared_memory_that_nobody_waits_for() {
    let body = format!(
        "st.shared.u32 [%s], 0;\nbar.sync 0;\n{}",
        over_a_barrier("bar.sync 0;", "// none")
    );
    fault(&body, 1, 64, &FaultKind::Race);
}

#[test]
fn a_barrier_in_shared_memory_that_others_use_at_once() {
    let found = fault(&over_a_barrier("// none", PHASE), 1, 64, &FaultKind::Race);
    assert!(
        found.message.contains("offset 2040 of shared memory"),
        "{found}"
    );
}

/// A tile of 8 by 16 bytes, of each of which a thread of the first warp writes a word; then all warps load it.
fn rows(fill: &str, barrier: &str, store: &str) -> String {
    format!(
        "setp.lt.u32 %p1, %t, 32;
{fill}
{barrier}
and.b32 %r4, %t, 7;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 16, %r5;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r6}}, [%r5];
{store}"
    )
}

const FILL: &str = "@%p1 st.shared.u32 [%s], %t;";
const STORE: &str = "st.global.u32 [%b], %r6;";

#[test]
fn rows_of_a_matrix() {
    is_clean(&rows(FILL, "bar.sync 0;", STORE), 1, 64);
    let found = fault(&rows(FILL, "// none", STORE), 1, 64, &FaultKind::Race);
    assert!(found.message.contains("16 bytes"), "{found}");
}

/// Rows 4 to 7 were not written: lanes 16 to 31 hold them.
#[test]
fn rows_that_nobody_wrote() {
    let half = "setp.lt.u32 %p1, %t, 16;\n@%p1 st.shared.u32 [%s], %t;";
    let below = "setp.lt.u32 %p2, %t, 16;\n@%p2 st.global.u32 [%b], %r6;";
    is_clean(&rows(half, "bar.sync 0;", below), 1, 32);
    let found = fault(
        &rows(half, "bar.sync 0;", STORE),
        1,
        32,
        &FaultKind::UndefinedValue,
    );
    assert!(found.message.starts_with("thread (16,0,0)"), "{found}");
}

/// Transposed, rows 4 to 7 are columns 4 to 7: lanes 2 and 3 of each four.
#[test]
fn transposed_rows_that_nobody_wrote() {
    let body = |store: &str| {
        let half = "setp.lt.u32 %p1, %t, 16;\n@%p1 st.shared.u32 [%s], %t;";
        rows(half, "bar.sync 0;", store).replace("x1.shared", "x1.trans.shared")
    };
    let left = "and.b32 %r7, %t, 2;\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 st.global.u32 [%b], %r6;";
    is_clean(&body(left), 1, 32);
    let found = fault(&body(STORE), 1, 32, &FaultKind::UndefinedValue);
    assert!(found.message.starts_with("thread (2,0,0)"), "{found}");
}

#[test]
fn rows_that_a_warp_stores() {
    let body = |barrier: &str| {
        format!(
            "and.b32 %r4, %t, 7;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r4, 16, %r5;
setp.ge.u32 %p1, %t, 32;
@%p1 bra READ;
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {{%t}};
READ:
{barrier}
and.b32 %r7, %t, 31;
mov.u32 %r5, s;
mad.lo.s32 %r5, %r7, 4, %r5;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%b], %r6;"
        )
    };
    is_clean(&body("bar.sync 0;"), 1, 64);
    fault(&body("// none"), 1, 64, &FaultKind::Race);
}

/// Of A, 16 by 8, rows 8 to 15 come from where nobody wrote; so do those of the product.
#[test]
fn a_product_of_rows_that_nobody_wrote() {
    let body = |stored: &str| {
        format!(
            "ld.shared.u32 %r4, [%s];
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f2,%f3,%f4,%f5}}, {{%t,%r4}}, {{%t}}, {{%f1,%f1,%f1,%f1}};
st.global.f32 [%b], {stored};"
        )
    };
    is_clean(&body("%f2"), 1, 32);
    is_clean(&body("%f3"), 1, 32);
    fault(&body("%f4"), 1, 32, &FaultKind::UndefinedValue);
    fault(&body("%f5"), 1, 32, &FaultKind::UndefinedValue);
}

/// Of B, 8 by 8, lane 4 c + r holds rows 2 r and 2 r + 1 of column c. Column 7 comes from where nobody wrote: of
/// the product its last one, the odd one of the fourth lanes.
#[test]
fn a_product_of_a_column_that_nobody_wrote() {
    let body = |stored: &str| {
        format!(
            "setp.lt.u32 %p1, %t, 28;
@%p1 st.shared.u32 [%s], %t;
ld.shared.u32 %r4, [%s];
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f2,%f3,%f4,%f5}}, {{%t,%t}}, {{%r4}}, {{%f1,%f1,%f1,%f1}};
st.global.f32 [%b], {stored};"
        )
    };
    is_clean(&body("%f2"), 1, 32);
    let found = fault(&body("%f3"), 1, 32, &FaultKind::UndefinedValue);
    assert!(found.message.starts_with("thread (3,0,0)"), "{found}");
}

#[test]
fn sums_that_nobody_wrote() {
    let body = |first: &str| {
        format!(
            "ld.shared.f32 %f7, [%s];
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f2,%f3,%f4,%f5}}, {{%t,%t}}, {{%t}}, {{{first},%f1,%f1,%f1}};
st.global.f32 [%b], %f2;"
        )
    };
    is_clean(&body("%f1"), 1, 32);
    fault(&body("%f7"), 1, 32, &FaultKind::UndefinedValue);
}

/// A kernel that calls `twice` through a pointer which it reads back from shared memory.
fn through_a_pointer(store: &str) -> String {
    let kernel = kernel(&format!(
        "mov.u64 %rd2, twice;
mov.u32 %r7, s;
mad.lo.s32 %r7, %t, 8, %r7;
{store}
ld.shared.u64 %rd3, [%r7];
{{
.param .b32 given;
.param .b32 taken;
st.param.b32 [given], %t;
prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
call (taken), %rd3, (given), prototype_0;
ld.param.b32 %r6, [taken];
}}
st.global.u32 [%b], %r6;"
    ));
    let twice = ".func (.param .b32 out) twice(.param .b32 in)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [in];
    add.u32 %r1, %r1, %r1;
    st.param.b32 [out], %r1;
    ret;
}
";
    let head = module("");
    kernel.replacen(&head, &format!("{head}{twice}"), 1)
}

#[test]
fn a_call_through_a_pointer() {
    let launch = |store: &str| {
        let mut device = Device::new(&through_a_pointer(store));
        let x = device.words("x", &[0; 32]);
        let y = device.memory.allocate_undefined(128, "y").unwrap();
        let limits = Limits {
            checks: Checks::FULL,
            ..Limits::default()
        };
        let arguments = Arguments::new().pointer(x).pointer(y);
        let found = device.launch_with("k", [1, 1, 1], [32, 1, 1], 0, &arguments, &limits);
        (found, device.read_words(y, 32))
    };
    let (found, words) = launch("st.shared.u64 [%r7], %rd2;");
    assert!(found.unwrap().is_checked);
    assert_eq!(words, (0..32).map(|t| 2 * t).collect::<Vec<u32>>());
    let found = launch("// none").0.unwrap_err();
    assert_eq!(found.kind, FaultKind::UndefinedValue, "{found}");
    assert!(
        found
            .message
            .contains("calls an address made of a value that nobody wrote"),
        "{found}"
    );
}
