//! Faults placed: thread, block and source line of what a lane did, and the limits of a whole launch.

use super::Limits;
use super::block::Block;
use super::reconverge::{Split, Warp};
use super::worker::{Stop, Worker};
use crate::fault::{Fault, FaultKind, triple};
use crate::program::Kind;

/// How instructions count.
const COUNTED: &str =
    "an instruction counts once for a warp, however many of its threads take part";

impl<'a> Worker<'a> {
    pub(super) fn out_of_fuel(&self, block: &Block, at: usize) -> Fault {
        let warp = &block.warps[at];
        let limit = self.context.limits.instruction_fuel;
        let split = warp.splits[0];
        let lane = split.mask.trailing_zeros();
        let stop = Stop::new(
            FaultKind::InstructionFuel,
            lane,
            format!("is still running after {limit} warp instructions of the launch ({COUNTED})"),
        );
        self.place(block, warp, split.frame, split.pc, stop)
    }

    /// A fault with its thread, block and line.
    pub(super) fn place(
        &self,
        block: &Block,
        warp: &Warp,
        frame: u32,
        pc: u32,
        stop: Stop,
    ) -> Fault {
        let thread = self.thread_index(warp, stop.lane);
        let function = self.context.linked.function(warp.frame(frame).function);
        Fault {
            kind: stop.kind,
            message: format!(
                "thread {} of block {} {}",
                triple(thread),
                triple(block.index),
                stop.predicate
            ),
            line: function.program.lines.get(pc as usize).copied().flatten(),
            block: block.index,
            thread,
            address: stop.address,
            allocation: stop.allocation,
            output: String::new(),
        }
    }

    /// Index of a lane's thread in its block.
    pub(super) fn thread_index(&self, warp: &Warp, lane: u32) -> [u32; 3] {
        self.index_of_thread(warp.first_thread + lane)
    }

    /// Source line of the instruction that a split stands at; 0 when unknown.
    pub(super) fn line_of(&self, warp: &Warp, split: &Split) -> u16 {
        self.line_at(warp.frame(split.frame).function, split.pc)
    }

    /// The same of an instruction of a function.
    pub(super) fn line_at(&self, function: usize, pc: u32) -> u16 {
        let lines = &self.context.linked.function(function).program.lines;
        let line = lines.get(pc as usize).copied().flatten();
        line.map_or(0, |line| u16::try_from(line).unwrap_or(0))
    }

    /// Index of a thread by its number in the block.
    pub(super) fn index_of_thread(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.context.launch.block;
        [thread % x, thread / x % y, thread / (x * y)]
    }

    /// The instruction that a split stands at.
    pub(super) fn instruction(&self, warp: &Warp, frame: u32, pc: u32) -> &'a Kind {
        let function = self.context.linked.function(warp.frame(frame).function);
        &function.program.insts[pc as usize].kind
    }
}

/// A launch that ended before a worker saw that all of them together had issued too much.
pub(super) fn launch_out_of_fuel(issued: u64, limits: &Limits) -> Fault {
    let Limits {
        instruction_fuel, ..
    } = limits;
    let message = format!(
        "the launch issued {issued} warp instructions and may issue {instruction_fuel} ({COUNTED})"
    );
    Fault::of_launch(FaultKind::InstructionFuel, message)
}

/// The fault of a launch that printed too much.
pub(super) fn output_limit(limit: usize, mut text: String) -> Fault {
    let message = format!("printf wrote more than {limit} bytes");
    text.truncate(super::gather::floor_boundary(&text, limit));
    Fault {
        output: text,
        ..Fault::of_launch(FaultKind::OutputLimit, message)
    }
}
