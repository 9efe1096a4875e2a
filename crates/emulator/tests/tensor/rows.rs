//! `ldmatrix`, `stmatrix`, `movmatrix`, conversions to tf32.

use super::common::{Arguments, Device, module};
use emulator::{Fault, FaultKind, Outcome};

/// A warp with 4096 bytes of shared memory that hold the 16-bit numbers 0, 1, 2, ...; `%s` is the
/// address of row `lane` of 64 bytes. Words `%r0` to `%r3` of each lane, and then shared memory, are
/// the result.
fn run(body: &str) -> Result<(Vec<u32>, Vec<u32>, Outcome), Fault> {
    let ptx = module(&format!(
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{{
    .reg .b32 %r<4>;
    .reg .b32 %x<8>;
    .reg .b32 %s;
    .reg .b32 %base;
    .reg .b32 %t;
    .reg .b64 %g;
    .reg .b64 %a;
    .reg .pred %p;
    .shared .align 16 .b8 s[4096];
    mov.u32 %base, s;
    mov.u32 %t, %tid.x;
    mov.u32 %x0, %t;
FILL:
    shl.b32 %x1, %x0, 2;
    add.u32 %x2, %base, %x1;
    shl.b32 %x3, %x0, 1;
    add.u32 %x4, %x3, 1;
    shl.b32 %x4, %x4, 16;
    or.b32 %x3, %x3, %x4;
    st.shared.u32 [%x2], %x3;
    add.u32 %x0, %x0, 32;
    setp.lt.u32 %p, %x0, 1024;
    @%p bra FILL;
    bar.warp.sync -1;
    mov.u32 %r0, %t; mov.u32 %r1, %t; mov.u32 %r2, %t; mov.u32 %r3, %t;
    shl.b32 %s, %t, 6;
    add.u32 %s, %s, %base;
{body}
    ld.param.u64 %a, [k_param_0];
    mad.wide.u32 %g, %t, 16, %a;
    st.global.v4.b32 [%g], {{%r0, %r1, %r2, %r3}};
    bar.warp.sync -1;
    ld.param.u64 %a, [k_param_1];
    mov.u32 %x0, %t;
COPY:
    shl.b32 %x1, %x0, 2;
    add.u32 %x2, %base, %x1;
    ld.shared.u32 %x3, [%x2];
    mad.wide.u32 %g, %x0, 4, %a;
    st.global.u32 [%g], %x3;
    add.u32 %x0, %x0, 32;
    setp.lt.u32 %p, %x0, 1024;
    @%p bra COPY;
    ret;
}}
"
    ));
    let mut device = Device::new(&ptx);
    let registers = device.words("registers", &[0; 128]);
    let shared = device.words("shared", &[0; 1024]);
    let arguments = Arguments::new().pointer(registers).pointer(shared);
    let outcome = device.launch("k", [1, 1, 1], [32, 1, 1], &arguments)?;
    Ok((
        device.read_words(registers, 128),
        device.read_words(shared, 1024),
        outcome,
    ))
}

/// Element of the row of 64 bytes that lane `lane` names.
fn element(lane: usize, column: usize) -> u32 {
    (32 * lane + column) as u32
}

fn pair(low: u32, high: u32) -> u32 {
    low | high << 16
}

#[test]
fn ldmatrix_gives_each_lane_its_pair() {
    let (words, _, _) =
        run("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s+16];").unwrap();
    for lane in 0..32 {
        for tile in 0..4 {
            let (row, column) = (8 * tile + lane / 4, 8 + lane % 4 * 2);
            let expected = pair(element(row, column), element(row, column + 1));
            assert_eq!(words[4 * lane + tile], expected, "lane {lane} tile {tile}");
        }
    }
}

#[test]
fn ldmatrix_transposes() {
    let load = "cvta.shared.u64 %a, s;
        cvt.u64.u32 %g, %t; shl.b64 %g, %g, 6; add.u64 %g, %g, %a;
        ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r0, %r1}, [%g];";
    let (words, _, _) = run(load).unwrap();
    for lane in 0..32 {
        for tile in 0..2 {
            let (row, column) = (8 * tile + lane % 4 * 2, lane / 4);
            let expected = pair(element(row, column), element(row + 1, column));
            assert_eq!(words[4 * lane + tile], expected, "lane {lane} tile {tile}");
        }
        assert_eq!(words[4 * lane + 2], lane as u32);
    }
}

#[test]
fn rows_are_requests_of_eight_lanes_a_pass() {
    let none = run("").unwrap().2.counters;
    let count = |body: &str| {
        let counters = run(body).unwrap().2.counters;
        (
            counters.shared_requests - none.shared_requests,
            counters.shared_wavefronts - none.shared_wavefronts,
        )
    };
    // Rows of 64 bytes: two of eight share no bank; four times over.
    let load = "ldmatrix.sync.aligned.m8n8";
    assert_eq!(
        count(&format!("{load}.x1.shared.b16 {{%r0}}, [%s];")),
        (1, 4)
    );
    // Rows one after the other: 128 bytes a tile, one pass.
    let dense = "shl.b32 %x5, %t, 4; add.u32 %x5, %x5, %base;";
    let four = "{%r0, %r1, %r2, %r3}, [%x5];";
    assert_eq!(
        count(&format!("{dense} {load}.x4.shared.b16 {four}")),
        (1, 4)
    );
}

#[test]
fn stmatrix_writes_what_ldmatrix_reads() {
    let body = |transposed: &str| {
        format!(
            "shl.b32 %x5, %t, 4; add.u32 %x5, %x5, %base;
            mad.lo.u32 %x6, %t, 2, 5000; mad.lo.u32 %x7, %t, 2, 5001;
            shl.b32 %x7, %x7, 16; or.b32 %x6, %x6, %x7;
            stmatrix.sync.aligned.m8n8.x1{transposed}.shared.b16 [%x5], {{%x6}};"
        )
    };
    let (_, shared, _) = run(&body("")).unwrap();
    for (at, &word) in shared.iter().enumerate().take(32) {
        assert_eq!(word, pair(5000 + 2 * at as u32, 5001 + 2 * at as u32));
    }
    assert_eq!(shared[32], pair(64, 65));
    let (_, shared, _) = run(&body(".trans")).unwrap();
    for row in 0..8 {
        for column in 0..8 {
            let word = shared[4 * row + column / 2];
            let found = word >> (16 * (column % 2)) & 0xffff;
            assert_eq!(found, (5000 + 8 * column + row) as u32);
        }
    }
}

#[test]
fn movmatrix_transposes_in_registers() {
    let body = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];
        movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;";
    let (words, _, _) = run(body).unwrap();
    for lane in 0..32 {
        let (row, column) = (lane % 4 * 2, lane / 4);
        let expected = pair(element(row, column), element(row + 1, column));
        assert_eq!(words[4 * lane + 1], expected);
    }
}

#[test]
fn a_row_that_is_not_aligned_or_not_there_is_a_fault() {
    let load =
        |offset: u32| format!("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r0}}, [%s+{offset}];");
    assert_eq!(run(&load(8)).unwrap_err().kind, FaultKind::Misaligned);
    assert_eq!(run(&load(4096)).unwrap_err().kind, FaultKind::OutOfBounds);
    let global = "ld.param.u64 %a, [k_param_0];
        ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%a];";
    let fault = run(global).unwrap_err();
    assert!(fault.message.contains("not in shared memory"), "{fault}");
}

/// Lanes that part meet again before a matrix instruction; where they cannot, it is a fault.
#[test]
fn lanes_that_never_come_are_a_fault() {
    let together = "setp.lt.u32 %p, %t, 16;
        @%p bra LOW;
        add.u32 %x5, %t, 1;
        bra BOTH;
        LOW: add.u32 %x5, %t, 2;
        BOTH: ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];";
    assert!(run(together).is_ok());
    let apart = "setp.lt.u32 %p, %t, 16;
        @%p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];";
    let fault = run(apart).unwrap_err();
    assert!(
        matches!(
            fault.kind,
            FaultKind::BarrierDivergence | FaultKind::Deadlock
        ),
        "{fault}"
    );
}

#[test]
fn conversions_to_tf32() {
    let body = "mov.b32 %x5, 0f3F801000;
        cvt.rna.tf32.f32 %r0, %x5;
        cvt.rn.satfinite.tf32.f32 %r1, 0f7F7FFFFF;
        cvt.rn.tf32.f32 %r2, %x5;
        cvt.rz.relu.tf32.f32 %r3, 0fBF801FFF;";
    let (words, _, _) = run(body).unwrap();
    assert_eq!(words[..4], [0x3f80_2000, 0x7f7f_e000, 0x3f80_0000, 0]);
}

#[test]
fn missing_forms_are_refused_by_name() {
    for opcode in [
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8",
    ] {
        let fault = run(&format!("{opcode} {{%r0}}, [%s];")).unwrap_err();
        let expected = FaultKind::Unsupported {
            opcode: opcode.to_owned(),
        };
        assert_eq!(fault.kind, expected);
    }
}
