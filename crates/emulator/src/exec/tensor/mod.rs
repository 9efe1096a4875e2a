//! Instructions on matrices that a warp holds together: who takes part, and which they are.
#![allow(unsafe_code)]

mod group;
mod planes;
mod product;
mod rows;

pub(super) use group::Trace;
pub(super) use product::Scratch;

use super::block::Block;
use super::elements::write_lane;
use super::reconverge::{Warp, lane_value};
use super::step::Here;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::{FULL, LANES, View};
use crate::program::{Address, Kind, Tensor};

/// Which warp runs an instruction, and where that stands.
pub(super) struct Place<'a> {
    pub(super) view: &'a View,
    pub(super) frame: u32,
    pub(super) function: usize,
    pub(super) pc: u32,
}

impl Worker<'_> {
    /// Runs a matrix instruction once all lanes of the warp are there. Whether the split waits.
    pub(super) fn tensor_or_wait(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        here: &Here,
        kind: &Kind,
        tensor: &Tensor,
    ) -> Result<bool, Stop> {
        let view = &here.view;
        if let Tensor::Address(address) = tensor {
            form_addresses(view, address, here.mask);
            return Ok(false);
        }
        if self.exchange_or_wait(block, warp, here.at, here.split, view, kind, here.mask) {
            return Ok(true);
        }
        let place = Place {
            view,
            frame: here.split.frame,
            function: warp.frame(here.split.frame).function,
            pc: here.split.pc,
        };
        self.tensor(block, warp, &place, tensor, here.mask)?;
        Ok(false)
    }

    /// Runs it for the lanes that have come, which must be all.
    pub(super) fn tensor(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: &Place<'_>,
        tensor: &Tensor,
        mask: u32,
    ) -> Result<(), Stop> {
        if mask != FULL {
            return Err(incomplete(mask));
        }
        let view = place.view;
        match tensor {
            Tensor::Meet => Ok(()),
            Tensor::Address(address) => {
                form_addresses(view, address, mask);
                Ok(())
            }
            Tensor::Transpose { dst, src } => {
                self.follow_transpose(block, warp, place.frame, (*dst, *src));
                rows::transpose(view, *dst, *src);
                Ok(())
            }
            Tensor::Rows(rows) => self.rows(block, warp, place, rows),
            Tensor::Product(product) => {
                self.follow_product(block, warp, place.frame, product);
                self.product(view, product);
                Ok(())
            }
            Tensor::Group(group) => self.group(block, warp, place, group),
        }
    }
}

#[cold]
fn incomplete(mask: u32) -> Stop {
    let what = format!(
        "reaches a matrix instruction, which all 32 threads of a warp run together, with {} of them",
        mask.count_ones()
    );
    Stop::new(FaultKind::BarrierDivergence, mask.trailing_zeros(), what)
}

fn form_addresses(view: &View, address: &Address, mask: u32) {
    for lane in super::elements::lanes_of(mask) {
        // SAFETY: the slots are the program's.
        unsafe {
            let base = lane_value(view, address.base, lane);
            let stride = lane_value(view, address.stride, lane) & 0xffff_ffff;
            let elements =
                u64::from(address.strides[lane]) * stride + u64::from(address.steps[lane]);
            let bytes = elements * u64::from(address.bits) / 8;
            write_lane(view, address.dst, lane, base.wrapping_add(bytes));
        }
    }
}

/// A value that must be the same in every lane.
fn uniform(view: &View, slot: crate::lanes::Slot, what: &str) -> Result<u64, Stop> {
    // SAFETY: the slot is one of the program's.
    let value = |lane| unsafe { lane_value(view, slot, lane) };
    match (1..LANES).find(|&lane| value(lane) != value(0)) {
        None => Ok(value(0)),
        Some(lane) => {
            let text = format!("has another {what} than the first thread of its warp");
            Err(Stop::new(FaultKind::BarrierDivergence, lane as u32, text))
        }
    }
}
