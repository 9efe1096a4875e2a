//! Tensor maps in the emulator's encoding, a kernel parameter of 128 bytes as the driver's.

use domain::{Interleave, OutOfBounds, Swizzle, TensorElement, VerdictKind};
use emulator::{Element, TensorMapDescriptor};

use crate::{DeviceError, Fault, TensorMap};

/// Encodes a map whose tensor begins at `base`.
pub(super) fn encode(map: &TensorMap, base: u64) -> Result<Vec<u8>, DeviceError> {
    if map.interleave != Interleave::None {
        return Err(unsupported("interleaved tensor map"));
    }
    let descriptor = TensorMapDescriptor {
        address: base,
        element: element(map.element)?,
        dimensions: map.dimensions.clone(),
        strides_bytes: map.strides_bytes.clone(),
        box_dimensions: map.box_dimensions.clone(),
        element_strides: map.element_strides.clone(),
        swizzle: match map.swizzle {
            Swizzle::None => emulator::Swizzle::None,
            Swizzle::Bytes32 => emulator::Swizzle::Bytes32,
            Swizzle::Bytes64 => emulator::Swizzle::Bytes64,
            Swizzle::Bytes128 => emulator::Swizzle::Bytes128,
        },
        fills_with_nan: map.out_of_bounds == OutOfBounds::NanAsZero,
    };
    let encoded = descriptor.encode().map_err(|error| {
        DeviceError::Fault(Fault {
            kind: VerdictKind::LaunchConfig,
            message: error.to_string(),
            line: None,
        })
    })?;
    Ok(encoded.to_vec())
}

fn element(element: TensorElement) -> Result<Element, DeviceError> {
    Ok(match element {
        TensorElement::U8 => Element::U8,
        TensorElement::U16 => Element::U16,
        TensorElement::U32 => Element::U32,
        TensorElement::I32 => Element::S32,
        TensorElement::U64 => Element::U64,
        TensorElement::I64 => Element::S64,
        TensorElement::F16 => Element::F16,
        TensorElement::F32 => Element::F32,
        TensorElement::F64 => Element::F64,
        TensorElement::Bf16 => Element::Bf16,
        TensorElement::F32Ftz => Element::F32Ftz,
        // How the hardware rounds on the way is not documented.
        TensorElement::Tf32 | TensorElement::Tf32Ftz => {
            return Err(unsupported("tensor map of tf32 elements"));
        }
    })
}

fn unsupported(what: &str) -> DeviceError {
    DeviceError::Unsupported {
        opcode: what.to_owned(),
        line: None,
    }
}
