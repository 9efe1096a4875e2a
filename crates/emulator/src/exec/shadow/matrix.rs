//! Undefined values through instructions on matrices: which lanes hold what comes of a row, a column, a tile.

use super::plain::Plain;
use super::report::Origin;
use super::taint::{Mark, Taint};
use crate::exec::access::Addresses;
use crate::exec::block::Block;
use crate::exec::elements::lanes_of;
use crate::exec::reconverge::Warp;
use crate::exec::tensor::Place;
use crate::exec::violations::Verb;
use crate::exec::worker::{Stop, Worker};
use crate::lanes::{FULL, LANES, Slot};
use crate::program::{AddressSpace, Fragment, Product, Rows};

const ROW_BYTES: u32 = 16;
const WORD_BYTES: u32 = 4;

impl Worker<'_> {
    /// Rows that `ldmatrix` or `stmatrix` is about to access, one of each lane of `mask`.
    pub(in crate::exec) fn observe_rows(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        place: &Place<'_>,
        rows: &Rows,
        (addresses, mask): (&Addresses, u32),
    ) -> Result<(), Stop> {
        let verb = if rows.stores { Verb::Write } else { Verb::Read };
        self.check_source(block, warp, (place.frame, rows.address), mask, verb)?;
        let number = warp.first_thread as usize / 32;
        let lanes = |tile: u32| {
            if rows.transposed {
                transposed(tile)
            } else {
                tile
            }
        };
        // Of each tile, the lanes whose word has no value.
        let mut holes = [0; 4];
        if rows.stores
            && let Some(own) = &block.shadow
        {
            for (hole, register) in holes.iter_mut().zip(&rows.registers) {
                *hole = lanes(own.taint[number].slot(place.frame, *register).lanes);
            }
        }
        let line = self.line_at(place.function, place.pc);
        let plain = Plain {
            space: AddressSpace::Shared,
            addresses,
            mask,
            bytes: ROW_BYTES,
            verb,
            strong: false,
            line,
        };
        let mut origin = None;
        self.observe_plain(block, warp, plain, |values| {
            for (tile, hole) in holes.iter_mut().enumerate().take(rows.registers.len()) {
                for lane in 0..LANES {
                    let (row, at) = (8 * tile + lane / 4, WORD_BYTES * (lane as u32 % 4));
                    if rows.stores {
                        values.set(row, at, WORD_BYTES, *hole >> lane & 1 == 0);
                    } else if values.lacks(row, at, WORD_BYTES) {
                        *hole |= 1 << lane;
                        origin = origin.or(values.origin(row, at, WORD_BYTES, line));
                    }
                }
            }
        })?;
        if !rows.stores
            && let Some(own) = &mut block.shadow
        {
            let taint = &mut own.taint[number];
            for (hole, register) in holes.iter().zip(&rows.registers) {
                taint.receive(place.frame, *register, lanes(*hole), origin);
            }
            warp.tainted = !taint.is_empty();
        }
        Ok(())
    }

    /// A matrix product: a row of the factor A spoils that row of the result, a column of B that column.
    pub(in crate::exec) fn follow_product(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        frame: u32,
        product: &Product,
    ) {
        let Some(own) = block.shadow.as_mut().filter(|_| warp.tainted) else {
            return;
        };
        let taint = &mut own.taint[warp.first_thread as usize / 32];
        let (rows, of_rows) = lines(taint, frame, &product.a);
        let (columns, of_columns) = lines(taint, frame, &product.b);
        let factors = of_rows.and(of_columns);
        let sums = &product.c.registers;
        // Sums of another width have their rows in the same lanes.
        let mixed = sums.len() != product.d.registers.len();
        let (sum_rows, of_sums) = lines(taint, frame, &product.c);
        let rows = if mixed { rows | sum_rows } else { rows };
        let marks: Vec<Mark> = sums.iter().map(|&slot| taint.slot(frame, slot)).collect();
        let each = product.d.registers.len() / product.d.tiles.len().max(1);
        for (at, &register) in product.d.registers.iter().enumerate() {
            let (line, first) = product.d.tiles[at / each];
            let spoilt = |lane: &usize| {
                let column = usize::from(first) + lane % 4 * 2;
                let of_column = match each {
                    1 => columns >> column & 3,
                    _ => columns >> (column + at % each) & 1,
                };
                rows >> (usize::from(line) + lane / 4) & 1 != 0 || of_column != 0
            };
            let lanes = { 0..LANES }
                .filter(spoilt)
                .fold(0, |all, lane| all | 1 << lane);
            let mut mark = factors.and(of_sums);
            mark.lanes = lanes;
            let before = marks
                .get(at)
                .copied()
                .filter(|_| !mixed)
                .unwrap_or_default();
            taint.set_slot(frame, register, FULL, before.and(mark));
        }
        warp.tainted = !taint.is_empty();
    }

    /// `movmatrix`.
    pub(in crate::exec) fn follow_transpose(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        frame: u32,
        (dst, src): (Slot, Slot),
    ) {
        let Some(own) = block.shadow.as_mut().filter(|_| warp.tainted) else {
            return;
        };
        let taint = &mut own.taint[warp.first_thread as usize / 32];
        let mut mark = taint.slot(frame, src);
        mark.lanes = transposed(mark.lanes);
        taint.set_slot(frame, dst, FULL, mark);
        warp.tainted = !taint.is_empty();
    }
}

/// Lines of a matrix of which some part is undefined, and where that comes from.
fn lines(taint: &Taint, frame: u32, fragment: &Fragment) -> (u64, Mark) {
    let each = (fragment.registers.len() / fragment.tiles.len().max(1)).max(1);
    let mut found = (0, Mark::default());
    for (at, &register) in fragment.registers.iter().enumerate() {
        let (Some(&(line, _)), mark) = (fragment.tiles.get(at / each), taint.slot(frame, register))
        else {
            continue;
        };
        for lane in lanes_of(mark.lanes) {
            found.0 |= 1 << (usize::from(line) + lane / 4);
        }
        found.1 = found.1.and(mark);
    }
    found
}

/// Lanes that hold some half of a marked word once a tile of 8 by 8 halves is transposed: lane `4 r + c`
/// holds the halves `2 c` and `2 c + 1` of row `r`.
fn transposed(lanes: u32) -> u32 {
    let holds = |lane: &usize| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let source = |column: usize| lanes >> (4 * column + row / 2) & 1 != 0;
        source(column) || source(column + 1)
    };
    { 0..LANES }
        .filter(holds)
        .fold(0, |all, lane| all | 1 << lane)
}

impl Taint {
    /// A register of all lanes takes what was read: undefined in some of them.
    fn receive(&mut self, frame: u32, register: Slot, undefined: u32, origin: Option<Origin>) {
        let mark = match origin {
            Some(origin) if undefined != 0 => self.mark(undefined, origin),
            _ => Mark::default(),
        };
        self.set_slot(frame, register, FULL, mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 0 becomes column 0: the first half of the first lane of every row.
    #[test]
    fn a_row_becomes_a_column() {
        assert_eq!(transposed(0xf), 0x1111_1111);
        // Halves 2 and 3 of row 5 lie in rows 2 and 3, column 5: the third lane of each.
        assert_eq!(
            transposed(1 << (4 * 5 + 1)),
            1 << (4 * 2 + 2) | 1 << (4 * 3 + 2)
        );
        assert_eq!(transposed(FULL), FULL);
    }
}
