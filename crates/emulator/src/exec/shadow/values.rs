//! Which bytes hold a value, and which registers do not, before and after an access.

use super::observe::{Event, Registers};
use super::report::{Origin, Spot};
use super::taint::Mark;
use super::{BlockShadow, Shadow};
use crate::exec::elements::lanes_of;
use crate::exec::violations::Verb;
use crate::exec::worker::{Stop, Worker};

impl Worker<'_> {
    /// Which bytes hold a value, before and after; which registers do not.
    pub(super) fn enter_values(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
        lanes: u32,
    ) -> Result<(), Stop> {
        match event.verb {
            Verb::Read => mark_loaded(shadow, own, event, lanes),
            Verb::Write => return self.define_stored(shadow, own, event),
            Verb::Update => {
                for lane in lanes_of(event.mask) {
                    let (spot, bytes) = (event.spots[lane], event.bytes);
                    if event.needs_value && lacks(shadow, own, spot, bytes) {
                        return Err(self.update_stop(lane as u32, spot, bytes));
                    }
                    define(shadow, own, spot, bytes);
                }
            }
        }
        Ok(())
    }

    fn define_stored(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
    ) -> Result<(), Stop> {
        let Some(Registers { access, frame, .. }) = event.registers else {
            return Ok(());
        };
        let size = access.bytes;
        for (at, slot) in access.data.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let taint = &own.taint[event.warp as usize];
            let mark = if taint.is_empty() {
                Mark::default()
            } else {
                taint.slot(frame, *slot)
            };
            for lane in lanes_of(event.mask) {
                let mut spot = event.spots[lane];
                spot.offset += at as u64 * u64::from(size);
                if mark.lanes >> lane & 1 == 0 {
                    define(shadow, own, spot, size);
                } else if spot.allocation.is_none() {
                    own.defined.remove_element(spot.offset, size);
                } else if shadow.is_result(spot) || !lacks(shadow, own, spot, size) {
                    let origin = own.taint[event.warp as usize].origin(mark);
                    let label = spot
                        .allocation
                        .and_then(|at| self.context.memory.described(at as usize));
                    let label = label.map_or("memory", |(label, ..)| label);
                    let use_text = format!("stores to `{label}` what comes of");
                    return Err(self.undefined_stop(lane as u32, &origin, &use_text));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn is_defined(shadow: &Shadow, own: &BlockShadow, spot: Spot, bytes: u32) -> bool {
    if !shadow.checks.undefined_values {
        return true;
    }
    match spot.allocation {
        None => own.defined.holds_element(spot.offset, bytes),
        Some(number) => shadow
            .defined(number)
            .is_none_or(|set| set.holds_element(spot.offset, bytes)),
    }
}

/// Whether no byte of an element holds a value.
pub(super) fn lacks(shadow: &Shadow, own: &BlockShadow, spot: Spot, bytes: u32) -> bool {
    match spot.allocation {
        None => own.defined.lacks_element(spot.offset, bytes),
        Some(number) => shadow
            .defined(number)
            .is_some_and(|set| set.lacks_element(spot.offset, bytes)),
    }
}

pub(super) fn define(shadow: &mut Shadow, own: &mut BlockShadow, spot: Spot, bytes: u32) {
    match spot.allocation {
        None => own.defined.insert_element(spot.offset, bytes),
        Some(number) => {
            if let Some(set) = shadow.defined_mut(number) {
                set.insert_element(spot.offset, bytes);
            }
        }
    }
}

/// Marks registers that a load fills with undefined elements, in the lanes `lanes`.
fn mark_loaded(shadow: &Shadow, own: &mut BlockShadow, event: &Event<'_>, lanes: u32) {
    let Some(Registers { access, frame, .. }) = event.registers else {
        return;
    };
    let size = access.bytes;
    for (at, slot) in access.data.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let at_element = |lane: usize| {
            let mut spot = event.spots[lane];
            spot.offset += at as u64 * u64::from(size);
            spot
        };
        let undefined = lanes_of(event.mask)
            .filter(|&lane| lacks(shadow, own, at_element(lane), size))
            .fold(0u32, |all, lane| all | 1 << lane);
        let taint = &mut own.taint[event.warp as usize];
        if undefined == 0 {
            if !taint.is_empty() {
                taint.set_slot(frame, *slot, lanes, Mark::default());
            }
            continue;
        }
        let origin = Origin {
            spot: at_element(undefined.trailing_zeros() as usize),
            bytes: size,
            line: event.line,
        };
        let mark = taint.mark(undefined, origin);
        taint.set_slot(frame, *slot, lanes, mark);
    }
}
