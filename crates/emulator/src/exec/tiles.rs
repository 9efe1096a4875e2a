//! Boxes of tensors between global and shared memory, as a tensor map describes them.
#![allow(unsafe_code)]

use super::block::Block;
use super::elements::lanes_of;
use super::flights::Arrival;
use super::reconverge::{Warp, lane_value};
use super::step::Here;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::memory::PARAMETER_BASE;
use crate::program::{AddressSpace, AsyncOp, AtomicKind, AtomicOp, Reduction};
use crate::tensor_map::{Element, Swizzle, TENSOR_MAP_BYTES, TensorMapDescriptor};

/// Alignment of a box in shared memory.
const BOX_ALIGN: u32 = 128;

/// Where a byte of shared memory goes: the 16-byte part within its row of the pattern is exchanged by
/// the row's number.
pub(super) fn swizzled(swizzle: Swizzle, offset: u32) -> u32 {
    let mask = match swizzle {
        Swizzle::None => 0,
        Swizzle::Bytes32 => 1,
        Swizzle::Bytes64 => 3,
        Swizzle::Bytes128 => 7,
    };
    offset ^ (offset >> 7 & mask) << 4
}

/// Elements along the first dimension: all inside the tensor or all outside of it.
struct Row {
    /// Offset of the box's row in shared memory, before any swizzle.
    at: u32,
    /// Elements of the row before the tensor begins, and those inside.
    before: u32,
    inside: u32,
    /// Address of the first element inside.
    address: u64,
}

/// The rows of a box that begins at `start`.
fn rows(map: &TensorMapDescriptor, start: &[i32]) -> Vec<Row> {
    let moved = map.moved();
    let width = map.element.bytes();
    let count: u32 = moved[1..].iter().product();
    let first = i64::from(start[0]);
    let extent = map.dimensions[0] as i64;
    let before = (-first).clamp(0, i64::from(moved[0]));
    let end = (extent - first).clamp(before, i64::from(moved[0]));
    (0..count)
        .map(|number| {
            let mut rest = number;
            let mut address = map
                .address
                .wrapping_add(((first + before) * i64::from(width)) as u64);
            let mut is_inside = true;
            for at in 1..moved.len() {
                let index = i64::from(rest % moved[at] * map.step(at)) + i64::from(start[at]);
                rest /= moved[at];
                is_inside &= (0..map.dimensions[at] as i64).contains(&index);
                let stride = map.strides_bytes[at - 1] as i64;
                address = address.wrapping_add(index.wrapping_mul(stride) as u64);
            }
            Row {
                at: number * moved[0] * width,
                before: before as u32,
                inside: if is_inside { (end - before) as u32 } else { 0 },
                address,
            }
        })
        .collect()
}

impl Worker<'_> {
    /// The map at an address of parameter or global memory.
    fn tensor_map(&mut self, lane: u32, address: u64) -> Result<TensorMapDescriptor, Stop> {
        let mut bytes = [0; TENSOR_MAP_BYTES];
        let is_parameter = (PARAMETER_BASE..PARAMETER_BASE << 1).contains(&address);
        let offset = (address & (PARAMETER_BASE - 1)) as usize;
        if !address.is_multiple_of(64) && !is_parameter {
            let what = format!("uses a tensor map at {address:#x}, no multiple of 64");
            return Err(Stop::new(FaultKind::Misaligned, lane, what));
        }
        if is_parameter {
            let parameters = self.context.launch.parameters;
            if let Some(found) = parameters.get(offset..offset + TENSOR_MAP_BYTES) {
                bytes.copy_from_slice(found);
            }
        } else {
            let range = (address, TENSOR_MAP_BYTES as u32, 1);
            let pointer = self.global_range(lane, range, Verb::Read)?;
            // SAFETY: the range is checked.
            unsafe { self.read_bytes(pointer, &mut bytes) };
        }
        let map = TensorMapDescriptor::decode(&bytes).ok_or_else(|| {
            let what = "uses a tensor map that was not encoded as one".to_owned();
            Stop::new(FaultKind::BadLaunch, lane, what)
        })?;
        check_rows(lane, &map)?;
        Ok(map)
    }

    fn check_rank(lane: u32, map: &TensorMapDescriptor, rank: usize) -> Result<(), Stop> {
        let is = map.dimensions.len();
        if is == rank {
            return Ok(());
        }
        let what = format!("uses a tensor map of {is} dimensions with {rank} coordinates");
        Err(Stop::new(FaultKind::BadLaunch, lane, what))
    }

    pub(super) fn tensor_load(
        &mut self,
        block: &mut Block,
        (to, rank, multicast): (AddressSpace, usize, bool),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let map = self.tensor_map(number, value(1))?;
            Self::check_rank(number, &map, rank)?;
            let start: Vec<i32> = (0..rank).map(|at| value(3 + at) as i32).collect();
            let mask = multicast.then(|| value(3 + rank) as u32);
            let ends = (value(0), value(2), mask);
            let bytes = map.box_bytes();
            self.check_pattern(block, number, (value(0), to), bytes, map.swizzle)?;
            let target = self.aim(block, number, (to, bytes, BOX_ALIGN), ends)?;
            let data = self.read_box(number, &map, &start)?;
            let how = Arrival::Overwrite(map.swizzle);
            self.send(block, number, &target, &data, how)?;
        }
        Ok(())
    }

    /// A swizzled box may use the rest of its last row of 128 bytes.
    fn check_pattern(
        &self,
        block: &Block,
        lane: u32,
        (address, space): (u64, AddressSpace),
        bytes: u32,
        swizzle: Swizzle,
    ) -> Result<(), Stop> {
        if swizzle == Swizzle::None {
            return Ok(());
        }
        let whole = (bytes.next_multiple_of(BOX_ALIGN), BOX_ALIGN);
        self.shared_place(block, lane, address, space, whole, Verb::Write)
            .map(|_| ())
    }

    fn read_box(
        &mut self,
        lane: u32,
        map: &TensorMapDescriptor,
        start: &[i32],
    ) -> Result<Box<[u8]>, Stop> {
        let width = map.element.bytes() as usize;
        let fill = map.fill().to_le_bytes();
        let mut data: Box<[u8]> = vec![0; map.box_bytes() as usize].into_boxed_slice();
        if map.fills_with_nan {
            for element in data.chunks_exact_mut(width) {
                element.copy_from_slice(&fill[..width]);
            }
        }
        for row in rows(map, start).iter().filter(|row| row.inside > 0) {
            let length = row.inside * width as u32;
            let range = (row.address, length, 1);
            let pointer = self.global_range(lane, range, Verb::Read)?;
            let first = row.at as usize + row.before as usize * width;
            let part = &mut data[first..first + length as usize];
            // SAFETY: the range is checked.
            unsafe { self.read_bytes(pointer, part) };
            self.count_bulk(row.address, length, Verb::Read);
            if map.element == Element::F32Ftz {
                part.chunks_exact_mut(4).for_each(flush);
            }
        }
        Ok(data)
    }

    pub(super) fn tensor_store(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (rank, reduce): (usize, Option<AtomicOp>),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let map = self.tensor_map(number, value(0))?;
            Self::check_rank(number, &map, rank)?;
            let start: Vec<i32> = (0..rank).map(|at| value(2 + at) as i32).collect();
            let reduction = reduce
                .map(|op| reduction_of(number, op, map.element))
                .transpose()?;
            let width = map.element.bytes();
            let rows = rows(&map, &start);
            let parts = rows.iter().filter(|row| row.inside > 0).map(|row| {
                let at = row.at + row.before * width;
                (at, row.address, row.inside * width)
            });
            let bytes = map.box_bytes();
            let space = AddressSpace::Shared;
            self.check_pattern(block, number, (value(1), space), bytes, map.swizzle)?;
            let source = (value(1), bytes, BOX_ALIGN, map.swizzle);
            self.send_store(block, warp, number, source, parts.collect(), reduction)?;
        }
        Ok(())
    }
}

/// How rows lie in shared memory that are shorter than the span of their swizzle is not documented.
fn check_rows(lane: u32, map: &TensorMapDescriptor) -> Result<(), Stop> {
    let row = map.box_dimensions[0] * map.element.bytes();
    let Some(span) = map.swizzle.bytes().filter(|&span| row < span) else {
        return Ok(());
    };
    let opcode = format!("tensor map with rows of {row} bytes swizzled within {span}");
    let what = format!("uses a {opcode}, which the emulated device does not support");
    Err(Stop::new(FaultKind::Unsupported { opcode }, lane, what))
}

fn flush(element: &mut [u8]) {
    let exponent = u16::from_le_bytes([element[2], element[3]]) & 0x7f80;
    if exponent == 0 {
        element[..3].fill(0);
        element[3] &= 0x80;
    }
}

/// How a tensor's elements are updated.
fn reduction_of(lane: u32, op: AtomicOp, element: Element) -> Result<Reduction, Stop> {
    use AtomicOp::{Add, And, Decrement, Increment, Max, Min, Or, Xor};
    let kind = match (element, op) {
        (Element::U32 | Element::U64, Add | Min | Max | And | Or | Xor)
        | (Element::U32, Increment | Decrement)
        | (Element::S32 | Element::S64, And | Or | Xor) => AtomicKind::Unsigned,
        (Element::S32 | Element::S64, Add | Min | Max) => AtomicKind::Signed,
        (Element::F16, Add | Min | Max) => AtomicKind::F16,
        (Element::Bf16, Add | Min | Max) => AtomicKind::Bf16,
        (Element::F32 | Element::F32Ftz, Add) => AtomicKind::F32,
        (Element::F64, Add) => AtomicKind::F64,
        _ => {
            let what = format!("reduces a tensor of {element:?} by {op:?}, which is not possible");
            return Err(Stop::new(FaultKind::BadLaunch, lane, what));
        }
    };
    Ok(Reduction {
        op,
        kind,
        bytes: element.bytes(),
    })
}
