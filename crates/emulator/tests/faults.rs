//! Every kind of fault, with the sentence that a learner reads.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use common::{Arguments, Device, module};
use emulator::{FaultKind, Limits, LoadError, Memory, Module};

/// A kernel of one pointer and one integer, whose body begins with both in registers and the
/// thread's number in `%t`.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b32 %t;
    .reg .b32 %n;
    .reg .f32 %f<8>;
    .reg .b64 %rd<8>;
    .reg .b64 %x;
    .reg .b64 %a;
    .loc 1 10 0
    ld.param.u64 %x, [k_param_0];
    ld.param.u32 %n, [k_param_1];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %t, %r1, %r2, %r3;
    mul.wide.s32 %rd1, %t, 4;
    add.s64 %a, %x, %rd1;
    .loc 1 11 0
{body}
    ret;
}}
"
    ))
}

fn fault(body: &str, bytes: usize, grid: u32, block: u32, n: i32) -> emulator::Fault {
    let mut device = Device::new(&kernel(body));
    let c = device.bytes("C", &vec![0; bytes]);
    let arguments = Arguments::new().pointer(c).int(n);
    device
        .launch("k", [grid, 1, 1], [block, 1, 1], &arguments)
        .unwrap_err()
}

#[test]
fn a_write_past_the_end() {
    let fault = fault("st.global.f32 [%a], 0f3F800000;", 4096, 4, 341, 0);
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!(
        fault.message,
        "thread (1,0,0) of block (3,0,0) writes 4 bytes at offset 4096 of `C`, which has 4096 bytes"
    );
    assert_eq!(fault.line, Some(11));
    assert_eq!((fault.block, fault.thread), ([3, 0, 0], [1, 0, 0]));
    assert_eq!(fault.allocation.as_deref(), Some("C"));
    assert!(fault.address.is_some());
}

#[test]
fn a_read_before_the_start() {
    let fault = fault("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%a+-16];", 64, 1, 1, 0);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 16 bytes at offset -16 of `C`, which has 64 bytes"
    );
}

#[test]
fn an_access_that_crosses_the_end() {
    let fault = fault("ld.global.u64 %rd2, [%x+8];", 12, 1, 1, 0);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 8 bytes at offset 8 of `C`, which has 12 bytes"
    );
}

#[test]
fn null_and_wild_pointers() {
    let null = fault("mov.u64 %rd2, 8;\n ld.global.u32 %r4, [%rd2];", 4, 1, 1, 0);
    assert_eq!(
        null.message,
        "thread (0,0,0) of block (0,0,0) reads 4 bytes through a null pointer (address 0x8)"
    );
    let wild = fault(
        "mov.u64 %rd2, 0x123456789ABC;\n st.global.u32 [%rd2], %n;",
        4,
        1,
        1,
        0,
    );
    assert_eq!(
        wild.message,
        "thread (0,0,0) of block (0,0,0) writes 4 bytes at 0x123456789abc, which is in no allocation"
    );
    assert_eq!(wild.kind, FaultKind::OutOfBounds);
}

#[test]
fn a_misaligned_access() {
    let fault = fault("ld.global.f32 %f1, [%a+2];", 64, 1, 1, 0);
    assert_eq!(fault.kind, FaultKind::Misaligned);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 2 of `C`, which is not a multiple of 4"
    );
}

#[test]
fn freed_and_protected_memory() {
    let mut device = Device::new(&kernel("st.global.u32 [%a], %n;"));
    let c = device.bytes("C", &[0; 128]);
    let arguments = Arguments::new().pointer(c).int(1);
    device.memory.protect(c, true).unwrap();
    let fault = device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::WriteToReadOnly);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 0 of `C`, which is read-only"
    );
    device.memory.protect(c, false).unwrap();
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap();
    device.memory.free(c).unwrap();
    let fault = device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::UseAfterFree);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 0 of `C` after it was freed"
    );
}

#[test]
fn past_the_end_of_shared_memory() {
    let body = ".shared .align 4 .b8 s[128];
    mov.u32 %r4, s;
    shl.b32 %r5, %t, 2;
    add.s32 %r4, %r4, %r5;
    st.shared.u32 [%r4+4], %t;";
    assert_eq!(
        fault(body, 4, 1, 32, 0).message,
        "thread (31,0,0) of block (0,0,0) writes 4 bytes at offset 128 of shared memory, which has 128 bytes"
    );
}

#[test]
fn past_the_end_of_local_memory() {
    let body = ".local .align 8 .b8 depot[32];
    mov.u64 %rd2, depot;
    mul.wide.s32 %rd3, %n, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.local.u32 [%rd2], %n;";
    assert_eq!(
        fault(body, 4, 1, 1, 8).message,
        "thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 32 of its local memory, which has 32 bytes"
    );
}

#[test]
fn of_parallel_faults_the_lowest_block_is_reported() {
    let mut device = Device::new(&kernel("st.global.u32 [%a], %n;"));
    let c = device.bytes("C", &[0; 4 * 100]);
    let arguments = Arguments::new().pointer(c).int(1);
    for threads in [1, 4] {
        let limits = Limits {
            threads,
            ..Limits::default()
        };
        let fault = device
            .launch_with("k", [64, 1, 1], [32, 1, 1], 0, &arguments, &limits)
            .unwrap_err();
        assert_eq!((fault.block, fault.thread), ([3, 0, 0], [4, 0, 0]));
    }
}

#[test]
fn a_trap() {
    let fault = fault("setp.eq.s32 %p1, %t, 3;\n @%p1 trap;", 4, 1, 32, 0);
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(
        fault.message,
        "thread (3,0,0) of block (0,0,0) executes __trap()"
    );
}

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    let endless = "LOOP:\n add.s32 %n, %n, 1;\n bra.uni LOOP;";
    let mut device = Device::new(&kernel(endless));
    let c = device.bytes("C", &[0; 4]);
    let arguments = Arguments::new().pointer(c).int(0);
    let limits = Limits {
        instruction_fuel: 100_000,
        ..Limits::default()
    };
    let fault = device
        .launch_with("k", [1, 1, 1], [32, 1, 1], 0, &arguments, &limits)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::InstructionFuel);
    assert_eq!(
        fault.message,
        "thread (0,0,0) of block (0,0,0) is still running after 100000 warp instructions of the launch \
         (an instruction counts once for a warp, however many of its threads take part)"
    );
}

/// Workers that hold instructions back from one another would stop a launch that has enough.
#[test]
#[allow(clippy::result_large_err, reason = "a fault is built once")]
fn the_verdict_of_a_limit_is_the_same_for_any_number_of_threads() {
    let mut device = Device::new(&kernel("st.global.u32 [%a], %n;"));
    let c = device.bytes("C", &[0; 4 * 2048]);
    let arguments = Arguments::new().pointer(c).int(1);
    let mut run = |threads, instruction_fuel| {
        let limits = Limits {
            threads,
            instruction_fuel,
            ..Limits::default()
        };
        device.launch_with("k", [64, 1, 1], [32, 1, 1], 0, &arguments, &limits)
    };
    let needed = run(1, 1 << 20).unwrap().counters.warp_instructions;
    for threads in [1, 2, 7] {
        for _ in 0..50 {
            let enough = run(threads, needed).unwrap();
            assert_eq!(enough.counters.warp_instructions, needed);
            let fault = run(threads, needed - 1).unwrap_err();
            assert_eq!(fault.kind, FaultKind::InstructionFuel);
            let most = needed - 1;
            let expected = format!(
                "the launch issued {needed} warp instructions and may issue {most} \
                 (an instruction counts once for a warp, however many of its threads take part)"
            );
            assert_eq!(fault.message, expected);
        }
    }
}

/// A spin wait on a value that nobody writes ends by fuel too, however many blocks wait.
#[test]
fn a_wait_for_nobody_runs_out_of_fuel() {
    let spin =
        "LOOP:\n ld.volatile.global.u32 %r4, [%x];\n setp.eq.s32 %p1, %r4, 0;\n @%p1 bra LOOP;";
    let mut device = Device::new(&kernel(spin));
    let c = device.bytes("C", &[0; 4]);
    let arguments = Arguments::new().pointer(c).int(0);
    let limits = Limits {
        instruction_fuel: 200_000,
        ..Limits::default()
    };
    let fault = device
        .launch_with("k", [3, 1, 1], [64, 1, 1], 0, &arguments, &limits)
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::InstructionFuel);
}

#[test]
fn a_failed_assertion_names_its_text() {
    let ptx = module(
        ".extern .func __assertfail(.param .b64 a0, .param .b64 a1, .param .b32 a2, .param .b64 a3, .param .b64 a4);
.global .align 1 .b8 $str[6] = {120, 32, 60, 32, 53};
.visible .entry k()
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 1 7 0
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 bra DONE;
    mov.u64 %rd1, $str;
    cvta.global.u64 %rd2, %rd1;
    { // callseq 0, 0
    .param .b64 param0;
    st.param.b64 [param0+0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1+0], %rd2;
    .param .b32 param2;
    st.param.b32 [param2+0], 7;
    .param .b64 param3;
    st.param.b64 [param3+0], %rd2;
    .param .b64 param4;
    st.param.b64 [param4+0], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    } // callseq 0
DONE:
    ret;
}
",
    );
    let mut device = Device::new(&ptx);
    let fault = device
        .launch("k", [1, 1, 1], [8, 1, 1], &Arguments::new())
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Assert);
    assert_eq!(
        fault.message,
        "thread (5,0,0) of block (0,0,0) fails the assertion `x < 5`"
    );
    assert_eq!(fault.line, Some(7));
}

#[test]
fn launches_that_no_device_can_run() {
    let mut device = Device::new(&kernel(""));
    let arguments = Arguments::new().pointer(0).int(0);
    let message = |device: &mut Device, grid, block, dynamic| {
        let limits = Limits::default();
        let fault = device
            .launch_with("k", grid, block, dynamic, &arguments, &limits)
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::BadLaunch);
        fault.message
    };
    assert_eq!(
        message(&mut device, [0, 1, 1], [32, 1, 1], 0),
        "a grid of (0,1,1) blocks cannot be launched"
    );
    assert_eq!(
        message(&mut device, [1, 1, 1], [32, 33, 1], 0),
        "a block of (32,33,1) threads cannot be launched"
    );
    assert_eq!(
        message(&mut device, [1, 1, 1], [32, 1, 1], 300_000),
        "a block needs 300000 bytes of shared memory and can have 232448"
    );
    let fault = device
        .launch("k", [1, 1, 1], [1, 1, 1], &Arguments::new())
        .unwrap_err();
    assert_eq!(
        fault.message,
        "the kernel takes 12 bytes of arguments and was given 0"
    );
}

#[test]
fn local_memory_beyond_a_thread_s_share_is_refused_at_once() {
    let with_local = |bytes: u64| {
        let body = format!(".local .align 8 .b8 depot[{bytes}];\n st.local.u32 [depot], %n;");
        let mut device = Device::new(&kernel(&body));
        let c = device.bytes("C", &[0; 4]);
        let arguments = Arguments::new().pointer(c).int(1);
        device
            .launch("k", [1 << 20, 1, 1], [1, 1, 1], &arguments)
            .map_err(|fault| (fault.kind, fault.message))
    };
    let started = std::time::Instant::now();
    for bytes in [(512 << 10) + 1, 400_000_000, 8_000_000_000] {
        let (kind, message) = with_local(bytes).unwrap_err();
        assert_eq!(kind, FaultKind::BadLaunch);
        assert_eq!(
            message,
            "the kernel needs more than 524288 bytes of local memory a thread, the limit"
        );
    }
    assert!(started.elapsed().as_secs_f64() < 1.0);
    assert!(with_local(512 << 10).is_ok());
}

/// A variable that nobody touches costs its limit, and no time.
#[test]
fn large_variables_are_zeroed_when_touched() {
    let ptx = module(
        ".visible .global .align 4 .b8 big[6000000000];\n\
         .visible .global .align 4 .b8 small[8] = {1, 2, 3};\n\
         .visible .entry k()\n{\n st.global.u32 [big+5999999996], 7;\n st.global.u32 [small], 7;\n ret;\n}\n",
    );
    let module = Module::parse(&ptx).unwrap();
    assert!(Memory::new(5 << 30).load(&module).is_err());
    let started = std::time::Instant::now();
    let mut memory = Memory::new(8 << 30);
    let loaded = memory.load(&module).unwrap();
    let mut device = Device { memory, loaded };
    let (big, _) = device.loaded.global("big").unwrap();
    let (small, _) = device.loaded.global("small").unwrap();
    for _ in 0..20 {
        assert_eq!(device.read_words(big + 5_999_999_996, 1), [0]);
        assert_eq!(device.read_words(small, 2), [0x0003_0201, 0]);
        device
            .launch("k", [1, 1, 1], [1, 1, 1], &Arguments::new())
            .unwrap();
        assert_eq!(device.read_words(big + 5_999_999_996, 1), [7]);
        device.memory.reset_globals(&device.loaded).unwrap();
    }
    assert!(
        started.elapsed().as_secs_f64() < 1.0,
        "{:?}",
        started.elapsed()
    );
}

/// An unknown opcode matters to the kernels that reach it, and to no other.
#[test]
fn unknown_opcodes_are_named_with_their_line() {
    let ptx = module(
        ".visible .entry good()\n{\n .loc 1 2 0\n ret;\n}\n\
         .visible .entry bad()\n{\n .reg .b32 %r<3>;\n .loc 1 5 0\n frobnicate.sync.b32 %r1, %r2;\n ret;\n}\n\
         .visible .entry odd()\n{\n .reg .b32 %r<3>;\n .loc 1 9 0\n add.frob.s32 %r1, %r2, %r2;\n ret;\n}\n",
    );
    let module = Module::parse(&ptx).unwrap();
    assert!(module.check("good").is_ok());
    assert_eq!(
        module.check("bad").unwrap_err(),
        LoadError::Unsupported {
            opcode: "frobnicate.sync.b32".into(),
            line: Some(5),
            ptx_line: 13
        }
    );
    assert_eq!(
        module.check("odd").unwrap_err().to_string(),
        "the emulated device does not support `add.frob.s32` (source line 9)"
    );
    let mut device = Device::new(&ptx);
    device
        .launch("good", [1, 1, 1], [1, 1, 1], &Arguments::new())
        .unwrap();
    let fault = device
        .launch("bad", [1, 1, 1], [1, 1, 1], &Arguments::new())
        .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::Unsupported {
            opcode: "frobnicate.sync.b32".into()
        }
    );
}

#[test]
fn text_outside_the_grammar_is_refused() {
    for (text, line) in [
        (
            ".version 9.5\n.visible .entry k()\n{\n mov.u32 %r1, 5;\n",
            4,
        ),
        (".version 9.5\n.visible .entry k()\n{\n @%p bra X;\n}\n", 4),
        (
            ".version 9.5\n.visible .entry k()\n{\n bra NOWHERE;\n}\n",
            4,
        ),
    ] {
        match Module::parse(text).unwrap_err() {
            LoadError::Malformed { ptx_line, .. } => assert_eq!(ptx_line, line, "{text}"),
            other => panic!("{other}"),
        }
    }
    let texture = Module::parse(".version 9.5\n.target sm_90a\n.tex .u64 t;\n").unwrap_err();
    assert_eq!(
        texture,
        LoadError::Unsupported {
            opcode: ".tex".into(),
            line: None,
            ptx_line: 3
        }
    );
}
