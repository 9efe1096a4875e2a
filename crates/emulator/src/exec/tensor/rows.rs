//! `ldmatrix`, `stmatrix` and `movmatrix`: tiles of 8 by 8 16-bit elements.
#![allow(unsafe_code)]

use super::super::access::{FrameBounds, Target};
use super::super::block::Block;
use super::super::reconverge::{Warp, lane_value};
use super::super::violations::Verb;
use super::super::worker::{Stop, Worker};
use super::Place;
use crate::fault::FaultKind;
use crate::lanes::{LANES, Slot, View};
use crate::memory::{LOCAL_BASE, SHARED_BASE};
use crate::program::{AddressSpace, Rows};

/// A tile: as lanes hold it, two elements a lane, which is row after row.
type Tile = [u32; LANES];

const ROW_BYTES: u32 = 16;

impl Worker<'_> {
    pub(super) fn rows(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: &Place<'_>,
        rows: &Rows,
    ) -> Result<(), Stop> {
        let view = place.view;
        let tiles = rows.registers.len();
        let mask = u32::MAX >> (32 - 8 * tiles);
        let mut addresses = [0; LANES];
        for (lane, address) in addresses.iter_mut().enumerate().take(8 * tiles) {
            *address = shared_address(view, rows, lane)?;
        }
        if self.shadow.is_some() {
            self.observe_rows(block, warp, place, rows, (&addresses, mask))?;
        }
        let verb = if rows.stores { Verb::Write } else { Verb::Read };
        // Shared memory knows no frame.
        let frame = FrameBounds { base: 0, top: 0 };
        let space = AddressSpace::Shared;
        let target = self.resolve(block, space, mask, &addresses, ROW_BYTES, verb, frame)?;
        let Target::Offsets { base, offsets, .. } = target else {
            return Ok(());
        };
        for (at, &register) in rows.registers.iter().enumerate() {
            let row = |row: usize| base.wrapping_add(offsets[8 * at + row] as usize);
            // SAFETY: `resolve` checked each row; the slot is one of the program's, 32 bits wide.
            unsafe {
                if rows.stores {
                    let mut tile = *view.plane::<u32>(register);
                    if rows.transposed {
                        tile = transposed(&tile);
                    }
                    for (number, part) in tile.chunks_exact(4).enumerate() {
                        let part: [u32; 4] = std::array::from_fn(|at| part[at]);
                        row(number).cast::<[u32; 4]>().write_unaligned(part);
                    }
                } else {
                    let mut tile = [0; LANES];
                    for (number, part) in tile.chunks_exact_mut(4).enumerate() {
                        part.copy_from_slice(&row(number).cast::<[u32; 4]>().read_unaligned());
                    }
                    if rows.transposed {
                        tile = transposed(&tile);
                    }
                    *view.plane::<u32>(register) = tile;
                }
            }
        }
        Ok(())
    }
}

/// Offset in shared memory of the row that a lane names.
fn shared_address(view: &View, rows: &Rows, lane: usize) -> Result<u64, Stop> {
    // SAFETY: the slot is one of the program's.
    let value = unsafe { lane_value(view, rows.address, lane) };
    let wide = rows.address.class().is_wide();
    let address = if wide {
        value.wrapping_add(rows.offset as u64)
    } else {
        u64::from((value as u32).wrapping_add(rows.offset as u32))
    };
    if rows.shared {
        return Ok(address);
    }
    if (SHARED_BASE..LOCAL_BASE).contains(&address) {
        return Ok(address - SHARED_BASE);
    }
    let what = format!("names a row of a matrix at {address:#x}, which is not in shared memory");
    let mut stop = Stop::new(FaultKind::OutOfBounds, lane as u32, what);
    stop.address = Some(address);
    Err(stop)
}

pub(super) fn transpose(view: &View, dst: Slot, src: Slot) {
    // SAFETY: the slots are the program's, 32 bits wide.
    unsafe {
        let tile = transposed(&*view.plane::<u32>(src));
        *view.plane::<u32>(dst) = tile;
    }
}

fn transposed(tile: &Tile) -> Tile {
    let element = |row: usize, column: usize| {
        let word = tile[4 * row + column / 2];
        (word >> (16 * (column % 2))) & 0xffff
    };
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        element(column, row) | element(column + 1, row) << 16
    })
}
