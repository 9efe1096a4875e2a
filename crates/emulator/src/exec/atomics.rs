//! Atomic operations. Lanes take their turn from the lowest; kernels that use them on global
//! memory run on one host thread, so that sums of floats always come out alike.
#![allow(unsafe_code)]

use super::access::{FrameBounds, Target, addresses, window};
use super::block::Block;
use super::elements::{lanes_of, write_lane};
use super::reconverge::lane_value;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::{LANES, View};
use crate::numerics::half::{self, Bf16, F16, pair2};
use crate::numerics::{NEAREST, double, single};
use crate::program::{AddressSpace, Atomic, AtomicKind, AtomicOp};

impl Worker<'_> {
    pub(super) fn atomic(
        &mut self,
        block: &mut Block,
        view: &View,
        atomic: &Atomic,
        mask: u32,
        frame: FrameBounds,
    ) -> Result<(), Stop> {
        let access = &atomic.access;
        let size = access.bytes * access.count;
        self.counters.atomics += u64::from(mask.count_ones());
        let requests = self.counters.global_requests;
        if let Some(target) = self.locate(block, view, access, mask, Verb::Update) {
            self.count_contention(&target, mask, requests);
            let shared = block.shared.as_mut_ptr().cast();
            let is_shared = matches!(target, Target::Offsets { base, .. } if base == shared);
            update_lanes(view, atomic, mask, &target, kind_in(atomic.kind, is_shared));
            return Ok(());
        }
        let addresses = addresses(view, access, frame);
        let mut rest = mask;
        while rest != 0 {
            let (space, mask, addresses) = window(access.space, &addresses, rest);
            rest &= !mask;
            if matches!(space, AddressSpace::Local | AddressSpace::Parameter) {
                let lane = mask.trailing_zeros();
                let what = "updates local memory atomically, which is not possible".to_owned();
                return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
            }
            let verb = Verb::Update;
            let requests = self.counters.global_requests;
            let target = self.resolve(block, space, mask, &addresses, size, verb, frame)?;
            self.count_contention(&target, mask, requests);
            let is_shared = space != AddressSpace::Global;
            update_lanes(view, atomic, mask, &target, kind_in(atomic.kind, is_shared));
        }
        Ok(())
    }

    /// `requests`: global ones before this.
    fn count_contention(&mut self, target: &Target, mask: u32, requests: u64) {
        let is_global = self.counters.global_requests != requests;
        let place = |lane: usize| match target {
            Target::Offsets { offsets, .. } | Target::Local(offsets) => offsets[lane],
            Target::Pointers(pointers) => pointers[lane] as u64,
        };
        let most = most_alike(lanes_of(mask).map(place));
        self.counters.atomic_passes += most;
        if is_global {
            self.traffic.note_passes(most);
        }
        let known = &mut self.counters.most_lanes_on_one_address;
        *known = (*known).max(most);
    }
}

/// How often the most frequent value occurs.
fn most_alike(values: impl Iterator<Item = u64>) -> u64 {
    let mut sorted = [0; LANES];
    let mut count = 0;
    for value in values {
        sorted[count] = value;
        count += 1;
    }
    let sorted = &mut sorted[..count];
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    let runs = sorted.chunk_by(|a, b| a == b).map(<[u64]>::len);
    runs.max().unwrap_or(0) as u64
}

/// Where the update happens decides: in global memory subnormal f32 count as zero, in shared memory they do
/// not (PTX ISA, `atom`), and f64 sums differ in the NaN they give (as an H200 does it).
fn kind_in(kind: AtomicKind, is_shared: bool) -> AtomicKind {
    match kind {
        AtomicKind::F32 if !is_shared => AtomicKind::F32Ftz,
        AtomicKind::F64 if is_shared => AtomicKind::F64Shared,
        _ => kind,
    }
}

fn update_lanes(view: &View, atomic: &Atomic, mask: u32, target: &Target, kind: AtomicKind) {
    for lane in lanes_of(mask) {
        let pointer = match target {
            Target::Offsets { base, offsets, .. } => base.wrapping_add(offsets[lane] as usize),
            Target::Pointers(pointers) => pointers[lane],
            Target::Local(_) => continue,
        };
        // SAFETY: bounds and alignment of every active lane are checked, and nobody else touches
        // the element: shared memory is the block's, and atomics of global memory run alone.
        unsafe { update_lane(view, atomic, lane, pointer, kind) };
    }
}

/// # Safety
/// `pointer` must lead to the access's elements, which nobody else touches meanwhile.
unsafe fn update_lane(
    view: &View,
    atomic: &Atomic,
    lane: usize,
    pointer: *mut u8,
    kind: AtomicKind,
) {
    if kind == AtomicKind::Pair {
        // SAFETY: the caller's promise.
        return unsafe { update_pair(view, atomic, lane, pointer.cast()) };
    }
    let bytes = atomic.access.bytes as usize;
    for at in 0..atomic.access.count as usize {
        let Some(slot) = atomic.access.data[at] else {
            continue;
        };
        // SAFETY: the caller's promise.
        unsafe {
            let element = pointer.add(at * bytes);
            let operand = lane_value(view, slot, lane);
            let old = match bytes {
                2 => u64::from(element.cast::<u16>().read()),
                4 => u64::from(element.cast::<u32>().read()),
                _ => element.cast::<u64>().read(),
            };
            let new = match atomic.swap {
                Some(swap) if old == operand & low_bits(bytes) => lane_value(view, swap, lane),
                Some(_) => old,
                None => combine(atomic.op, kind, bytes, old, operand),
            };
            match bytes {
                2 => element.cast::<u16>().write(new as u16),
                4 => element.cast::<u32>().write(new as u32),
                _ => element.cast::<u64>().write(new),
            }
            if let Some(dst) = atomic.dst[at] {
                write_lane(view, dst, lane, old);
            }
        }
    }
}

/// # Safety
/// As for [`update_lane`]; the access has two elements of 64 bits.
unsafe fn update_pair(view: &View, atomic: &Atomic, lane: usize, pointer: *mut [u64; 2]) {
    // SAFETY: the caller's promise; a pair has four slots of data, all of the program's.
    unsafe {
        let value =
            |at: usize| atomic.access.data[at].map_or(0, |slot| lane_value(view, slot, lane));
        let old = pointer.read();
        if atomic.op == AtomicOp::Exchange || old == [value(0), value(1)] {
            pointer.write([value(2), value(3)]);
        }
        for (dst, old) in atomic.dst.iter().zip(old) {
            if let Some(dst) = dst {
                write_lane(view, *dst, lane, old);
            }
        }
    }
}

fn low_bits(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

pub(super) fn combine(op: AtomicOp, kind: AtomicKind, bytes: usize, old: u64, operand: u64) -> u64 {
    match kind {
        // A pair is exchanged as a whole.
        AtomicKind::Pair => operand,
        AtomicKind::Unsigned => unsigned(op, old, operand & low_bits(bytes)),
        AtomicKind::Signed => signed(op, bytes, old, operand),
        AtomicKind::F32 => u64::from(single::add::<NEAREST, false, false>(
            old as u32,
            operand as u32,
        )),
        AtomicKind::F32Ftz => u64::from(single::add::<NEAREST, true, false>(
            old as u32,
            operand as u32,
        )),
        AtomicKind::F64 => double::add_in_memory(old, operand),
        // A loop of loads and exchanges, which has the operand first.
        AtomicKind::F64Shared => double::add::<NEAREST>(operand, old),
        AtomicKind::F16 => u64::from(of_halves::<F16>(op, old as u16, operand as u16)),
        AtomicKind::Bf16 => u64::from(of_halves::<Bf16>(op, old as u16, operand as u16)),
        AtomicKind::F16x2 => u64::from(pair2(old as u32, operand as u32, |a, b| {
            of_halves::<F16>(op, a, b)
        })),
        AtomicKind::Bf16x2 => u64::from(pair2(old as u32, operand as u32, |a, b| {
            of_halves::<Bf16>(op, a, b)
        })),
    }
}

fn unsigned(op: AtomicOp, old: u64, operand: u64) -> u64 {
    match op {
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::Min => old.min(operand),
        AtomicOp::Max => old.max(operand),
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Exchange | AtomicOp::CompareSwap => operand,
        AtomicOp::Increment => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
    }
}

fn signed(op: AtomicOp, bytes: usize, old: u64, operand: u64) -> u64 {
    let shift = 64 - 8 * bytes as u32;
    let extend = |value: u64| (value << shift) as i64 >> shift;
    let (a, b) = (extend(old), extend(operand));
    (match op {
        AtomicOp::Min => a.min(b),
        AtomicOp::Max => a.max(b),
        _ => a.wrapping_add(b),
    }) as u64
}

fn of_halves<H: half::Half>(op: AtomicOp, old: u16, operand: u16) -> u16 {
    match op {
        AtomicOp::Min => half::choose::<H, true, false>(old, operand),
        AtomicOp::Max => half::choose::<H, false, false>(old, operand),
        _ => half::add::<H>(old, operand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_address() {
        assert_eq!(most_alike([3, 1, 3, 2, 3, 1].into_iter()), 3);
        assert_eq!(most_alike(0..32), 1);
        assert_eq!(most_alike(std::iter::empty()), 0);
    }

    #[test]
    fn increments_wrap_at_their_limit() {
        assert_eq!(unsigned(AtomicOp::Increment, 7, 8), 8);
        assert_eq!(unsigned(AtomicOp::Increment, 8, 8), 0);
        assert_eq!(unsigned(AtomicOp::Decrement, 0, 8), 8);
        assert_eq!(unsigned(AtomicOp::Decrement, 9, 8), 8);
        assert_eq!(unsigned(AtomicOp::Decrement, 5, 8), 4);
    }

    #[test]
    fn signed_extremes_of_32_bits() {
        let minus = u64::from(-3i32 as u32);
        assert_eq!(signed(AtomicOp::Min, 4, 5, minus) as u32, minus as u32);
        assert_eq!(signed(AtomicOp::Max, 4, 5, minus), 5);
    }
}
