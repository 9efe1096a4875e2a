//! Instructions of tensor cores, and of the loads that feed them.

mod group;
mod multiply;
mod rows;
mod wmma;

pub(super) use group::group;
pub(super) use multiply::multiply;
pub(super) use rows::{load_rows, register_count, store_rows, transpose};
pub(super) use wmma::fragments;

use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{Slot, un};
use crate::numerics::tensor::{self as numeric, Format};
use crate::program::{Arithmetic, FloatForm, Fragment, Integer, Kind, Tensor};
use crate::syntax::{Operand, Type};

/// A type of matrix elements as PTX writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Float(Format),
    Integer(Integer),
    Bit,
    F32,
    F64,
    S32,
}

impl Element {
    fn parse(text: &str) -> Option<Self> {
        let integer = |bits, signed| Self::Integer(Integer { bits, signed });
        Some(match text {
            "f16" => Self::Float(Format::F16),
            "bf16" => Self::Float(Format::Bf16),
            "tf32" => Self::Float(Format::Tf32),
            "e4m3" => Self::Float(Format::E4m3),
            "e5m2" => Self::Float(Format::E5m2),
            "s8" => integer(8, true),
            "u8" => integer(8, false),
            "s4" => integer(4, true),
            "u4" => integer(4, false),
            "b1" => Self::Bit,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "s32" => Self::S32,
            _ => return None,
        })
    }

    fn bits(self) -> u32 {
        match self {
            Self::Float(Format::F16 | Format::Bf16) => 16,
            Self::Float(Format::E4m3 | Format::E5m2) => 8,
            Self::Float(Format::Tf32) | Self::F32 | Self::S32 => 32,
            Self::Integer(integer) => integer.bits,
            Self::Bit => 1,
            Self::F64 => 64,
        }
    }

    /// Type of the registers that hold it.
    fn register(self) -> Type {
        if self == Self::F64 {
            Type::F64
        } else {
            Type::B32
        }
    }

    /// Places along a line that one register of four lanes holds, as a factor.
    fn along(self) -> usize {
        4 * (32 / self.bits()).max(1) as usize
    }
}

/// `m16n8k16` in its three numbers.
fn shape(m: &mut Modifiers<'_>) -> Result<[usize; 3], LoadError> {
    const SHAPES: [&str; 14] = [
        "m16n16k16",
        "m8n32k16",
        "m32n8k16",
        "m16n16k8",
        "m8n8k4",
        "m8n8k16",
        "m8n8k32",
        "m8n8k128",
        "m16n8k4",
        "m16n8k8",
        "m16n8k16",
        "m16n8k32",
        "m16n8k64",
        "m16n8k128",
    ];
    let choices: Vec<(&str, &str)> = SHAPES.iter().map(|&name| (name, name)).collect();
    let name = m.take_one(&choices);
    let name = name.or_else(|| m.take("m16n8k256").then_some("m16n8k256"));
    name.and_then(numbers).ok_or_else(|| m.unsupported())
}

fn numbers(shape: &str) -> Option<[usize; 3]> {
    let (m, rest) = shape.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The types that end an opcode, in order.
fn types<const N: usize>(m: &mut Modifiers<'_>) -> Result<[Element; N], LoadError> {
    let mut out = [Element::F32; N];
    for at in (0..N).rev() {
        out[at] = m
            .last()
            .and_then(Element::parse)
            .ok_or_else(|| m.unsupported())?;
    }
    Ok(out)
}

/// Takes `.sync` and `.aligned`, which all of these have.
fn aligned(m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("sync") && m.take("aligned") {
        Ok(())
    } else {
        Err(m.unsupported())
    }
}

/// Where registers of factors begin, in a matrix of `lines` lines: 16 lines at a time if there are
/// so many of them and `by_sixteen` says so, as A is held, otherwise 8, as B is.
fn factor_tiles(lines: usize, k: usize, element: Element, by_sixteen: bool) -> Vec<(u16, u16)> {
    let (along, band) = (element.along(), if by_sixteen { 16 } else { 8 });
    let mut tiles = Vec::new();
    for first in (0..lines).step_by(band) {
        for place in (0..k).step_by(along) {
            for line in (first..first + band).step_by(8) {
                tiles.push((line as u16, place as u16));
            }
        }
    }
    tiles
}

/// Where the tiles of an accumulator begin.
fn accumulator_tiles(lines: usize, columns: usize) -> Vec<(u16, u16)> {
    let mut tiles = Vec::new();
    for place in (0..columns).step_by(8) {
        for line in (0..lines).step_by(8) {
            tiles.push((line as u16, place as u16));
        }
    }
    tiles
}

/// Registers that a tile of an accumulator takes.
fn per_tile(element: Element) -> usize {
    if element == Element::Float(Format::F16) {
        1
    } else {
        2
    }
}

/// What an accumulator of this type does with these factors; whether a device does it, too.
fn arithmetic([d, a, b, c]: [Element; 4], group: bool, saturates: bool) -> Option<Arithmetic> {
    let half = Element::Float(Format::F16);
    let is_sum = |element| element == Element::F32 || element == half;
    Some(match (a, b) {
        (Element::Float(x), Element::Float(y)) if is_sum(c) && is_sum(d) && !saturates => {
            let eight = |format| matches!(format, Format::E4m3 | Format::E5m2);
            let both = x == y || eight(x) && eight(y);
            let half_sums = x == Format::F16 || eight(x);
            if !both || !half_sums && (c == half || d == half) {
                return None;
            }
            Arithmetic::Float(FloatForm {
                a: x,
                b: y,
                half_in: c == half,
                half_out: d == half,
                rule: numeric::rule(x, group),
            })
        }
        (Element::Integer(a), Element::Integer(b))
            if a.bits == b.bits && [c, d] == [Element::S32; 2] =>
        {
            Arithmetic::Integer { a, b, saturates }
        }
        (Element::F64, Element::F64) if [c, d] == [Element::F64; 2] && !saturates => {
            Arithmetic::Double {
                rounding: crate::numerics::Rounding::Nearest,
            }
        }
        _ => return None,
    })
}

impl<'a> Decoder<'a> {
    /// The registers of a vector operand, or the one that stands alone.
    fn parts(&self, at: usize, count: usize) -> Result<Vec<&'a Operand>, LoadError> {
        let parts: Vec<&Operand> = match self.operand(at)? {
            Operand::Vector(parts) => parts.iter().collect(),
            other => vec![other],
        };
        if parts.len() == count {
            Ok(parts)
        } else {
            let have = parts.len();
            let what = format!("{count} registers are needed where {have} stand,");
            Err(self.malformed(&what))
        }
    }

    fn matrix_source(
        &mut self,
        at: usize,
        count: usize,
        element: Element,
    ) -> Result<Vec<Slot>, LoadError> {
        let parts = self.parts(at, count)?;
        { parts.into_iter() }
            .map(|part| self.source_of(part, element.register()))
            .collect()
    }

    /// Destinations; registers of another width are refused.
    fn matrix_destination(
        &mut self,
        at: usize,
        count: usize,
        element: Element,
    ) -> Result<Vec<Slot>, LoadError> {
        let wide = element.register().bytes() == 8;
        let mut slots = Vec::with_capacity(count);
        for part in self.parts(at, count)? {
            slots.push(match part {
                Operand::Register(register) => self.slot_home(*register)?,
                Operand::Sink => self.temporary(wide),
                _ => return Err(self.malformed("a register is needed as destination")),
            });
        }
        if slots.iter().any(|slot| slot.class().is_wide() != wide) {
            return Err(self.malformed("a register of another width is needed as destination"));
        }
        Ok(slots)
    }

    fn tensor(&mut self, tensor: Tensor) {
        self.emit(Kind::Tensor(tensor));
    }

    /// A constant integer operand.
    fn literal(&self, at: usize) -> Result<i64, LoadError> {
        match self.operand(at)? {
            Operand::Integer(value) => Ok(*value),
            _ => Err(self.malformed("a constant is needed")),
        }
    }
}

fn fragment(registers: Vec<Slot>, tiles: Vec<(u16, u16)>) -> Fragment {
    Fragment {
        registers: registers.into(),
        tiles: tiles.into(),
    }
}

/// `cvt.rna.tf32.f32` and its kin.
pub(super) fn to_tf32(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let run = match m.next() {
        Some("rna") => un(|a: u32| numeric::to_tf32(a, numeric::AWAY, false)),
        Some("rn") if m.take("relu") => un(|a: u32| numeric::to_tf32(a, numeric::EVEN, true)),
        Some("rn") => un(|a: u32| numeric::to_tf32(a, numeric::EVEN, false)),
        Some("rz") if m.take("relu") => un(|a: u32| numeric::to_tf32(a, numeric::CUT, true)),
        Some("rz") => un(|a: u32| numeric::to_tf32(a, numeric::CUT, false)),
        _ => return Err(m.unsupported()),
    };
    let clamp = m.take("satfinite");
    if m.last_type()? != Type::F32 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let a = d.source(1, Type::F32)?;
    d.destination(0, Type::B32, |d, dst| {
        d.lane(run, dst, &[a]);
        if clamp {
            d.lane(un(numeric::clamp_tf32), dst, &[dst]);
        }
    })
}
