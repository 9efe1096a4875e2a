//! A plan's tensor maps as the device takes them.

use device::{Address, TensorMap};
use launch_plan::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement, TensorMapSpec};

/// The same map, at an address of this device.
pub(crate) fn tensor_map(map: &TensorMapSpec, base: Address) -> TensorMap {
    TensorMap {
        base,
        element: element(map.element),
        dimensions: map.dimensions.clone(),
        strides_bytes: map.strides_bytes.clone(),
        box_dimensions: map.box_dimensions.clone(),
        element_strides: map.element_strides.clone(),
        interleave: interleave(map.interleave),
        swizzle: swizzle(map.swizzle),
        l2_promotion: l2_promotion(map.l2_promotion),
        out_of_bounds: out_of_bounds(map.out_of_bounds),
    }
}

fn element(element: TensorElement) -> device::TensorElement {
    use device::TensorElement as Device;
    match element {
        TensorElement::U8 => Device::U8,
        TensorElement::U16 => Device::U16,
        TensorElement::U32 => Device::U32,
        TensorElement::I32 => Device::I32,
        TensorElement::U64 => Device::U64,
        TensorElement::I64 => Device::I64,
        TensorElement::F16 => Device::F16,
        TensorElement::F32 => Device::F32,
        TensorElement::F64 => Device::F64,
        TensorElement::Bf16 => Device::Bf16,
        TensorElement::F32Ftz => Device::F32Ftz,
        TensorElement::Tf32 => Device::Tf32,
        TensorElement::Tf32Ftz => Device::Tf32Ftz,
    }
}

fn interleave(interleave: Interleave) -> device::Interleave {
    use device::Interleave as Device;
    match interleave {
        Interleave::None => Device::None,
        Interleave::Bytes16 => Device::Bytes16,
        Interleave::Bytes32 => Device::Bytes32,
    }
}

fn swizzle(swizzle: Swizzle) -> device::Swizzle {
    use device::Swizzle as Device;
    match swizzle {
        Swizzle::None => Device::None,
        Swizzle::Bytes32 => Device::Bytes32,
        Swizzle::Bytes64 => Device::Bytes64,
        Swizzle::Bytes128 => Device::Bytes128,
    }
}

fn l2_promotion(l2_promotion: L2Promotion) -> device::L2Promotion {
    use device::L2Promotion as Device;
    match l2_promotion {
        L2Promotion::None => Device::None,
        L2Promotion::Bytes64 => Device::Bytes64,
        L2Promotion::Bytes128 => Device::Bytes128,
        L2Promotion::Bytes256 => Device::Bytes256,
    }
}

fn out_of_bounds(out_of_bounds: OutOfBounds) -> device::OutOfBounds {
    use device::OutOfBounds as Device;
    match out_of_bounds {
        OutOfBounds::Zero => Device::Zero,
        OutOfBounds::NanAsZero => Device::NanAsZero,
    }
}
