//! One launch: arguments packed to the kernel's own layout, and the attributes it needs.
#![allow(unsafe_code)]

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUfunction_attribute as FunctionAttribute, CUlaunchAttributeID as AttributeId,
};

use super::driver::{DriverError, cu};
use super::module::Function;
use crate::{DeviceError, LaunchSpec};

/// Shared memory that a block gets without asking.
const DEFAULT_SHARED_BYTES: u32 = 48 << 10;
/// Blocks of a cluster that every device with clusters can place.
const PORTABLE_CLUSTER_BLOCKS: u32 = 8;

/// Where a parameter lies in the kernel's parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset_bytes: usize,
    pub(super) bytes: usize,
}

/// A parameter block and where each parameter begins in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

/// Lays arguments out as the kernel expects them; number and sizes must be its own.
pub(super) fn pack(
    kernel: &str,
    slots: &[Slot],
    arguments: &[Vec<u8>],
) -> Result<Packed, DeviceError> {
    if slots.len() != arguments.len() {
        let message = format!(
            "`{kernel}` takes {} arguments and got {}",
            slots.len(),
            arguments.len()
        );
        return Err(DeviceError::Internal(message));
    }
    let length = slots.iter().map(|slot| slot.offset_bytes + slot.bytes);
    let mut bytes = vec![0; length.max().unwrap_or(0)];
    for (at, (slot, argument)) in slots.iter().zip(arguments).enumerate() {
        if argument.len() != slot.bytes {
            let message = format!(
                "argument {at} of `{kernel}` has {} bytes and must have {}",
                argument.len(),
                slot.bytes
            );
            return Err(DeviceError::Internal(message));
        }
        bytes[slot.offset_bytes..slot.offset_bytes + slot.bytes].copy_from_slice(argument);
    }
    let offsets = slots.iter().map(|slot| slot.offset_bytes).collect();
    Ok(Packed { bytes, offsets })
}

/// A launch ready to be put on a stream.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    function: sys::CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: Option<[u32; 3]>,
    cooperative: bool,
    dynamic_shared_bytes: u32,
    arguments: Packed,
    /// What it asks for, for messages.
    pub(super) asked: String,
}

impl Launch {
    /// Opts in to what the launch needs beyond the defaults.
    ///
    /// The function must stay loaded until the launch has ended.
    pub(super) fn new(
        spec: &LaunchSpec,
        function: &Function,
        arguments: Packed,
    ) -> Result<Self, DriverError> {
        let set = |attribute, value: u32| {
            let value = i32::try_from(value).unwrap_or(i32::MAX);
            // SAFETY: the function belongs to a loaded module.
            unsafe { cu!(cuFuncSetAttribute(function.handle, attribute, value)) }
        };
        let shared = spec
            .dynamic_shared_bytes
            .saturating_add(function.static_shared_bytes);
        if shared > DEFAULT_SHARED_BYTES {
            set(
                FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                spec.dynamic_shared_bytes,
            )?;
        }
        let blocks = spec.cluster.map_or(1, blocks);
        if blocks > PORTABLE_CLUSTER_BLOCKS {
            set(
                FunctionAttribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                1,
            )?;
        }
        Ok(Self {
            function: function.handle,
            grid: spec.grid,
            block: spec.block,
            cluster: spec.cluster,
            cooperative: spec.cooperative,
            dynamic_shared_bytes: spec.dynamic_shared_bytes,
            arguments,
            asked: asked(spec),
        })
    }

    /// Puts the launch on a stream.
    pub(super) fn enqueue(&self, stream: sys::CUstream) -> Result<(), DriverError> {
        let mut attributes = self.attributes();
        let config = sys::CUlaunchConfig {
            gridDimX: self.grid[0],
            gridDimY: self.grid[1],
            gridDimZ: self.grid[2],
            blockDimX: self.block[0],
            blockDimY: self.block[1],
            blockDimZ: self.block[2],
            sharedMemBytes: self.dynamic_shared_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: u32::try_from(attributes.len()).unwrap_or(0),
        };
        let block = self.arguments.bytes.as_ptr();
        let mut pointers: Vec<*mut c_void> = self
            .arguments
            .offsets
            .iter()
            // SAFETY: `pack` took the offsets from slots that lie within the block.
            .map(|offset| unsafe { block.add(*offset) }.cast_mut().cast())
            .collect();
        // SAFETY: the function is loaded and the stream lives; the driver copies, before it returns,
        // each argument from a pointer to as many bytes as its parameter has, and writes none of them.
        unsafe {
            cu!(cuLaunchKernelEx(
                &raw const config,
                self.function,
                pointers.as_mut_ptr(),
                std::ptr::null_mut()
            ))
        }
    }

    fn attributes(&self) -> Vec<sys::CUlaunchAttribute> {
        let mut attributes = Vec::new();
        if let Some([x, y, z]) = self.cluster {
            attributes.push(attribute(
                AttributeId::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                sys::CUlaunchAttributeValue {
                    clusterDim: sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z },
                },
            ));
        }
        if self.cooperative {
            attributes.push(attribute(
                AttributeId::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                sys::CUlaunchAttributeValue { cooperative: 1 },
            ));
        }
        attributes
    }
}

fn attribute(id: AttributeId, value: sys::CUlaunchAttributeValue) -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id,
        pad: [0; 4],
        value,
    }
}

fn blocks(cluster: [u32; 3]) -> u32 {
    cluster.into_iter().fold(1, u32::saturating_mul)
}

/// What a launch asks for, in one line.
pub(super) fn asked(spec: &LaunchSpec) -> String {
    let by = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    let mut text = format!(
        "`{}`, grid {}, block {}",
        spec.kernel,
        by(spec.grid),
        by(spec.block)
    );
    if let Some(cluster) = spec.cluster {
        text += &format!(", cluster {}", by(cluster));
    }
    if spec.cooperative {
        text += ", cooperative";
    }
    if spec.dynamic_shared_bytes > 0 {
        text += &format!(
            ", {} bytes of dynamic shared memory",
            spec.dynamic_shared_bytes
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModuleId;

    fn slot(offset_bytes: usize, bytes: usize) -> Slot {
        Slot {
            offset_bytes,
            bytes,
        }
    }

    #[test]
    fn arguments_lie_at_the_kernels_offsets() {
        // char, double, a struct of 12 bytes, pointer
        let slots = [slot(0, 1), slot(8, 8), slot(16, 12), slot(32, 8)];
        let arguments = [vec![1], vec![2; 8], vec![3; 12], vec![4; 8]];
        let packed = pack("k", &slots, &arguments).unwrap();
        assert_eq!(packed.offsets, [0, 8, 16, 32]);
        let mut expected = vec![1, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([2; 8]);
        expected.extend([3; 12]);
        expected.extend([0; 4]);
        expected.extend([4; 8]);
        assert_eq!(packed.bytes, expected);
    }

    #[test]
    fn a_kernel_without_parameters_packs_to_nothing() {
        let packed = pack("k", &[], &[]).unwrap();
        assert!(packed.bytes.is_empty() && packed.offsets.is_empty());
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused() {
        let few = pack("k", &[slot(0, 4)], &[]).unwrap_err();
        assert!(few.to_string().contains("takes 1 arguments and got 0"));
        let long = pack("k", &[slot(0, 4)], &[vec![0; 8]]).unwrap_err();
        assert!(
            long.to_string()
                .contains("argument 0 of `k` has 8 bytes and must have 4"),
            "{long}"
        );
    }

    #[test]
    fn a_launch_is_described_by_what_is_unusual_about_it() {
        let spec = LaunchSpec {
            module: ModuleId(0),
            kernel: "k".to_owned(),
            grid: [2, 1, 1],
            block: [128, 1, 1],
            cluster: Some([2, 1, 1]),
            cooperative: true,
            dynamic_shared_bytes: 1024,
            arguments: Vec::new(),
        };
        assert_eq!(
            asked(&spec),
            "`k`, grid 2x1x1, block 128x1x1, cluster 2x1x1, cooperative, \
             1024 bytes of dynamic shared memory"
        );
    }
}
