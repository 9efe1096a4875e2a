//! Instructions on matrices that a whole warp holds together.
//!
//! A matrix lies in registers as tiles of eight lines. Lane `4 g + t` holds, of line `g`, the part
//! number `t` of four. Lines are rows of A and of the accumulators, and columns of B; along a line
//! run k, or the accumulator's columns. So one register of all lanes is a tile of 8 lines of 16
//! bytes, save that 32- and 64-bit accumulators take two registers a tile, for the even and the odd
//! place of each pair.

use super::Predicate;
use crate::lanes::{LANES, Slot};
use crate::numerics::tensor::{Format, Rule};

#[derive(Debug, Clone)]
pub(crate) enum Tensor {
    /// All lanes of the warp must be here; nothing else happens.
    Meet,
    /// Addresses of parts of a matrix in memory.
    Address(Box<Address>),
    /// `movmatrix`: an 8 by 8 tile of 16-bit elements, transposed.
    Transpose {
        dst: Slot,
        src: Slot,
    },
    /// `ldmatrix` and `stmatrix`.
    Rows(Rows),
    Product(Box<Product>),
    Group(Box<Group>),
}

/// `dst = base + (strides * stride + steps) * bits / 8`, lane by lane.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) dst: Slot,
    pub(crate) base: Slot,
    pub(crate) stride: Slot,
    pub(crate) strides: [u8; LANES],
    pub(crate) steps: [u8; LANES],
    pub(crate) bits: u32,
}

/// Tiles of 8 rows of 16 bytes in shared memory, one a register; lane `l` gives the address of row
/// `l % 8` of tile `l / 8`.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) stores: bool,
    pub(crate) transposed: bool,
    /// The address is in the shared window, not a generic one.
    pub(crate) shared: bool,
    pub(crate) address: Slot,
    pub(crate) offset: i64,
    pub(crate) registers: Box<[Slot]>,
}

/// A matrix in registers, and where the tile of each of them begins: line, place along it.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    pub(crate) registers: Box<[Slot]>,
    pub(crate) tiles: Box<[(u16, u16)]>,
}

/// `d = a * b + c` of one warp, m by n by k.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    pub(crate) extents: [usize; 3],
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    pub(crate) arithmetic: Arithmetic,
}

/// What elements are and how products are summed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arithmetic {
    Float(FloatForm),
    Double {
        rounding: crate::numerics::Rounding,
    },
    /// Elements of 4 or 8 bits.
    Integer {
        a: Integer,
        b: Integer,
        saturates: bool,
    },
    /// Single bits, 32 of them a word.
    Bits {
        and: bool,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatForm {
    pub(crate) a: Format,
    pub(crate) b: Format,
    /// The accumulator that comes in, and the one that goes out, are f16.
    pub(crate) half_in: bool,
    pub(crate) half_out: bool,
    pub(crate) rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

/// `wgmma.mma_async`: the 16 rows that one warp of the four computes.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Of one warp: 16, n, k.
    pub(crate) extents: [usize; 3],
    pub(crate) a: Source,
    pub(crate) b: Described,
    /// The sums before, and after: the same registers.
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    /// The accumulator counts if this holds.
    pub(crate) adds: Predicate,
    pub(crate) negates: [bool; 2],
    pub(crate) arithmetic: Arithmetic,
}

#[derive(Debug, Clone)]
pub(crate) enum Source {
    Registers(Fragment),
    Memory(Described),
}

/// A matrix in shared memory that a descriptor leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Described {
    pub(crate) descriptor: Slot,
    /// Lines are contiguous instead of k.
    pub(crate) line_major: bool,
}

impl Tensor {
    /// Visits what is read (`false`), then what is written (`true`).
    pub(super) fn each_slot(&mut self, visit: &mut dyn FnMut(&mut Slot, bool)) {
        match self {
            Self::Meet => {}
            Self::Address(address) => {
                visit(&mut address.base, false);
                visit(&mut address.stride, false);
                visit(&mut address.dst, true);
            }
            Self::Transpose { dst, src } => {
                visit(src, false);
                visit(dst, true);
            }
            Self::Rows(rows) => {
                visit(&mut rows.address, false);
                let writes = !rows.stores;
                rows.registers
                    .iter_mut()
                    .for_each(|slot| visit(slot, writes));
            }
            Self::Product(product) => {
                for read in [&mut product.a, &mut product.b, &mut product.c] {
                    read.each_slot(visit, false);
                }
                product.d.each_slot(visit, true);
            }
            Self::Group(group) => {
                match &mut group.a {
                    Source::Registers(fragment) => fragment.each_slot(visit, false),
                    Source::Memory(described) => visit(&mut described.descriptor, false),
                }
                visit(&mut group.b.descriptor, false);
                group.c.each_slot(visit, false);
                group.d.each_slot(visit, true);
            }
        }
    }
}

impl Fragment {
    fn each_slot(&mut self, visit: &mut dyn FnMut(&mut Slot, bool), writes: bool) {
        self.registers
            .iter_mut()
            .for_each(|slot| visit(slot, writes));
    }
}
