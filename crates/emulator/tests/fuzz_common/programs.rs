//! Random programs that are valid PTX: instructions of every kind in any order, any control flow, memory at any
//! address.

use super::Dice;

/// A program and how it is launched.
pub struct Program {
    pub text: String,
    pub grid: u32,
    pub block: u32,
    pub dynamic_shared_bytes: u32,
    /// Whether blocks write only to parts of their own and read nothing that another writes, so that their order
    /// cannot matter.
    pub is_tidy: bool,
}

/// Bytes of the array that every thread reads, and of each block's part of the array that is written.
pub const INPUT_BYTES: u64 = 4096;
pub const PART_BYTES: u64 = 1024;

const TYPES: [(&str, &str); 8] = [
    ("u32", "%r"),
    ("s32", "%r"),
    ("b32", "%r"),
    ("f32", "%f"),
    ("u64", "%d"),
    ("s64", "%d"),
    ("u16", "%h"),
    ("f64", "%g"),
];
const REGISTERS: usize = 8;

pub fn program(dice: &mut Dice) -> Program {
    let mut writer = Writer {
        is_tidy: dice.one_in(2),
        labels: 2 + dice.roll(7),
        text: String::new(),
        in_function: false,
    };
    let is_tidy = writer.is_tidy;
    let function = writer.function(dice);
    let kernel = writer.kernel(dice);
    let text = format!(
        ".version 9.5\n.target sm_90a\n.address_size 64\n\
         .extern .shared .align 16 .b8 dynamic[];\n.global .align 8 .b8 table[64];\n{function}{kernel}"
    );
    Program {
        text,
        grid: 1 + dice.roll(4) as u32,
        block: [1, 31, 32, 33, 64, 96, 130][dice.roll(7)],
        dynamic_shared_bytes: 1024,
        is_tidy,
    }
}

struct Writer {
    is_tidy: bool,
    labels: usize,
    text: String,
    in_function: bool,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A function that may call itself.
    fn function(&mut self, dice: &mut Dice) -> String {
        self.in_function = true;
        self.line(".visible .func (.param .b32 result) mix(.param .b32 x, .param .b64 y)\n{");
        self.declare();
        self.line(
            "ld.param.u32 %r0, [x];\nld.param.u64 %d0, [y];\nmov.u64 %d1, %d0;\nmov.u64 %d2, %d0;",
        );
        self.body(dice);
        self.line("st.param.b32 [result], %r1;\nret;\n}");
        self.in_function = false;
        std::mem::take(&mut self.text)
    }

    fn kernel(&mut self, dice: &mut Dice) -> String {
        self.line(".visible .entry k(.param .u64 input, .param .u64 output, .param .u32 seed)\n{");
        self.declare();
        self.line(
            "ld.param.u64 %d0, [input];\nld.param.u64 %d1, [output];\nld.param.u32 %r0, [seed];\n\
             mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r1, 2654435761, %r0;",
        );
        // A part of the output for each block.
        self.line(&format!(
            "mad.wide.u32 %d1, %r2, {PART_BYTES}, %d1;\nmov.u64 %d2, %d0;"
        ));
        self.body(dice);
        self.line("ret;\n}");
        std::mem::take(&mut self.text)
    }

    fn declare(&mut self) {
        self.line(
            ".reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .f32 %f<8>;\n.reg .f64 %g<8>;\n.reg .b16 %h<8>;\n\
             .reg .pred %p<4>;\n.reg .b64 %a<3>;\n.local .align 16 .b8 own[64];\n.shared .align 16 .b8 scratch[512];",
        );
    }

    fn body(&mut self, dice: &mut Dice) {
        for label in 0..self.labels {
            self.line(&format!("$L{}_{label}:", u8::from(self.in_function)));
            for _ in 0..1 + dice.roll(9) {
                let guard = match dice.roll(4) {
                    0 => format!("@{}%p{} ", dice.pick(&["", "!"]), dice.roll(4)),
                    _ => String::new(),
                };
                self.instruction(dice, &guard);
            }
            self.jump(dice);
        }
    }

    fn label(&self, dice: &mut Dice) -> String {
        format!(
            "$L{}_{}",
            u8::from(self.in_function),
            dice.roll(self.labels)
        )
    }

    fn jump(&mut self, dice: &mut Dice) {
        let (label, p) = (self.label(dice), dice.roll(4));
        match dice.roll(12) {
            0..=3 => self.line(&format!("@%p{p} bra {label};")),
            4 => self.line(&format!("@!%p{p} bra {label};")),
            5 if dice.one_in(3) => self.line(&format!("bra {label};")),
            6 => self.line(&format!("@%p{p} {};", dice.pick(&["ret", "exit"]))),
            7 => {
                let other = self.label(dice);
                let r = dice.roll(REGISTERS);
                let name = format!("$T{}", self.text.len());
                self.line(&format!(
                    "{name}: .branchtargets {label}, {other}, {label};\nand.b32 %r{r}, %r{r}, {};\n\
                     brx.idx %r{r}, {name};",
                    1 + dice.roll(3) // 3 is one too many
                ));
            }
            _ => {}
        }
    }

    fn register(&self, dice: &mut Dice, class: &str) -> String {
        // The first address registers stay what they are.
        let first = if class == "%d" { 3 } else { 0 };
        format!("{class}{}", first + dice.roll(REGISTERS - first))
    }

    fn source(&self, dice: &mut Dice, class: &str) -> String {
        match (dice.roll(4), class) {
            (0, "%r" | "%d" | "%h") => {
                let extremes = [
                    "0", "1", "-1", "31", "32", "7", "255", "-32768", "0x7fff", "16",
                ];
                dice.pick(&extremes).to_owned()
            }
            (0, "%f") => dice
                .pick(&[
                    "0f00000000",
                    "0f3F800000",
                    "0f7FC00000",
                    "0fFF800000",
                    "0f00000001",
                ])
                .to_owned(),
            (0, "%g") => dice
                .pick(&[
                    "0d0000000000000000",
                    "0d3FF0000000000000",
                    "0d7FF8000000000000",
                ])
                .to_owned(),
            _ => format!("{class}{}", dice.roll(REGISTERS)),
        }
    }

    fn instruction(&mut self, dice: &mut Dice, guard: &str) {
        match dice.roll(20) {
            0..=6 => self.arithmetic(dice, guard),
            7 | 8 => self.comparison(dice, guard),
            9..=12 => self.access(dice, guard),
            13 => self.atomic(dice, guard),
            14 | 15 => self.exchange(dice, guard),
            16 => self.synchronization(dice, guard),
            17 => self.conversion(dice, guard),
            18 => self.asynchronous(dice, guard),
            _ => self.call(dice, guard),
        }
    }

    fn arithmetic(&mut self, dice: &mut Dice, guard: &str) {
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

    fn comparison(&mut self, dice: &mut Dice, guard: &str) {
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
    fn address(&mut self, dice: &mut Dice, writes: bool, align: usize) -> &'static str {
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

    fn access(&mut self, dice: &mut Dice, guard: &str) {
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

    fn atomic(&mut self, dice: &mut Dice, guard: &str) {
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

    fn exchange(&mut self, dice: &mut Dice, guard: &str) {
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

    fn synchronization(&mut self, dice: &mut Dice, guard: &str) {
        let r = dice.roll(REGISTERS);
        let line = match dice.roll(10) {
            0..=2 => "bar.sync 0;".to_owned(),
            3 => format!("bar.warp.sync {};", dice.pick(&["-1", "%r2", "1"])),
            4 => format!(
                "bar.sync {}, {};",
                dice.pick(&["1", "15", "%r4"]),
                dice.pick(&["32", "64", "%r5"])
            ),
            5 => format!("bar.arrive 1, {};", dice.pick(&["32", "64", "96"])),
            6 => format!("bar.red.popc.u32 %r{r}, 0, %p1;"),
            7 if dice.one_in(4) => "membar.gl;".to_owned(),
            8 if dice.one_in(4) => "nanosleep.u32 20;".to_owned(),
            _ => "membar.cta;".to_owned(),
        };
        self.line(&format!("{guard}{line}"));
    }

    fn conversion(&mut self, dice: &mut Dice, guard: &str) {
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

    fn asynchronous(&mut self, dice: &mut Dice, guard: &str) {
        let line = match dice.roll(9) {
            0 => "cp.async.ca.shared.global [scratch], [%d0], 16;",
            1 => "cp.async.commit_group;",
            2 => "cp.async.wait_group 0;",
            3 => "mbarrier.init.shared.b64 [scratch], 2;",
            4 => "mbarrier.arrive.shared.b64 %d6, [scratch];",
            5 => "mbarrier.test_wait.shared.b64 %p2, [scratch], %d6;",
            6 => "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [scratch+16];",
            7 => {
                "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r6, %r7}, {%r1}, {%r2}, {%r6, %r7};"
            }
            _ => "mbarrier.arrive.expect_tx.shared.b64 _, [scratch], 16;",
        };
        self.line(&format!("{guard}{line}"));
    }

    fn call(&mut self, dice: &mut Dice, guard: &str) {
        if self.in_function && !dice.one_in(4) {
            return self.arithmetic(dice, guard);
        }
        let (to, a) = (self.register(dice, "%r"), self.register(dice, "%r"));
        // A tidy function writes through what it is given.
        self.line(&format!(
            "{{\n.param .b32 p0;\nst.param.b32 [p0], {a};\n.param .b64 p1;\nst.param.b64 [p1], %d1;\n.param .b32 q;\n\
             call.uni (q), mix, (p0, p1);\nld.param.b32 {to}, [q];\n}}"
        ));
    }
}
