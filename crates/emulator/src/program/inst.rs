//! The instruction set of the executor.

use super::tensor::Tensor;
use crate::lanes::{CompareFn, LaneFn, Operands, Slot};

/// A predicate operand. Index 0 is the constant true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Predicate {
    pub(crate) index: u32,
    pub(crate) negated: bool,
}

/// What one active lane adds to the floating-point counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flop {
    pub(crate) pipe: Pipe,
    pub(crate) count: u8,
}

/// Unit that an instruction's work is counted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pipe {
    /// Integer, logic, conversion, control.
    #[default]
    Other,
    F32,
    F64,
    F16,
    /// Approximate functions; each also counts as one f32 operation.
    Special,
}

#[derive(Debug, Clone)]
pub(crate) struct Inst {
    pub(crate) guard: Predicate,
    pub(crate) flop: Flop,
    /// 1 for the last step of a PTX instruction, 0 for those before it: it counts once.
    pub(crate) issues: u32,
    /// What it adds to its warp's path, packed: nothing, or the whole stretch that it ends.
    pub(crate) path: u64,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Lane {
        run: LaneFn,
        operands: Operands,
    },
    Compare(Compare),
    Select {
        dst: Slot,
        a: Slot,
        b: Slot,
        by: Predicate,
    },
    Logic {
        dst: u32,
        op: Logic,
        a: Predicate,
        b: Predicate,
    },
    Carry(Carry),
    Special {
        dst: Slot,
        what: Special,
    },
    Load(Access),
    Store(Access),
    Atomic(Atomic),
    Branch {
        target: u32,
        join: u32,
    },
    Table {
        index: Slot,
        targets: Box<[u32]>,
        join: u32,
    },
    Call(Box<Call>),
    CallAddress(Box<CallAddress>),
    Async(Box<super::AsyncOp>),
    Builtin(Box<Builtin>),
    Return,
    Exit,
    Trap,
    Barrier(Barrier),
    /// A thread that comes here reaches the barriers at these instructions no more.
    Passes(Box<[u32]>),
    SyncWarp {
        members: Slot,
    },
    Shuffle(Shuffle),
    Vote {
        op: VoteOp,
        dst: Slot,
        dst_predicate: u32,
        by: Predicate,
        members: Slot,
    },
    Match {
        all: bool,
        dst: Slot,
        dst_predicate: u32,
        value: Slot,
        members: Slot,
    },
    Reduce {
        op: ReduceOp,
        dst: Slot,
        value: Slot,
        members: Slot,
    },
    Elect {
        dst: Option<Slot>,
        dst_predicate: u32,
        members: Slot,
    },
    /// On a matrix that the whole warp holds.
    Tensor(Tensor),
    /// Orders memory; every access here is already in order.
    Fence,
    Sleep,
}

/// Marks a branch whose sides never meet again before they exit.
pub(crate) const NO_JOIN: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Compare {
    pub(crate) run: CompareFn,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) dst: u32,
    /// Second destination, for the negated comparison; 0 when absent.
    pub(crate) dst_not: u32,
    pub(crate) op: Logic,
    pub(crate) with: Predicate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logic {
    /// The first operand.
    First,
    And,
    Or,
    Xor,
}

impl Logic {
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Self::First => a,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
        }
    }
}

/// `add.cc`, `subc`, `madc.hi.cc` and their kin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carry {
    pub(crate) op: CarryOp,
    pub(crate) dst: Slot,
    pub(crate) src: [Slot; 3],
    /// Predicate that stands for the carry flag.
    pub(crate) flag: u32,
    pub(crate) takes: bool,
    pub(crate) sets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CarryOp {
    Add,
    Sub,
    MulLow { signed: bool },
    MulHigh { signed: bool },
}

/// A value that depends on where the thread stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Thread(usize),
    BlockExtent(usize),
    Block(usize),
    GridExtent(usize),
    Lane,
    Warp,
    WarpCount,
    /// `%lanemask_eq`, `lt`, `le`, `gt`, `ge`.
    LaneMask(LaneMask),
    ActiveMask,
    /// Warp instructions run so far: monotonic, and the same in every run.
    Clock,
    Nanoseconds,
    /// Streaming multiprocessor: the block's number modulo that of an H200.
    Multiprocessor,
    MultiprocessorCount,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// Local address of the activation's frame plus bytes.
    Frame(u32),
    /// Index of the cluster in the grid, and how many there are along an axis.
    Cluster(usize),
    ClusterCount(usize),
    /// Index of the block in its cluster, and the cluster's extent.
    BlockOfCluster(usize),
    ClusterExtent(usize),
    ClusterRank,
    ClusterSize,
    /// 1 if the launch or the kernel says clusters, else 0.
    ExplicitCluster,
    /// A constant.
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneMask {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSpace {
    /// Resolved lane by lane.
    Generic,
    /// Global or constant memory.
    Global,
    Shared,
    /// Shared memory of any block of the cluster.
    Cluster,
    Local,
    /// The launch's parameter buffer.
    Parameter,
}

/// A load or a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) space: AddressSpace,
    pub(crate) address: Option<Slot>,
    /// Bytes added to the address.
    pub(crate) offset: i64,
    /// The offset counts from the activation's frame in local memory.
    pub(crate) in_frame: bool,
    /// Bytes of one element: 1, 2, 4 or 8.
    pub(crate) bytes: u32,
    /// Elements: 1, 2 or 4.
    pub(crate) count: u32,
    pub(crate) data: [Option<Slot>; 4],
    /// A load sign-extends to the register's width.
    pub(crate) signed: bool,
    /// Volatile or ordered: a poll, if it is a load.
    pub(crate) strong: bool,
    /// A store or atomic that orders what came before it (`.release`, `.acq_rel`).
    pub(crate) releases: bool,
    /// A load of what no store of the kernel changes (`.nc`).
    pub(crate) unchanging: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) op: AtomicOp,
    pub(crate) kind: AtomicKind,
    pub(crate) dst: [Option<Slot>; 4],
    /// Operand of `cas`.
    pub(crate) swap: Option<Slot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareSwap,
    Increment,
    Decrement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Unsigned,
    Signed,
    F32,
    F32Ftz,
    F64,
    /// f64 in shared memory.
    F64Shared,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    /// Two elements of 64 bits as one.
    Pair,
}

/// A call of a function of the module.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: usize,
    /// Caller's frame offset, callee's frame offset, bytes.
    pub(crate) arguments: Vec<(u32, u32, u32)>,
    /// Callee's frame offset, caller's frame offset, bytes.
    pub(crate) results: Vec<(u32, u32, u32)>,
}

/// A call through a function pointer. Offset in the caller's frame and size of what is handed over.
#[derive(Debug, Clone)]
pub(crate) struct CallAddress {
    pub(crate) target: Slot,
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) results: Vec<(u32, u32)>,
}

/// A call of a function that the emulated device provides. Offsets are into the frame.
#[derive(Debug, Clone)]
pub(crate) enum Builtin {
    Print {
        format: u32,
        arguments: u32,
        result: Option<u32>,
    },
    AssertFail {
        message: u32,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Barrier {
    pub(crate) id: Slot,
    /// Threads expected; all of the block when absent.
    pub(crate) threads: Option<Slot>,
    pub(crate) mode: BarrierMode,
    /// Every thread of a warp must run the same instruction.
    pub(crate) aligned: bool,
}

impl Barrier {
    /// `__syncthreads()` and its like, which every thread of the block must come to.
    pub(crate) fn is_whole_block(&self) -> bool {
        self.aligned && self.threads.is_none()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum BarrierMode {
    Sync,
    Arrive,
    /// Counts the threads whose predicate holds.
    Count {
        dst: Slot,
        by: Predicate,
    },
    Any {
        dst: u32,
        by: Predicate,
    },
    All {
        dst: u32,
        by: Predicate,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) dst: Slot,
    pub(crate) dst_predicate: u32,
    pub(crate) value: Slot,
    pub(crate) lane: Slot,
    pub(crate) clamp: Slot,
    pub(crate) members: Slot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VoteOp {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReduceOp {
    Add,
    Min { signed: bool },
    Max { signed: bool },
    And,
    Or,
    Xor,
}
