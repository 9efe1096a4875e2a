//! What the checks know of memory beyond its contents: which bytes hold a value, who touched them
//! last, and which registers hold what nobody wrote.
//!
//! Invariant: an access is observed before it is performed and before its bounds are checked; lanes
//! outside every allocation are left to that check. Only launches with [`crate::Checks`] have a
//! shadow, and they run on one host thread. [`touches`] names the part of every instruction: a launch
//! that reaches one whose accesses are not observed has no shadow.

mod clocks;
mod copy;
mod matrix;
mod observe;
mod plain;
mod race;
mod report;
mod taint;
mod touch;
mod values;

use crate::byte_set::ByteSet;
use crate::checks::{Checks, Footprint};
use crate::exec::block::Block;
use crate::exec::reconverge::Warp;
use crate::exec::worker::Worker;
use crate::memory::{Contents, Memory};
use crate::program::{AsyncKind, Kind, Tensor};
use clocks::{Clocks, Times};
use taint::Taint;
use touch::{Pages, Reads, Written};

/// What fills shared memory that nobody wrote: not a number in every floating-point format.
pub(super) const SHARED_FILL: u64 = u64::MAX;

/// How an instruction concerns the shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touches {
    /// Its accesses, if it has any, are observed.
    Observed,
    /// It accesses global or shared memory unseen.
    Unseen,
}

/// Every kind of instruction has its line here, so that none is forgotten.
pub(super) fn touches(kind: &Kind) -> Touches {
    match kind {
        // Registers and control.
        Kind::Lane { .. }
        | Kind::Compare(_)
        | Kind::Select { .. }
        | Kind::Logic { .. }
        | Kind::Carry(_)
        | Kind::Special { .. }
        | Kind::Branch { .. }
        | Kind::Table { .. }
        | Kind::Call(_)
        | Kind::Builtin(_)
        | Kind::Return
        | Kind::Exit
        | Kind::Trap
        | Kind::Passes(_)
        | Kind::Sleep => Touches::Observed,
        // Memory, and what orders it.
        Kind::Load(_)
        | Kind::Store(_)
        | Kind::Atomic(_)
        | Kind::Barrier(_)
        | Kind::Fence
        | Kind::SyncWarp { .. }
        | Kind::Shuffle(_)
        | Kind::Vote { .. }
        | Kind::Match { .. }
        | Kind::Reduce { .. }
        | Kind::Elect { .. } => Touches::Observed,
        Kind::CallAddress(_) => Touches::Observed,
        Kind::Tensor(tensor) => match tensor {
            Tensor::Meet
            | Tensor::Address(_)
            | Tensor::Transpose { .. }
            | Tensor::Rows(_)
            | Tensor::Product(_) => Touches::Observed,
            Tensor::Group(_) => Touches::Unseen,
        },
        Kind::Async(what) => touches_later(&what.kind),
    }
}

fn touches_later(kind: &AsyncKind) -> Touches {
    match kind {
        AsyncKind::Barrier { .. }
        | AsyncKind::Copy { .. }
        | AsyncKind::CommitCopies
        | AsyncKind::WaitCopies { .. }
        | AsyncKind::CommitBulk
        | AsyncKind::WaitBulk { .. } => Touches::Observed,
        // What the heap holds is not watched.
        AsyncKind::Allocate { .. } | AsyncKind::Free { .. } => Touches::Observed,
        AsyncKind::CopiesArrive { .. }
        | AsyncKind::BulkLoad { .. }
        | AsyncKind::BulkStore { .. }
        | AsyncKind::TensorLoad { .. }
        | AsyncKind::TensorStore { .. }
        | AsyncKind::Store { .. }
        | AsyncKind::Reduce { .. }
        | AsyncKind::ClusterArrive
        | AsyncKind::ClusterWait => Touches::Unseen,
    }
}

/// A launch's shadow.
#[derive(Debug)]
pub(super) struct Shadow {
    checks: Checks,
    contents: Vec<Contents>,
    /// Bytes of each allocation that were read, and written.
    touched: Vec<[Option<ByteSet>; 2]>,
    written: Pages<Written>,
    read: Pages<Reads>,
    times: Times,
}

/// What belongs to one block.
#[derive(Debug, Default)]
pub(super) struct BlockShadow {
    clocks: Clocks,
    /// Bytes of shared memory that hold a value.
    defined: ByteSet,
    written: Vec<Written>,
    read: Vec<Reads>,
    taint: Vec<Taint>,
}

impl Shadow {
    pub(super) fn new(checks: Checks, contents: Vec<Contents>) -> Self {
        let allocations = contents.len();
        Self {
            checks,
            contents,
            touched: (0..allocations).map(|_| [None, None]).collect(),
            written: Pages::default(),
            read: Pages::default(),
            times: Times::default(),
        }
    }

    /// What was touched of each allocation, and what each holds now.
    pub(super) fn into_parts(self, memory: &Memory) -> (Vec<Footprint>, Vec<Contents>) {
        let count = |set: &Option<ByteSet>| set.as_ref().map_or(0, ByteSet::count);
        let footprints = self.touched.iter().enumerate().filter_map(|(at, sets)| {
            let [read_bytes, written_bytes] = [count(&sets[0]), count(&sets[1])];
            let (allocation, address, bytes) = memory.described(at)?;
            (read_bytes + written_bytes > 0).then(|| Footprint {
                allocation: allocation.to_owned(),
                address,
                bytes,
                read_bytes,
                written_bytes,
            })
        });
        (footprints.collect(), self.contents)
    }

    fn defined(&self, allocation: u32) -> Option<&ByteSet> {
        self.contents[allocation as usize].defined.as_ref()
    }

    fn defined_mut(&mut self, allocation: u32) -> Option<&mut ByteSet> {
        self.contents[allocation as usize].defined.as_mut()
    }

    /// Whether what is stored there leaves the device.
    fn is_result(&self, spot: report::Spot) -> bool {
        spot.allocation
            .is_some_and(|at| self.contents[at as usize].is_result)
    }

    /// A block begins, with `bytes` of shared memory.
    pub(super) fn start(&self, block: &mut Block) {
        let mut own = block.shadow.take().unwrap_or_default();
        let words = block.shared.len() * 2;
        own.clocks.start(block.number as u32, block.warps.len());
        own.defined.reset(8 * block.shared.len() as u64);
        if self.checks.races {
            // Cells of an earlier block are told by its number.
            own.written.resize(words, Written::default());
            own.read.resize(words, Reads::default());
        }
        own.taint.clear();
        own.taint.resize_with(block.warps.len(), Taint::default);
        if self.checks.undefined_values {
            block.shared.fill(SHARED_FILL);
        }
        block.shadow = Some(own);
    }
}

impl Worker<'_> {
    /// No byte of an allocation.
    fn empty_set(&self, allocation: u32) -> ByteSet {
        let described = self.context.memory.described(allocation as usize);
        ByteSet::empty(described.map_or(0, |(_, _, bytes)| bytes))
    }

    /// Something orders a warp with others of its block.
    fn with_clocks(&mut self, block: &mut Block, act: impl FnOnce(&mut Clocks, &mut Times)) {
        if let (Some(shadow), Some(own)) = (&mut self.shadow, &mut block.shadow) {
            act(&mut own.clocks, &mut shadow.times);
        }
    }

    pub(super) fn note_arrival(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        id: u32,
        generation: u32,
    ) {
        let warp = warp.first_thread / 32;
        self.with_clocks(block, |clocks, times| {
            clocks.arrive(times, warp, id, generation);
        });
    }

    /// `is_whole`: the barrier waits for all threads that have not exited.
    pub(super) fn note_passing(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        id: u32,
        generation: u32,
        is_whole: bool,
    ) {
        let warp = warp.first_thread / 32;
        self.with_clocks(block, |clocks, times| {
            clocks.pass(times, warp, id, generation, is_whole);
        });
    }

    pub(super) fn note_meeting(&mut self, block: &mut Block, warp: &Warp, members: u32) {
        let (number, alive) = (warp.first_thread / 32, warp.alive);
        self.with_clocks(block, |clocks, times| {
            clocks.meet(times, number, members, alive);
        });
    }

    pub(super) fn note_fence(&mut self, block: &mut Block, warp: &Warp) {
        let warp = warp.first_thread / 32;
        self.with_clocks(block, |clocks, times| {
            clocks.fence(times, warp);
        });
    }

    pub(super) fn note_exit(&mut self, block: &mut Block, warp: &Warp) {
        let warp = warp.first_thread / 32;
        let generations = block.barriers.map(|barrier| barrier.generation);
        self.with_clocks(block, |clocks, times| {
            clocks.exit(times, warp, generations.into_iter());
        });
    }
}
