//! Exchanges between lanes: shuffles, votes, matches, reductions, warp barriers.
//!
//! An exchange names its members; it happens when all of them that have not exited are there.
#![allow(unsafe_code)]

use super::block::Block;
use super::elements::lanes_of;
use super::reconverge::{Split, State, Warp, lane_value};
use super::tensor::Place;
use super::worker::Worker;
use crate::fault::Fault;
use crate::lanes::{FULL, LANES, Slot, View};
use crate::program::{Kind, Predicate, ReduceOp, Shuffle, ShuffleMode, VoteOp};

impl Worker<'_> {
    /// Performs the exchange if its members are here, or makes the split wait for them. Whether it
    /// waits.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn exchange_or_wait(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        mut split: Split,
        view: &View,
        kind: &Kind,
        mask: u32,
    ) -> bool {
        let members = self.members(view, kind, mask);
        if members & warp.alive & !mask == 0 {
            if self.shadow.is_some() {
                self.note_meeting(block, warp, mask);
            }
            exchange(view, kind, mask);
            return false;
        }
        // Lanes that a guard leaves out wait behind the exchange for the others.
        let rest = split.mask & !mask;
        if rest != 0 {
            split.node = warp.meet_at(&split, split.pc + 1);
            warp.splits.push(Split {
                pc: split.pc + 1,
                mask: rest,
                ..split
            });
            split.mask = mask;
        }
        split.state = match kind {
            Kind::SyncWarp { .. } => State::SyncWarp { members },
            _ => State::Exchange { members },
        };
        warp.splits[at] = split;
        true
    }

    /// The lanes that have to be there: all that a lane of `mask` names.
    fn members(&self, view: &View, kind: &Kind, mask: u32) -> u32 {
        let slot = match kind {
            Kind::SyncWarp { members } => *members,
            Kind::Tensor(_) => return FULL,
            _ => match named(kind) {
                Some(slot) => slot,
                None => return mask,
            },
        };
        // SAFETY: the slot is one of the program's.
        let masks = unsafe { *view.plane::<u32>(slot) };
        lanes_of(mask).fold(0, |all, lane| all | masks[lane])
    }

    /// Looks whether the members that the split at `at` waits for have come, and if so performs
    /// the exchange for all of them.
    pub(super) fn meet(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        members: u32,
    ) -> Result<bool, Fault> {
        let split = warp.splits[at];
        let joins = |other: &Split| match (split.state, other.state) {
            (State::SyncWarp { .. }, State::SyncWarp { .. }) => true,
            (State::Exchange { .. }, State::Exchange { .. }) => {
                other.pc == split.pc && other.frame == split.frame
            }
            _ => false,
        };
        let present = warp
            .splits
            .iter()
            .filter(|other| joins(other))
            .fold(0, |all, other| all | other.mask);
        if members & warp.alive & !present != 0 {
            return Ok(false);
        }
        if self.shadow.is_some() {
            self.note_meeting(block, warp, present);
        }
        if matches!(split.state, State::Exchange { .. }) {
            let code = self
                .context
                .linked
                .function(warp.frame(split.frame).function);
            let view = warp.view(split.frame, code);
            let kind = self.instruction(warp, split.frame, split.pc);
            exchange(&view, kind, present);
            if let Kind::Tensor(tensor) = kind {
                let place = Place {
                    view: &view,
                    frame: split.frame,
                    function: warp.frame(split.frame).function,
                    pc: split.pc,
                };
                self.tensor(block, warp, &place, tensor, present)
                    .map_err(|stop| self.place(block, warp, split.frame, split.pc, stop))?;
            }
        }
        for other in &mut warp.splits {
            if joins(other) {
                other.state = State::Ready;
                other.pc += 1;
            }
        }
        Ok(true)
    }
}

fn holding(view: &View, predicate: Predicate) -> u32 {
    // SAFETY: the predicate is one of the program's.
    let value = unsafe { view.predicate(predicate.index) };
    if predicate.negated { !value } else { value }
}

/// The slot of the mask that names an exchange's members.
fn named(kind: &Kind) -> Option<Slot> {
    match kind {
        Kind::Vote { members, .. }
        | Kind::Match { members, .. }
        | Kind::Reduce { members, .. }
        | Kind::Elect { members, .. } => Some(*members),
        Kind::Shuffle(shuffle) => Some(shuffle.members),
        _ => None,
    }
}

/// Exchanges among the lanes of `mask`: those that name the same members do it among themselves.
fn exchange(view: &View, kind: &Kind, mask: u32) {
    let Some(slot) = named(kind) else {
        return;
    };
    // SAFETY: the slot is one of the program's; an exchange may write it.
    let masks = unsafe { *view.plane::<u32>(slot) };
    let mut rest = mask;
    while rest != 0 {
        let wanted = masks[rest.trailing_zeros() as usize];
        let like = (0..LANES).fold(0, |like, lane| {
            like | u32::from(masks[lane] == wanted) << lane
        });
        exchange_among(view, kind, rest & like);
        rest &= !like;
    }
}

fn exchange_among(view: &View, kind: &Kind, mask: u32) {
    match kind {
        Kind::Shuffle(shuffle) => shuffle_lanes(view, shuffle, mask),
        Kind::Vote {
            op,
            dst,
            dst_predicate,
            by,
            ..
        } => {
            let held = holding(view, *by) & mask;
            let all = |yes: bool| if yes { FULL } else { 0 };
            // SAFETY: slot and predicate are the program's.
            unsafe {
                match op {
                    VoteOp::Ballot => view.store(*dst, mask, &[held; LANES]),
                    VoteOp::All => view.set_predicate(*dst_predicate, mask, all(held == mask)),
                    VoteOp::Any => view.set_predicate(*dst_predicate, mask, all(held != 0)),
                    VoteOp::Uniform => {
                        view.set_predicate(*dst_predicate, mask, all(held == 0 || held == mask));
                    }
                }
            }
        }
        Kind::Match {
            all,
            dst,
            dst_predicate,
            value,
            ..
        } => {
            match_lanes(view, *all, *dst, *dst_predicate, *value, mask);
        }
        Kind::Reduce { op, dst, value, .. } => {
            // SAFETY: the slots are the program's.
            unsafe {
                let values = *view.plane::<u32>(*value);
                let total = lanes_of(mask)
                    .map(|lane| values[lane])
                    .reduce(|a, b| reduce(*op, a, b))
                    .unwrap_or(0);
                view.store(*dst, mask, &[total; LANES]);
            }
        }
        Kind::Elect {
            dst, dst_predicate, ..
        } => {
            let leader = mask.trailing_zeros();
            // SAFETY: slot and predicate are the program's.
            unsafe {
                if let Some(dst) = dst {
                    view.store(*dst, mask, &[leader; LANES]);
                }
                view.set_predicate(*dst_predicate, mask, 1 << leader);
            }
        }
        _ => {}
    }
}

fn reduce(op: ReduceOp, a: u32, b: u32) -> u32 {
    match op {
        ReduceOp::Add => a.wrapping_add(b),
        ReduceOp::Min { signed: false } => a.min(b),
        ReduceOp::Max { signed: false } => a.max(b),
        ReduceOp::Min { signed: true } => (a as i32).min(b as i32) as u32,
        ReduceOp::Max { signed: true } => (a as i32).max(b as i32) as u32,
        ReduceOp::And => a & b,
        ReduceOp::Or => a | b,
        ReduceOp::Xor => a ^ b,
    }
}

/// In place of a lane: it does not take part in the exchange.
pub(super) const ABSENT: usize = LANES;

/// The lane from which each lane of a `shfl.sync` takes its value, and for which of them it lies in
/// the segment. A lane whose source lies outside its segment keeps its own; from one that does not take part
/// it takes zero, as on an H200 (PTX leaves that undefined).
pub(super) fn shuffle_sources(view: &View, shuffle: &Shuffle, mask: u32) -> ([usize; LANES], u32) {
    // SAFETY: the slots are the program's.
    let (lanes, clamps) = unsafe {
        (
            *view.plane::<u32>(shuffle.lane),
            *view.plane::<u32>(shuffle.clamp),
        )
    };
    let mut sources = std::array::from_fn(|lane| lane);
    let mut inside = 0u32;
    for lane in lanes_of(mask) {
        let (own, b, c) = (lane as u32, lanes[lane] & 31, clamps[lane]);
        let (segment, clamp) = (c >> 8 & 31, c & 31);
        let last = own & segment | clamp & !segment;
        let first = own & segment;
        let (source, valid) = match shuffle.mode {
            ShuffleMode::Up => {
                let source = own as i32 - b as i32;
                // The clamp of an upward shuffle is the segment's first lane.
                (source as u32, source >= last as i32)
            }
            ShuffleMode::Down => (own + b, own + b <= last),
            ShuffleMode::Butterfly => (own ^ b, own ^ b <= last),
            ShuffleMode::Index => {
                let source = first | b & !segment;
                (source, source <= last)
            }
        };
        inside |= u32::from(valid) << lane;
        let source = if valid { source } else { own };
        let is_here = mask >> source & 1 != 0;
        sources[lane] = if is_here { source as usize } else { ABSENT };
    }
    (sources, inside)
}

fn shuffle_lanes(view: &View, shuffle: &Shuffle, mask: u32) {
    let (sources, inside) = shuffle_sources(view, shuffle, mask);
    // SAFETY: the slots are the program's; a copy is taken before the destination is written.
    unsafe {
        let mut values = [0; LANES + 1];
        values[..LANES].copy_from_slice(&*view.plane::<u32>(shuffle.value));
        let out = sources.map(|source| values[source]);
        view.store(shuffle.dst, mask, &out);
        if shuffle.dst_predicate != 0 {
            view.set_predicate(shuffle.dst_predicate, mask, inside);
        }
    }
}

fn match_lanes(view: &View, all: bool, dst: Slot, dst_predicate: u32, value: Slot, mask: u32) {
    // SAFETY: slots and predicate are the program's.
    unsafe {
        let values: [u64; LANES] = std::array::from_fn(|lane| lane_value(view, value, lane));
        let like = |wanted: u64| {
            lanes_of(mask)
                .filter(|&lane| values[lane] == wanted)
                .fold(0u32, |same, lane| same | 1 << lane)
        };
        let mut out = [0; LANES];
        let mut agreed = 0;
        for lane in lanes_of(mask) {
            let same = like(values[lane]);
            out[lane] = if !all || same == mask { same } else { 0 };
            agreed |= u32::from(same == mask) << lane;
        }
        view.store(dst, mask, &out);
        if dst_predicate != 0 {
            view.set_predicate(dst_predicate, mask, agreed);
        }
    }
}
