//! A decoded function: a flat list of instructions over slots, built once, then only read.
//!
//! Invariant: every slot and predicate index in an instruction lies inside the sizes that the
//! program states, so the executor may use them unchecked; every branch target is a valid index.

mod asynchronous;
mod flow;
mod inst;
mod passes;
mod path;
mod registers;
mod tensor;

pub(crate) use asynchronous::{AsyncKind, AsyncOp, BarrierOp, PENDING_MASK, Reduction};
pub(crate) use flow::join_points;
pub(crate) use inst::*;
pub(crate) use passes::mark_passes;
pub(crate) use path::mark_paths;
pub(crate) use registers::{Role, assign_slots, visit_slots};
pub(crate) use tensor::*;

/// A constant operand: known when decoded, or an address that the launch resolves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    /// Bits, truncated to the pool's width.
    Bits(u64),
    /// Address of a variable of the module or of a function, plus bytes.
    Address {
        /// Name; a function's own variable is `function::variable`.
        symbol: String,
        /// Bytes past its start.
        addend: i64,
    },
}

/// One function, ready to run.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) insts: Vec<Inst>,
    /// Source line of each instruction.
    pub(crate) lines: Vec<Option<u32>>,
    pub(crate) narrow_slots: usize,
    pub(crate) wide_slots: usize,
    pub(crate) predicates: usize,
    /// Slots that are read before they are written on some path: zeroed at the call.
    pub(crate) undefined: Vec<Slot>,
    pub(crate) narrow_constants: Vec<Constant>,
    pub(crate) wide_constants: Vec<Constant>,
    /// Local memory of one activation, a multiple of 16.
    pub(crate) frame_bytes: u32,
    /// Offset and size in the frame of each parameter, and of each result.
    pub(crate) parameters: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
    /// Functions of the module that it calls, or whose address it can come by.
    pub(crate) callees: Vec<usize>,
    /// Whether blocks of a launch can observe each other through it (atomics, fences, volatile or
    /// ordered accesses): such launches run in one deterministic order.
    pub(crate) couples_blocks: bool,
}

impl Program {
    /// Registers of 32 bits that an activation needs.
    pub(crate) fn planes(&self) -> usize {
        self.narrow_slots + 2 * self.wide_slots
    }
}

use crate::lanes::Slot;
