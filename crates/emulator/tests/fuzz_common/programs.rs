//! Random programs that are valid PTX: instructions of every kind in any order, any control flow, memory at any
//! address.

use super::Dice;
use super::calls::DECLARATIONS;

/// A program and how it is launched.
pub struct Program {
    pub text: String,
    pub grid: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
    pub block: u32,
    pub dynamic_shared_bytes: u32,
    /// Which way of running it is compared with the plain one.
    pub way: usize,
    /// Whether blocks write only to parts of their own and read nothing that another writes, so that their order
    /// cannot matter.
    pub is_tidy: bool,
}

/// Bytes of the array that every thread reads, and of each block's part of the array that is written.
pub const INPUT_BYTES: u64 = 4096;
pub const PART_BYTES: u64 = 1024;

pub(super) const TYPES: [(&str, &str); 8] = [
    ("u32", "%r"),
    ("s32", "%r"),
    ("b32", "%r"),
    ("f32", "%f"),
    ("u64", "%d"),
    ("s64", "%d"),
    ("u16", "%h"),
    ("f64", "%g"),
];
pub(super) const REGISTERS: usize = 8;

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
         .extern .shared .align 16 .b8 dynamic[];\n{DECLARATIONS}{function}{kernel}"
    );
    let cluster = 1 + u32::from(dice.one_in(4));
    Program {
        text,
        grid: cluster * (1 + dice.roll(4) as u32),
        cluster,
        way: dice.roll(4),
        block: [1, 31, 32, 33, 64, 96, 130][dice.roll(7)],
        dynamic_shared_bytes: 1024,
        is_tidy,
    }
}

pub(super) struct Writer {
    pub(super) is_tidy: bool,
    labels: usize,
    text: String,
    pub(super) in_function: bool,
}

impl Writer {
    pub(super) fn line(&mut self, line: &str) {
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

    pub(super) fn register(&self, dice: &mut Dice, class: &str) -> String {
        // The first address registers stay what they are.
        let first = if class == "%d" { 3 } else { 0 };
        format!("{class}{}", first + dice.roll(REGISTERS - first))
    }

    pub(super) fn source(&self, dice: &mut Dice, class: &str) -> String {
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
            18 => match dice.roll(3) {
                0 => self.matrix(dice, guard),
                _ => self.asynchronous(dice, guard),
            },
            _ => self.call(dice, guard),
        }
    }
}
