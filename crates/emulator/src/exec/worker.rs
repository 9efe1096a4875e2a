//! One host thread of a launch: which blocks it runs, side by side or one after the other, and what
//! it leaves.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use super::Context;
use super::block::Block;
use super::cluster::{ClusterState, Group};
use super::order::{Generator, Queue};
use super::shadow::Shadow;
use super::traffic::Traffic;
use super::turns::{BLOCK_SLICE, Visit};
use crate::checks::Order;
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind};
use crate::memory::Region;

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
    /// What moving data at once cost beyond its instructions.
    pub(super) work: u64,
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
    /// Of these, what counts against the limit of those that are running: only their own, unless
    /// they run side by side.
    shared_bytes_printed: usize,
    /// Cost of data that was moved at once, in warp instructions.
    pub(super) work: u64,
    /// Warp instructions and work that the other workers have not been told of.
    pub(super) unreported: u64,
    /// What the host keeps for the activations of functions, of all blocks side by side.
    pub(super) stack_bytes: u64,
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
    pub(super) generator: Option<Generator>,
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
            shared_bytes_printed: 0,
            work: 0,
            unreported: 0,
            stack_bytes: 0,
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
            work: self.work,
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
        while self.fault.is_none() && !self.has_printed_too_much() {
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

    /// Takes the next cluster that nobody runs and runs it to its end. Whether there was one.
    pub(super) fn run_next(&mut self) -> bool {
        let number = self.context.next_group.fetch_add(1, Ordering::Relaxed);
        // They are taken in order: once one has faulted, only lower ones matter, and those are
        // running or done.
        if number >= self.context.groups()
            || number > self.context.first_fault.load(Ordering::Relaxed)
        {
            return false;
        }
        let mut group = self.start(number);
        match self.visit_group(&mut group, i64::MAX) {
            Err(fault) => self.stop(&group, fault),
            Ok(_) => self.finish(group),
        }
        if self.has_printed_too_much() {
            // Whoever comes later is never shown.
            self.context
                .first_fault
                .fetch_min(number, Ordering::Relaxed);
        }
        true
    }

    /// Whether this worker's blocks alone wrote more than the launch may. Which block was the first to
    /// exceed it is seen when the texts of all workers lie side by side.
    fn has_printed_too_much(&self) -> bool {
        self.printed_bytes > self.context.limits.output_bytes
    }

    fn start(&mut self, number: u64) -> Group {
        let context = self.context;
        let function = context.kernel.function;
        let mut group = self.spare.pop().unwrap_or_default();
        let size = context.cluster_blocks;
        group.number = number;
        if !self.context.runs_side_by_side() {
            self.shared_bytes_printed = 0;
        }
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

    pub(super) fn set_output_aside(&mut self, block: u64) {
        if !self.output.is_empty() {
            self.printed_bytes += self.output.len();
            self.shared_bytes_printed += self.output.len();
            self.printed.push((block, std::mem::take(&mut self.output)));
        }
    }

    /// Ends the launch, whatever the blocks did.
    pub(super) fn fail(&mut self, fault: Fault) {
        self.context.first_fault.store(0, Ordering::Relaxed);
        self.fault = Some((0, fault));
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

    /// Bytes that `printf` may still write in the blocks that are running.
    pub(super) fn output_left(&self) -> usize {
        let limit = self.context.limits.output_bytes;
        limit.saturating_sub(self.shared_bytes_printed + self.output.len())
    }
}
