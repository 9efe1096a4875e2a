//! Small kernels that run with every check.

use super::{Arguments, Device, module};
use emulator::{Checks, Fault, FaultKind, Limits, Order, Outcome};

/// A kernel of two arrays in `%x` and `%y`, with 2 KiB of shared memory. `%t` is the thread in its
/// block, `%i` in the grid; `%a` its word of `x`, `%b` of `y`, `%s` of shared memory. The body's
/// statements stand on source lines from 20, one a line.
pub fn kernel(body: &str) -> String {
    let lines: String = body
        .lines()
        .enumerate()
        .map(|(at, line)| format!("    .loc 1 {} 0\n{line}\n", 20 + at))
        .collect();
    module(&format!(
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b32 %t;
    .reg .b32 %i;
    .reg .b32 %s;
    .reg .b32 %c;
    .reg .f32 %f<8>;
    .reg .b64 %rd<8>;
    .reg .b64 %x;
    .reg .b64 %y;
    .reg .b64 %a;
    .reg .b64 %b;
    .shared .align 16 .b8 s[2048];
    ld.param.u64 %x, [k_param_0];
    ld.param.u64 %y, [k_param_1];
    mov.u32 %c, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %t, %tid.x;
    mad.lo.s32 %i, %c, %r2, %t;
    mul.wide.s32 %rd1, %i, 4;
    add.s64 %a, %x, %rd1;
    add.s64 %b, %y, %rd1;
    mov.u32 %s, s;
    mad.lo.s32 %s, %t, 4, %s;
{lines}
    ret;
}}
"
    ))
}

/// Runs the kernel with `x` = 1, 2, 3, ... and `y` for results, both of 256 words.
pub fn run_ordered(
    body: &str,
    grid: u32,
    block: u32,
    order: Order,
) -> (Result<Outcome, Fault>, Vec<u32>) {
    let mut device = Device::new(&kernel(body));
    let x = device.words("x", &(1..=256).collect::<Vec<_>>());
    let y = device.memory.allocate_undefined(1024, "y").unwrap();
    device.memory.expect_results(y).unwrap();
    let limits = Limits {
        checks: Checks::FULL,
        order,
        instruction_fuel: 1 << 24,
        ..Limits::default()
    };
    let arguments = Arguments::new().pointer(x).pointer(y);
    let outcome = device.launch_with("k", [grid, 1, 1], [block, 1, 1], 0, &arguments, &limits);
    let results = device.read_words(y, 256);
    (outcome, results)
}

pub fn run(body: &str, grid: u32, block: u32) -> Result<Outcome, Fault> {
    run_ordered(body, grid, block, Order::Index).0
}

pub fn fault(body: &str, grid: u32, block: u32, kind: &FaultKind) -> Fault {
    let fault = run(body, grid, block).unwrap_err();
    assert_eq!(&fault.kind, kind, "{fault}");
    fault
}

pub fn is_clean(body: &str, grid: u32, block: u32) {
    let orders = [
        Order::Index,
        Order::Seeded(1),
        Order::Seeded(2),
        Order::Seeded(3),
    ];
    for order in orders {
        let (outcome, _) = run_ordered(body, grid, block, order);
        match outcome {
            Ok(outcome) => assert!(outcome.is_checked),
            Err(fault) => panic!("{order:?}: {fault}"),
        }
    }
}
