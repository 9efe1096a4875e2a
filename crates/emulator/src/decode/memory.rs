//! Loads, stores, atomics and address conversions.

use super::{Decoder, Modifiers, wide};
use crate::LoadError;
use crate::lanes::{Slot, compare, un};
use crate::memory::{LOCAL_BASE, PARAMETER_BASE, SHARED_BASE, SHARED_OFFSET};
use crate::program::{
    Access, AddressSpace, Atomic, AtomicKind, AtomicOp, Compare, Kind, Logic, Predicate,
};
use crate::syntax::{Operand, Type};

const CACHE_HINTS: [&str; 19] = [
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::128B",
    "L2::256B",
    "L2::evict_unchanged",
    // A policy follows as an operand.
    "L2::cache_hint",
];

/// Memory order of an access.
struct Ordering {
    /// Other threads may take part.
    strong: bool,
    /// What came before is ordered before it.
    releases: bool,
}

fn order(m: &mut Modifiers<'_>) -> Ordering {
    m.ignore(&["weak", "L2::64B"]);
    let releases = m.take("release") | m.take("acq_rel");
    let mut strong = releases;
    for name in ["volatile", "relaxed", "acquire", "mmio"] {
        strong |= m.take(name);
    }
    m.ignore(&["cta", "cluster", "gpu", "sys"]);
    Ordering { strong, releases }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Where {
    Space(AddressSpace),
    Parameter,
}

pub(super) fn space(m: &mut Modifiers<'_>) -> Where {
    m.take_one(&[
        ("global", Where::Space(AddressSpace::Global)),
        ("const", Where::Space(AddressSpace::Global)),
        ("shared", Where::Space(AddressSpace::Shared)),
        ("shared::cta", Where::Space(AddressSpace::Shared)),
        ("shared::cluster", Where::Space(AddressSpace::Cluster)),
        ("local", Where::Space(AddressSpace::Local)),
        ("param", Where::Parameter),
        ("param::entry", Where::Parameter),
        ("param::func", Where::Parameter),
    ])
    .unwrap_or(Where::Space(AddressSpace::Generic))
}

impl<'a> Decoder<'a> {
    /// The address of an access; data and sizes are left for the caller.
    pub(super) fn access(
        &mut self,
        operand: &'a Operand,
        place: Where,
    ) -> Result<Access, LoadError> {
        let Operand::Address(base, offset) = operand else {
            return Err(self.malformed("an address is needed"));
        };
        let mut access = Access {
            space: match place {
                Where::Space(space) => space,
                Where::Parameter if self.text.is_entry => AddressSpace::Parameter,
                Where::Parameter => AddressSpace::Local,
            },
            address: None,
            offset: *offset,
            in_frame: false,
            bytes: 0,
            count: 1,
            data: [None; 4],
            signed: false,
            strong: false,
            releases: false,
            unchanging: false,
        };
        match base.as_ref() {
            Operand::Register(register) => access.address = Some(self.slot_home(*register)?),
            Operand::Integer(value) => access.offset += value,
            Operand::Symbol(name, addend) => {
                if let Some(&(at, _)) = self.frame.get(name) {
                    access.space = AddressSpace::Local;
                    access.in_frame = true;
                    access.offset += i64::from(at) + addend;
                } else if place == Where::Parameter {
                    let at = self.parameters.get(name).copied();
                    let at = at.ok_or_else(|| self.malformed("an undeclared parameter"))?;
                    access.offset += i64::from(at) + addend;
                } else {
                    access.address = Some(self.source_of(base, Type::B64)?);
                }
            }
            _ => return Err(self.malformed("an address of another kind")),
        }
        Ok(access)
    }

    /// Whether blocks can see one another through an access.
    pub(super) fn note_coupling(&mut self, access: &Access) {
        if matches!(access.space, AddressSpace::Global | AddressSpace::Generic) {
            self.out.couples_blocks = true;
        }
    }
}

/// Element type and count.
fn shape(m: &mut Modifiers<'_>) -> Result<(Type, u32), LoadError> {
    m.ignore(&CACHE_HINTS);
    let count = m.take_one(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = m.last_type()?;
    m.finish()?;
    let fits = matches!(ty.bytes(), 1 | 2 | 4 | 8) && ty.bytes() * count <= 32;
    if fits {
        Ok((ty, count))
    } else {
        Err(m.unsupported())
    }
}

/// The registers of a vector operand, or the one of a scalar.
fn elements<'a>(
    d: &Decoder<'_>,
    operand: &'a Operand,
    count: u32,
) -> Result<Vec<&'a Operand>, LoadError> {
    let elements: Vec<&Operand> = match operand {
        Operand::Vector(elements) => elements.iter().collect(),
        other => vec![other],
    };
    if elements.len() == count as usize {
        Ok(elements)
    } else {
        Err(d.malformed("the vector has another length"))
    }
}

pub(super) fn load(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let strong = order(m).strong;
    let place = space(m);
    let unchanging = m.take("nc");
    let (ty, count) = shape(m)?;
    let mut access = d.access(d.operand(1)?, place)?;
    access.bytes = ty.bytes();
    access.count = count;
    access.signed = ty.is_signed();
    access.strong = strong;
    access.unchanging = unchanging;
    if strong {
        d.note_coupling(&access);
    }
    let mut halves = Vec::new();
    for (at, element) in elements(d, d.operand(0)?, count)?.into_iter().enumerate() {
        access.data[at] = match element {
            Operand::Sink => None,
            Operand::Register(register) => {
                let slot = d.slot_home(*register)?;
                // Sign extension stops at a 16-bit register's width.
                if ty == Type::S8 && d.text.registers[*register as usize].bytes() == 2 {
                    halves.push(slot);
                }
                Some(slot)
            }
            _ => return Err(d.malformed("a register is needed as destination")),
        };
    }
    d.emit(Kind::Load(access));
    for slot in halves {
        d.lane(un(|a: u32| a & 0xffff), slot, &[slot]);
    }
    Ok(())
}

pub(super) fn store(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("async") {
        return super::asynchronous::store(d, m);
    }
    let Ordering { strong, releases } = order(m);
    let place = space(m);
    let (ty, count) = shape(m)?;
    let mut access = d.access(d.operand(0)?, place)?;
    access.bytes = ty.bytes();
    access.count = count;
    (access.strong, access.releases) = (strong, releases);
    if access.space == AddressSpace::Parameter {
        return Err(d.malformed("a kernel's parameters are read-only"));
    }
    if strong {
        d.note_coupling(&access);
    }
    for (at, element) in elements(d, d.operand(1)?, count)?.into_iter().enumerate() {
        access.data[at] = Some(store_source(d, element, ty)?);
    }
    d.emit(Kind::Store(access));
    Ok(())
}

/// A stored value keeps its register: wider ones are truncated by the store.
fn store_source<'a>(
    d: &mut Decoder<'a>,
    element: &'a Operand,
    ty: Type,
) -> Result<Slot, LoadError> {
    match element {
        Operand::Register(register) if ty.bytes() < 8 => d.slot_home(*register),
        _ => d.source_of(element, ty),
    }
}

pub(super) fn atomic(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.base() == "red" && m.take("async") {
        return super::asynchronous::reduce(d, m);
    }
    let releases = order(m).releases;
    let place = space(m);
    let op = m.take_one(&[
        ("add", AtomicOp::Add),
        ("min", AtomicOp::Min),
        ("max", AtomicOp::Max),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("exch", AtomicOp::Exchange),
        ("cas", AtomicOp::CompareSwap),
        ("inc", AtomicOp::Increment),
        ("dec", AtomicOp::Decrement),
    ]);
    let op = op.ok_or_else(|| m.unsupported())?;
    if m.take("b128") {
        return wide::atomic(d, m, op, place, releases);
    }
    m.ignore(&["noftz"]);
    let (ty, count) = shape(m)?;
    let kind = atomic_kind(op, ty).ok_or_else(|| m.unsupported())?;
    let returns = m.base() == "atom";
    let first = usize::from(returns);
    let mut access = d.access(d.operand(first)?, place)?;
    let fits = matches!(
        access.space,
        AddressSpace::Global | AddressSpace::Shared | AddressSpace::Cluster | AddressSpace::Generic
    );
    if !fits || count > 1 && kind != AtomicKind::F32 {
        return Err(m.unsupported());
    }
    access.bytes = ty.bytes();
    access.count = count;
    access.releases = releases;
    d.note_coupling(&access);
    let values = elements(d, d.operand(first + 1)?, count)?;
    for (at, element) in values.into_iter().enumerate() {
        access.data[at] = Some(d.source_of(element, ty)?);
    }
    let swap = match op {
        AtomicOp::CompareSwap => Some(d.source(first + 2, ty)?),
        _ => None,
    };
    let mut dst = [None; 4];
    if returns {
        for (at, element) in elements(d, d.operand(0)?, count)?.into_iter().enumerate() {
            dst[at] = match element {
                Operand::Register(register) => {
                    let home = d.slot_home(*register)?;
                    if home.class().is_wide() != (ty.bytes() == 8) {
                        return Err(m.unsupported());
                    }
                    Some(home)
                }
                _ => None,
            };
        }
    }
    d.emit(Kind::Atomic(Atomic {
        access,
        op,
        kind,
        dst,
        swap,
    }));
    Ok(())
}

pub(super) fn atomic_kind(op: AtomicOp, ty: Type) -> Option<AtomicKind> {
    use AtomicOp::{Add, And, CompareSwap, Decrement, Exchange, Increment, Max, Min, Or, Xor};
    Some(match (op, ty) {
        (Add | Min | Max, Type::U32 | Type::U64) => AtomicKind::Unsigned,
        (Add | Min | Max, Type::S32 | Type::S64) => AtomicKind::Signed,
        (Add, Type::F32) => AtomicKind::F32,
        (Add, Type::F64) => AtomicKind::F64,
        (Add | Min | Max, Type::F16) => AtomicKind::F16,
        (Add | Min | Max, Type::F16x2) => AtomicKind::F16x2,
        (Add | Min | Max, Type::Bf16) => AtomicKind::Bf16,
        (Add | Min | Max, Type::Bf16x2) => AtomicKind::Bf16x2,
        (And | Or | Xor | Exchange | CompareSwap, Type::B32 | Type::B64) => AtomicKind::Unsigned,
        (CompareSwap, Type::B16) => AtomicKind::Unsigned,
        (Exchange | CompareSwap, Type::U32 | Type::U64 | Type::S32 | Type::F32) => {
            AtomicKind::Unsigned
        }
        (Increment | Decrement, Type::U32) => AtomicKind::Unsigned,
        _ => return None,
    })
}

/// `cvta`: generic addresses are global ones, or carry the base of a window.
pub(super) fn to_address(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let to = m.take("to");
    let place = space(m);
    let ty = m.last_type()?;
    m.finish()?;
    if ty != Type::U64 {
        return Err(m.unsupported());
    }
    let run = match (place, to) {
        (Where::Space(AddressSpace::Global), _) => un(|a: u64| a),
        (Where::Space(AddressSpace::Shared | AddressSpace::Cluster), false) => {
            un(|a: u64| a.wrapping_add(SHARED_BASE))
        }
        (Where::Space(AddressSpace::Shared | AddressSpace::Cluster), true) => {
            un(|a: u64| a.wrapping_sub(SHARED_BASE))
        }
        (Where::Parameter, false) if d.text.is_entry => un(|a: u64| a.wrapping_add(PARAMETER_BASE)),
        (Where::Parameter, true) if d.text.is_entry => un(|a: u64| a.wrapping_sub(PARAMETER_BASE)),
        (Where::Space(AddressSpace::Local) | Where::Parameter, false) => {
            un(|a: u64| a.wrapping_add(LOCAL_BASE))
        }
        (Where::Space(AddressSpace::Local) | Where::Parameter, true) => {
            un(|a: u64| a.wrapping_sub(LOCAL_BASE))
        }
        (Where::Space(_), _) => return Err(m.unsupported()),
    };
    d.unary(Some(run), ty, m)
}

pub(super) fn is_space(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let place = space(m);
    m.finish()?;
    let run = match place {
        Where::Space(AddressSpace::Global) => compare(|a: u64, _: u64| a < SHARED_BASE),
        Where::Space(AddressSpace::Shared) => {
            compare(|a: u64, _: u64| (SHARED_BASE..SHARED_BASE + SHARED_OFFSET + 1).contains(&a))
        }
        Where::Space(AddressSpace::Cluster) => {
            compare(|a: u64, _: u64| (SHARED_BASE..LOCAL_BASE).contains(&a))
        }
        Where::Space(AddressSpace::Local) => {
            compare(|a: u64, _: u64| (LOCAL_BASE..PARAMETER_BASE).contains(&a))
        }
        _ => return Err(m.unsupported()),
    };
    let a = d.source(1, Type::U64)?;
    let dst = d.predicate_destination(d.operand(0)?)?;
    let with = Predicate::default();
    d.emit(Kind::Compare(Compare {
        run,
        a,
        b: a,
        dst,
        dst_not: 0,
        op: Logic::First,
        with,
    }));
    Ok(())
}

/// Prefetches and discards: advice about caches, which are not modelled.
pub(super) fn hint(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&[
        "global",
        "local",
        "L1",
        "L2",
        "L2::evict_last",
        "L2::evict_normal",
        "uniform",
        "tensormap",
        "param",
        "const",
    ]);
    m.finish()?;
    d.emit(Kind::Fence);
    Ok(())
}
