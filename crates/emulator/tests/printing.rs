//! `printf`: what it can read, how much it may write, and that host threads change nothing of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, Launch, Limits, Outcome, launch};

/// A kernel that prints by `format` what lies in `depot`, after `body`. `%f` holds the address of the
/// arguments, `%b` the block, `s` is shared memory.
fn kernel(format: &str, body: &str, after: &str) -> String {
    let bytes: Vec<String> = format.bytes().map(|byte| byte.to_string()).collect();
    let (count, bytes) = (bytes.len() + 1, bytes.join(", "));
    module(&format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b64 r) malloc(.param .b64 a);
.global .align 1 .b8 $format[{count}] = {{{bytes}}};
.global .align 1 .b8 $ok[3] = {{111, 107}};
.visible .entry k(.param .align 8 .b8 p[16])
{{
    .local .align 16 .b8 depot[32];
    .shared .align 16 .b8 s[32];
    .reg .pred %p<4>;
    .reg .b32 %b, %r<8>;
    .reg .b64 %f, %rd<8>;
    mov.u64 %rd1, depot;
    cvta.local.u64 %f, %rd1;
    mov.u32 %b, %ctaid.x;
    mov.u64 %rd2, $format;
    cvta.global.u64 %rd2, %rd2;
    .loc 1 5 0
{body}
    {{
    .param .b64 param0;
    st.param.b64 [param0+0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1+0], %f;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    }}
{after}
    ret;
}}
"
    ))
}

fn print(text: &str, grid: u32, limits: Limits) -> Result<Outcome, Fault> {
    let mut device = Device::new(text);
    let arguments = Arguments::new().value(b"a parameter\0\0\0\0\0");
    let launched = Launch {
        kernel: "k",
        grid: [grid, 1, 1],
        block: [1; 3],
        cluster: [1; 3],
        dynamic_shared_bytes: 0,
        parameters: arguments.bytes(),
    };
    launch(&device.loaded, &launched, &mut device.memory, &limits)
}

fn printed(format: &str, body: &str) -> String {
    let text = kernel(format, body, "");
    print(&text, 1, Limits::default()).unwrap().output.text
}

#[test]
fn strings_are_read_wherever_threads_may_read() {
    let of_heap = "
    {
    .param .b64 bytes;
    st.param.b64 [bytes], 8;
    .param .b64 address;
    call.uni (address), malloc, (bytes);
    ld.param.b64 %rd3, [address];
    }
    st.u32 [%rd3], 0x706165;
    st.local.u64 [depot], %rd3;";
    assert_eq!(printed("<%s>", of_heap), "<eap>");
    let of_parameters = "
    mov.u64 %rd3, p;
    cvta.param.u64 %rd3, %rd3;
    st.local.u64 [depot], %rd3;";
    assert_eq!(printed("<%s>", of_parameters), "<a parameter>");
    let of_shared_memory = "
    st.shared.u32 [s], 0x726873;
    mov.u64 %rd3, s;
    cvta.shared.u64 %rd3, %rd3;
    st.local.u64 [depot], %rd3;";
    assert_eq!(printed("<%s>", of_shared_memory), "<shr>");
}

#[test]
fn a_string_of_another_block_of_the_cluster() {
    let body = "
    st.shared.u32 [s], 0x303030;
    st.shared.u8 [s+1], %b;
    ld.shared.u8 %r1, [s+1];
    add.u32 %r1, %r1, 48;
    st.shared.u8 [s+1], %r1;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    xor.b32 %r2, %b, 1;
    mov.u64 %rd3, s;
    cvta.shared.u64 %rd3, %rd3;
    mapa.u64 %rd3, %rd3, %r2;
    st.local.u64 [depot], %rd3;";
    let leave = "    barrier.cluster.arrive;\n    barrier.cluster.wait;";
    let mut device = Device::new(&kernel("<%s>", body, leave));
    let arguments = Arguments::new().value(&[0; 16]);
    let launched = Launch {
        kernel: "k",
        grid: [2, 1, 1],
        block: [1; 3],
        cluster: [2, 1, 1],
        dynamic_shared_bytes: 0,
        parameters: arguments.bytes(),
    };
    let limits = Limits::default();
    let outcome = launch(&device.loaded, &launched, &mut device.memory, &limits);
    assert_eq!(outcome.unwrap().output.text, "<010><000>");
}

#[test]
fn wide_conversions_are_as_wide_as_the_output_may_be() {
    let nothing = "    st.local.u64 [depot], 7;";
    assert_eq!(
        printed("%05000d|", nothing),
        format!("{}7|", "0".repeat(4999))
    );
    assert_eq!(
        printed("%.5000d|", nothing),
        format!("{}7|", "0".repeat(4999))
    );
    let half = "    st.local.u64 [depot], 0x3FE0000000000000;";
    let text = printed("%.60000f", half);
    assert_eq!((text.len(), &text[..4]), (60_002, "0.50"));
    for format in [
        "%999999999d",
        "%.999999999d",
        "%-999999999d",
        "%.999999999f",
        "%.999999999e",
    ] {
        let text = kernel(format, half, "");
        let limits = Limits {
            output_bytes: 200_000,
            ..Limits::default()
        };
        let fault = print(&text, 1, limits).unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutputLimit, "{format}");
        assert_eq!(
            fault.message,
            "thread (0,0,0) of block (0,0,0) printed past the limit of 200000 bytes"
        );
    }
}

/// 4096 times a string of 64 KiB: a quarter of a gigabyte that nobody could be shown.
#[test]
fn strings_beyond_the_limit_are_not_put_together() {
    let body = "
    mov.u64 %rd3, $long;
    cvta.global.u64 %rd3, %rd3;
    st.local.u64 [depot], %rd3;
    st.local.u64 [depot+8], %rd3;";
    let fill = "
    mov.u32 %r1, 0;
    mov.u64 %rd4, $long;
FILL:
    cvt.u64.u32 %rd5, %r1;
    add.u64 %rd5, %rd4, %rd5;
    st.global.u8 [%rd5], 97;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 65000;
    @%p1 bra FILL;";
    let text = kernel("%.3s|%s", &format!("{fill}{body}"), "")
        .replace(".visible", ".global .align 8 .b8 $long[65536];\n.visible");
    let limits = Limits {
        output_bytes: 100,
        ..Limits::default()
    };
    let fault = print(&text, 1, limits).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutputLimit);
    assert_eq!(fault.output, format!("aaa|{}", "a".repeat(96)));
}

/// Puts the block's number into the arguments, in one block only after the others are long past.
fn slow_number(block: u32) -> String {
    format!(
        "    st.local.u32 [depot], %b;
    setp.ne.u32 %p1, %b, {block};
    @%p1 bra QUICK;
    mov.u32 %r1, 0;
SLOW:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3000000;
    @%p1 bra SLOW;
QUICK:"
    )
}

fn trap_in(block: u32) -> String {
    format!("    setp.eq.u32 %p1, %b, {block};\n    @%p1 trap;")
}

#[test]
fn what_is_printed_before_a_fault_does_not_depend_on_host_threads() {
    let text = kernel("block %03d\n", &slow_number(40), &trap_in(40));
    let expected: String = (0..=40).map(|at| format!("block {at:03}\n")).collect();
    for threads in [1, 2, 7] {
        let limits = Limits {
            threads,
            ..Limits::default()
        };
        let fault = print(&text, 400, limits).unwrap_err();
        assert_eq!((fault.kind, fault.block), (FaultKind::Trap, [40, 0, 0]));
        assert_eq!(fault.output, expected, "{threads} threads");
    }
}

#[test]
fn the_limit_of_output_does_not_depend_on_host_threads() {
    // Ten bytes a block; the ninth is one too many. Block 300 would fail by itself.
    let text = kernel("block %03d\n", &slow_number(3), &trap_in(300));
    let mut faults = Vec::new();
    for threads in [1, 2, 7] {
        let limits = Limits {
            threads,
            output_bytes: 85,
            ..Limits::default()
        };
        faults.push(print(&text, 400, limits).unwrap_err());
    }
    assert_eq!(faults[0].kind, FaultKind::OutputLimit);
    let expected: String = (0..9).map(|at| format!("block {at:03}\n")).collect();
    assert_eq!(faults[0].output, expected[..85]);
    assert_eq!(faults[1], faults[0]);
    assert_eq!(faults[2], faults[0]);
}

/// Block 0 waits for block 1, which prints first, and then fails.
#[test]
fn blocks_that_run_side_by_side_show_what_they_printed_until_one_failed() {
    let wait = "    st.local.u32 [depot], %b;
    setp.ne.u32 %p1, %b, 0;
    mov.u64 %rd3, $flag;
WAIT:
    @%p1 bra GO;
    ld.volatile.global.u32 %r1, [%rd3];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
GO:";
    let tell = "    @!%p1 trap;
    st.volatile.global.u32 [%rd3], 1;
HOLD:
    nanosleep.u32 100;
    bra HOLD;";
    let text = kernel("block %d\n", wait, tell)
        .replace(".visible", ".global .align 4 .u32 $flag;\n.visible");
    let fault = print(&text, 2, Limits::default()).unwrap_err();
    assert_eq!((fault.kind, fault.block), (FaultKind::Trap, [0, 0, 0]));
    assert_eq!(fault.output, "block 0\nblock 1\n");
}
