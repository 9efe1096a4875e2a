//! Barriers in shared memory (`mbarrier`): words that count arrivals and bytes of copies.
//!
//! What is under way to a barrier (bulk copies, arrivals of `cp.async`) lands when a thread waits at
//! it for a phase that is not over: as late as a device may, so that a wait that is missing shows.
#![allow(unsafe_code)]

use super::block::Block;
use super::cluster::{Place, suspend};
use super::elements::{lanes_of, write_lane};
use super::mbarrier_word::{MAX_ARRIVALS, Mbarrier, PARITY, due};
use super::reconverge::{State, Warp, lane_value};
use super::step::Here;
use super::turns::POLL_COST;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::program::{AddressSpace, AsyncKind, AsyncOp, BarrierOp, Kind};

/// Polls of `mbarrier.test_wait` by one split before it sleeps as `try_wait` does.
const EAGER_POLLS: u32 = 64;

impl Worker<'_> {
    /// Whether the split has left its place.
    pub(super) fn mbarrier(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (op, space): (BarrierOp, AddressSpace),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<bool, Stop> {
        if let BarrierOp::Wait { suspends, .. } = op {
            return self.wait_or_sleep(block, warp, suspends, what, here);
        }
        for lane in lanes_of(here.mask) {
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let (number, address) = (lane as u32, value(0));
            let place = self.shared_place(block, number, address, space, (8, 8), Verb::Update)?;
            let operand = what.sources.get(1).map_or(0, |_| value(1) as u32);
            let old = self.barrier_lane(block, number, place, op, operand)?;
            if let Some(dst) = what.dst {
                // SAFETY: the slot is one of the program's.
                unsafe { write_lane(&here.view, dst, lane, old) };
            }
        }
        Ok(false)
    }

    /// One lane's operation; the word before it.
    fn barrier_lane(
        &mut self,
        block: &mut Block,
        lane: u32,
        place: Place,
        op: BarrierOp,
        operand: u32,
    ) -> Result<u64, Stop> {
        match op {
            BarrierOp::Initialise => {
                if operand == 0 || operand > MAX_ARRIVALS {
                    let what = format!(
                        "initialises the mbarrier at offset {} of shared memory for {operand} \
                         arrivals; 1 to {MAX_ARRIVALS} are possible",
                        place.offset
                    );
                    return Err(Stop::new(FaultKind::BadLaunch, lane, what));
                }
                self.owner(block, place).in_flight.take(place.offset);
                self.write_word(block, place, Mbarrier::initial(operand).encode());
                Ok(0)
            }
            BarrierOp::Invalidate => {
                self.update_barrier(block, lane, place, "invalidates", |_| Ok(()))?;
                self.write_word(block, place, 0);
                Ok(0)
            }
            BarrierOp::Expect => self.update_barrier(block, lane, place, "adds to", |barrier| {
                barrier.expect(i64::from(operand))
            }),
            BarrierOp::Complete => {
                self.update_barrier(block, lane, place, "completes bytes of", |barrier| {
                    barrier.expect(-i64::from(operand))
                })
            }
            BarrierOp::Arrive {
                drop,
                may_complete,
                expects,
            } => self.update_barrier(block, lane, place, "arrives at", |barrier| {
                let count = if expects { 1 } else { operand };
                if expects {
                    barrier.expect(i64::from(operand))?;
                }
                barrier.arrive(count)?;
                if drop {
                    barrier.expected -= count.min(barrier.expected);
                }
                if !may_complete && barrier.pending == 0 && barrier.bytes == 0 {
                    return Err("whose phase that completes, which it said it does not".to_owned());
                }
                Ok(())
            }),
            BarrierOp::Wait { .. } => Ok(0),
        }
    }

    fn read_word(&mut self, block: &mut Block, place: Place) -> u64 {
        let pointer = self.shared_pointer(block, place);
        // SAFETY: the place is checked for 8 aligned bytes of shared memory, which is this thread's.
        unsafe { pointer.cast::<u64>().read() }
    }

    fn write_word(&mut self, block: &mut Block, place: Place, word: u64) {
        let pointer = self.shared_pointer(block, place);
        // SAFETY: as in `read_word`.
        unsafe { pointer.cast::<u64>().write(word) };
    }

    /// Changes a barrier and begins its next phase if that is due; the word before.
    pub(super) fn update_barrier(
        &mut self,
        block: &mut Block,
        lane: u32,
        place: Place,
        verb: &str,
        change: impl FnOnce(&mut Mbarrier) -> Result<(), String>,
    ) -> Result<u64, Stop> {
        let old = self.read_word(block, place);
        let at = place.offset;
        let Some(mut barrier) = Mbarrier::decode(old) else {
            return Err(no_barrier(lane, verb, at));
        };
        change(&mut barrier).map_err(|why| {
            let what = format!("{verb} the mbarrier at offset {at} of shared memory, {why}");
            Stop::new(FaultKind::BarrierDivergence, lane, what)
        })?;
        if barrier.settle() {
            self.cluster.patience.renew();
        }
        block.progressed = true;
        self.write_word(block, place, barrier.encode());
        Ok(old)
    }

    fn wait_or_sleep(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        suspends: bool,
        what: &AsyncOp,
        here: &Here,
    ) -> Result<bool, Stop> {
        let (over, state) = self.phases_over(block, what, here)?;
        let split = &mut warp.splits[here.at];
        split.polls += u32::from(!suspends);
        let sleeps = over == 0 && (suspends || split.polls >= EAGER_POLLS);
        if sleeps {
            suspend(warp, here, state);
            return Ok(true);
        }
        self.note_phase(block, warp, here, what, over);
        // SAFETY: the predicate is one of the program's.
        unsafe { here.view.set_predicate(what.dst_predicate, here.mask, over) };
        Ok(false)
    }

    /// Lanes whose phase is over, and the state of a split that waits for the first one's.
    fn phases_over(
        &mut self,
        block: &mut Block,
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(u32, State), Stop> {
        let AsyncKind::Barrier {
            op: BarrierOp::Wait { parity, .. },
            space,
        } = what.kind
        else {
            return Ok((here.mask, State::Ready));
        };
        let mut over = 0;
        let mut first = None;
        let mut known: Option<(u64, u64, bool)> = None;
        for lane in lanes_of(here.mask) {
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let (address, operand) = (value(0), value(1));
            let is_over = match known {
                Some((a, o, is_over)) if (a, o) == (address, operand) => is_over,
                _ => {
                    let number = lane as u32;
                    let place =
                        self.shared_place(block, number, address, space, (8, 8), Verb::Read)?;
                    let awaited = if parity {
                        operand & 1 != 0
                    } else {
                        operand & PARITY != 0
                    };
                    first.get_or_insert(State::Phase {
                        offset: place.offset,
                        parity: awaited,
                    });
                    self.phase_is_over(block, number, place, awaited)?
                }
            };
            known = Some((address, operand, is_over));
            over |= u32::from(is_over) << lane;
        }
        Ok((over, first.unwrap_or(State::Ready)))
    }

    fn phase_is_over(
        &mut self,
        block: &mut Block,
        lane: u32,
        place: Place,
        awaited: bool,
    ) -> Result<bool, Stop> {
        let parity = |word: u64| Mbarrier::decode(word).map(|barrier| barrier.parity);
        let missing = || no_barrier(lane, "waits at", place.offset);
        let now = parity(self.read_word(block, place)).ok_or_else(missing)?;
        if now != awaited {
            return Ok(true);
        }
        if place.peer.is_some() || !self.land_all(block, lane, place.offset)? {
            return Ok(false);
        }
        let now = parity(self.read_word(block, place)).ok_or_else(missing)?;
        Ok(now != awaited)
    }

    /// Completes what is under way to a barrier of the block. Whether there was anything.
    fn land_all(&mut self, block: &mut Block, lane: u32, barrier: u32) -> Result<bool, Stop> {
        let landing = block.in_flight.take(barrier);
        let is_some = !landing.is_empty();
        for flight in landing {
            self.land(block, lane, flight)?;
        }
        Ok(is_some)
    }

    /// Whether a split that sleeps at a barrier can go on; if so, or if it waited for too long, its
    /// predicate is written and it stands behind the wait.
    pub(super) fn wake(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        is_late: bool,
    ) -> Result<bool, Stop> {
        let split = warp.splits[at];
        let code = { self.context.linked }.function(warp.frame(split.frame).function);
        let view = warp.view(split.frame, code);
        let Kind::Async(what) = self.instruction(warp, split.frame, split.pc) else {
            return Ok(true);
        };
        let here = Here {
            at,
            split,
            mask: split.mask,
            view,
            bounds: super::access::FrameBounds { base: 0, top: 0 },
        };
        let (over, _) = self.phases_over(block, what, &here)?;
        if over == 0 && !is_late {
            return Ok(false);
        }
        self.note_phase(block, warp, &here, what, over);
        // SAFETY: the predicate is one of the program's.
        unsafe { view.set_predicate(what.dst_predicate, split.mask, over) };
        warp.splits[at].pc += 1;
        warp.splits[at].state = State::Ready;
        Ok(true)
    }

    /// What a phase of the block's barrier still waits for.
    pub(super) fn phase_text(block: &Block, offset: u32, parity: bool) -> String {
        let word = block.shared.get(offset as usize / 8).copied().unwrap_or(0);
        let phase = u32::from(parity);
        let Some(barrier) = Mbarrier::decode(word) else {
            return format!(
                "waits for the mbarrier at offset {offset} of shared memory, which is invalid"
            );
        };
        format!(
            "waits for the phase of parity {phase} of the mbarrier at offset {offset} of shared memory, \
             which {} of {} and {} bytes due",
            due(barrier.pending, "arrival"),
            barrier.expected,
            barrier.bytes
        )
    }
}

/// What a poll costs of a slice.
pub(super) fn wait_cost(kind: &AsyncKind) -> i64 {
    match kind {
        AsyncKind::Barrier {
            op: BarrierOp::Wait {
                suspends: false, ..
            },
            ..
        } => POLL_COST,
        _ => 1,
    }
}

fn no_barrier(lane: u32, verb: &str, offset: u32) -> Stop {
    let what = format!(
        "{verb} the mbarrier at offset {offset} of shared memory, which is not initialised"
    );
    Stop::new(FaultKind::BarrierDivergence, lane, what)
}
