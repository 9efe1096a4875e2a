//! Rare instruction forms, each with hand-worked results. What GPUs give for all forms is compared elsewhere.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device, module};

/// The word that `code` makes of three words: `%a`, `%b` and `%c` hold them as 32 bits, `%x`, `%y` and `%z`
/// their lower halves; `%d`, or else `%h`, is the result.
fn result(code: &str, operands: [u32; 3]) -> u32 {
    let into = if code.contains("%h") {
        "mov.b32 %d, {%h, %o};"
    } else {
        ""
    };
    let text = module(&format!(
        ".visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %a, %b, %c, %d;\n.reg .b16 %x, %y, %z, %h, %o;\n.reg .b64 %q, %w;\n\
         ld.param.u64 %q, [p];\ncvta.to.global.u64 %q, %q;\n\
         ld.global.u32 %a, [%q];\nld.global.u32 %b, [%q+4];\nld.global.u32 %c, [%q+8];\n\
         mov.b32 {{%x, %o}}, %a;\nmov.b32 {{%y, %o}}, %b;\nmov.b32 {{%z, %o}}, %c;\nmov.u16 %o, 0;\n\
         {code}\n{into}\nst.global.u32 [%q+12], %d;\nret;\n}}\n"
    ));
    let mut device = Device::new(&text);
    let [a, b, c] = operands;
    let words = device.words("words", &[a, b, c, 0]);
    let arguments = Arguments::new().pointer(words);
    device
        .launch("k", [1, 1, 1], [1, 1, 1], &arguments)
        .unwrap();
    device.read_words(words, 4)[3]
}

/// A register beyond what a slot can number would lie outside of the warp's own.
#[test]
fn registers_are_limited_together() {
    let families: String = (0..9)
        .map(|at| format!(".reg .b64 %f{at}x<1048576>;\n"))
        .collect();
    let text = module(&format!(
        ".visible .entry k()\n{{\n{families}mov.u64 %f8x64, %f0x1;\nret;\n}}\n"
    ));
    let refused = emulator::Module::parse(&text).unwrap_err().to_string();
    assert!(refused.contains("more than 2^20 registers"), "{refused}");
}

#[test]
fn brackets_without_end_are_refused() {
    for (before, bracket) in [
        (".global .b32 x[1] = ", "{"),
        (".visible .entry k() { ld.u32 %r, ", "["),
    ] {
        let text = module(&format!("{before}{}", bracket.repeat(200_000)));
        let refused = emulator::Module::parse(&text).unwrap_err().to_string();
        assert!(refused.contains("nested more than 64 deep"), "{refused}");
    }
}

#[test]
fn a_guarded_return_at_the_end_leaves_nobody_behind() {
    let text = module(
        ".visible .entry k()\n{\n.reg .pred %p;\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\n\
         setp.eq.u32 %p, %r, 1;\n@%p ret;\n}\n",
    );
    let mut device = Device::new(&text);
    let outcome = device.launch("k", [1, 1, 1], [32, 1, 1], &Arguments::new());
    assert!(outcome.is_ok());
}

#[test]
fn differences_of_16_bits_wrap() {
    assert_eq!(
        result("sad.u16 %h, %x, %y, %z;", [5, 65_535, 10]),
        65_530 + 10 - 65_536
    );
    // -5 and 7 are 12 apart.
    assert_eq!(result("sad.s16 %h, %x, %y, %z;", [0xfffb, 7, 100]), 112);
}

#[test]
fn products_of_24_bits() {
    // 0xffffff squared is 0xfffffe000001.
    let largest = [0x12ff_ffff, 0x34ff_ffff, 1];
    assert_eq!(result("mul24.lo.u32 %d, %a, %b;", largest), 0xfe00_0001);
    assert_eq!(result("mul24.hi.u32 %d, %a, %b;", largest), 0xffff_fe00);
    assert_eq!(result("mad24.hi.u32 %d, %a, %b, %c;", largest), 0xffff_fe01);
    // Both are -1 in 24 bits.
    assert_eq!(result("mad24.lo.s32 %d, %a, %b, %c;", largest), 2);
    assert_eq!(
        result("mul24.hi.s32 %d, %a, %b;", [0x0080_0000, 1, 0]),
        -128i32 as u32
    );
    let saturated = result(
        "mad24.hi.sat.s32 %d, %a, %b, %c;",
        [0x7f_ffff, 0x7f_ffff, 0x7fff_ffff],
    );
    assert_eq!(saturated, 0x7fff_ffff);
}

#[test]
fn bytes_in_named_orders() {
    let bytes = |mode: &str, selector| {
        let code = format!("prmt.b32.{mode} %d, %a, %b, %c;");
        result(&code, [0x0302_0100, 0x0706_0504, selector])
    };
    assert_eq!(bytes("f4e", 0), 0x0302_0100);
    assert_eq!(bytes("f4e", 3), 0x0605_0403);
    assert_eq!(bytes("b4e", 0), 0x0506_0700);
    assert_eq!(bytes("b4e", 3), 0x0001_0203);
    assert_eq!(bytes("rc8", 2), 0x0202_0202);
    assert_eq!(bytes("ecl", 1), 0x0302_0101);
    assert_eq!(bytes("ecr", 2), 0x0202_0100);
    assert_eq!(bytes("rc16", 1), 0x0302_0302);
}

#[test]
fn the_sign_of_a_product_on_the_smaller_magnitude() {
    let [minus_two, one, minus_three] = [-2f32, 1.0, -3.0].map(f32::to_bits);
    let smaller = "min.xorsign.abs.f32 %d, %a, %b;";
    assert_eq!(result(smaller, [minus_two, one, 0]), (-1f32).to_bits());
    assert_eq!(result(smaller, [minus_two, minus_three, 0]), 2f32.to_bits());
    let larger = "max.xorsign.abs.f16 %h, %x, %y;";
    assert_eq!(result(larger, [0xc000, 0x3c00, 0]), 0xc000); // -2 and 1
    let pairs = "min.xorsign.abs.bf16x2 %d, %a, %b;";
    assert_eq!(result(pairs, [0xc000_3f80, 0x3f80_4000, 0]), 0xbf80_3f80);
}

#[test]
fn half_precision_that_flushes_subnormals() {
    // The smallest normal less the largest subnormal is 2^-24; flushed, the operand is zero.
    assert_eq!(
        result("sub.rn.f16 %h, %x, %y;", [0x0400, 0x03ff, 0]),
        0x0001
    );
    assert_eq!(
        result("sub.rn.ftz.f16 %h, %x, %y;", [0x0400, 0x03ff, 0]),
        0x0400
    );
    // Half of the smallest normal is subnormal.
    assert_eq!(
        result("mul.rn.ftz.f16 %h, %x, %y;", [0x8400, 0x3800, 0]),
        0x8000
    );
    let pair = result(
        "fma.rn.ftz.relu.f16x2 %d, %a, %b, %c;",
        [0x3c00_bc00, 0x3c00_3c00, 0x3c00_0200],
    );
    assert_eq!(pair, 0x4000_0000); // 1 * 1 + 1, and -1 * 1 + 0
}

#[test]
fn a_subnormal_sign_does_not_select_under_ftz() {
    let operands = [7, 9, 0x8000_0001];
    assert_eq!(result("slct.b32.f32 %d, %a, %b, %c;", operands), 9);
    assert_eq!(result("slct.ftz.b32.f32 %d, %a, %b, %c;", operands), 7);
}

#[test]
fn conversions_that_clamp() {
    let [minus_one, half] = [-1f32, 0.5].map(f32::to_bits);
    // 0.5 is 0x30 in e4m3 and 0x38 in e5m2.
    assert_eq!(
        result(
            "cvt.rn.satfinite.relu.e4m3x2.f32 %h, %a, %b;",
            [minus_one, half, 0]
        ),
        0x0030
    );
    assert_eq!(
        result(
            "cvt.rn.satfinite.relu.e5m2x2.f32 %h, %a, %b;",
            [half, minus_one, 0]
        ),
        0x3800
    );
    // -1 and 0.5 as f16.
    assert_eq!(
        result(
            "cvt.rn.satfinite.relu.e4m3x2.f16x2 %h, %a;",
            [0xbc00_3800, 0, 0]
        ),
        0x0030
    );
    // -1 is 0xb8 in e4m3.
    assert_eq!(
        result("cvt.rn.relu.f16x2.e4m3x2 %d, %x;", [0xb830, 0, 0]),
        0x0000_3800
    );
    let double = "cvt.sat.f64.f16 %w, %x; cvt.rn.f32.f64 %d, %w;";
    assert_eq!(result(double, [0x4000, 0, 0]), 1f32.to_bits()); // 2
    assert_eq!(result(double, [0xbc00, 0, 0]), 0);
}

#[test]
fn packed_integers_do_not_carry_into_each_other() {
    let (a, b) = (0xffff_0005, 0x0001_fff0);
    let of = |code: &str| result(code, [a, b, 100]);
    assert_eq!(of("add.u16x2 %d, %a, %b;"), 0x0000_fff5);
    assert_eq!(of("add.s16x2 %d, %a, %b;"), 0x0000_fff5);
    assert_eq!(of("min.u16x2 %d, %a, %b;"), 0x0001_0005);
    assert_eq!(of("max.u16x2 %d, %a, %b;"), 0xffff_fff0);
    // -1 and 1; 5 and -16.
    assert_eq!(of("min.s16x2 %d, %a, %b;"), 0xffff_fff0);
    assert_eq!(of("max.s16x2 %d, %a, %b;"), 0x0001_0005);
    assert_eq!(of("min.relu.s16x2 %d, %a, %b;"), 0);
    assert_eq!(of("max.s16x2.relu %d, %a, %b;"), 0x0001_0005);
    assert_eq!(of("min.s32.relu %d, %a, %b;"), 0);
    assert_eq!(of("max.relu.s32 %d, %a, %b;"), b);
}

#[test]
fn differences_of_packed_parts() {
    // Bytes from the highest: 255 and 0, 255 and 1, 0 and 255, 5 and 240; signed -1, -1 and 1, 0 and -1, 5 and -16.
    let of = |code: &str| result(code, [0xffff_0005, 0x0001_fff0, 100]);
    assert_eq!(of("vabsdiff4.u32.u32.u32 %d, %a, %b, %c;"), 0xfffe_ffeb);
    assert_eq!(of("vabsdiff4.u32.s32.s32 %d, %a, %b, %c;"), 0x0102_0115);
    assert_eq!(
        of("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;"),
        255 + 254 + 255 + 235 + 100
    );
    // 65535 and 1, 5 and 65520; signed -1 and 1, 5 and -16.
    assert_eq!(of("vabsdiff2.u32.u32.u32 %d, %a, %b, %c;"), 0xfffe_ffeb);
    assert_eq!(
        of("vabsdiff2.s32.s32.s32.add %d, %a, %b, %c;"),
        2 + 21 + 100
    );
}

/// PTX ISA, `atom`: sums in global memory take subnormal floats for zero, those in shared memory do not.
#[test]
fn atomic_sums_flush_subnormals_in_global_memory_only() {
    let (subnormal, twice) = (0x0040_0000, 0x0080_0000);
    let global = "add.u64 %w, %q, 8; st.global.b32 [%w], %a;";
    for pointer in [".global", ""] {
        let code = format!("{global} red{pointer}.add.f32 [%w], %b; ld.global.b32 %d, [%w];");
        assert_eq!(result(&code, [subnormal, subnormal, 9]), 0, "{pointer}");
        assert_eq!(result(&code, [twice, subnormal, 9]), twice, "{pointer}");
    }
    let shared = ".shared .b32 s; mov.u64 %w, s; st.shared.b32 [s], %a;";
    let code = format!("{shared} red.shared.add.f32 [s], %b; ld.shared.b32 %d, [s];");
    assert_eq!(result(&code, [subnormal, subnormal, 9]), twice);
    let code =
        format!("{shared} cvta.shared.u64 %w, %w; red.add.f32 [%w], %b; ld.shared.b32 %d, [s];");
    assert_eq!(result(&code, [subnormal, subnormal, 9]), twice);
}

/// Sixteen bytes are compared and exchanged as one: half of them alike changes nothing.
#[test]
fn pairs_of_words_are_exchanged_as_one() {
    let start = ".shared .align 16 .b64 s[2];\n.reg .b128 %old, %cmp, %new;\n.reg .b64 %l, %u, %v;\n\
                 mov.u64 %l, 7;\nmov.u64 %u, 9;\nst.shared.v2.b64 [s], {%l, %u};\nmov.b128 %new, {%u, %l};\n";
    let end = "ld.shared.v2.b64 {%l, %u}, [s];\nmov.b128 {%v, _}, %old;\n\
               mad.lo.u64 %l, %l, 10, %u;\nmad.lo.u64 %l, %l, 10, %v;\ncvt.u32.u64 %d, %l;";
    let of = |middle: &str| result(&format!("{start}{middle}\n{end}"), [0; 3]);
    // First what is there afterwards, then the lower half of what was there.
    assert_eq!(of("atom.shared.exch.b128 %old, [s], %new;"), 977);
    assert_eq!(
        of("mov.b128 %cmp, {%l, %u};\natom.shared.cas.b128 %old, [s], %cmp, %new;"),
        977
    );
    assert_eq!(
        of("mov.b128 %cmp, {%l, %l};\natom.shared.cas.b128 %old, [s], %cmp, %new;"),
        797
    );
    assert_eq!(
        of("mov.b128 %cmp, {%u, %u};\natom.shared.cas.b128 %old, [s], %cmp, %new;"),
        797
    );
}

/// Bits 1, 4 and 31 are set.
#[test]
fn the_nth_set_bit_is_found_upward_and_downward() {
    let mask = 0x8000_0012;
    let found =
        |base: u32, number: i32| result("fns.b32 %d, %a, %b, %c;", [mask, base, number as u32]);
    assert_eq!([found(0, 1), found(0, 2), found(0, 3)], [1, 4, 31]);
    assert_eq!([found(2, 1), found(4, 1), found(5, 1)], [4, 4, 31]);
    assert_eq!([found(31, -1), found(31, -2), found(3, -1)], [31, 4, 1]);
    assert_eq!([found(4, 0), found(3, 0)], [4, u32::MAX]);
    assert_eq!([found(0, 4), found(0, -1), found(40, 1)], [u32::MAX; 3]);
}
