//! From a description to a device. The one place that knows every backend.

use std::path::PathBuf;
use std::time::Duration;

use domain::{DeviceName, TargetLimits};
use serde::{Deserialize, Serialize};

use crate::{CudaDevice, Device, DeviceError, EmulatedDevice, cuda, emulated};

/// A GPU that the driver shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuInfo {
    /// The driver's index.
    pub ordinal: u32,
    /// The driver's name of the model.
    pub name: String,
    /// The driver's name of this very card, as `nvidia-smi -L` prints it.
    pub uuid: String,
    /// The model, if it is one of ours.
    pub device: Option<DeviceName>,
    /// Device memory.
    pub memory_bytes: u64,
}

/// Which device is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The CPU device.
    Emulated,
    /// A GPU of this host.
    Gpu {
        /// The driver's index.
        ordinal: u32,
        /// The CUPTI library to time with; without it nothing can be ranked.
        cupti: Option<PathBuf>,
    },
}

/// What a device is opened with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    /// Which device.
    pub target: Target,
    /// What launches may ask for; on the emulated device, of the GPU it stands in for.
    pub limits: TargetLimits,
    /// Device memory admitted.
    pub memory_limit_bytes: u64,
    /// Warp instructions admitted for one run; emulated device only.
    pub instruction_fuel: u64,
    /// Time admitted for one run; GPUs only.
    pub run_limit: Duration,
}

/// Every GPU that the driver lets this process use, in the driver's order; makes no context. Must be
/// called in a child: a driver can hang.
///
/// # Errors
/// [`DeviceError::Internal`] that says whether the driver is missing, too old or without a GPU.
pub fn list_gpus() -> Result<Vec<GpuInfo>, DeviceError> {
    cuda::list_gpus()
}

/// Opens a device. On a GPU this makes the context, which takes some tenths of a second.
pub fn open(request: &OpenRequest) -> Result<Box<dyn Device>, DeviceError> {
    match &request.target {
        Target::Emulated => Ok(Box::new(EmulatedDevice::new(emulated::Settings {
            limits: request.limits.clone(),
            memory_limit_bytes: request.memory_limit_bytes,
            instruction_fuel: request.instruction_fuel,
        }))),
        Target::Gpu { ordinal, cupti } => Ok(Box::new(CudaDevice::open(&cuda::Settings {
            ordinal: *ordinal,
            memory_limit_bytes: request.memory_limit_bytes,
            cupti_library: cupti.clone(),
            span_limit: request.run_limit,
        })?)),
    }
}
