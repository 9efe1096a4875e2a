//! Asynchronous copies, their barriers, bulk copies, and what reaches other blocks of a cluster.

use super::memory::{Where, space};
use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{Slot, bin, un};
use crate::memory::{CLUSTER_SHIFT, SHARED_OFFSET};
use crate::program::{AddressSpace, AsyncKind, AsyncOp, AtomicKind, BarrierOp, Kind, Special};
use crate::syntax::{Operand, Type};

/// Completion by a barrier's transaction count.
pub(super) const COMPLETES: &str = "mbarrier::complete_tx::bytes";

impl<'a> Decoder<'a> {
    pub(super) fn asynchronous(&mut self, kind: AsyncKind, sources: Vec<Slot>) {
        self.asynchronous_to(kind, sources, None, 0);
    }

    fn asynchronous_to(
        &mut self,
        kind: AsyncKind,
        sources: Vec<Slot>,
        dst: Option<Slot>,
        dst_predicate: u32,
    ) {
        self.emit(Kind::Async(Box::new(AsyncOp {
            kind,
            sources,
            dst,
            dst_predicate,
        })));
    }

    /// The sum of an address operand, in a wide slot.
    pub(super) fn full_address(&mut self, operand: &'a Operand) -> Result<Slot, LoadError> {
        let Operand::Address(base, offset) = operand else {
            return Err(self.malformed("an address is needed"));
        };
        let base = self.source_of(base, Type::U64)?;
        if *offset == 0 {
            return Ok(base);
        }
        let offset = self.constant(true, *offset as u64);
        let sum = self.temporary(true);
        self.lane(
            bin(|a: u64, b: u64| a.wrapping_add(b)),
            sum,
            &[base, offset],
        );
        Ok(sum)
    }

    fn is_predicate(&self, at: usize) -> Result<bool, LoadError> {
        Ok(match self.operand(at)? {
            Operand::Register(register) | Operand::NotRegister(register) => {
                self.text.registers[*register as usize] == Type::Pred
            }
            _ => false,
        })
    }

    pub(super) fn address_at(&mut self, at: usize) -> Result<Slot, LoadError> {
        let operand = self.operand(at)?;
        self.full_address(operand)
    }
}

/// A space of shared memory; generic if none is named.
fn shared_space(m: &mut Modifiers<'_>) -> Result<AddressSpace, LoadError> {
    match space(m) {
        Where::Space(
            found @ (AddressSpace::Shared | AddressSpace::Cluster | AddressSpace::Generic),
        ) => Ok(found),
        _ => Err(m.unsupported()),
    }
}

fn order(m: &mut Modifiers<'_>) {
    m.ignore(&["release", "acquire", "relaxed", "cta", "cluster"]);
}

/// Whether a cache policy follows the other operands: advice.
pub(super) fn policy(m: &mut Modifiers<'_>) -> usize {
    usize::from(m.take("L2::cache_hint"))
}

/// `mbarrier`: barriers in shared memory.
pub(super) fn barrier(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("pending_count") {
        return pending_count(d, m);
    }
    let op = match m.next() {
        Some("init") => BarrierOp::Initialise,
        Some("inval") => BarrierOp::Invalidate,
        Some("expect_tx") => BarrierOp::Expect,
        Some("complete_tx") => BarrierOp::Complete,
        Some(name @ ("arrive" | "arrive_drop")) => BarrierOp::Arrive {
            drop: name == "arrive_drop",
            expects: m.take("expect_tx"),
            may_complete: !m.take("noComplete"),
        },
        Some(name @ ("test_wait" | "try_wait")) => BarrierOp::Wait {
            suspends: name == "try_wait",
            parity: m.take("parity"),
        },
        _ => return Err(m.unsupported()),
    };
    let scoped = !matches!(op, BarrierOp::Initialise | BarrierOp::Invalidate);
    if scoped {
        order(m);
    }
    let space = shared_space(m)?;
    if m.last_type()? != Type::B64 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let kind = AsyncKind::Barrier { op, space };
    match op {
        BarrierOp::Initialise | BarrierOp::Expect | BarrierOp::Complete => {
            let sources = vec![d.address_at(0)?, d.source(1, Type::U32)?];
            d.asynchronous(kind, sources);
        }
        BarrierOp::Invalidate => {
            let sources = vec![d.address_at(0)?];
            d.asynchronous(kind, sources);
        }
        BarrierOp::Arrive { .. } => return arrive(d, m, kind),
        BarrierOp::Wait { parity, .. } => {
            let ty = if parity { Type::U32 } else { Type::B64 };
            let sources = vec![d.address_at(1)?, d.source(2, ty)?];
            let dst = d.predicate_destination(d.operand(0)?)?;
            d.asynchronous_to(kind, sources, None, dst);
        }
    }
    Ok(())
}

fn pending_count(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.last_type()? != Type::B64 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let state = d.source(1, Type::B64)?;
    let run = un(|state: u64| state as u32 & crate::program::PENDING_MASK);
    d.destination(0, Type::U32, |d, dst| d.lane(run, dst, &[state]))
}

/// `mbarrier.arrive state, [barrier], count;` of which state and count may be missing.
fn arrive(d: &mut Decoder<'_>, m: &Modifiers<'_>, kind: AsyncKind) -> Result<(), LoadError> {
    let first = usize::from(!matches!(d.operand(0)?, Operand::Address(..)));
    let mut sources = vec![d.address_at(first)?];
    match d.statement.operands.len() - first {
        1 => {
            let expects = matches!(
                kind,
                AsyncKind::Barrier {
                    op: BarrierOp::Arrive { expects: true, .. },
                    ..
                }
            );
            if expects {
                return Err(d.malformed("a count of bytes is missing"));
            }
            sources.push(d.constant(false, 1));
        }
        2 => sources.push(d.source(first + 1, Type::U32)?),
        _ => return Err(m.unsupported()),
    }
    if first == 0 || *d.operand(0)? == Operand::Sink {
        d.asynchronous(kind, sources);
        return Ok(());
    }
    d.destination(0, Type::B64, |d, dst| {
        d.asynchronous_to(kind, sources, Some(dst), 0);
    })
}

/// `cp`: every form is asynchronous.
pub(super) fn copy(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let reduces = m.take("reduce");
    if !m.take("async") {
        return Err(m.unsupported());
    }
    if m.take("bulk") {
        return super::bulk::bulk(d, m, reduces);
    }
    if reduces {
        return Err(m.unsupported());
    }
    if m.take("mbarrier") {
        return copies_arrive(d, m);
    }
    let kind = if m.take("commit_group") {
        AsyncKind::CommitCopies
    } else if m.take("wait_group") {
        let keep = Some(count(d)?);
        AsyncKind::WaitCopies { keep }
    } else if m.take("wait_all") {
        AsyncKind::WaitCopies { keep: None }
    } else {
        return copy_elements(d, m);
    };
    m.finish()?;
    d.asynchronous(kind, Vec::new());
    Ok(())
}

/// The number of groups that may be under way.
pub(super) fn count(d: &Decoder<'_>) -> Result<u32, LoadError> {
    match d.operand(0)? {
        Operand::Integer(count @ 0..=0xffff_ffff) => Ok(*count as u32),
        _ => Err(d.malformed("a number of groups is needed")),
    }
}

fn copies_arrive(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("arrive") {
        return Err(m.unsupported());
    }
    let counted = m.take("noinc");
    let space = shared_space(m)?;
    if m.last_type()? != Type::B64 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let sources = vec![d.address_at(0)?];
    d.asynchronous(AsyncKind::CopiesArrive { space, counted }, sources);
    Ok(())
}

/// `cp.async` of 4, 8 or 16 bytes.
fn copy_elements(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["L2::64B", "L2::128B", "L2::256B"]);
    let level = m.take_one(&[("ca", &[4, 8, 16][..]), ("cg", &[16][..])]);
    let sizes = level.ok_or_else(|| m.unsupported())?;
    let policies = policy(m);
    let to_shared = m.take("shared") || m.take("shared::cta");
    if !to_shared || !m.take("global") {
        return Err(m.unsupported());
    }
    m.finish()?;
    let bytes = match d.operand(2)? {
        Operand::Integer(bytes) if sizes.contains(bytes) => *bytes as u32,
        _ => return Err(m.unsupported()),
    };
    let mut sources = vec![d.address_at(0)?, d.address_at(1)?];
    let mut ignores = None;
    match d.statement.operands.len() - policies {
        3 => {}
        4 if d.is_predicate(3)? => ignores = Some(d.predicate(3)?),
        4 => sources.push(d.source(3, Type::U32)?),
        _ => return Err(m.unsupported()),
    }
    d.asynchronous(AsyncKind::Copy { bytes, ignores }, sources);
    Ok(())
}

/// `st.async`: into another block's shared memory, told to a barrier there.
pub(super) fn store(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["weak"]);
    if !m.take("shared::cluster") || !m.take(COMPLETES) {
        return Err(m.unsupported());
    }
    let count = m.take_one(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = m.last_type()?;
    m.finish()?;
    if !matches!(ty.bytes(), 4 | 8) {
        return Err(m.unsupported());
    }
    let mut sources = vec![d.address_at(0)?, d.address_at(2)?];
    match d.operand(1)? {
        Operand::Vector(elements) if elements.len() == count => {
            for element in elements {
                sources.push(d.source_of(element, ty)?);
            }
        }
        Operand::Vector(_) => return Err(d.malformed("the vector has another length")),
        _ if count == 1 => sources.push(d.source(1, ty)?),
        _ => return Err(d.malformed("a vector is needed")),
    }
    let bytes = ty.bytes();
    d.asynchronous(AsyncKind::Store { bytes }, sources);
    Ok(())
}

/// `red.async`: as [`store`], an atomic update.
pub(super) fn reduce(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["relaxed", "cluster"]);
    if !m.take("shared::cluster") || !m.take(COMPLETES) {
        return Err(m.unsupported());
    }
    let reduction = super::bulk::reduction(m)?;
    m.finish()?;
    let ty = if reduction.bytes == 8 {
        Type::B64
    } else {
        Type::B32
    };
    let integer = matches!(reduction.kind, AtomicKind::Unsigned | AtomicKind::Signed);
    if !integer || !matches!(reduction.bytes, 4 | 8) {
        return Err(m.unsupported());
    }
    let sources = vec![d.address_at(0)?, d.address_at(2)?, d.source(1, ty)?];
    d.asynchronous(AsyncKind::Reduce { reduction }, sources);
    Ok(())
}

/// `barrier.cluster`.
pub(super) fn cluster_barrier(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let kind = match m.next() {
        Some("arrive") => AsyncKind::ClusterArrive,
        Some("wait") => AsyncKind::ClusterWait,
        _ => return Err(m.unsupported()),
    };
    m.ignore(&["release", "relaxed", "acquire", "aligned"]);
    m.finish()?;
    d.asynchronous(kind, Vec::new());
    Ok(())
}

/// `mapa`: the address of the same variable in another block of the cluster.
pub(super) fn map_address(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let named = m.take("shared::cluster");
    let ty = m.last_type()?;
    m.finish()?;
    if !matches!(ty, Type::U32 | Type::U64) || !named && ty == Type::U32 {
        return Err(m.unsupported());
    }
    let a = d.source(1, Type::U64)?;
    let rank = d.source(2, Type::U32)?;
    let run = if named {
        bin(|a: u64, rank: u32| a & SHARED_OFFSET | (u64::from(rank) + 1) << CLUSTER_SHIFT)
    } else {
        bin(|a: u64, rank: u32| {
            // What is no shared address stays one, for the access to tell.
            let window = a & !0xffff_ffff;
            window | a & SHARED_OFFSET | (u64::from(rank) + 1) << CLUSTER_SHIFT
        })
    };
    d.destination(0, Type::U64, |d, dst| d.lane(run, dst, &[a, rank]))
}

/// `getctarank`: the block that a shared address belongs to.
pub(super) fn block_rank(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["shared::cluster"]);
    let ty = m.last_type()?;
    m.finish()?;
    if !matches!(ty, Type::U32 | Type::U64) {
        return Err(m.unsupported());
    }
    let a = d.source(1, Type::U64)?;
    let own = d.special(Special::ClusterRank);
    let run = bin(|a: u64, own: u32| match (a as u32) >> CLUSTER_SHIFT {
        0 => own,
        tag => tag - 1,
    });
    d.destination(0, Type::U32, |d, dst| d.lane(run, dst, &[a, own]))
}

/// `griddepcontrol`: a launch begins when the one before it has ended.
pub(super) fn dependence(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["launch_dependents", "wait"]);
    m.finish()?;
    d.emit(Kind::Fence);
    Ok(())
}

/// `createpolicy`: advice about caches, which are not modelled.
pub(super) fn create_policy(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&[
        "fractional",
        "range",
        "cvt",
        "global",
        "L2",
        "L2::evict_last",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_unchanged",
    ]);
    if m.last_type()? != Type::B64 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let zero = d.constant(true, 0);
    let run = un(|a: u64| a);
    d.destination(0, Type::B64, |d, dst| d.lane(run, dst, &[zero]))
}
