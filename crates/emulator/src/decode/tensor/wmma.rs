//! `wmma`: fragments of C++'s `nvcuda::wmma`, in steps as NVIDIA's assembler makes them.
//!
//! PTX leaves open which lane holds what. Programs look all the same, so this is the layout of
//! sm_80 and later: that of `mma` (m8n32k16 is computed as the transposed product), with f16
//! factors held again in further registers. Loads and stores are those that the assembler makes of
//! them: their requests, sectors and faults are a device's.

use super::multiply::bit_operation;
use super::{
    Element, accumulator_tiles, aligned, arithmetic, factor_tiles, fragment, per_tile, shape, types,
};
use crate::LoadError;
use crate::decode::{Decoder, Modifiers};
use crate::lanes::{LANES, LaneFn, Slot, bin, un};
use crate::numerics::tensor::{self as numeric, Format};
use crate::program::{Access, Address, AddressSpace, Arithmetic, Kind, Product, Rows, Tensor};
use crate::syntax::{Operand, Type};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    A,
    B,
    Accumulator,
}

/// One matrix of a shape: how it lies in registers.
struct Matrix {
    role: Role,
    /// Lines and places along them.
    lines: usize,
    along: usize,
    tiles: Vec<(u16, u16)>,
    registers: usize,
}

fn matrix(extents: [usize; 3], role: Role, element: Element) -> Option<Matrix> {
    let [m, n, k] = extents;
    let turned = extents == [8, 32, 16];
    let (lines, along) = match (role, turned) {
        (Role::A, _) => (m, k),
        (Role::B, _) => (n, k),
        (Role::Accumulator, false) => (m, n),
        (Role::Accumulator, true) => (n, m),
    };
    let by_sixteen = lines >= 16 && (role == Role::A) != turned;
    let tiles = match role {
        Role::Accumulator => accumulator_tiles(lines, along),
        _ => factor_tiles(lines, along, element, by_sixteen),
    };
    let registers = match (role, element) {
        (Role::Accumulator, _) => tiles.len() * per_tile(element),
        (_, Element::Float(Format::F16)) => 8,
        _ => tiles.len(),
    };
    admits(extents, element, role).then_some(Matrix {
        role,
        lines,
        along,
        tiles,
        registers,
    })
}

fn admits(extents: [usize; 3], element: Element, role: Role) -> bool {
    let sixteen = [[16, 16, 16], [8, 32, 16], [32, 8, 16]].contains(&extents);
    if role == Role::Accumulator {
        return match element {
            Element::Float(Format::F16) => sixteen,
            Element::F32 => sixteen || extents == [16, 16, 8],
            Element::S32 => sixteen || matches!(extents, [8, 8, 32 | 128]),
            Element::F64 => extents == [8, 8, 4],
            _ => false,
        };
    }
    match element {
        Element::Float(Format::F16 | Format::Bf16) => sixteen,
        Element::Float(Format::Tf32) => extents == [16, 16, 8],
        Element::Integer(integer) if integer.bits == 8 => sixteen,
        Element::Integer(_) => extents == [8, 8, 32],
        Element::Bit => extents == [8, 8, 128],
        Element::F64 => extents == [8, 8, 4],
        _ => false,
    }
}

pub(in crate::decode) fn fragments(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    match m.next() {
        Some("load") => {
            let role = match m.next() {
                Some("a") => Role::A,
                Some("b") => Role::B,
                Some("c") => Role::Accumulator,
                _ => return Err(m.unsupported()),
            };
            transfer(d, m, role, true)
        }
        Some("store") if m.next() == Some("d") => transfer(d, m, Role::Accumulator, false),
        Some("mma") => product(d, m),
        _ => Err(m.unsupported()),
    }
}

fn product(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    aligned(m)?;
    let bits = if m.has("popc") {
        bit_operation(m)?
    } else {
        None
    };
    for _ in 0..2 {
        // Layouts of the factors in memory, which the fragments do not depend on.
        if !(m.take("row") || m.take("col")) {
            return Err(m.unsupported());
        }
    }
    let extents = shape(m)?;
    let saturates = m.take("satfinite");
    let rounding = m.rounding();
    let [to, a, b, from] = if m.count() == 2 {
        let [to, from] = types::<2>(m)?;
        let half = Element::Float(Format::F16);
        [to, half, half, from]
    } else {
        types::<4>(m)?
    };
    m.finish()?;
    let found = match (bits, a, b) {
        (Some(bits), Element::Bit, Element::Bit) if !saturates => Some(bits),
        (None, _, _) if a == b => arithmetic([to, a, b, from], false, saturates),
        _ => None,
    };
    let arithmetic = match (found.ok_or_else(|| m.unsupported())?, rounding) {
        (Arithmetic::Double { .. }, Some(rounding)) => Arithmetic::Double { rounding },
        // An H200 has four of k in a step of this shape, and all eight in one of `mma.m16n8k8`.
        (Arithmetic::Float(mut form), None) if form.a == Format::Tf32 => {
            form.rule.steps = numeric::Steps::Of(4);
            Arithmetic::Float(form)
        }
        (other, None) => other,
        _ => return Err(m.unsupported()),
    };
    let all = [
        (Role::A, a),
        (Role::B, b),
        (Role::Accumulator, from),
        (Role::Accumulator, to),
    ];
    let mut operands = Vec::new();
    for (at, (role, element)) in all.into_iter().enumerate() {
        let matrix = matrix(extents, role, element).ok_or_else(|| m.unsupported())?;
        let mut registers = if at == 3 {
            d.matrix_destination(0, matrix.registers, element)?
        } else {
            d.matrix_source(at + 1, matrix.registers, element)?
        };
        if role != Role::Accumulator {
            registers.truncate(matrix.tiles.len());
        }
        operands.push(fragment(registers, matrix.tiles));
    }
    let mut operands = operands.into_iter();
    let mut next = || operands.next().ok_or_else(|| m.unsupported());
    let (mut a, mut b, c, to) = (next()?, next()?, next()?, next()?);
    let mut extents = extents;
    if extents == [8, 32, 16] {
        std::mem::swap(&mut a, &mut b);
        extents = [32, 8, 16];
    }
    d.tensor(Tensor::Product(Box::new(Product {
        extents,
        a,
        b,
        c,
        d: to,
        arithmetic,
    })));
    Ok(())
}

fn transfer(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    role: Role,
    loads: bool,
) -> Result<(), LoadError> {
    aligned(m)?;
    let rows = m.take_one(&[("row", true), ("col", false)]);
    let rows = rows.ok_or_else(|| m.unsupported())?;
    let extents = shape(m)?;
    let space = m.take_one(&[
        ("global", AddressSpace::Global),
        ("shared", AddressSpace::Shared),
        ("shared::cta", AddressSpace::Shared),
    ]);
    let [element] = types::<1>(m)?;
    m.finish()?;
    let matrix = matrix(extents, role, element).ok_or_else(|| m.unsupported())?;
    // Lines of A are rows, lines of B are columns; the accumulator of m8n32k16 is transposed.
    let lines_are_rows = match role {
        Role::A => true,
        Role::B => false,
        Role::Accumulator => extents != [8, 32, 16],
    };
    let natural = rows == lines_are_rows;
    if element.bits() < 8 && !natural {
        return Err(m.unsupported());
    }
    let (address_at, data_at) = if loads { (1, 0) } else { (0, 1) };
    let (base, offset) = d.matrix_address(address_at, space)?;
    let stride = if d.statement.operands.len() > 2 {
        d.source(2, Type::U32)?
    } else {
        let stride = if natural { matrix.along } else { matrix.lines };
        d.constant(false, stride as u64)
    };
    let registers = if loads {
        d.matrix_destination(data_at, matrix.registers, element)?
    } else {
        d.matrix_source(data_at, matrix.registers, element)?
    };
    d.tensor(Tensor::Meet);
    let mut steps = Steps {
        space: space.unwrap_or(AddressSpace::Generic),
        base,
        offset,
        stride,
        natural,
        loads,
        bits: element.bits(),
        known: Vec::new(),
    };
    if role == Role::Accumulator && element != Element::Float(Format::F16) {
        steps.pairs(d, &matrix, &registers);
    } else if loads && steps.by_rows(d, &matrix, &registers) {
    } else {
        steps.tiles(d, &matrix, &registers);
    }
    for at in matrix.tiles.len()..registers.len() {
        if role != Role::Accumulator {
            let from = registers[at % matrix.tiles.len()];
            d.lane(un(|a: u32| a), registers[at], &[from]);
        }
    }
    Ok(())
}

/// Emits the steps of one load or store.
struct Steps {
    space: AddressSpace,
    base: Slot,
    offset: i64,
    stride: Slot,
    /// Places along a line are contiguous in memory.
    natural: bool,
    loads: bool,
    bits: u32,
    /// Addresses at hand: line and place of each lane's element.
    known: Vec<([u8; LANES], [u8; LANES], Slot)>,
}

impl Steps {
    /// The address of each lane's element.
    fn address(
        &mut self,
        d: &mut Decoder<'_>,
        line: impl Fn(usize) -> usize,
        place: impl Fn(usize) -> usize,
    ) -> Slot {
        let lines = std::array::from_fn(|lane| line(lane) as u8);
        let places = std::array::from_fn(|lane| place(lane) as u8);
        let (strides, steps) = if self.natural {
            (lines, places)
        } else {
            (places, lines)
        };
        let known = { self.known.iter() }.find(|known| (known.0, known.1) == (strides, steps));
        if let Some(&(_, _, slot)) = known {
            return slot;
        }
        let dst = d.temporary(self.base.class().is_wide());
        d.tensor(Tensor::Address(Box::new(Address {
            dst,
            base: self.base,
            stride: self.stride,
            strides,
            steps,
            bits: self.bits,
        })));
        self.known.push((strides, steps, dst));
        dst
    }

    /// The address for a tile: what is contiguous from its first line or place on is an offset.
    fn tile(
        &mut self,
        d: &mut Decoder<'_>,
        (line0, place0): (u16, u16),
        line: impl Fn(usize) -> usize,
        place: impl Fn(usize) -> usize,
    ) -> (Slot, i64) {
        let (line0, place0) = (usize::from(line0), usize::from(place0));
        let (slot, ahead) = if self.natural {
            (self.address(d, |lane| line0 + line(lane), place), place0)
        } else {
            (self.address(d, line, |lane| place0 + place(lane)), line0)
        };
        (slot, self.offset + (ahead * self.bits as usize / 8) as i64)
    }

    fn access(&self, (address, offset): (Slot, i64), bytes: u32, data: &[Slot]) -> Kind {
        let mut slots = [None; 4];
        slots[..data.len()].copy_from_slice(&data.iter().copied().map(Some).collect::<Vec<_>>());
        let access = Access {
            space: self.space,
            address: Some(address),
            offset,
            in_frame: false,
            bytes,
            count: data.len() as u32,
            data: slots,
            signed: false,
            strong: false,
            releases: false,
            unchanging: false,
        };
        if self.loads {
            Kind::Load(access)
        } else {
            Kind::Store(access)
        }
    }

    /// Accumulators of 32 and 64 bits: two registers a tile.
    fn pairs(&mut self, d: &mut Decoder<'_>, matrix: &Matrix, registers: &[Slot]) {
        let bytes = self.bits / 8;
        for (&tile, pair) in matrix.tiles.iter().zip(registers.chunks_exact(2)) {
            if self.natural {
                let at = self.tile(d, tile, |lane| lane / 4, |lane| lane % 4 * 2);
                d.emit(self.access(at, bytes, pair));
                continue;
            }
            for (odd, &register) in pair.iter().enumerate() {
                let at = self.tile(d, tile, |lane| lane / 4, |lane| lane % 4 * 2 + odd);
                d.emit(self.access(at, bytes, &[register]));
            }
        }
    }

    /// Factors of 8 and 16 bits that are known to lie in shared memory are read as `ldmatrix` does.
    /// Whether they are.
    fn by_rows(&mut self, d: &mut Decoder<'_>, matrix: &Matrix, registers: &[Slot]) -> bool {
        let fits = self.bits == 16 || self.bits == 8 && self.natural;
        if self.space != AddressSpace::Shared || !fits || matrix.role == Role::Accumulator {
            return false;
        }
        for (tiles, registers) in matrix.tiles.chunks(4).zip(registers.chunks(4)) {
            let of = |lane: usize| {
                let (line, place) = tiles[(lane / 8).min(tiles.len() - 1)];
                (usize::from(line), usize::from(place))
            };
            let address = if self.natural {
                self.address(d, |lane| of(lane).0 + lane % 8, |lane| of(lane).1)
            } else {
                self.address(d, |lane| of(lane).0, |lane| of(lane).1 + lane % 8)
            };
            let count = tiles.len().min(registers.len());
            d.tensor(Tensor::Rows(Rows {
                stores: false,
                transposed: !self.natural,
                shared: true,
                address,
                offset: self.offset,
                registers: registers[..count].into(),
            }));
        }
        true
    }

    /// One register a tile.
    fn tiles(&mut self, d: &mut Decoder<'_>, matrix: &Matrix, registers: &[Slot]) {
        let each = (32 / self.bits).max(1) as usize;
        let bytes = (self.bits / 8).max(4);
        for (&tile, &register) in matrix.tiles.iter().zip(registers) {
            if self.natural || each == 1 {
                let at = self.tile(d, tile, |lane| lane / 4, |lane| lane % 4 * each);
                d.emit(self.access(at, bytes, &[register]));
            } else if self.bits == 16 {
                // Pairs of lines are contiguous: the transposed tile is read, and turned.
                let at = self.tile(d, tile, |lane| lane % 4 * 2, |lane| lane / 4);
                if self.loads {
                    d.emit(self.access(at, 4, &[register]));
                    d.tensor(Tensor::Transpose {
                        dst: register,
                        src: register,
                    });
                } else {
                    let turned = d.temporary(false);
                    d.tensor(Tensor::Transpose {
                        dst: turned,
                        src: register,
                    });
                    d.emit(self.access(at, 4, &[turned]));
                }
            } else {
                self.bytes(d, tile, register);
            }
        }
    }

    /// Four bytes of a register, each from another place.
    fn bytes(&mut self, d: &mut Decoder<'_>, tile: (u16, u16), register: Slot) {
        let parts: Vec<Slot> = (0..4)
            .map(|part| {
                let at = self.tile(d, tile, |lane| lane / 4, |lane| lane % 4 * 4 + part);
                let slot = d.temporary(false);
                d.emit(self.access(at, 1, &[slot]));
                slot
            })
            .collect();
        let joins: [LaneFn; 3] = [
            bin(|low: u32, high: u32| low | high << 8),
            bin(|low: u32, high: u32| low | high << 16),
            bin(|low: u32, high: u32| low | high << 24),
        ];
        let mut whole = parts[0];
        for (&part, join) in parts[1..].iter().zip(joins) {
            d.lane(join, register, &[whole, part]);
            whole = register;
        }
    }
}

impl Decoder<'_> {
    /// The register or constant of an address, and bytes to add.
    pub(super) fn matrix_address(
        &mut self,
        at: usize,
        space: Option<AddressSpace>,
    ) -> Result<(Slot, i64), LoadError> {
        let Operand::Address(base, offset) = self.operand(at)? else {
            return Err(self.malformed("an address is needed"));
        };
        let local =
            matches!(base.as_ref(), Operand::Symbol(name, _) if self.frame.contains_key(name));
        if local {
            return Err(self.unsupported(format!("{} of local memory", self.statement.opcode)));
        }
        let ty = if space == Some(AddressSpace::Shared) {
            Type::B32
        } else {
            Type::B64
        };
        let slot = match base.as_ref() {
            Operand::Register(register) => self.slot_home(*register)?,
            other => self.source_of(other, ty)?,
        };
        Ok((slot, *offset))
    }
}
