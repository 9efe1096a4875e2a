//! A warp's lanes when they go different ways, and where they meet again.
//!
//! A warp is a set of splits: lanes at one instruction. A divergent branch makes two splits and a
//! node at the branch's immediate post-dominator, at which they wait for one another; a call makes
//! a node at its return. Each lane of a split stands in `waiting` of the split's node and of every
//! node above it, until it arrives there or exits.

use std::hash::{Hash, Hasher};

use crate::lanes::{Class, LANES, Slot, View};

use super::bulk_stores::BulkStores;
use super::copies::Copies;
use super::link::Function;
use super::local::Local;

/// Activations of a warp whose registers are kept for the next call.
pub(super) const KEPT_FRAMES: usize = 8;

/// No node.
pub(super) const ROOT: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) frame: u32,
    pub(super) node: u32,
    pub(super) state: State,
    /// Polls (volatile or ordered loads, atomics, sleeps) since lanes were last released.
    pub(super) polls: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits until the barrier's generation changes.
    Barrier {
        id: u32,
        generation: u32,
    },
    /// Waits until a phase of a barrier in the block's shared memory is over.
    Phase {
        offset: u32,
        parity: bool,
    },
    /// Waits until the generation of the cluster's barrier changes.
    Cluster {
        generation: u32,
    },
    /// Waits for other lanes at the same exchange.
    Exchange {
        members: u32,
    },
    /// Waits for other lanes at any warp barrier.
    SyncWarp {
        members: u32,
    },
}

#[derive(Debug, Clone, Copy)]
struct Node {
    pc: u32,
    /// Lanes on their way.
    waiting: u32,
    /// Lanes that arrived and wait.
    arrived: u32,
    parent: u32,
    /// Frame in which the lanes go on.
    frame: u32,
    /// Frame of the call that ends here.
    callee: Option<u32>,
    in_use: bool,
}

/// Registers of one activation, shared by the lanes that called together.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) function: usize,
    /// Narrow slots, then wide ones.
    planes: Vec<Plane>,
    predicates: Vec<u32>,
    /// Start of its part of local memory.
    pub(super) local_base: u32,
    /// Of a thread's stack, what the activation and those below it take.
    pub(super) stack_bytes: u32,
    cost_bytes: u32,
    in_use: bool,
}

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Plane([u32; LANES]);

#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) splits: Vec<Split>,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    /// Indices of nodes and frames that are not in use.
    free_nodes: Vec<u32>,
    free_frames: Vec<u32>,
    /// What the host keeps for the activations of the functions that were called.
    pub(super) stack_bytes: u64,
    pub(super) local: Local,
    /// Lanes that have not exited.
    pub(super) alive: u32,
    /// Number in the block of its first thread.
    pub(super) first_thread: u32,
    pub(super) issued: u64,
    /// Its path so far: cycles, and waits for global memory.
    pub(super) cycles: u64,
    pub(super) waits: u64,
    /// The `wgmma`s that it ran.
    pub(super) group_trace: super::tensor::Trace,
    /// Copies that its threads have under way.
    pub(super) copies: Copies,
    pub(super) bulk: BulkStores,
    /// Generation of the cluster's barrier at which each lane arrived and did not wait yet.
    pub(super) cluster_arrivals: [Option<u32>; LANES],
    /// Some register holds a value that nobody wrote, as the launch's checks see it.
    pub(super) tainted: bool,
    /// Split to look at first.
    pub(super) next: usize,
    /// `%tid` of each lane, along x, y and z; the same for every block of a launch.
    pub(super) threads: Option<Box<[[u32; LANES]; 3]>>,
}

impl Warp {
    /// Begins a kernel with `lanes` threads.
    pub(super) fn start(
        &mut self,
        first_thread: u32,
        lanes: u32,
        function: usize,
        code: &Function<'_>,
    ) {
        self.splits.clear();
        self.nodes.clear();
        self.free_nodes.clear();
        for frame in &mut self.frames {
            frame.in_use = false;
        }
        self.free_frames = (0..self.frames.len() as u32).rev().collect();
        self.stack_bytes = 0;
        self.local.clear();
        if self.local.exceeds(code.program.frame_bytes) {
            self.local.shrink(code.program.frame_bytes);
        }
        self.alive = if lanes >= 32 {
            u32::MAX
        } else {
            (1 << lanes) - 1
        };
        self.first_thread = first_thread;
        self.issued = 0;
        (self.cycles, self.waits) = (0, 0);
        self.group_trace = super::tensor::Trace::default();
        self.copies.clear();
        self.bulk.clear();
        self.cluster_arrivals = [None; LANES];
        self.tainted = false;
        self.next = 0;
        // The kernel's registers are no part of its stack.
        let frame = self.enter(function, code, 0, (0, code.program.frame_bytes));
        self.splits.push(Split {
            pc: 0,
            mask: self.alive,
            frame,
            node: ROOT,
            state: State::Ready,
            polls: 0,
        });
    }

    /// Takes over what the inner loop has counted: instructions, and a packed path.
    #[inline(always)]
    pub(super) fn advance(&mut self, issued: &mut u64, path: &mut u64) {
        self.issued += std::mem::take(issued);
        let path = std::mem::take(path);
        self.cycles += path & 0xffff_ffff;
        self.waits += path >> 32;
    }

    /// A frame for one activation of a function, above a stack of so many bytes a thread.
    pub(super) fn enter(
        &mut self,
        function: usize,
        code: &Function<'_>,
        local_base: u32,
        (below_bytes, cost_bytes): (u32, u32),
    ) -> u32 {
        let program = code.program;
        let index = self.free_frames.pop().unwrap_or_else(|| {
            self.frames.push(Frame::default());
            self.frames.len() as u32 - 1
        }) as usize;
        let frame = &mut self.frames[index];
        frame.function = function;
        frame.local_base = local_base;
        frame.in_use = true;
        frame.cost_bytes = cost_bytes;
        frame.stack_bytes = below_bytes + cost_bytes;
        let planes = program.planes();
        if frame.planes.len() < planes {
            frame.planes.resize(planes, Plane([0; LANES]));
        }
        frame.predicates.clear();
        frame.predicates.resize(program.predicates, 0);
        frame.predicates[0] = u32::MAX;
        for &slot in &program.undefined {
            let (first, count) = match slot.class() {
                Class::Wide => (program.narrow_slots + 2 * slot.index(), 2),
                _ => (slot.index(), 1),
            };
            frame.planes[first..first + count].fill(Plane([0; LANES]));
        }
        self.local.grow(local_base + program.frame_bytes);
        index as u32
    }

    /// A call is over.
    fn leave_frame(&mut self, index: u32) {
        let frame = &mut self.frames[index as usize];
        frame.in_use = false;
        self.stack_bytes -= LANES as u64 * u64::from(frame.cost_bytes);
        if index as usize >= KEPT_FRAMES {
            frame.planes = Vec::new();
        }
        self.free_frames.push(index);
    }

    /// Gives back local memory that deep calls have left behind.
    pub(super) fn trim(&mut self) {
        if !self.local.exceeds(0) {
            return;
        }
        let in_use = self.frames.iter().filter(|frame| frame.in_use);
        let top = in_use.map(|frame| frame.stack_bytes).max().unwrap_or(0);
        if self.local.exceeds(2 * top) {
            self.local.shrink(top);
        }
    }

    /// Places and registers of the lanes that have not exited.
    pub(super) fn hash_state(&self, hasher: &mut impl Hasher) {
        for split in &self.splits {
            (split.pc, split.mask, split.frame).hash(hasher);
        }
        for frame in self.frames.iter().filter(|frame| frame.in_use) {
            frame.predicates.hash(hasher);
            frame.planes.iter().for_each(|plane| plane.0.hash(hasher));
        }
    }

    pub(super) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    /// Pointers to a frame's registers and its function's constants. They stay valid until the
    /// next call, which may move the frames' list but not the registers themselves.
    pub(super) fn view(&mut self, frame: u32, code: &Function<'_>) -> View {
        let frame = &mut self.frames[frame as usize];
        let planes: *mut Plane = frame.planes.as_mut_ptr();
        View {
            bases: [
                planes.cast(),
                planes.wrapping_add(code.program.narrow_slots).cast(),
                code.narrow.as_ptr().cast_mut().cast(),
                code.wide.as_ptr().cast_mut().cast(),
            ],
            predicates: frame.predicates.as_mut_ptr(),
        }
    }

    /// Where the split's lanes wait for others, or an index that no instruction has.
    pub(super) fn join_of(&self, node: u32) -> u32 {
        match self.nodes.get(node as usize) {
            Some(node) if node.callee.is_none() => node.pc,
            _ => u32::MAX,
        }
    }

    /// The node at which lanes that part at a branch meet: a new one, unless the split's own is it.
    pub(super) fn meet_at(&mut self, split: &Split, join: u32) -> u32 {
        if join == crate::program::NO_JOIN || self.join_of(split.node) == join {
            return split.node;
        }
        self.add_node(Node {
            pc: join,
            waiting: split.mask,
            arrived: 0,
            parent: split.node,
            frame: split.frame,
            callee: None,
            in_use: true,
        })
    }

    /// The node at which a call returns.
    pub(super) fn return_at(&mut self, caller: &Split, mask: u32, pc: u32, callee: u32) -> u32 {
        self.add_node(Node {
            pc,
            waiting: mask,
            arrived: 0,
            parent: caller.node,
            frame: caller.frame,
            callee: Some(callee),
            in_use: true,
        })
    }

    fn add_node(&mut self, node: Node) -> u32 {
        match self.free_nodes.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// The split reached its node: it waits there, or all go on.
    pub(super) fn arrive(&mut self, at: usize) {
        let split = self.splits.swap_remove(at);
        self.arrive_lanes(split.node, split.mask);
    }

    fn arrive_lanes(&mut self, index: u32, mask: u32) {
        let node = &mut self.nodes[index as usize];
        node.waiting &= !mask;
        node.arrived |= mask;
        self.settle(index);
    }

    /// Lets a node's lanes go on when nobody else is on the way.
    fn settle(&mut self, index: u32) {
        let node = self.nodes[index as usize];
        if !node.in_use || node.waiting != 0 {
            return;
        }
        self.nodes[index as usize].in_use = false;
        self.free_nodes.push(index);
        if let Some(callee) = node.callee {
            self.leave_frame(callee);
        }
        if node.arrived != 0 {
            self.resume(&node);
        }
    }

    fn resume(&mut self, node: &Node) {
        self.splits.push(Split {
            pc: node.pc,
            mask: node.arrived,
            frame: node.frame,
            node: node.parent,
            state: State::Ready,
            polls: 0,
        });
    }

    /// Lanes of a split return from their call: they leave the nodes inside it and arrive at the
    /// call's own. Gives the frame that they return to, for the results.
    pub(super) fn leave_call(&mut self, mut index: u32, mask: u32) {
        while self.nodes[index as usize].callee.is_none() {
            let parent = self.nodes[index as usize].parent;
            self.nodes[index as usize].waiting &= !mask;
            self.settle(index);
            index = parent;
        }
        self.arrive_lanes(index, mask);
    }

    /// The caller's frame of the innermost call around a node.
    pub(super) fn caller_frame(&self, mut index: u32) -> u32 {
        while self.nodes[index as usize].callee.is_none() {
            index = self.nodes[index as usize].parent;
        }
        self.nodes[index as usize].frame
    }

    /// Address of the call instruction of the innermost call around a node.
    pub(super) fn call_site(&self, mut index: u32) -> u32 {
        while self.nodes[index as usize].callee.is_none() {
            index = self.nodes[index as usize].parent;
        }
        self.nodes[index as usize].pc - 1
    }

    /// Lanes end; whoever waited only for them goes on.
    pub(super) fn exit(&mut self, mask: u32) {
        self.alive &= !mask;
        for index in 0..self.nodes.len() {
            if self.nodes[index].in_use {
                self.nodes[index].waiting &= !mask;
                self.settle(index as u32);
            }
        }
    }

    /// Lets lanes that wait at a node go on without the others. Whether there were any.
    pub(super) fn release(&mut self) -> bool {
        let found = (0..self.nodes.len())
            .rev()
            .find(|&index| self.nodes[index].in_use && self.nodes[index].arrived != 0);
        let Some(index) = found else { return false };
        let node = self.nodes[index];
        self.nodes[index].arrived = 0;
        self.resume(&node);
        true
    }

    /// The other lanes that wait at the barrier `id`, at another instruction than `pc`.
    pub(super) fn other_waiter(
        &self,
        id: u32,
        generation: u32,
        pc: u32,
        frame: u32,
    ) -> Option<Split> {
        let waits = State::Barrier { id, generation };
        let elsewhere = |split: &&Split| {
            split.state == waits
                && (split.pc != pc
                    || self.frame(split.frame).function != self.frame(frame).function)
        };
        self.splits.iter().find(elsewhere).copied()
    }
}

/// A register's value in one lane, for the few places that need it.
///
/// # Safety
/// As for [`View::plane`].
#[allow(unsafe_code)]
pub(super) unsafe fn lane_value(view: &View, slot: Slot, lane: usize) -> u64 {
    // SAFETY: the caller's promise; the class gives the width.
    unsafe {
        if slot.class().is_wide() {
            (*view.plane::<u64>(slot))[lane]
        } else {
            u64::from((*view.plane::<u32>(slot))[lane])
        }
    }
}
