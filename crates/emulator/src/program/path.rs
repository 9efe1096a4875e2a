//! How long one warp needs at least: the chain of results that wait for one another.
//!
//! A stretch of instructions ends where a block of the control-flow graph does, and at barriers,
//! fences, calls and waits, over which the compiler moves nothing. A short block that a branch jumps over
//! ends none: the compiler puts its instructions under a guard. Within a stretch loads are issued as
//! early as their addresses are known, though not before a store of the same space which might change what
//! they read. So what counts is the longest chain, not the sum: two loads whose results are added wait once.
//! The last instruction of a stretch carries all of it, so that running it adds the stretch to the warp's
//! path.
//!
//! Latencies are those of compute capability 9.0, in cycles, rounded from published
//! micro-benchmarks. Waits for global memory are counted apart: how long one takes depends on what the
//! caches hold.

use std::collections::{HashMap, HashSet};

use super::flow::Graph;
use super::{
    AddressSpace, AsyncKind, BarrierMode, BarrierOp, Inst, Kind, Pipe, Predicate, Role, Tensor,
    visit_slots,
};
use crate::lanes::{Class, Slot};

const ARITHMETIC: u32 = 4;
const DOUBLE: u32 = 8;
const SPECIAL: u32 = 20;
const SHARED: u32 = 29;
const SHARED_ATOMIC: u32 = 60;
/// Out of the L1 cache, where local memory is.
const LOCAL: u32 = 40;
const EXCHANGE: u32 = 24;
const BARRIER: u32 = 20;
const FENCE: u32 = 40;
const CALL: u32 = 20;
const MATRIX_LOAD: u32 = 33;
const MATRIX: u32 = 33;

/// Cycles of a chain, and the loads of global memory in it that come one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Path {
    pub(crate) cycles: u32,
    pub(crate) waits: u32,
}

impl Path {
    /// Both in one word, so that the inner loop adds once. Paths of less than 2^32 cycles add up without a
    /// carry between the two.
    pub(crate) fn packed(self) -> u64 {
        u64::from(self.waits) << 32 | u64::from(self.cycles)
    }

    fn longer(self, other: Self) -> Self {
        Self {
            cycles: self.cycles.max(other.cycles),
            waits: self.waits.max(other.waits),
        }
    }

    fn then(self, cycles: u32, waits: u32) -> Self {
        Self {
            cycles: self.cycles + cycles,
            waits: self.waits + waits,
        }
    }
}

/// Gives the last instruction of each stretch its path.
pub(crate) fn mark_paths(insts: &mut [Inst]) {
    let graph = Graph::new(insts);
    let guarded = guarded_blocks(&graph);
    let mut stretch = Stretch::default();
    for (block, &(start, end)) in graph.blocks.iter().enumerate() {
        // What begins after a guarded block is its other side as well.
        let goes_on = guarded.contains(&block) || guarded.contains(&(block + 1));
        for (at, inst) in insts.iter_mut().enumerate().take(end).skip(start) {
            stretch.take(inst);
            if at + 1 == end && !goes_on || ends_stretch(&inst.kind) {
                inst.path = stretch.total().packed();
                stretch = Stretch::default();
            }
        }
        stretch.control = match (guarded.contains(&(block + 1)), &insts[end - 1]) {
            (true, branch) => stretch.at(Register::Predicate(branch.guard.index)),
            (false, _) => Path::default(),
        };
    }
}

/// Instructions that the compiler rather guards than jumps over.
const MOST_GUARDED: usize = 16;

/// Short blocks that only the branch before them goes around.
fn guarded_blocks(graph: &Graph) -> HashSet<usize> {
    let mut entries = vec![0; graph.blocks.len()];
    for &next in graph.successors.iter().flatten() {
        entries[next] += 1;
    }
    let is_guarded = |&block: &usize| {
        let (start, end) = graph.blocks[block];
        let [before, after] = [block - 1, block + 1];
        let mut ways = graph.successors[before].clone();
        ways.sort_unstable();
        end - start <= MOST_GUARDED
            && ways == [block, after]
            && graph.successors[block] == [after]
            && (entries[block], entries[after]) == (1, 2)
    };
    (1..graph.blocks.len().max(1) - 1)
        .filter(is_guarded)
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Register {
    Slot(u32),
    Predicate(u32),
}

/// When each register is ready, from the stretch's start.
#[derive(Default)]
struct Stretch {
    ready: HashMap<Register, Path>,
    /// The last store of global and of shared memory.
    stored: [Path; 2],
    /// The guard of the block at hand.
    control: Path,
    longest: Path,
    issued: u32,
}

impl Stretch {
    fn take(&mut self, inst: &Inst) {
        let mut begin = self.control;
        let mut written = Vec::new();
        visit_slots(inst, &mut |slot: Slot, role| match (slot.class(), role) {
            (Class::NarrowConst | Class::WideConst, _) => {}
            (_, Role::Read) => begin = begin.longer(self.at(Register::Slot(slot.0))),
            (_, Role::Write) => written.push(Register::Slot(slot.0)),
        });
        let (read, set) = predicates(&inst.kind);
        for predicate in read.into_iter().chain([inst.guard]) {
            begin = begin.longer(self.at(Register::Predicate(predicate.index)));
        }
        // Predicate 0 is the constant true.
        let set = set.into_iter().filter(|&index| index != 0);
        written.extend(set.map(Register::Predicate));
        begin = begin.longer(self.memory_order(&inst.kind, begin));
        let (cycles, waits) = latency(inst);
        let end = begin.then(cycles, waits);
        for register in written {
            // A guarded instruction leaves what was there in the other lanes.
            let before = if inst.guard.index == 0 {
                Path::default()
            } else {
                self.at(register)
            };
            self.ready.insert(register, end.longer(before));
        }
        self.longest = self.longest.longer(end);
        self.issued += inst.issues;
    }

    /// When the stores are done that an access must come after. A store is told.
    fn memory_order(&mut self, kind: &Kind, begin: Path) -> Path {
        let side = |space: AddressSpace| match space {
            AddressSpace::Global | AddressSpace::Generic => Some(0),
            AddressSpace::Shared | AddressSpace::Cluster => Some(1),
            AddressSpace::Local | AddressSpace::Parameter => None,
        };
        match kind {
            Kind::Load(access) if !access.unchanging => {
                side(access.space).map_or(begin, |side| self.stored[side])
            }
            Kind::Store(access) => {
                if let Some(side) = side(access.space) {
                    self.stored[side] = self.stored[side].longer(begin);
                }
                begin
            }
            _ => begin,
        }
    }

    fn at(&self, register: Register) -> Path {
        self.ready.get(&register).copied().unwrap_or_default()
    }

    /// A warp issues one instruction a cycle at most.
    fn total(&self) -> Path {
        Path {
            cycles: self.longest.cycles.max(self.issued),
            ..self.longest
        }
    }
}

fn ends_stretch(kind: &Kind) -> bool {
    match kind {
        Kind::Barrier(_)
        | Kind::Fence
        | Kind::SyncWarp { .. }
        | Kind::Call(_)
        | Kind::CallAddress(_)
        | Kind::Builtin(_)
        | Kind::Atomic(_) => true,
        Kind::Load(access) => access.strong,
        Kind::Async(what) => !matches!(what.kind, AsyncKind::Copy { .. }),
        _ => false,
    }
}

/// Cycles until the result is there, and waits for global memory.
fn latency(inst: &Inst) -> (u32, u32) {
    let of_space = |space: AddressSpace| match space {
        AddressSpace::Shared | AddressSpace::Cluster => (SHARED, 0),
        AddressSpace::Local => (LOCAL, 0),
        AddressSpace::Parameter => (ARITHMETIC, 0),
        AddressSpace::Global | AddressSpace::Generic => (0, 1),
    };
    match &inst.kind {
        Kind::Load(access) => of_space(access.space),
        // Nobody waits for what gives no result.
        Kind::Store(_) => (ARITHMETIC, 0),
        Kind::Atomic(atomic) if atomic.dst.iter().all(Option::is_none) => (ARITHMETIC, 0),
        Kind::Atomic(atomic) => match of_space(atomic.access.space) {
            (0, waits) => (0, waits),
            _ => (SHARED_ATOMIC, 0),
        },
        Kind::Shuffle(_)
        | Kind::Vote { .. }
        | Kind::Match { .. }
        | Kind::Reduce { .. }
        | Kind::Elect { .. } => (EXCHANGE, 0),
        Kind::Barrier(_) | Kind::SyncWarp { .. } => (BARRIER, 0),
        Kind::Fence => (FENCE, 0),
        Kind::Call(_) | Kind::CallAddress(_) => (CALL, 0),
        Kind::Tensor(tensor) => (of_matrix(tensor), 0),
        Kind::Async(what) => of_wait(&what.kind),
        // Steps of one instruction before its last.
        _ if inst.issues == 0 => (0, 0),
        _ => match inst.flop.pipe {
            Pipe::Special => (SPECIAL, 0),
            Pipe::F64 => (DOUBLE, 0),
            Pipe::F32 | Pipe::F16 | Pipe::Other => (ARITHMETIC, 0),
        },
    }
}

fn of_matrix(tensor: &Tensor) -> u32 {
    match tensor {
        Tensor::Meet | Tensor::Address(_) => 0,
        Tensor::Transpose { .. } | Tensor::Rows(_) => MATRIX_LOAD,
        Tensor::Product(_) => MATRIX,
        // 64 by n by 16 takes a multiprocessor's tensor cores n / 2 cycles; the next one follows at once.
        Tensor::Group(group) => (group.extents[1] / 2) as u32,
    }
}

/// A wait for copies of which none stays under way takes as long as a load. One that leaves some, and one at
/// an `mbarrier`, is taken to find them done.
fn of_wait(kind: &AsyncKind) -> (u32, u32) {
    match kind {
        AsyncKind::WaitCopies { keep } if keep.unwrap_or(0) == 0 => (0, 1),
        AsyncKind::WaitBulk { keep: 0, .. } => (0, 1),
        AsyncKind::Barrier {
            op: BarrierOp::Wait { .. },
            ..
        }
        | AsyncKind::ClusterWait => (BARRIER, 0),
        AsyncKind::Barrier { .. } => (SHARED, 0),
        _ => (ARITHMETIC, 0),
    }
}

/// Predicates that an instruction reads besides its guard, and those that it writes.
fn predicates(kind: &Kind) -> (Vec<Predicate>, Vec<u32>) {
    let plain = |index: u32| Predicate {
        index,
        negated: false,
    };
    match kind {
        Kind::Compare(compare) => (vec![compare.with], vec![compare.dst, compare.dst_not]),
        Kind::Select { by, .. } => (vec![*by], Vec::new()),
        Kind::Logic { dst, a, b, .. } => (vec![*a, *b], vec![*dst]),
        Kind::Carry(carry) => {
            let read = carry.takes.then(|| plain(carry.flag));
            let set = carry.sets.then_some(carry.flag);
            (read.into_iter().collect(), set.into_iter().collect())
        }
        Kind::Shuffle(shuffle) => (Vec::new(), vec![shuffle.dst_predicate]),
        Kind::Vote {
            by, dst_predicate, ..
        } => (vec![*by], vec![*dst_predicate]),
        Kind::Match { dst_predicate, .. } | Kind::Elect { dst_predicate, .. } => {
            (Vec::new(), vec![*dst_predicate])
        }
        Kind::Barrier(barrier) => match barrier.mode {
            BarrierMode::Any { dst, by } | BarrierMode::All { dst, by } => (vec![by], vec![dst]),
            BarrierMode::Count { by, .. } => (vec![by], Vec::new()),
            BarrierMode::Sync | BarrierMode::Arrive => Default::default(),
        },
        Kind::Async(what) => (Vec::new(), vec![what.dst_predicate]),
        _ => Default::default(),
    }
}
