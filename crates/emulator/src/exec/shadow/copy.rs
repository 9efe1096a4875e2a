//! `cp.async` and `mbarrier` as the checks see them.
//!
//! A copy writes shared memory at no known time between its issue and the wait for it. So it is an access at
//! both ends, and in between its bytes hold no value: whoever reads them too early is caught at what comes of it.
//! Arriving at a barrier gives what came before; whoever finds its phase over has taken it.

use super::clocks::Flag;
use super::plain::Plain;
use crate::exec::access::{Addresses, window};
use crate::exec::block::Block;
use crate::exec::copies::PendingCopy;
use crate::exec::elements::lanes_of;
use crate::exec::reconverge::{Warp, lane_value};
use crate::exec::step::Here;
use crate::exec::violations::Verb;
use crate::exec::worker::{Stop, Worker};
use crate::lanes::{LANES, Slot};
use crate::program::{AddressSpace, AsyncOp, BarrierOp};

const WORD_BYTES: u32 = 4;
/// Of an address of shared memory, the place in the block.
const OFFSET: u64 = (1 << 24) - 1;

/// Words of each lane's copy that hold no value, a bit each.
pub(in crate::exec) type Holes = [u8; LANES];

impl Worker<'_> {
    /// Copies of `bytes` that are about to be issued. `reads`: lanes that read all of them.
    pub(in crate::exec) fn observe_copy(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        here: &Here,
        what: &AsyncOp,
        (bytes, to, from, reads): (u32, &Addresses, &Addresses, u32),
    ) -> Result<Holes, Stop> {
        let mut holes = [0; LANES];
        if self.shadow.is_none() {
            return Ok(holes);
        }
        let frame = here.split.frame;
        self.check_source(
            block,
            warp,
            (frame, what.sources[0]),
            here.mask,
            Verb::Write,
        )?;
        self.check_source(block, warp, (frame, what.sources[1]), reads, Verb::Read)?;
        let line = self.line_of(warp, &here.split);
        let words = bytes / WORD_BYTES;
        let source = Plain {
            space: AddressSpace::Global,
            addresses: from,
            mask: reads,
            bytes,
            verb: Verb::Read,
            strong: false,
            line,
        };
        self.observe_plain(block, warp, source, |values| {
            for lane in lanes_of(reads) {
                for word in 0..words {
                    let lacks = values.lacks(lane, WORD_BYTES * word, WORD_BYTES);
                    holes[lane] |= u8::from(lacks) << word;
                }
            }
        })?;
        let target = Plain {
            space: AddressSpace::Shared,
            addresses: to,
            mask: here.mask,
            verb: Verb::Write,
            ..source
        };
        self.observe_plain(block, warp, target, |values| {
            for lane in lanes_of(here.mask) {
                for word in 0..words {
                    values.set(lane, WORD_BYTES * word, WORD_BYTES, false);
                }
            }
        })?;
        Ok(holes)
    }

    /// Copies of a warp's threads that are waited for.
    pub(in crate::exec) fn observe_landing(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        copies: &[PendingCopy],
        line: u16,
    ) -> Result<(), Stop> {
        for copy in copies {
            let lane = usize::from(copy.lane);
            let bytes = u32::from(copy.bytes);
            let addresses = [u64::from(copy.to); LANES];
            let plain = Plain {
                space: AddressSpace::Shared,
                addresses: &addresses,
                mask: 1 << lane,
                bytes,
                verb: Verb::Write,
                strong: false,
                line,
            };
            self.observe_plain(block, warp, plain, |values| {
                for word in 0..bytes / WORD_BYTES {
                    let is_defined = copy.holes >> word & 1 == 0;
                    values.set(lane, WORD_BYTES * word, WORD_BYTES, is_defined);
                }
            })?;
        }
        Ok(())
    }

    /// An operation on barriers, save waits.
    pub(in crate::exec) fn observe_barrier(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        here: &Here,
        (op, space): (BarrierOp, AddressSpace),
        what: &AsyncOp,
    ) -> Result<(), Stop> {
        if self.shadow.is_none() || matches!(op, BarrierOp::Wait { .. }) {
            return Ok(());
        }
        // SAFETY: the slot is one of the program's.
        #[allow(unsafe_code)]
        let addresses: Addresses =
            std::array::from_fn(|lane| unsafe { lane_value(&here.view, what.sources[0], lane) });
        let (_, mask, addresses) = window(space, &addresses, here.mask);
        let addresses = addresses.map(|address| address & OFFSET);
        let begins = matches!(op, BarrierOp::Initialise | BarrierOp::Invalidate);
        if !begins {
            self.note_fence(block, warp);
        }
        let plain = Plain {
            space: AddressSpace::Shared,
            addresses: &addresses,
            mask,
            bytes: 8,
            verb: if begins { Verb::Write } else { Verb::Update },
            strong: !begins,
            line: self.line_of(warp, &here.split),
        };
        self.observe_plain(block, warp, plain, |values| values.set_all(8))
    }

    /// Lanes of a warp found the phases of their barriers over.
    pub(in crate::exec) fn note_phase(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        here: &Here,
        what: &AsyncOp,
        over: u32,
    ) {
        let number = warp.first_thread / 32;
        for lane in lanes_of(over) {
            // SAFETY: the slot is one of the program's.
            #[allow(unsafe_code)]
            let address = unsafe { lane_value(&here.view, what.sources[0], lane) };
            self.with_clocks(block, |clocks, times| {
                clocks.take(times, number, Flag::Shared(address & OFFSET));
            });
        }
    }

    /// An address that comes from nowhere is a fault.
    pub(super) fn check_source(
        &self,
        block: &Block,
        warp: &Warp,
        (frame, slot): (u32, Slot),
        mask: u32,
        verb: Verb,
    ) -> Result<(), Stop> {
        let own = block.shadow.as_ref();
        let taint = own.map(|own| &own.taint[warp.first_thread as usize / 32]);
        let Some(taint) = taint.filter(|taint| !taint.is_empty()) else {
            return Ok(());
        };
        let mark = taint.slot(frame, slot);
        let Some(lane) = lanes_of(mark.lanes & mask).next() else {
            return Ok(());
        };
        let use_text = match verb {
            Verb::Read => "loads from an address made of",
            _ => "stores to an address made of",
        };
        Err(self.undefined_stop(lane as u32, &taint.origin(mark), use_text))
    }
}
