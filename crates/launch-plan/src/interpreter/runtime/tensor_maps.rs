//! `CUtensorMap`: what `cuTensorMapEncodeTiled` is asked for, refused where the driver refuses it,
//! and how host code finds that function.

use std::rc::Rc;

use domain::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement};

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{DriverFunction, HostRef, Target, Value};
use crate::plan::{Buffer, TensorMapSpec};
use crate::source::text::At;
use crate::types::Type;

const ELEMENTS: [TensorElement; 13] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::I32,
    TensorElement::U64,
    TensorElement::I64,
    TensorElement::F16,
    TensorElement::F32,
    TensorElement::F64,
    TensorElement::Bf16,
    TensorElement::F32Ftz,
    TensorElement::Tf32,
    TensorElement::Tf32Ftz,
];
const INTERLEAVES: [Interleave; 3] = [Interleave::None, Interleave::Bytes16, Interleave::Bytes32];
const SWIZZLES: [Swizzle; 4] = [
    Swizzle::None,
    Swizzle::Bytes32,
    Swizzle::Bytes64,
    Swizzle::Bytes128,
];
const PROMOTIONS: [L2Promotion; 4] = [
    L2Promotion::None,
    L2Promotion::Bytes64,
    L2Promotion::Bytes128,
    L2Promotion::Bytes256,
];
const FILLS: [OutOfBounds; 2] = [OutOfBounds::Zero, OutOfBounds::NanAsZero];

impl Interpreter<'_> {
    /// A function of the driver, called by name or through a looked-up pointer.
    pub(in crate::interpreter) fn driver_function(
        &mut self,
        function: DriverFunction,
        values: &[Value],
        at: At,
    ) -> Fallible<Value> {
        match function {
            DriverFunction::EncodeTiled => self.encode_tiled(values, at),
            DriverFunction::Free(name) => self.memory_call(name, values, at).unwrap_or_else(|| {
                let message = format!("`{name}` is called with {} arguments", values.len());
                Err(Fault::syntax(at, message).hint("pass the pointer"))
            }),
        }
    }

    /// `cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &pointer, ...)` and its like.
    pub(super) fn entry_point(&mut self, name: &Value, target: &Value, at: At) -> Fallible<Value> {
        let Value::Text(name) = name else {
            return Err(Fault::unsupported(
                at,
                "a driver function whose name is no literal is looked up",
                "write the name in the call",
            ));
        };
        if name.as_ref() != "cuTensorMapEncodeTiled" {
            return Err(Fault::unsupported(
                at,
                format!("the driver function `{name}` is not in the host subset"),
                "cuTensorMapEncodeTiled is",
            ));
        }
        self.store_through(target, Value::Driver(DriverFunction::EncodeTiled), at)
    }

    fn encode_tiled(&mut self, values: &[Value], at: At) -> Fallible<Value> {
        let [
            target,
            element,
            rank,
            address,
            dimensions,
            strides,
            extents,
            steps,
            interleave,
            swizzle,
            promotion,
            fill,
        ] = values
        else {
            return Err(refused(at, "takes 12 arguments"));
        };
        let rank = self.count_of(rank, at)?;
        if !(1..=5).contains(&rank) {
            return Err(refused(at, format!("is given rank {rank}; 1 to 5 exist")));
        }
        let Value::Pointer(_, Target::Device(base)) = address else {
            return Err(refused(at, "is given no device memory")
                .hint("pass a pointer of the signature, or one from cudaMalloc"));
        };
        if base.buffer == Buffer::Null {
            return Err(refused(at, "is given the null pointer"));
        }
        let narrow = |values: Vec<u64>| -> Vec<u32> {
            let narrowed = values.into_iter();
            narrowed
                .map(|value| u32::try_from(value).unwrap_or(u32::MAX))
                .collect()
        };
        let map = TensorMapSpec {
            base: *base,
            element: self.chosen(element, &ELEMENTS, "data type", at)?,
            dimensions: self.numbers(dimensions, rank, "globalDim", at)?,
            strides_bytes: self.numbers(strides, rank - 1, "globalStrides", at)?,
            box_dimensions: narrow(self.numbers(extents, rank, "boxDim", at)?),
            element_strides: narrow(self.numbers(steps, rank, "elementStrides", at)?),
            interleave: self.chosen(interleave, &INTERLEAVES, "interleave", at)?,
            swizzle: self.chosen(swizzle, &SWIZZLES, "swizzle", at)?,
            l2_promotion: self.chosen(promotion, &PROMOTIONS, "L2 promotion", at)?,
            out_of_bounds: self.chosen(fill, &FILLS, "fill", at)?,
        };
        if let Some(problem) = problem(&map) {
            return Err(refused(at, problem));
        }
        let Value::Pointer(_, Target::Host(place)) = target else {
            return Err(
                refused(at, "writes to no host variable").hint("pass the address of a CUtensorMap")
            );
        };
        if self.memory.type_at(place, at)? != Type::TensorMap {
            return Err(refused(at, "writes to something that is no CUtensorMap"));
        }
        self.memory
            .store(place, Value::TensorMap(Some(Rc::new(map))), at)?;
        Ok(Value::SUCCESS)
    }

    /// The enumerator that a number names.
    fn chosen<T: Copy>(&mut self, value: &Value, from: &[T], what: &str, at: At) -> Fallible<T> {
        let number = self.count_of(value, at)?;
        usize::try_from(number)
            .ok()
            .and_then(|index| from.get(index).copied())
            .ok_or_else(|| {
                refused(
                    at,
                    format!("is given {what} {number}, which does not exist"),
                )
            })
    }

    /// So many numbers of a host array.
    fn numbers(&mut self, array: &Value, count: u64, what: &str, at: At) -> Fallible<Vec<u64>> {
        let mut numbers = Vec::new();
        for index in 0..count {
            let value = match array {
                Value::Pointer(_, Target::Host(first)) => {
                    let place = HostRef {
                        index: first.index.saturating_add_unsigned(index),
                        ..first.clone()
                    };
                    self.memory.load(&place, at)?
                }
                _ => None,
            };
            let Some(value) = value else {
                return Err(refused(
                    at,
                    format!("reads {what}[{index}], which has no value"),
                ));
            };
            numbers.push(self.count_of(&value, at)?);
        }
        Ok(numbers)
    }
}

fn refused(at: At, what: impl std::fmt::Display) -> Box<Fault> {
    Fault::launch(at, format!("cuTensorMapEncodeTiled {what}"))
}

/// What the driver would not take, by the rules of its documentation.
fn problem(map: &TensorMapSpec) -> Option<String> {
    let bytes = map.element.size_bytes();
    let alignment = if map.interleave == Interleave::Bytes32 {
        32
    } else {
        16
    };
    // Buffers start at multiples of 256.
    if map.base.offset_bytes.rem_euclid(alignment) != 0 {
        return Some(format!(
            "is given an address that is no multiple of {alignment}"
        ));
    }
    if map.interleave != Interleave::None && map.dimensions.len() < 3 {
        return Some("needs rank 3 or more to interleave".to_owned());
    }
    let wide = |&&extent: &&u64| extent == 0 || extent > 1 << 32;
    if let Some(extent) = map.dimensions.iter().find(wide) {
        return Some(format!("is given a globalDim of {extent}; 1 to 2^32 exist"));
    }
    let alignment = u64::try_from(alignment).unwrap_or(16);
    for stride in &map.strides_bytes {
        if stride % alignment != 0 || *stride == 0 || *stride >= 1 << 40 {
            return Some(format!(
                "is given a stride of {stride} bytes; multiples of {alignment} below 2^40 exist"
            ));
        }
    }
    if let Some(extent) = map.box_dimensions.iter().find(|e| !(1..=256).contains(*e)) {
        return Some(format!("is given a boxDim of {extent}; 1 to 256 exist"));
    }
    if let Some(step) = map.element_strides.iter().find(|e| !(1..=8).contains(*e)) {
        return Some(format!("is given an elementStride of {step}; 1 to 8 exist"));
    }
    let inner = u64::from(map.box_dimensions.first().copied().unwrap_or(1)) * bytes;
    if map.interleave == Interleave::None && !inner.is_multiple_of(16) {
        return Some(format!(
            "is given a box whose rows have {inner} bytes; they must be a multiple of 16"
        ));
    }
    let span = match map.swizzle {
        Swizzle::None => return fill_problem(map),
        Swizzle::Bytes32 => 32,
        Swizzle::Bytes64 => 64,
        Swizzle::Bytes128 => 128,
    };
    if map.interleave == Interleave::None && inner > span {
        return Some(format!(
            "is given a box whose rows have {inner} bytes; a swizzle of {span} takes at most {span}"
        ));
    }
    fill_problem(map)
}

fn fill_problem(map: &TensorMapSpec) -> Option<String> {
    (map.element.is_integer() && map.out_of_bounds == OutOfBounds::NanAsZero)
        .then(|| "is to fill integers with NaN".to_owned())
}
