//! What random programs set going elsewhere: asynchronous copies, matrices, clusters, calls.

use super::Dice;
use super::programs::Writer;

/// Functions that programs call without having them.
pub const DECLARATIONS: &str = "\
.extern .func (.param .b64 at) malloc (.param .b64 bytes);\n\
.extern .func free (.param .b64 at);\n\
.extern .func (.param .b32 n) vprintf (.param .b64 format, .param .b64 values);\n\
.global .align 1 .b8 format[14] = {37, 100, 32, 37, 115, 32, 37, 53, 46, 51, 102, 10, 37, 0};\n";

impl Writer {
    pub(super) fn asynchronous(&mut self, dice: &mut Dice, guard: &str) {
        let bytes = self.bulk_size(dice);
        let line = match dice.roll(20) {
            0 => "cp.async.ca.shared.global [scratch], [%d0], 16;".to_owned(),
            1 => "cp.async.commit_group;".to_owned(),
            2 => "cp.async.wait_group 0;".to_owned(),
            3 | 4 => format!("mbarrier.init.shared.b64 [scratch], {};", dice.pick(&["1", "2", "%r3"])),
            5 => "mbarrier.arrive.shared.b64 %d6, [scratch];".to_owned(),
            6 => "mbarrier.test_wait.shared.b64 %p2, [scratch], %d6;".to_owned(),
            7 => format!("mbarrier.try_wait.parity.shared.b64 %p1, [scratch], {};", dice.roll(2)),
            8 => format!("mbarrier.arrive.expect_tx.shared.b64 _, [scratch], {bytes};"),
            9 => format!("mbarrier.inval.shared.b64 [scratch{}];", dice.pick(&["", "+64"])),
            10 | 11 => format!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [scratch+128], [%d0], {bytes}, \
                 [scratch];"
            ),
            12 => format!(
                "cp.async.bulk.global.shared::cta.bulk_group [%d1], [scratch+{}], {bytes};",
                16 * dice.roll(40)
            ),
            13 => format!(
                "cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%d1], [scratch+64], {bytes};",
                dice.pick(&["add.u32", "max.s32", "xor.b64", "add.f32"])
            ),
            14 => "cp.async.bulk.commit_group;".to_owned(),
            15 => "cp.async.bulk.wait_group 0;".to_owned(),
            16 => "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [scratch+256], %r1, [scratch];"
                .to_owned(),
            17 => "mapa.shared::cluster.u32 %r4, %r5, %r6;".to_owned(),
            18 => "getctarank.shared::cluster.u32 %r4, %r5;".to_owned(),
            _ => format!(
                "barrier.cluster.{}.aligned;",
                dice.pick(&["arrive", "wait", "arrive.relaxed"])
            ),
        };
        self.line(&format!("{guard}{line}"));
    }

    /// Bytes of a copy, mostly such that it fits.
    fn bulk_size(&self, dice: &mut Dice) -> String {
        match self.is_tidy {
            true => (16 * (1 + dice.roll(8))).to_string(),
            false => dice
                .pick(&["16", "32", "0", "8", "1024", "200000"])
                .to_owned(),
        }
    }

    pub(super) fn matrix(&mut self, dice: &mut Dice, guard: &str) {
        self.address(dice, false, 32);
        let stride = dice.pick(&["16", "8", "%r3", "0", "4294967288"]);
        let eight = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}";
        let line = match dice.roll(7) {
            0 => "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [scratch+16];".to_owned(),
            1 => "stmatrix.sync.aligned.m8n8.x1.shared.b16 [scratch+32], {%r4};".to_owned(),
            2 => "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r5;".to_owned(),
            3 => format!("wmma.load.a.sync.aligned.row.m16n16k16.f16 {eight}, [%a0], {stride};"),
            4 => format!("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {eight}, [%d0], {stride};"),
            5 => format!(
                "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [scratch], {{%r4, %r5, %r6, %r7}}, {stride};"
            ),
            _ => "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r6, %r7}, {%r1}, {%r2}, {%r6, %r7};".to_owned(),
        };
        self.line(&format!("{guard}{line}"));
    }

    pub(super) fn call(&mut self, dice: &mut Dice, guard: &str) {
        match dice.roll(12) {
            0 => self.line(
                "{\n.param .b64 p0;\ncvt.u64.u16 %a1, %h1;\nst.param.b64 [p0], %a1;\n.param .b64 q;\n\
                 call.uni (q), malloc, (p0);\nld.param.b64 %d5, [q];\n}",
            ),
            1 => self.line(&format!(
                "{{\n.param .b64 p0;\nst.param.b64 [p0], {};\ncall.uni free, (p0);\n}}",
                if self.is_tidy { "0" } else { "%d5" }
            )),
            2 => self.line(&format!(
                "{{\n.param .b64 p0;\nmov.u64 %a0, format;\ncvta.global.u64 %a0, %a0;\nst.param.b64 [p0], %a0;\n\
                 mov.u64 %a1, own;\ncvta.local.u64 %a1, %a1;\n.param .b64 p1;\nst.param.b64 [p1], {};\n.param .b32 q;\n\
                 call.uni (q), vprintf, (p0, p1);\nld.param.b32 %r4, [q];\n}}",
                if self.is_tidy { "%a1" } else { "%d5" }
            )),
            3 => self.call_of_function(dice, "mov.u64 %a2, mix;\n", "%a2", ", by_pointer"),
            4 if !self.is_tidy => self.call_of_function(dice, "", "%d5", ", by_pointer"),
            5..=8 if !self.in_function => self.call_of_function(dice, "", "mix", ""),
            9 => self.call_of_function(dice, "", "mix", ""),
            _ => self.arithmetic(dice, guard),
        }
    }

    fn call_of_function(&mut self, dice: &mut Dice, before: &str, function: &str, more: &str) {
        let (to, a) = (self.register(dice, "%r"), self.register(dice, "%r"));
        // A tidy function writes through what it is given.
        let prototype = match more {
            "" => "",
            _ => "by_pointer: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n",
        };
        self.line(&format!(
            "{{\n{before}.param .b32 p0;\nst.param.b32 [p0], {a};\n.param .b64 p1;\nst.param.b64 [p1], %d1;\n\
             .param .b32 q;\n{prototype}call (q), {function}, (p0, p1){more};\nld.param.b32 {to}, [q];\n}}"
        ));
    }
}
