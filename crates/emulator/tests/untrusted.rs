//! Modules that nobody's compiler wrote: what they may not do to the host, and the words for it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod common;

use std::fmt::Write as _;

use common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, Limits, LoadError, Module};

fn refusal(text: &str) -> LoadError {
    let parsed = Module::parse(text);
    parsed
        .and_then(|module| module.check("k").map(|_| ()))
        .unwrap_err()
}

/// One block of one thread; a launch that goes on is stopped early.
fn launch(text: &str, words: &[u32]) -> (Result<(), Fault>, Vec<u32>) {
    let mut device = Device::new(text);
    let x = device.words("x", words);
    let arguments = Arguments::new().pointer(x);
    let limits = Limits {
        instruction_fuel: 4_000_000,
        ..Limits::default()
    };
    let outcome = device.launch_with("k", [1; 3], [1; 3], 0, &arguments, &limits);
    (outcome.map(|_| ()), device.read_words(x, words.len()))
}

#[test]
fn recursion_without_end_runs_out_of_stack_even_with_an_empty_frame() {
    for local in ["", ".local .align 8 .b8 depot[64];"] {
        let text = module(&format!(
            ".func f()\n{{\n{local}\n.reg .b64 %rd<9>;\nmov.u64 %rd1, 1;\ncall.uni f, ();\nret;\n}}\n\
             .visible .entry k(.param .u64 p)\n{{\ncall.uni f, ();\nret;\n}}\n"
        ));
        let fault = launch(&text, &[0]).0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutOfBounds);
        assert_eq!(
            fault.message,
            "thread (0,0,0) of block (0,0,0) calls too deeply: its stack has 524288 bytes"
        );
    }
}

/// Registers of a call count too: 512 KiB hold 2000 activations of 256 bytes, and not 3000.
#[test]
fn registers_of_an_activation_are_a_part_of_its_stack() {
    let values: String = (0..60).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "add.u32 %v{at}, %n, {at};");
        text
    });
    let sum: String = (0..60).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "add.u32 %n, %n, %v{at};");
        text
    });
    let deep = |depth: u32| {
        let text = module(&format!(
            ".func f(.param .b32 f0)\n{{\n.reg .pred %p;\n.reg .b32 %n, %v<60>;\n\
             ld.param.u32 %n, [f0];\nsetp.eq.u32 %p, %n, 0;\n@%p ret;\n{values}\
             sub.u32 %n, %n, 1;\n{{\n.param .b32 a;\nst.param.b32 [a], %n;\ncall.uni f, (a);\n}}\n\
             {sum}st.local.u32 [f0], %n;\nret;\n}}\n\
             .visible .entry k(.param .u64 p)\n{{\n.reg .b32 %n;\nmov.u32 %n, {depth};\n\
             {{\n.param .b32 a;\nst.param.b32 [a], %n;\ncall.uni f, (a);\n}}\nret;\n}}\n"
        ));
        launch(&text, &[0]).0.map_err(|fault| fault.kind)
    };
    assert_eq!(deep(1_000), Ok(()));
    assert_eq!(deep(3_000), Err(FaultKind::OutOfBounds));
}

/// Each block has 16 MiB of local memory; it counts those that have begun and not ended.
#[test]
fn large_blocks_run_side_by_side_as_far_as_their_memory_goes() {
    let text = module(
        ".visible .entry k(.param .u64 p)
{
    .local .align 8 .b8 depot[524288];
    .reg .pred %p;
    .reg .b32 %r<9>;
    .reg .b64 %x;
    ld.param.u64 %x, [p];
    st.local.u32 [depot], 1;
    atom.global.add.u32 %r1, [%x], 1;
    ld.volatile.global.u32 %r2, [%x+4];
    sub.u32 %r1, %r1, %r2;
    atom.global.max.u32 %r3, [%x+8], %r1;
    mov.u32 %r4, 0;
AGAIN:
    nanosleep.u32 100;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p, %r4, 50000;
    @%p bra AGAIN;
    atom.global.add.u32 %r1, [%x+4], 1;
    ret;
}
",
    );
    let mut device = Device::new(&text);
    let x = device.words("x", &[0; 3]);
    let arguments = Arguments::new().pointer(x);
    device.launch("k", [100, 1, 1], [1; 3], &arguments).unwrap();
    let [begun, ended, others] = device.read_words(x, 3)[..] else {
        panic!("three words")
    };
    assert_eq!((begun, ended), (100, 100));
    assert!((8..64).contains(&others), "{others} others");
}

#[test]
fn a_module_of_many_blocks_and_registers_costs_what_it_mentions() {
    let branches = |count: usize, each: &dyn Fn(usize) -> String| {
        let body = (0..count).fold(String::new(), |mut text, at| {
            let _ = write!(text, "{}@%p bra L{at};\nL{at}:\n", each(at));
            text
        });
        module(&format!(
            ".visible .entry k(.param .u64 p)\n{{\n.reg .pred %p;\n.reg .b32 %r<1000000>;\n{body}ret;\n}}\n"
        ))
    };
    let started = std::time::Instant::now();
    // A million registers declared, one of them in use.
    let sparse = branches(20_000, &|_| String::new());
    assert!(Module::parse(&sparse).unwrap().check("k").is_ok());
    // Each block with a register of its own: 1.6 G pairs of the two.
    let dense = branches(40_000, &|at| format!("mov.u32 %r{at}, 1;\n"));
    let refused = refusal(&dense).to_string();
    assert!(refused.contains("too large to be followed"), "{refused}");
    assert!(started.elapsed().as_secs_f64() < 10.0);
}

/// The block that comes last in the text is run first, and so on; what the first one in the text reads
/// is needed in all of them.
#[test]
fn registers_are_followed_against_the_order_of_the_text() {
    let count = 20_000;
    let mut body = format!("bra L{};\n", count - 1);
    for at in 0..count {
        let (reads, next) = match at {
            0 => (1, "bra END;".to_owned()),
            _ => (2, format!("bra L{};", at - 1)),
        };
        let _ = write!(body, "L{at}:\nadd.u32 %r3, %r{reads}, 1;\n{next}\n");
    }
    let text = module(&format!(
        ".visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<1000>;\nmov.u32 %r1, 0;\n{body}END:\nret;\n}}\n"
    ));
    let started = std::time::Instant::now();
    assert!(Module::parse(&text).unwrap().check("k").is_ok());
    assert!(started.elapsed().as_secs_f64() < 5.0);
}

#[test]
fn a_kernel_is_not_called() {
    let text = module(
        ".visible .entry other(.param .u64 q)\n{\nret;\n}\n\
         .visible .entry k(.param .u64 p)\n{\n.param .b64 a;\ncall.uni other, (a);\nret;\n}\n",
    );
    assert!(matches!(refusal(&text), LoadError::Malformed { .. }));
    // Functions are numbered in their order; the kernel is the first.
    let own = module(
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd;\nmov.u64 %rd, 0x800000000000000;\n\
         P: .callprototype _ ();\ncall %rd, (), P;\nret;\n}\n",
    );
    let fault = launch(&own, &[0]).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert!(fault.message.contains("no function"), "{fault}");
}

#[test]
fn what_a_call_hands_over_has_the_size_that_the_function_takes() {
    let direct = |given: u32| {
        module(&format!(
            ".func f(.param .align 8 .b8 f0[64])\n{{\nret;\n}}\n\
             .visible .entry k(.param .u64 p)\n{{\n.param .align 8 .b8 a[{given}];\n\
             call.uni f, (a);\nret;\n}}\n"
        ))
    };
    assert!(Module::parse(&direct(64)).unwrap().check("k").is_ok());
    assert!(matches!(refusal(&direct(4)), LoadError::Malformed { .. }));

    let through = |given: u32, taken: u32| {
        module(&format!(
            ".func (.param .align 8 .b8 r[{taken}]) f(.param .align 8 .b8 f0[{taken}])\n{{\nret;\n}}\n\
             .global .align 8 .u64 table[1] = {{f}};\n\
             .visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd;\n\
             .param .align 8 .b8 a[{given}], b[{taken}];\nld.global.u64 %rd, [table];\n\
             P: .callprototype (.param .align 8 .b8 _[{taken}]) _ (.param .align 8 .b8 _[{given}]);\n\
             call (b), %rd, (a), P;\nret;\n}}\n"
        ))
    };
    assert!(launch(&through(64, 64), &[0]).0.is_ok());
    for (given, taken) in [(16, 64), (64, 100_000)] {
        let fault = launch(&through(given, taken), &[0]).0.unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutOfBounds);
        assert!(fault.message.contains("another signature"), "{fault}");
    }
}

#[test]
fn sizes_do_not_wrap_at_32_bits() {
    let declare = |what: &str, bytes: u64, count: usize| -> String {
        (0..count).fold(String::new(), |mut text, at| {
            let _ = writeln!(text, "{what} .align 16 .b8 v{at}[{bytes}];");
            text
        })
    };
    // Together 4 GiB, and 4 GiB and a few bytes.
    for locals in [
        declare(".local", 1 << 24, 256),
        declare(".local", 1 << 24, 257),
    ] {
        let text = module(&format!(
            ".visible .entry k(.param .u64 p)\n{{\n{locals}st.local.u32 [v0], 1;\nret;\n}}\n"
        ));
        let fault = launch(&text, &[0]).0.unwrap_err();
        assert_eq!(
            (fault.kind, fault.message.as_str()),
            (
                FaultKind::BadLaunch,
                "the kernel needs more than 524288 bytes of local memory a thread, the limit"
            )
        );
    }
    let shared = declare(".shared", 1 << 30, 5);
    let mentions: String = (0..5).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "mov.u32 %r, v{at};");
        text
    });
    let text = module(&format!(
        ".visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r;\n{shared}{mentions}ret;\n}}\n"
    ));
    let fault = launch(&text, &[0]).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadLaunch);
    assert!(fault.message.contains("bytes of shared memory"), "{fault}");

    let text =
        module(".visible .entry k(.param .align 8 .b8 a[4294967295], .param .u64 p)\n{\nret;\n}\n");
    assert!(refusal(&text).to_string().contains("32764"));
}

/// The first block leaves a value where the second one reads what it has not written.
#[test]
fn a_block_does_not_see_what_another_left_in_local_memory() {
    let text = module(
        ".visible .entry k(.param .u64 p)
{
    .local .align 8 .b8 depot[64];
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %x, %rd;
    ld.param.u64 %x, [p];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p, %r1, 0;
    @%p st.local.u32 [depot+4], 77;
    ld.local.u32 %r2, [depot+4];
    mul.wide.u32 %rd, %r1, 4;
    add.u64 %x, %x, %rd;
    st.global.u32 [%x], %r2;
    ret;
}
",
    );
    for threads in [1, 3] {
        let mut device = Device::new(&text);
        let x = device.words("x", &[9; 4]);
        let arguments = Arguments::new().pointer(x);
        let limits = Limits {
            threads,
            ..Limits::default()
        };
        device
            .launch_with("k", [4, 1, 1], [1; 3], 0, &arguments, &limits)
            .unwrap();
        assert_eq!(device.read_words(x, 4), [77, 0, 0, 0]);
    }
}
