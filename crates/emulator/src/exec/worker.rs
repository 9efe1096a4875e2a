//! One host thread of a launch: which block runs, which warp, which lanes of it.
//!
//! Progress is fair: a warp gives way after a slice, a diverged split after a shorter one, and,
//! where blocks can wait for one another, a block after its own, upon which one more block becomes
//! resident. Polls (volatile or ordered loads, global atomics, sleeps) use up a slice faster.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use super::block::Block;
use super::cluster::{ClusterState, Group};
use super::order::{Generator, Queue};
use super::reconverge::{Split, State, Warp};
use super::shadow::Shadow;
use super::traffic::Traffic;
use super::{Context, Limits};
use crate::checks::Order;
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind, triple};
use crate::memory::Region;
use crate::program::Kind;

const WARP_SLICE: i64 = 1 << 13;
/// Of a warp's slice, what one of several splits gets at a time.
const SPLIT_SLICE: i64 = 1 << 10;
const BLOCK_SLICE: i64 = 1 << 16;
/// What an access costs of a slice that rarely is a poll: an atomic that adds or compares.
pub(super) const ATOMIC_COST: i64 = 64;
/// What a likely poll costs: a volatile or ordered load, a compare-and-swap, an exchange, a sleep.
pub(super) const POLL_COST: i64 = 512;
/// Polls of one split after which lanes that wait for it go on alone.
const PATIENCE_POLLS: u32 = 1024;
/// Warp instructions after which a worker tells the others, so that they stop together.
const REPORT_EVERY: u64 = 1 << 16;

/// How instructions count.
const COUNTED: &str =
    "an instruction counts once for a warp, however many of its threads take part";

/// A fault before it is placed: what a lane did.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) kind: FaultKind,
    pub(super) lane: u32,
    /// Continues "thread (x,y,z) of block (x,y,z)".
    pub(super) predicate: String,
    pub(super) address: Option<u64>,
    pub(super) allocation: Option<String>,
}

impl Stop {
    pub(super) fn new(kind: FaultKind, lane: u32, predicate: String) -> Self {
        Self {
            kind,
            lane,
            predicate,
            address: None,
            allocation: None,
        }
    }
}

/// What a worker leaves behind.
pub(super) struct Results {
    pub(super) counters: Counters,
    pub(super) traffic: Traffic,
    /// Text by block.
    pub(super) printed: Vec<(u64, String)>,
    pub(super) fault: Option<(u64, Fault)>,
}

pub(super) struct Worker<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) counters: Counters,
    pub(super) traffic: Traffic,
    /// Allocation that the last global access met.
    pub(super) region: Region,
    /// Text of the block at hand.
    pub(super) output: String,
    /// Matrices of the product at hand.
    pub(super) tensor: super::tensor::Scratch,
    printed: Vec<(u64, String)>,
    printed_bytes: usize,
    /// Warp instructions that the other workers have not been told of.
    unreported: u64,
    fault: Option<(u64, Fault)>,
    /// The blocks of the cluster at hand; an empty one stands for the one that runs.
    pub(super) peers: Vec<Block>,
    pub(super) cluster: ClusterState,
    /// Storage of finished blocks.
    spare: Vec<Group>,
    /// What the launch's checks know of memory.
    pub(super) shadow: Option<Box<Shadow>>,
    /// Block and warp of the access that is being checked.
    pub(super) running: (u64, u32),
    /// Draws the order of a seeded launch.
    generator: Option<Generator>,
}

enum Visit {
    Finished,
    Yielded,
    /// No warp can go on unless another block does something.
    Waiting,
}

enum Turn {
    Finished,
    Yielded,
    Blocked,
}

impl<'a> Worker<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            counters: Counters::default(),
            traffic: Traffic::new(context.regions),
            region: Region::NONE,
            output: String::new(),
            tensor: super::tensor::Scratch::default(),
            printed: Vec::new(),
            printed_bytes: 0,
            unreported: 0,
            fault: None,
            peers: Vec::new(),
            cluster: ClusterState::default(),
            spare: Vec::new(),
            shadow: None,
            running: (0, 0),
            generator: match context.limits.order {
                Order::Index => None,
                Order::Seeded(seed) => Some(Generator::new(seed)),
            },
        }
    }

    pub(super) fn into_results(self) -> Results {
        Results {
            counters: self.counters,
            traffic: self.traffic,
            printed: self.printed,
            fault: self.fault,
        }
    }

    /// Runs all blocks, up to `window` clusters of them side by side.
    pub(super) fn run_window(&mut self, window: usize) {
        let mut resident: VecDeque<Group> = VecDeque::new();
        let ahead = self.context.limits.resident_blocks;
        let mut groups = Queue::new(self.context.groups(), ahead, self.generator.is_some());
        while self.fault.is_none() {
            let mut group = match resident.pop_front() {
                Some(group) => group,
                None => match groups.begin(self.generator.as_mut()) {
                    Some(number) => self.start(number),
                    None => return,
                },
            };
            let budget = match &mut self.generator {
                _ if window <= 1 => i64::MAX,
                Some(generator) => 1 << generator.below(17),
                None => BLOCK_SLICE,
            };
            match self.visit_group(&mut group, budget) {
                Err(fault) => self.stop(&group, fault),
                Ok(Visit::Finished) => {
                    groups.end(group.number);
                    self.finish(group);
                }
                Ok(Visit::Yielded | Visit::Waiting) => {
                    resident.push_back(group);
                    if resident.len() < window
                        && let Some(number) = groups.begin(self.generator.as_mut())
                    {
                        resident.push_front(self.start(number));
                    }
                }
            }
        }
    }

    /// Takes the next cluster that nobody runs and runs it to its end.
    pub(super) fn run_next(&mut self) {
        let number = self.context.next_group.fetch_add(1, Ordering::Relaxed);
        // They are taken in order: once one has faulted, only lower ones matter, and those are
        // running or done.
        if number >= self.context.groups()
            || number > self.context.first_fault.load(Ordering::Relaxed)
        {
            return;
        }
        let mut group = self.start(number);
        match self.visit_group(&mut group, i64::MAX) {
            Err(fault) => self.stop(&group, fault),
            Ok(_) => self.finish(group),
        }
    }

    fn start(&mut self, number: u64) -> Group {
        let context = self.context;
        let function = context.kernel.function;
        let mut group = self.spare.pop().unwrap_or_default();
        let size = context.cluster_blocks;
        group.number = number;
        group.blocks.resize_with(size as usize, Block::default);
        for (rank, block) in { 0..size }.zip(&mut group.blocks) {
            block.start(
                number * u64::from(size) + u64::from(rank),
                (context.block_of_cluster(number, rank), rank),
                context.launch.block,
                context.shared_bytes(),
                (function, context.linked.function(function)),
            );
            if let Some(shadow) = &self.shadow {
                shadow.start(block);
            }
            self.counters.blocks += 1;
            self.counters.warps += block.warps.len() as u64;
        }
        group.state = ClusterState::new(group.blocks.iter().map(|block| block.live).sum());
        group
    }

    fn finish(&mut self, group: Group) {
        self.spare.push(group);
    }

    fn set_output_aside(&mut self, block: u64) {
        if !self.output.is_empty() {
            self.printed_bytes += self.output.len();
            self.printed.push((block, std::mem::take(&mut self.output)));
        }
    }

    fn stop(&mut self, group: &Group, fault: Fault) {
        self.context
            .first_fault
            .fetch_min(group.number, Ordering::Relaxed);
        let is_first = |(number, _): &(u64, Fault)| group.number < *number;
        if self.fault.as_ref().is_none_or(is_first) {
            self.fault = Some((group.number, fault));
        }
    }

    /// Runs the blocks of a cluster until they end, wait for other clusters, or have used their
    /// slice.
    fn visit_group(&mut self, group: &mut Group, budget: i64) -> Result<Visit, Fault> {
        std::mem::swap(&mut self.peers, &mut group.blocks);
        std::mem::swap(&mut self.cluster, &mut group.state);
        let result = self.rounds(budget);
        std::mem::swap(&mut self.peers, &mut group.blocks);
        std::mem::swap(&mut self.cluster, &mut group.state);
        result
    }

    fn rounds(&mut self, mut budget: i64) -> Result<Visit, Fault> {
        let is_alone = self.peers.len() == 1;
        loop {
            let before = self.counters.warp_instructions;
            let mut has_yielded = false;
            for rank in 0..self.peers.len() {
                if self.peers[rank].live == 0 {
                    continue;
                }
                let mut left = if is_alone { budget } else { BLOCK_SLICE };
                let share = left;
                // The block stands outside while it runs; the others are its peers.
                let mut block = std::mem::take(&mut self.peers[rank]);
                let outcome = self.visit(&mut block, &mut left);
                self.set_output_aside(block.number);
                self.peers[rank] = block;
                has_yielded |= matches!(outcome?, Visit::Yielded);
                budget = budget.saturating_sub(share - left);
            }
            if self.peers.iter().all(|block| block.live == 0) {
                return Ok(Visit::Finished);
            }
            if budget <= 0 {
                return Ok(Visit::Yielded);
            }
            if !has_yielded && self.counters.warp_instructions == before {
                self.loosen()?;
            }
        }
    }

    /// Runs a block until it ends, waits for other blocks, or has used its slice.
    fn visit(&mut self, block: &mut Block, budget: &mut i64) -> Result<Visit, Fault> {
        loop {
            block.progressed = false;
            let mut yielded = false;
            let warps = block.warps.len();
            if let Some(generator) = &mut self.generator {
                block.next_warp = generator.below(warps);
            }
            for step in 0..warps {
                let at = (block.next_warp + step) % warps;
                let whole = self.warp_slice();
                let mut slice = whole;
                match self.turn(block, at, &mut slice)? {
                    Turn::Yielded => yielded = true,
                    Turn::Finished | Turn::Blocked => {}
                }
                *budget = budget.saturating_sub(whole - slice);
                if *budget <= 0 && block.live > 0 {
                    block.next_warp = (at + 1) % warps;
                    return Ok(Visit::Yielded);
                }
            }
            if block.live == 0 {
                if let Some(fault) = self.split_group(block) {
                    return Err(fault);
                }
                return Ok(Visit::Finished);
            }
            if !yielded && !block.progressed {
                return Ok(Visit::Waiting);
            }
        }
    }

    /// Instructions that a warp may run before the next one's turn.
    fn warp_slice(&mut self) -> i64 {
        match &mut self.generator {
            // As likely short as long.
            Some(generator) => 1 << generator.below(14),
            None => WARP_SLICE,
        }
    }

    /// Runs one warp for a slice.
    fn turn(&mut self, block: &mut Block, at: usize, slice: &mut i64) -> Result<Turn, Fault> {
        if block.warps[at].splits.is_empty() {
            return Ok(Turn::Finished);
        }
        self.check_limits(block, at)?;
        let mut warp = std::mem::take(&mut block.warps[at]);
        let outcome = self.advance(block, &mut warp, slice);
        self.counters
            .note_warp(warp.issued, warp.cycles, warp.waits);
        block.warps[at] = warp;
        outcome
    }

    fn advance(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        slice: &mut i64,
    ) -> Result<Turn, Fault> {
        loop {
            if warp.splits.is_empty() {
                return Ok(Turn::Finished);
            }
            if *slice <= 0 {
                return Ok(Turn::Yielded);
            }
            let Some(at) = self.pick(block, warp)? else {
                // A wait in memory ends by itself: lanes that wait for its own need not part.
                let sleeps = |split: &Split| {
                    matches!(split.state, State::Phase { .. } | State::Cluster { .. })
                };
                if !warp.splits.iter().any(sleeps) && warp.release() {
                    continue;
                }
                return Ok(Turn::Blocked);
            };
            let share = if warp.splits.len() > 1 {
                SPLIT_SLICE.min(*slice)
            } else {
                *slice
            };
            let mut left = share;
            let before = warp.issued;
            let path = (warp.cycles, warp.waits);
            let outcome = self.run(block, warp, at, &mut left);
            self.counters.warp_cycles += warp.cycles - path.0;
            self.counters.warp_waits += warp.waits - path.1;
            let issued = warp.issued - before;
            self.counters.warp_instructions += issued;
            self.unreported += issued;
            *slice -= share - left;
            outcome?;
            if left <= 0 {
                self.lose_patience(warp, at);
            }
        }
    }

    /// Frees lanes that wait for a split which polls for what they might do.
    fn lose_patience(&self, warp: &mut Warp, at: usize) {
        if let Some(split) = warp.splits.get_mut(at)
            && split.polls >= PATIENCE_POLLS
        {
            split.polls = 0;
            while warp.release() {}
        }
        warp.next = at + 1;
    }

    /// A split that can go on, from the warp's next one.
    fn pick(&mut self, block: &mut Block, warp: &mut Warp) -> Result<Option<usize>, Fault> {
        let count = warp.splits.len();
        for step in 0..count {
            let at = (warp.next + step) % count;
            let ready = match warp.splits[at].state {
                State::Ready => true,
                State::Barrier { id, generation } => {
                    let passed = block.barriers[id as usize].generation != generation;
                    if passed {
                        self.pass_barrier(block, warp, at);
                    }
                    passed
                }
                State::Phase { .. } => self.wake_placed(block, warp, at, false)?,
                State::Cluster { generation } => {
                    let passed = self.cluster.generation != generation;
                    if passed {
                        warp.splits[at].pc += 1;
                        warp.splits[at].state = State::Ready;
                    }
                    passed
                }
                State::Exchange { members } | State::SyncWarp { members } => {
                    self.meet(block, warp, at, members)?
                }
            };
            if ready {
                warp.next = at;
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn check_limits(&mut self, block: &Block, at: usize) -> Result<(), Fault> {
        if self.unreported < REPORT_EVERY {
            return Ok(());
        }
        let reported = self.report();
        if reported > self.context.limits.instruction_fuel {
            return Err(self.out_of_fuel(block, at));
        }
        Ok(())
    }

    /// Tells the other workers what this one issued; what all have told since the start.
    fn report(&mut self) -> u64 {
        let issued = std::mem::take(&mut self.unreported);
        self.context.issued.fetch_add(issued, Ordering::Relaxed) + issued
    }

    fn out_of_fuel(&self, block: &Block, at: usize) -> Fault {
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

    /// Bytes that `printf` has written in this worker.
    pub(super) fn output_bytes(&self) -> usize {
        self.printed_bytes + self.output.len()
    }

    /// The instruction that a split stands at.
    pub(super) fn instruction(&self, warp: &Warp, frame: u32, pc: u32) -> &'a Kind {
        let function = self.context.linked.function(warp.frame(frame).function);
        &function.program.insts[pc as usize].kind
    }
}

/// The fault of a launch that printed too much.
/// A launch that ended before a worker saw that all of them together had issued too much.
pub(super) fn launch_out_of_fuel(counters: &Counters, limits: &Limits) -> Fault {
    let Limits {
        instruction_fuel, ..
    } = limits;
    let issued = counters.warp_instructions;
    let message = format!(
        "the launch issued {issued} warp instructions and may issue {instruction_fuel} ({COUNTED})"
    );
    Fault::of_launch(FaultKind::InstructionFuel, message)
}

pub(super) fn output_limit(limit: usize, mut text: String) -> Fault {
    let message = format!("printf wrote more than {limit} bytes");
    text.truncate(super::floor_boundary(&text, limit));
    Fault {
        output: text,
        ..Fault::of_launch(FaultKind::OutputLimit, message)
    }
}
