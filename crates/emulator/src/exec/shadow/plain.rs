//! Accesses that do not go lane by lane between registers and memory: rows of matrices, asynchronous copies,
//! barriers in shared memory. Their values are followed by who performs them.

use super::observe::Event;
use super::report::{Origin, Spot};
use super::{BlockShadow, Shadow};
use crate::exec::access::Addresses;
use crate::exec::block::Block;
use crate::exec::elements::lanes_of;
use crate::exec::reconverge::Warp;
use crate::exec::violations::Verb;
use crate::exec::worker::{Stop, Worker};
use crate::lanes::LANES;
use crate::program::AddressSpace;

/// One warp's access to `bytes` at an address a lane, within one space.
#[derive(Debug, Clone, Copy)]
pub(in crate::exec) struct Plain<'a> {
    pub(in crate::exec) space: AddressSpace,
    pub(in crate::exec) addresses: &'a Addresses,
    pub(in crate::exec) mask: u32,
    pub(in crate::exec) bytes: u32,
    pub(in crate::exec) verb: Verb,
    /// Atomic or ordered.
    pub(in crate::exec) strong: bool,
    /// Source line; 0 when unknown.
    pub(in crate::exec) line: u16,
}

impl Worker<'_> {
    /// Compares an access with what is known of order, and enters it; then `act` may look at which bytes hold
    /// a value.
    pub(in crate::exec) fn observe_plain(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        plain: Plain<'_>,
        act: impl FnOnce(&mut Values<'_>),
    ) -> Result<(), Stop> {
        let (Some(mut shadow), Some(mut own)) = (self.shadow.take(), block.shadow.take()) else {
            return Ok(());
        };
        let number = warp.first_thread / 32;
        self.running = (block.number, number);
        let mut event = Event::plain(&plain, number);
        self.find_spots(block, plain.space, plain.addresses, &mut event);
        let outcome = self.enter_unvalued(&mut shadow, &mut own, &event);
        if outcome.is_ok() && shadow.checks.undefined_values {
            act(&mut Values {
                shadow: &mut shadow,
                own: &mut own,
                spots: &event.spots,
                mask: event.mask,
            });
        }
        self.shadow = Some(shadow);
        block.shadow = Some(own);
        outcome
    }
}

/// Which bytes of an access hold a value.
pub(in crate::exec) struct Values<'a> {
    shadow: &'a mut Shadow,
    own: &'a mut BlockShadow,
    spots: &'a [Spot; LANES],
    /// Lanes inside memory.
    mask: u32,
}

impl Values<'_> {
    /// Where a lane's access lies, from `at` on; None outside memory.
    fn spot(&self, lane: usize, at: u32) -> Option<Spot> {
        let mut spot = self.spots[lane];
        spot.offset += u64::from(at);
        (self.mask >> lane & 1 != 0).then_some(spot)
    }

    /// Whether none of `bytes` of a lane holds a value.
    pub(in crate::exec) fn lacks(&self, lane: usize, at: u32, bytes: u32) -> bool {
        let spot = self.spot(lane, at);
        spot.is_some_and(|spot| super::values::lacks(self.shadow, self.own, spot, bytes))
    }

    /// A load of them that is to blame for what comes of it.
    pub(super) fn origin(&self, lane: usize, at: u32, bytes: u32, line: u16) -> Option<Origin> {
        let spot = self.spot(lane, at)?;
        Some(Origin { spot, bytes, line })
    }

    /// They hold one now, or none any more.
    pub(in crate::exec) fn set(&mut self, lane: usize, at: u32, bytes: u32, is_defined: bool) {
        let Some(spot) = self.spot(lane, at) else {
            return;
        };
        if is_defined {
            super::values::define(self.shadow, self.own, spot, bytes);
        } else if spot.allocation.is_none() {
            self.own.defined.remove_element(spot.offset, bytes);
        }
    }

    pub(in crate::exec) fn set_all(&mut self, bytes: u32) {
        for lane in lanes_of(self.mask) {
            self.set(lane, 0, bytes, true);
        }
    }
}
