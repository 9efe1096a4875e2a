//! Arithmetic, memory and exchanges of random programs.

use super::Dice;
use super::programs::{REGISTERS, TYPES, Writer};

impl Writer {
    pub(super) fn arithmetic(&mut self, dice: &mut Dice, guard: &str) {
        let (ty, class) = TYPES[dice.roll(TYPES.len())];
        let to = self.register(dice, class);
        let mut from = || self.source(dice, class);
        let (a, b, c) = (from(), from(), from());
        let line = match ty {
            "f32" => match dice.roll(6) {
                0 => format!("fma.rn.f32 {to}, {a}, {b}, {c};"),
                1 => format!("div.full.f32 {to}, {a}, {b};"),
                2 => format!("sqrt.rn.f32 {to}, {a};"),
                3 => format!("ex2.approx.ftz.f32 {to}, {a};"),
                4 => format!("min.f32 {to}, {a}, {b};"),
                _ => format!("mul.rz.f32 {to}, {a}, {b};"),
            },
            "f64" => format!(
                "{}.rn.f64 {to}, {a}, {b};",
                dice.pick(&["add", "mul", "div"])
            ),
            "b32" => match dice.roll(5) {
                0 => format!("prmt.b32 {to}, {a}, {b}, {c};"),
                1 => format!("shf.l.wrap.b32 {to}, {a}, {b}, {c};"),
                2 => format!("lop3.b32 {to}, {a}, {b}, {c}, 0x96;"),
                3 => format!("bfi.b32 {to}, {a}, {b}, {c}, {};", dice.roll(40)),
                _ => format!(
                    "{}.b32 {to}, {a}, {b};",
                    dice.pick(&["and", "or", "xor", "shl"])
                ),
            },
            _ => match dice.roll(4) {
                0 => format!("mad.lo.{ty} {to}, {a}, {b}, {c};"),
                1 => format!(
                    "{}.{ty} {to}, {a}, {b};",
                    dice.pick(&["div", "rem", "min", "max", "mul.hi"])
                ),
                _ => format!(
                    "{}.{ty} {to}, {a}, {b};",
                    dice.pick(&["add", "sub", "mul.lo"])
                ),
            },
        };
        self.line(&format!("{guard}{line}"));
    }

    pub(super) fn comparison(&mut self, dice: &mut Dice, guard: &str) {
        let (ty, class) = TYPES[[0, 1, 3, 4, 7][dice.roll(5)]];
        let (a, b) = (
            format!("{class}{}", dice.roll(REGISTERS)),
            self.source(dice, class),
        );
        let (p, q) = (dice.roll(4), dice.roll(4));
        let how = dice.pick(&["eq", "ne", "lt", "ge"]);
        let line = match dice.roll(3) {
            0 => format!("setp.{how}.and.{ty} %p{p}, {a}, {b}, %p{q};"),
            1 if p != q => format!("setp.{how}.{ty} %p{p}|%p{q}, {a}, {b};"),
            _ => format!("setp.{how}.{ty} %p{p}, {a}, {b};"),
        };
        self.line(&format!("{guard}{line}"));
    }

    /// Puts an address into `%a0`, and says which space it is in. Tidy ones lie where they should.
    pub(super) fn address(&mut self, dice: &mut Dice, writes: bool, align: usize) -> &'static str {
        let r = dice.roll(REGISTERS);
        let mask = |bytes: u64| (bytes - 1) & !(align as u64 - 1);
        let is_wild = !self.is_tidy && dice.one_in(5);
        let offset = match is_wild {
            true => format!("cvt.s64.s32 %a1, %r{r};"),
            false => format!("cvt.u64.u32 %a1, %r{r};\nand.b64 %a1, %a1, {};", mask(512)),
        };
        let (base, space) = match dice.roll(7) {
            0 | 1 if writes => ("mov.u64 %a0, %d1;", ".global"),
            0 | 1 => ("mov.u64 %a0, %d0;", ".global"),
            2 => ("mov.u64 %a0, %d1;", ""),
            3 => ("mov.u64 %a0, scratch;", ".shared"),
            4 => ("mov.u64 %a0, scratch;\ncvta.shared.u64 %a0, %a0;", ""),
            5 => ("mov.u64 %a0, dynamic;", ".shared"),
            _ => ("mov.u64 %a0, own;", ".local"),
        };
        let offset = match (space, is_wild) {
            (".local", false) => {
                format!("cvt.u64.u32 %a1, %r{r};\nand.b64 %a1, %a1, {};", mask(64))
            }
            _ => offset,
        };
        let base = match (is_wild && dice.one_in(4), space) {
            (true, "" | ".global") => "mov.u64 %a0, %d5;",
            _ => base,
        };
        self.line(&format!("{base}\n{offset}\nadd.s64 %a0, %a0, %a1;"));
        space
    }

    pub(super) fn access(&mut self, dice: &mut Dice, guard: &str) {
        let (ty, class) = TYPES[dice.roll(TYPES.len())];
        let bytes = ty[1..].parse::<usize>().unwrap() / 8;
        let vector = [1, 1, 1, 2, 4][dice.roll(5)].min(16 / bytes).min(4);
        let writes = dice.one_in(2);
        let space = self.address(dice, writes, bytes * vector);
        let registers: Vec<_> = (0..vector).map(|_| self.register(dice, class)).collect();
        let (shape, data) = match vector {
            1 => (String::new(), registers[0].clone()),
            _ => (
                format!(".v{vector}"),
                format!("{{{}}}", registers.join(", ")),
            ),
        };
        // An ordered access makes a launch sequential, which most should not be.
        let order = if dice.one_in(30) && space != ".local" {
            ".volatile"
        } else {
            ""
        };
        let line = match writes {
            true => format!("st{order}{space}{shape}.{ty} [%a0], {data};"),
            false => format!("ld{order}{space}{shape}.{ty} {data}, [%a0];"),
        };
        self.line(&format!("{guard}{line}"));
    }

    pub(super) fn atomic(&mut self, dice: &mut Dice, guard: &str) {
        if !dice.one_in(3) {
            return self.access(dice, guard);
        }
        let space = self.address(dice, true, 8);
        let space = if space == ".local" { "" } else { space };
        let line = match dice.roll(5) {
            0 => "atom.SPACE.add.u32 %r4, [%a0], %r5;",
            1 => "atom.SPACE.cas.b64 %d4, [%a0], %d5, %d6;",
            2 => "red.SPACE.max.s32 [%a0], %r2;",
            3 => "atom.SPACE.exch.b32 %r6, [%a0], %r1;",
            _ => "red.SPACE.add.f32 [%a0], %f2;",
        };
        self.line(&format!("{guard}{}", line.replace(".SPACE", space)));
    }

    pub(super) fn exchange(&mut self, dice: &mut Dice, guard: &str) {
        let (to, a, b) = (
            self.register(dice, "%r"),
            self.source(dice, "%r"),
            self.source(dice, "%r"),
        );
        let mask = match dice.roll(3) {
            0 => self.source(dice, "%r"),
            _ => "-1".to_owned(),
        };
        let p = dice.roll(4);
        let line = match dice.roll(9) {
            0 => format!("shfl.sync.idx.b32 {to}|%p{p}, {a}, {b}, 31, {mask};"),
            1 => format!("shfl.sync.up.b32 {to}, {a}, 1, 0, {mask};"),
            2 => format!("shfl.sync.bfly.b32 {to}, {a}, {b}, 0x1f, {mask};"),
            3 => format!("vote.sync.ballot.b32 {to}, %p{p}, {mask};"),
            4 => format!("vote.sync.any.pred %p{p}, %p{}, {mask};", dice.roll(4)),
            5 => format!("match.any.sync.b32 {to}, {a}, {mask};"),
            6 => format!("redux.sync.add.s32 {to}, {a}, {mask};"),
            7 => format!("activemask.b32 {to};"),
            _ => format!("elect.sync {to}|%p{p}, {mask};"),
        };
        self.line(&format!("{guard}{line}"));
    }

    pub(super) fn synchronization(&mut self, dice: &mut Dice, guard: &str) {
        let r = dice.roll(REGISTERS);
        if dice.one_in(2) {
            // As programs have it: nobody is left out.
            return self.line("bar.sync 0;");
        }
        let line = match dice.roll(12) {
            0 => "bar.sync 0;".to_owned(),
            3 => format!("bar.warp.sync {};", dice.pick(&["-1", "%r2", "1"])),
            4 => format!(
                "bar.sync {}, {};",
                dice.pick(&["1", "15", "%r4"]),
                dice.pick(&["32", "64", "%r5"])
            ),
            1 => "bar.warp.sync -1;".to_owned(),
            5 => format!("bar.arrive 1, {};", dice.pick(&["32", "64", "96"])),
            6 => format!("bar.red.popc.u32 %r{r}, 0, %p1;"),
            7 if dice.one_in(4) => "membar.gl;".to_owned(),
            8 if dice.one_in(4) => "nanosleep.u32 20;".to_owned(),
            _ => "membar.cta;".to_owned(),
        };
        self.line(&format!("{guard}{line}"));
    }

    pub(super) fn conversion(&mut self, dice: &mut Dice, guard: &str) {
        let line = match dice.roll(7) {
            0 => "cvt.rzi.s32.f32 %r3, %f1;",
            1 => "cvt.rn.f32.s32 %f2, %r1;",
            2 => "cvt.u16.u32 %h1, %r4;",
            3 => "cvt.s64.s32 %d4, %r5;",
            4 => "cvt.rn.f32.f64 %f3, %g2;",
            5 => "mov.b64 {%r4, %r5}, %d3;",
            _ => "mov.b32 %r6, %f0;",
        };
        self.line(&format!("{guard}{line}"));
    }
}
