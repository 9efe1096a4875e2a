//! Operations that end later than they begin, their barriers, and what clusters add.

use super::{AddressSpace, AtomicKind, AtomicOp, Predicate};
use crate::lanes::Slot;

/// Bits of a barrier's word, and of a state, that count arrivals which are due.
pub(crate) const PENDING_MASK: u32 = (1 << 20) - 1;

/// One such instruction: what it does, its operands in the order that [`AsyncKind`] states, and
/// where its result goes.
#[derive(Debug, Clone)]
pub(crate) struct AsyncOp {
    pub(crate) kind: AsyncKind,
    /// Addresses are wide slots, all else as the kind says.
    pub(crate) sources: Vec<Slot>,
    pub(crate) dst: Option<Slot>,
    /// Predicate written by a wait.
    pub(crate) dst_predicate: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AsyncKind {
    /// `mbarrier`: barrier, then count, state or parity.
    Barrier {
        op: BarrierOp,
        space: AddressSpace,
    },
    /// `cp.async`: shared address, global address, source size if there is one.
    Copy {
        bytes: u32,
        /// Lanes that read nothing and write zeros.
        ignores: Option<Predicate>,
    },
    CommitCopies,
    /// Waits for all but so many groups of copies; for all copies when absent.
    WaitCopies {
        keep: Option<u32>,
    },
    /// `cp.async.mbarrier.arrive`: barrier.
    CopiesArrive {
        space: AddressSpace,
        counted: bool,
    },
    /// `cp.async.bulk` into shared memory: destination, source, size, barrier, mask of a multicast.
    BulkLoad {
        /// Space of the destination and of its barrier.
        to: AddressSpace,
        from: AddressSpace,
        multicast: bool,
        reduce: Option<Reduction>,
    },
    /// `cp.async.bulk` into global memory: destination, source, size.
    BulkStore {
        reduce: Option<Reduction>,
    },
    CommitBulk,
    /// Waits for all but so many bulk groups, or only until they have read their sources.
    WaitBulk {
        keep: u32,
        read: bool,
    },
    /// `cp.async.bulk.tensor` into shared memory: destination, map, barrier, coordinates, mask.
    TensorLoad {
        to: AddressSpace,
        rank: usize,
        multicast: bool,
    },
    /// The other way: map, source, coordinates.
    TensorStore {
        rank: usize,
        reduce: Option<AtomicOp>,
    },
    /// `st.async`: destination, barrier, elements.
    Store {
        /// Of one element.
        bytes: u32,
    },
    /// `red.async`: destination, barrier, operand.
    Reduce {
        reduction: Reduction,
    },
    ClusterArrive,
    ClusterWait,
    /// `malloc`, `free` of device code: offset of argument and result in the frame.
    Allocate {
        bytes: u32,
        result: u32,
    },
    Free {
        pointer: u32,
    },
}

/// An atomic update of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reduction {
    pub(crate) op: AtomicOp,
    pub(crate) kind: AtomicKind,
    /// Of one element.
    pub(crate) bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierOp {
    Initialise,
    Invalidate,
    Arrive {
        drop: bool,
        may_complete: bool,
        /// The operand is bytes to expect; otherwise arrivals.
        expects: bool,
    },
    Expect,
    Complete,
    Wait {
        /// The operand is a parity, otherwise a state.
        parity: bool,
        /// The thread may be suspended.
        suspends: bool,
    },
}
