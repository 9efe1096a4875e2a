//! Registers that hold what nobody wrote, and where that goes.
//!
//! An undefined value may be copied and computed with: tiles are read past the edge of a matrix, and
//! what comes of it is thrown away. It is a fault once it decides a branch, an address or the guard of
//! a store, or is stored in a result. A warp that holds none of them pays nothing.

use std::collections::HashMap;

use super::report::Origin;
use crate::exec::exchange::shuffle_sources;
use crate::exec::step::{Here, holding};
use crate::exec::worker::{Stop, Worker};
use crate::exec::{block::Block, elements::lanes_of, reconverge::Warp};
use crate::lanes::{LANES, Slot};
use crate::program::{Inst, Kind, Predicate, Role, Tensor, visit_slots};

/// Lanes in which a register is undefined, and the load that is to blame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) lanes: u32,
    origin: u32,
}

impl Mark {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            lanes: self.lanes | other.lanes,
            origin: if self.lanes != 0 {
                self.origin
            } else {
                other.origin
            },
        }
    }
}

/// A register or predicate of an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Register {
    Slot(u32),
    Predicate(u32),
}

/// The undefined registers of a warp.
#[derive(Debug, Default)]
pub(super) struct Taint {
    marks: HashMap<(u32, Register), Mark>,
    origins: Vec<Origin>,
}

impl Taint {
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    pub(super) fn slot(&self, frame: u32, slot: Slot) -> Mark {
        let found = self.marks.get(&(frame, Register::Slot(slot.0)));
        found.copied().unwrap_or_default()
    }

    fn predicate(&self, frame: u32, predicate: Predicate) -> Mark {
        let key = (frame, Register::Predicate(predicate.index));
        self.marks.get(&key).copied().unwrap_or_default()
    }

    pub(super) fn origin(&self, mark: Mark) -> Origin {
        self.origins[mark.origin as usize]
    }

    /// A mark for values that a load got; one origin a line is kept.
    pub(super) fn mark(&mut self, lanes: u32, origin: Origin) -> Mark {
        let known = self.origins.iter().position(|o| o.line == origin.line);
        let at = known.unwrap_or(self.origins.len());
        if known.is_none() {
            self.origins.push(origin);
        }
        Mark {
            lanes,
            origin: at as u32,
        }
    }

    fn set(&mut self, key: (u32, Register), mask: u32, mark: Mark) {
        let before = self.marks.get(&key).copied().unwrap_or_default();
        let kept = Mark {
            lanes: before.lanes & !mask,
            ..before
        };
        let lanes = mark.lanes & mask;
        let now = Mark { lanes, ..mark }.and(kept);
        if now.lanes == 0 {
            self.marks.remove(&key);
        } else {
            self.marks.insert(key, now);
        }
    }

    pub(super) fn set_slot(&mut self, frame: u32, slot: Slot, mask: u32, mark: Mark) {
        self.set((frame, Register::Slot(slot.0)), mask, mark);
    }

    fn set_predicate(&mut self, frame: u32, index: u32, mask: u32, mark: Mark) {
        if index != 0 {
            self.set((frame, Register::Predicate(index)), mask, mark);
        }
    }

    /// An activation ends: its registers mean nothing any more.
    fn leave(&mut self, frame: u32) {
        self.marks.retain(|&(of, _), _| of != frame);
    }

    /// All that an instruction reads from slots.
    fn sources(&self, frame: u32, inst: &Inst) -> Mark {
        let mut all = Mark::default();
        visit_slots(inst, &mut |slot, role| {
            if role == Role::Read {
                all = all.and(self.slot(frame, slot));
            }
        });
        all
    }

    /// Gives every slot that an instruction writes one mark.
    fn set_all(&mut self, frame: u32, inst: &Inst, mask: u32, mark: Mark) {
        visit_slots(inst, &mut |slot, role| {
            if role == Role::Write {
                self.set_slot(frame, slot, mask, mark);
            }
        });
    }

    /// Where the values of an instruction that decides nothing go.
    fn flow(&mut self, here: &Here, inst: &Inst, guard: Mark) {
        let (frame, mask) = (here.split.frame, here.mask);
        let none = Mark::default();
        match &inst.kind {
            Kind::Lane { .. } | Kind::Carry(_) | Kind::Tensor(Tensor::Address(_)) => {
                let mark = self.sources(frame, inst).and(guard);
                self.set_all(frame, inst, mask, mark);
            }
            Kind::Compare(compare) => {
                let mark = self.sources(frame, inst).and(guard);
                let mark = mark.and(self.predicate(frame, compare.with));
                self.set_predicate(frame, compare.dst, mask, mark);
                self.set_predicate(frame, compare.dst_not, mask, mark);
            }
            Kind::Select { dst, a, b, by } => {
                let chosen = holding(&here.view, *by);
                let mut taken = self.slot(frame, *a);
                taken.lanes &= chosen;
                let mut other = self.slot(frame, *b);
                other.lanes &= !chosen;
                let by = self.predicate(frame, *by).and(guard);
                self.set_slot(frame, *dst, mask, taken.and(other).and(by));
            }
            Kind::Logic { dst, a, b, .. } => {
                let mark = self.predicate(frame, *a).and(self.predicate(frame, *b));
                self.set_predicate(frame, *dst, mask, mark.and(guard));
            }
            Kind::Shuffle(shuffle) => {
                let mark = self.slot(frame, shuffle.value);
                let sources = shuffle_sources(&here.view, shuffle, mask).0;
                let lanes = (0..LANES).fold(0, |lanes, lane| {
                    let is_marked = u64::from(mark.lanes) >> sources[lane] & 1 != 0;
                    lanes | u32::from(is_marked) << lane
                });
                self.set_slot(frame, shuffle.dst, mask, Mark { lanes, ..mark });
                self.set_predicate(frame, shuffle.dst_predicate, mask, none);
            }
            Kind::Reduce { dst, value, .. } => {
                let mark = self.slot(frame, *value);
                let all = if mark.lanes & mask != 0 { mask } else { 0 };
                self.set_slot(frame, *dst, mask, Mark { lanes: all, ..mark });
            }
            Kind::Vote { dst_predicate, .. }
            | Kind::Match { dst_predicate, .. }
            | Kind::Elect { dst_predicate, .. } => {
                self.set_predicate(frame, *dst_predicate, mask, none);
                self.set_all(frame, inst, mask, none);
            }
            // What they load is marked when they are observed.
            Kind::Load(_) | Kind::Store(_) | Kind::Atomic(_) => {}
            // When all lanes are there.
            Kind::Tensor(_) => {}
            Kind::Return => self.leave(frame),
            _ => self.set_all(frame, inst, mask, none),
        }
    }
}

impl Worker<'_> {
    /// Follows undefined values through an instruction that is about to run. Only while the warp
    /// holds some.
    pub(in crate::exec) fn follow(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        here: &Here,
        inst: &Inst,
    ) -> Result<(), Stop> {
        let Some(own) = block.shadow.as_mut() else {
            return Ok(());
        };
        let taint = &mut own.taint[warp.first_thread as usize / 32];
        let frame = here.split.frame;
        let guard = taint.predicate(frame, inst.guard);
        let (decided, use_text) = match &inst.kind {
            Kind::Branch { .. } => (guard.lanes & here.split.mask, "branches on"),
            Kind::Table { index, .. } => {
                (taint.slot(frame, *index).lanes & here.mask, "branches on")
            }
            Kind::CallAddress(call) => {
                let lanes = taint.slot(frame, call.target).lanes;
                (lanes & here.mask, "calls an address made of")
            }
            Kind::Store(_) | Kind::Atomic(_) => {
                (guard.lanes & here.split.mask, "decides whether to store by")
            }
            _ => (0, ""),
        };
        if let Some(lane) = lanes_of(decided).next() {
            let mark = match &inst.kind {
                Kind::Table { index, .. } => taint.slot(frame, *index),
                Kind::CallAddress(call) => taint.slot(frame, call.target),
                _ => guard,
            };
            let origin = taint.origin(mark);
            return Err(self.undefined_stop(lane as u32, &origin, use_text));
        }
        taint.flow(here, inst, guard);
        warp.tainted = !taint.is_empty();
        Ok(())
    }
}
