//! Bulk copies and reductions: of ranges, and of tiles that a tensor map describes.

use super::asynchronous::{COMPLETES, count, policy};
use super::memory::atomic_kind;
use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::Slot;
use crate::program::{AddressSpace, AsyncKind, AtomicKind, AtomicOp, Kind, Reduction};
use crate::syntax::{Operand, Type};

/// `cp.async.bulk` and `cp.reduce.async.bulk`.
pub(super) fn bulk(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    reduces: bool,
) -> Result<(), LoadError> {
    if m.take("commit_group") {
        m.finish()?;
        d.asynchronous(AsyncKind::CommitBulk, Vec::new());
        return Ok(());
    }
    if m.take("wait_group") {
        let read = m.take("read");
        m.finish()?;
        let keep = count(d)?;
        d.asynchronous(AsyncKind::WaitBulk { keep, read }, Vec::new());
        return Ok(());
    }
    if m.take("prefetch") {
        // Advice: what it names is read by the copy itself.
        d.emit(Kind::Fence);
        return Ok(());
    }
    let is_tensor = m.take("tensor");
    let policies = policy(m);
    if is_tensor {
        return tensor(d, m, reduces, policies);
    }
    if m.starts_with("global") {
        return bulk_store(d, m, reduces, policies);
    }
    bulk_load(d, m, reduces, policies)
}

/// The space of shared memory that a bulk operation writes.
fn destination_space(m: &mut Modifiers<'_>) -> Result<AddressSpace, LoadError> {
    match m.next() {
        Some("shared::cluster") => Ok(AddressSpace::Cluster),
        Some("shared::cta") => Ok(AddressSpace::Shared),
        _ => Err(m.unsupported()),
    }
}

fn bulk_load(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    reduces: bool,
    policies: usize,
) -> Result<(), LoadError> {
    let to = destination_space(m)?;
    let from = if m.take("shared::cta") {
        AddressSpace::Shared
    } else if m.take("global") {
        AddressSpace::Global
    } else {
        return Err(m.unsupported());
    };
    let multicast = m.take("multicast::cluster");
    if !m.take(COMPLETES) || reduces && from == AddressSpace::Global {
        return Err(m.unsupported());
    }
    let reduce = reduces.then(|| reduction(m)).transpose()?;
    m.finish()?;
    let given = d.statement.operands.len() - policies;
    if given != 4 + usize::from(multicast) {
        return Err(m.unsupported());
    }
    let mut sources = vec![
        d.address_at(0)?,
        d.address_at(1)?,
        d.source(2, Type::U32)?,
        d.address_at(3)?,
    ];
    if multicast {
        sources.push(d.source(4, Type::U16)?);
    }
    let kind = AsyncKind::BulkLoad {
        to,
        from,
        multicast,
        reduce,
    };
    d.asynchronous(kind, sources);
    Ok(())
}

fn bulk_store(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    reduces: bool,
    policies: usize,
) -> Result<(), LoadError> {
    if !m.take("global") || !m.take("shared::cta") || !m.take("bulk_group") {
        return Err(m.unsupported());
    }
    let reduce = reduces.then(|| reduction(m)).transpose()?;
    m.finish()?;
    if d.statement.operands.len() - policies != 3 {
        return Err(m.unsupported());
    }
    // Sums of several blocks come out alike only in a fixed order.
    d.out.couples_blocks |= reduces;
    let sources = vec![d.address_at(0)?, d.address_at(1)?, d.source(2, Type::U32)?];
    d.asynchronous(AsyncKind::BulkStore { reduce }, sources);
    Ok(())
}

fn reduction_op(m: &mut Modifiers<'_>) -> Result<AtomicOp, LoadError> {
    m.take_one(&[
        ("add", AtomicOp::Add),
        ("min", AtomicOp::Min),
        ("max", AtomicOp::Max),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("inc", AtomicOp::Increment),
        ("dec", AtomicOp::Decrement),
    ])
    .ok_or_else(|| m.unsupported())
}

pub(super) fn reduction(m: &mut Modifiers<'_>) -> Result<Reduction, LoadError> {
    let op = reduction_op(m)?;
    m.ignore(&["noftz"]);
    let ty = m.last_type()?;
    let kind = atomic_kind(op, ty).ok_or_else(|| m.unsupported())?;
    if matches!(kind, AtomicKind::F16x2 | AtomicKind::Bf16x2) {
        return Err(m.unsupported());
    }
    Ok(Reduction {
        op,
        kind,
        bytes: ty.bytes(),
    })
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`, tiles only.
fn tensor(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    reduces: bool,
    policies: usize,
) -> Result<(), LoadError> {
    let rank = m.take_one(&[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)]);
    let rank = rank.ok_or_else(|| m.unsupported())?;
    m.ignore(&["tile"]);
    let others = [
        "tile::gather4",
        "tile::scatter4",
        "im2col",
        "im2col_no_offs",
    ];
    if others.iter().any(|other| m.take(other)) || m.take("im2col::w") {
        return Err(d.unsupported(&d.statement.opcode));
    }
    let stores = m.starts_with("global");
    let (map_at, given) = if stores { (0, 2) } else { (1, 3) };
    let Operand::Tile(map, coordinates) = d.operand(map_at)? else {
        return Err(d.malformed("a tensor map with coordinates is needed"));
    };
    if coordinates.len() != rank {
        return Err(d.malformed("the coordinates are of another rank"));
    }
    let map = d.full_address(map)?;
    let mut places = Vec::with_capacity(rank);
    for coordinate in coordinates {
        places.push(d.source_of(coordinate, Type::S32)?);
    }
    let common = Tile {
        map,
        places,
        given: given + policies,
    };
    if stores {
        return tensor_store(d, m, reduces, common);
    }
    if reduces {
        return Err(m.unsupported());
    }
    tensor_load(d, m, common)
}

/// What loads and stores of tiles have in common.
struct Tile {
    map: Slot,
    places: Vec<Slot>,
    /// Operands, a multicast's mask left out.
    given: usize,
}

fn tensor_store(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    reduces: bool,
    tile: Tile,
) -> Result<(), LoadError> {
    if !m.take("global") || !m.take("shared::cta") || !m.take("bulk_group") {
        return Err(m.unsupported());
    }
    let reduce = reduces.then(|| reduction_op(m)).transpose()?;
    m.finish()?;
    if d.statement.operands.len() != tile.given {
        return Err(m.unsupported());
    }
    d.out.couples_blocks |= reduces;
    let rank = tile.places.len();
    let mut sources = vec![tile.map, d.address_at(1)?];
    sources.extend(tile.places);
    d.asynchronous(AsyncKind::TensorStore { rank, reduce }, sources);
    Ok(())
}

fn tensor_load(d: &mut Decoder<'_>, m: &mut Modifiers<'_>, tile: Tile) -> Result<(), LoadError> {
    let to = destination_space(m)?;
    let multicast = m.take("multicast::cluster");
    if !m.take("global") || !m.take(COMPLETES) {
        return Err(m.unsupported());
    }
    m.finish()?;
    if d.statement.operands.len() != tile.given + usize::from(multicast) {
        return Err(m.unsupported());
    }
    let rank = tile.places.len();
    let mut sources = vec![d.address_at(0)?, tile.map, d.address_at(2)?];
    sources.extend(tile.places);
    if multicast {
        sources.push(d.source(3, Type::U16)?);
    }
    let kind = AsyncKind::TensorLoad {
        to,
        rank,
        multicast,
    };
    d.asynchronous(kind, sources);
    Ok(())
}
