//! Raw statements to a [`Program`]: each opcode's modifiers checked, operands turned into slots.
//!
//! Invariant: a modifier that a handler does not take is [`LoadError::Unsupported`], so no form
//! is executed as another.

mod asynchronous;
mod bits;
mod bulk;
mod comparison;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod memory;
mod modifiers;
mod moves;
mod operands;
mod packed;
mod tensor;
mod video;
mod warp;
mod wide;

use std::collections::HashMap;

use crate::LoadError;
use crate::lanes::{Class, LaneFn, Operands, Slot};
use crate::program::{
    Constant, Flop, Inst, Kind, Predicate, Program, Special, assign_slots, join_points,
    mark_passes, mark_paths,
};
use crate::syntax::{FunctionText, Operand, RegisterId, Space, Statement, Type, Unit, Variable};

pub(crate) use modifiers::Modifiers;

type Handler = fn(&mut Decoder<'_>, &mut Modifiers<'_>) -> Result<(), LoadError>;

/// Every base opcode and what decodes it. The README's table lists the same names.
pub(crate) const OPCODES: &[(&str, Handler)] = &[
    ("abs", float::absolute),
    ("activemask", warp::active_mask),
    ("add", integer::add),
    ("addc", integer::carry),
    ("and", bits::logic),
    ("applypriority", memory::hint),
    ("atom", memory::atomic),
    ("bar", control::barrier),
    ("barrier", control::barrier),
    ("bfe", bits::field_extract),
    ("bfi", bits::field_insert),
    ("bfind", bits::find),
    ("bmsk", bits::mask),
    ("bra", control::branch),
    ("brev", bits::reverse),
    ("brx", control::branch_table),
    ("call", control::call),
    ("clz", bits::leading_zeros),
    ("cnot", bits::logical_not),
    ("copysign", float::copy_sign),
    ("cos", float::approximate),
    ("cp", asynchronous::copy),
    ("createpolicy", asynchronous::create_policy),
    ("cvt", convert::convert),
    ("cvta", memory::to_address),
    ("discard", memory::hint),
    ("div", float::divide),
    ("dp2a", integer::dot),
    ("dp4a", integer::dot),
    ("elect", warp::elect),
    ("ex2", float::approximate),
    ("exit", control::exit),
    ("fence", control::fence),
    ("fma", float::fused),
    ("fns", bits::find_nth_set),
    ("getctarank", asynchronous::block_rank),
    ("griddepcontrol", asynchronous::dependence),
    ("isspacep", memory::is_space),
    ("ld", memory::load),
    ("ldmatrix", tensor::load_rows),
    ("ldu", memory::load),
    ("lg2", float::approximate),
    ("lop3", bits::three_input),
    ("mad", integer::multiply_add),
    ("mad24", integer::multiply_24),
    ("madc", integer::carry),
    ("mapa", asynchronous::map_address),
    ("match", warp::matching),
    ("max", float::extreme),
    ("mbarrier", asynchronous::barrier),
    ("membar", control::fence),
    ("min", float::extreme),
    ("mma", tensor::multiply),
    ("mov", moves::moves),
    ("movmatrix", tensor::transpose),
    ("mul", integer::multiply),
    ("mul24", integer::multiply_24),
    ("nanosleep", control::sleep),
    ("neg", float::negate),
    ("not", bits::logic),
    ("or", bits::logic),
    ("pmevent", control::fence),
    ("popc", bits::population),
    ("prefetch", memory::hint),
    ("prefetchu", memory::hint),
    ("prmt", bits::permute),
    ("rcp", float::reciprocal),
    ("red", memory::atomic),
    ("redux", warp::reduce),
    ("rem", integer::remainder),
    ("ret", control::returns),
    ("rsqrt", float::approximate),
    ("sad", integer::absolute_difference),
    ("selp", bits::select),
    ("set", comparison::set),
    ("setmaxnreg", tensor::register_count),
    ("setp", comparison::compare),
    ("shf", bits::funnel),
    ("shfl", warp::shuffle),
    ("shl", bits::shift),
    ("shr", bits::shift),
    ("sin", float::approximate),
    ("slct", bits::select_by_sign),
    ("sqrt", float::square_root),
    ("st", memory::store),
    ("stmatrix", tensor::store_rows),
    ("sub", integer::subtract),
    ("subc", integer::carry),
    ("szext", bits::extend),
    ("tanh", float::approximate),
    ("testp", comparison::classify),
    ("trap", control::trap),
    ("vabsdiff2", video::differences),
    ("vabsdiff4", video::differences),
    ("vote", warp::vote),
    ("wgmma", tensor::group),
    ("wmma", tensor::fragments),
    ("xor", bits::logic),
];

/// Decodes one function of a module.
///
/// # Errors
/// The first form that is not supported, or a reference to something undeclared.
pub(crate) fn function(unit: &Unit, index: usize) -> Result<Program, LoadError> {
    let text = &unit.functions[index];
    let mut decoder = Decoder::new(unit, text)?;
    let mut starts = Vec::with_capacity(text.statements.len() + 1);
    for statement in &text.statements {
        starts.push(decoder.out.insts.len() as u32);
        decoder.statement(statement)?;
    }
    starts.push(decoder.out.insts.len() as u32);
    // Whatever the last statement's guard leaves out ends here.
    decoder.guard = Predicate::default();
    decoder.emit(if text.is_entry {
        Kind::Exit
    } else {
        Kind::Return
    });
    let places = |variables: &[Variable]| -> Vec<(u32, u32)> {
        let places = variables
            .iter()
            .map(|v| decoder.frame.get(&v.name).copied());
        places.flatten().collect()
    };
    let (parameters, returns) = (places(&text.parameters), places(&text.returns));
    (decoder.out.parameters, decoder.out.returns) = (parameters, returns);
    decoder.finish(&starts)
}

/// Offset and size by name.
type Places = HashMap<String, (u32, u32)>;

/// Where a function's parameters, results and local arrays lie in its frame, and the frame's size. A frame
/// beyond [`crate::exec::MAX_LOCAL_BYTES`] has a size beyond it and is never used.
pub(crate) fn frame(text: &FunctionText) -> (Places, u32) {
    let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut places = HashMap::new();
    let mut at = 0u64;
    let arguments = if text.is_entry {
        &[][..]
    } else {
        &text.parameters[..]
    };
    let own = text
        .variables
        .iter()
        .filter(|v| matches!(v.space, Space::Local | Space::Param));
    for variable in arguments.iter().chain(&text.returns).chain(own) {
        let align = variable.align_bytes.clamp(8, 1 << 10).next_power_of_two();
        at = at.next_multiple_of(u64::from(align));
        places.insert(variable.name.clone(), (narrow(at), narrow(variable.bytes)));
        at += variable.bytes;
    }
    (places, narrow(at.next_multiple_of(16)))
}

/// Bytes of parameters that a kernel can have.
const MAX_PARAMETER_BYTES: u64 = 32_764;

/// Offsets of a kernel's parameters in the launch's buffer, and its size.
///
/// # Errors
/// For more than a kernel can have.
pub(crate) fn parameter_offsets(text: &FunctionText) -> Result<(Vec<u32>, u32), LoadError> {
    let mut at = 0u64;
    let mut offsets = Vec::with_capacity(text.parameters.len());
    for parameter in &text.parameters {
        at = at.next_multiple_of(u64::from(parameter.align_bytes.max(1)));
        let end = at + parameter.bytes;
        if end > MAX_PARAMETER_BYTES {
            let message = format!(
                "`{}` takes more than {MAX_PARAMETER_BYTES} bytes of parameters",
                text.name
            );
            return Err(LoadError::malformed(text.ptx_line, message));
        }
        offsets.push(at as u32);
        at = end;
    }
    Ok((offsets, at as u32))
}

/// Where a PTX register lives.
#[derive(Debug, Clone, Copy)]
enum Home {
    Slot(Slot),
    Predicate(u32),
    /// A 128-bit register, the lower half first.
    Pair(Slot, Slot),
}

pub(crate) struct Decoder<'a> {
    unit: &'a Unit,
    text: &'a FunctionText,
    out: Program,
    homes: Vec<Home>,
    constants: HashMap<(bool, Constant), Slot>,
    frame: Places,
    parameters: HashMap<String, u32>,
    /// Predicate that stands for the carry flag.
    carry_flag: u32,
    guard: Predicate,
    flop: Flop,
    statement: &'a Statement,
}

impl<'a> Decoder<'a> {
    fn new(unit: &'a Unit, text: &'a FunctionText) -> Result<Self, LoadError> {
        let (frame, frame_bytes) = frame(text);
        let mut parameters = HashMap::new();
        if text.is_entry {
            let (offsets, _) = parameter_offsets(text)?;
            for (parameter, offset) in text.parameters.iter().zip(offsets) {
                parameters.insert(parameter.name.clone(), offset);
            }
        }
        let first = text
            .statements
            .first()
            .ok_or_else(|| LoadError::malformed(text.ptx_line, "a function without a body"))?;
        let mut decoder = Self {
            unit,
            text,
            out: Program {
                frame_bytes,
                predicates: 2,
                ..Program::default()
            },
            homes: Vec::with_capacity(text.registers.len()),
            constants: HashMap::new(),
            frame,
            parameters,
            carry_flag: 1,
            guard: Predicate::default(),
            flop: Flop::default(),
            statement: first,
        };
        for &ty in &text.registers {
            let home = decoder.home(ty);
            decoder.homes.push(home);
        }
        Ok(decoder)
    }

    fn home(&mut self, ty: Type) -> Home {
        match ty {
            Type::Pred => {
                self.out.predicates += 1;
                Home::Predicate(self.out.predicates as u32 - 1)
            }
            Type::B128 => Home::Pair(self.temporary(true), self.temporary(true)),
            _ => Home::Slot(self.temporary(ty.bytes() == 8)),
        }
    }

    /// A fresh virtual register.
    fn temporary(&mut self, wide: bool) -> Slot {
        let (class, count) = if wide {
            (Class::Wide, &mut self.out.wide_slots)
        } else {
            (Class::Narrow, &mut self.out.narrow_slots)
        };
        *count += 1;
        Slot::new(class, *count - 1)
    }

    fn temporary_predicate(&mut self) -> u32 {
        self.out.predicates += 1;
        self.out.predicates as u32 - 1
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<(), LoadError> {
        self.statement = statement;
        self.flop = Flop::default();
        self.guard = match statement.guard {
            Some((register, negated)) => Predicate {
                index: self.predicate_home(register)?,
                negated,
            },
            None => Predicate::default(),
        };
        let mut modifiers = Modifiers::new(statement);
        let base = modifiers.base();
        let before = self.out.insts.len();
        match OPCODES.binary_search_by_key(&base, |&(name, _)| name) {
            Ok(at) => OPCODES[at].1(self, &mut modifiers)?,
            Err(_) => return Err(modifiers.unsupported()),
        }
        if let Some(last) = self.out.insts[before..].last_mut() {
            last.issues = 1;
        }
        Ok(())
    }

    fn predicate_home(&self, register: RegisterId) -> Result<u32, LoadError> {
        match self.homes[register as usize] {
            Home::Predicate(index) => Ok(index),
            Home::Slot(_) | Home::Pair(..) => Err(self.malformed("a predicate register is needed")),
        }
    }

    fn malformed(&self, message: &str) -> LoadError {
        let text = format!("{message} in `{}`", self.statement.opcode);
        LoadError::malformed(self.statement.ptx_line, text)
    }

    fn unsupported(&self, what: impl Into<String>) -> LoadError {
        LoadError::Unsupported {
            opcode: what.into(),
            line: self.statement.line,
            ptx_line: self.statement.ptx_line,
        }
    }

    fn operand(&self, at: usize) -> Result<&'a Operand, LoadError> {
        self.statement
            .operands
            .get(at)
            .ok_or_else(|| self.malformed("an operand is missing"))
    }

    fn emit(&mut self, kind: Kind) {
        self.out.insts.push(Inst {
            guard: self.guard,
            flop: self.flop,
            issues: 0,
            path: 0,
            kind,
        });
        self.out.lines.push(self.statement.line);
        self.flop = Flop::default();
    }

    /// Emits a warp-wide operation; `src` holds one to three slots.
    fn lane(&mut self, run: LaneFn, dst: Slot, src: &[Slot]) {
        let at = |index: usize| src.get(index).copied().unwrap_or(src[0]);
        let operands = Operands {
            dst,
            src: [at(0), at(1), at(2)],
        };
        self.emit(Kind::Lane { run, operands });
    }

    fn special(&mut self, what: Special) -> Slot {
        let dst = self.temporary(false);
        self.emit(Kind::Special { dst, what });
        dst
    }

    /// Labels to instruction indices, joins, packed slots.
    fn finish(mut self, starts: &[u32]) -> Result<Program, LoadError> {
        let index = |label: u32| starts[self.text.labels[label as usize]];
        for inst in &mut self.out.insts {
            match &mut inst.kind {
                Kind::Branch { target, .. } => *target = index(*target),
                Kind::Table { targets, .. } => {
                    targets
                        .iter_mut()
                        .for_each(|target| *target = index(*target));
                }
                _ => {}
            }
        }
        if self.text.is_entry {
            mark_passes(&mut self.out);
        }
        let joins = join_points(&self.out.insts);
        for (inst, found) in self.out.insts.iter_mut().zip(joins) {
            if let Kind::Branch { join, .. } | Kind::Table { join, .. } = &mut inst.kind {
                *join = found;
            }
        }
        // While each value has a register of its own.
        mark_paths(&mut self.out.insts);
        if !assign_slots(&mut self.out) {
            let message = format!("`{}` is too large to be followed", self.text.name);
            return Err(LoadError::malformed(self.text.ptx_line, message));
        }
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::OPCODES;

    #[test]
    fn the_table_is_sorted_for_its_binary_search() {
        assert!(OPCODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    /// The README lists each base opcode as a row that begins with `| \`name\``.
    #[test]
    fn the_readme_lists_the_same_opcodes() {
        let readme = include_str!("../../README.md");
        let listed: Vec<&str> = readme
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .filter_map(|rest| rest.split_once('`'))
            .map(|(name, _)| name)
            .collect();
        let known: Vec<&str> = OPCODES.iter().map(|&(name, _)| name).collect();
        assert_eq!(listed, known);
    }
}
