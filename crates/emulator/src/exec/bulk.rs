//! Bulk copies into shared memory: of the block, or of others of its cluster.
//!
//! They are checked and read when they are issued (`exec/flights.rs` says when they land).
#![allow(unsafe_code)]

use super::block::Block;
use super::elements::lanes_of;
use super::flights::Arrival;
use super::reconverge::lane_value;
use super::step::Here;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::program::{AddressSpace, AsyncOp, Reduction};
use crate::tensor_map::Swizzle;

impl Worker<'_> {
    /// `cp.async.bulk` into shared memory.
    pub(super) fn bulk_load(
        &mut self,
        block: &mut Block,
        (to, from, reduce): (AddressSpace, AddressSpace, Option<Reduction>),
        multicast: bool,
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let bytes = value(2) as u32;
            check_size(number, bytes)?;
            let targets = multicast.then(|| value(4) as u32);
            let ends = (value(0), value(3), targets);
            // It fits into shared memory, so that the host can hold it.
            let target = self.aim(block, number, (to, bytes, 16), ends)?;
            let mut data = vec![0; bytes as usize];
            if from == AddressSpace::Global {
                let pointer = self.global_range(number, (value(1), bytes, 16), Verb::Read)?;
                // SAFETY: the range is checked.
                unsafe { self.read_bytes(pointer, &mut data) };
                self.count_bulk(value(1), bytes, Verb::Read);
            } else {
                let range = (bytes, 16);
                let place = self.shared_place(block, number, value(1), from, range, Verb::Read)?;
                self.read_shared(block, place, Swizzle::None, &mut data);
                self.count_shared_bulk(bytes);
            }
            self.send(block, number, &target, &data, Arrival::new(reduce))?;
        }
        Ok(())
    }

    /// `st.async` and `red.async`: a few elements for another block.
    pub(super) fn send_elements(
        &mut self,
        block: &mut Block,
        (bytes, reduction): (u32, Option<Reduction>),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            // SAFETY: the slots are the program's.
            let value = |slot| unsafe { lane_value(&here.view, slot, lane) };
            let elements = what.sources[2..].iter().map(|&slot| value(slot));
            let data: Vec<u8> = elements
                .flat_map(|element| element.to_le_bytes().into_iter().take(bytes as usize))
                .collect();
            let size = data.len() as u32;
            let ends = (value(what.sources[0]), value(what.sources[1]), None);
            let range = (AddressSpace::Cluster, size, size);
            let target = self.aim(block, lane as u32, range, ends)?;
            self.send(block, lane as u32, &target, &data, Arrival::new(reduction))?;
        }
        Ok(())
    }
}

pub(super) fn check_size(lane: u32, bytes: u32) -> Result<(), Stop> {
    if bytes != 0 && bytes.is_multiple_of(16) {
        return Ok(());
    }
    let what = format!("copies {bytes} bytes in bulk; a size is a multiple of 16");
    Err(Stop::new(FaultKind::Misaligned, lane, what))
}
