//! Tensor maps in the driver's encoding, which is a kernel parameter of 128 bytes.
#![allow(unsafe_code)]

use cudarc::driver::sys::{
    self, CUresult, CUtensorMapDataType as DataType, CUtensorMapFloatOOBfill as Fill,
    CUtensorMapInterleave, CUtensorMapL2promotion as Promotion, CUtensorMapSwizzle,
};
use domain::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement, VerdictKind};

use super::driver::{DriverError, cu};
use crate::{DeviceError, Fault, TensorMap};

/// The hardware walks no more dimensions than this.
const MAX_RANK: usize = 5;

/// Encodes a map whose tensor begins at `base`. A driver that does not admit it says no more than that,
/// so the refusal names what was asked for.
pub(super) fn encode(map: &TensorMap, base: u64) -> Result<Vec<u8>, DeviceError> {
    let rank = map.dimensions.len();
    let is_consistent = (1..=MAX_RANK).contains(&rank)
        && map.strides_bytes.len() + 1 == rank
        && map.box_dimensions.len() == rank
        && map.element_strides.len() == rank;
    if !is_consistent {
        return Err(refused(
            map,
            "its lists do not fit a tensor of 1 to 5 dimensions",
        ));
    }
    // The binding's type is aligned as the driver wants it.
    let mut encoded = sys::CUtensorMap { opaque: [0; 16] };
    // SAFETY: the lists have as many entries as the rank says (strides one less), and all pointers are
    // valid for the call, which reads none of the tensor's memory.
    let outcome = unsafe {
        cu!(cuTensorMapEncodeTiled(
            &raw mut encoded,
            data_type(map.element),
            u32::try_from(rank).unwrap_or(0),
            base as *mut std::ffi::c_void,
            map.dimensions.as_ptr(),
            map.strides_bytes.as_ptr(),
            map.box_dimensions.as_ptr(),
            map.element_strides.as_ptr(),
            interleave(map.interleave),
            swizzle(map.swizzle),
            promotion(map.l2_promotion),
            fill(map.out_of_bounds),
        ))
    };
    match outcome {
        Ok(()) => Ok(encoded
            .opaque
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect()),
        Err(DriverError::Call {
            code: CUresult::CUDA_ERROR_INVALID_VALUE,
            ..
        }) => Err(refused(map, "the driver does not admit it")),
        Err(DriverError::Call {
            code: CUresult::CUDA_ERROR_NOT_SUPPORTED,
            ..
        }) => Err(DeviceError::Unsupported {
            opcode: "tensor map".to_owned(),
            line: None,
        }),
        Err(other) => Err(DeviceError::Internal(other.to_string())),
    }
}

fn refused(map: &TensorMap, why: &str) -> DeviceError {
    DeviceError::Fault(Fault {
        kind: VerdictKind::LaunchConfig,
        message: format!(
            "a tensor map of {:?} elements with dimensions {:?}, strides of {:?} bytes, boxes of {:?} \
             and element strides {:?}: {why}",
            map.element, map.dimensions, map.strides_bytes, map.box_dimensions, map.element_strides
        ),
        line: None,
    })
}

fn data_type(element: TensorElement) -> DataType {
    match element {
        TensorElement::U8 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        TensorElement::U16 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        TensorElement::U32 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        TensorElement::I32 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        TensorElement::U64 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        TensorElement::I64 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        TensorElement::F16 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        TensorElement::F32 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        TensorElement::F64 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        TensorElement::Bf16 => DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        TensorElement::F32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        TensorElement::Tf32 => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        TensorElement::Tf32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    }
}

fn interleave(interleave: Interleave) -> CUtensorMapInterleave {
    match interleave {
        Interleave::None => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
        Interleave::Bytes16 => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::Bytes32 => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_32B,
    }
}

fn swizzle(swizzle: Swizzle) -> CUtensorMapSwizzle {
    match swizzle {
        Swizzle::None => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        Swizzle::Bytes32 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::Bytes64 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::Bytes128 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

fn promotion(promotion: L2Promotion) -> Promotion {
    match promotion {
        L2Promotion::None => Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::Bytes64 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::Bytes128 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::Bytes256 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn fill(out_of_bounds: OutOfBounds) -> Fill {
    match out_of_bounds {
        OutOfBounds::Zero => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OutOfBounds::NanAsZero => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Address;

    /// Found before the driver is asked, which need not be there.
    #[test]
    fn lists_of_different_lengths_are_refused_with_what_was_asked_for() {
        let map = TensorMap {
            base: Address::Null,
            element: TensorElement::F32,
            dimensions: vec![64, 32],
            strides_bytes: vec![256, 8192],
            box_dimensions: vec![32, 8],
            element_strides: vec![1, 1],
            interleave: Interleave::default(),
            swizzle: Swizzle::default(),
            l2_promotion: L2Promotion::default(),
            out_of_bounds: OutOfBounds::default(),
        };
        let refused = encode(&map, 0).unwrap_err().to_string();
        assert!(
            refused.contains("[64, 32]") && refused.contains("1 to 5"),
            "{refused}"
        );
    }
}
