//! From a description to a device. The one place that knows every backend.

use std::path::PathBuf;
use std::time::Duration;

use domain::{DeviceName, TargetLimits};
use serde::{Deserialize, Serialize};

use crate::{CudaDevice, Device, DeviceError, EmulatedDevice, cuda, emulated};

/// Bounds of the judge's own code.
const OWN_MEMORY_BYTES: u64 = 4 << 30;
const OWN_RUN_LIMIT: Duration = Duration::from_secs(10);

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
    /// The card's number among the host's device files, where the driver tells.
    pub minor: Option<u32>,
}

/// Which device is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The CPU device.
    Emulated,
    /// A GPU of this host.
    Gpu {
        /// The driver's index of the card, among all of the host.
        ordinal: u32,
        /// The card itself, where it is known. A process then sees no other.
        card: Option<Card>,
        /// The CUPTI library to time with; without it nothing can be ranked.
        cupti: Option<PathBuf>,
    },
}

/// One card of a host, whatever its number there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The driver's name of this very card.
    pub uuid: String,
    /// Its number among the host's device files.
    pub minor: u32,
}

impl GpuInfo {
    /// The card itself, where enough of it is known to reach it alone.
    #[must_use]
    pub fn card(&self) -> Option<Card> {
        Some(Card {
            uuid: self.uuid.clone(),
            minor: self.minor?,
        })
    }
}

/// What a device is opened with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    /// Which device.
    pub target: Target,
    /// What launches may ask for; on the emulated device, of the GPU it stands in for.
    pub limits: TargetLimits,
}

/// What one program may use of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Device memory, besides what is allocated already.
    pub memory_bytes: u64,
    /// Device memory that others on the card may still take; GPUs only.
    pub reserve_bytes: u64,
    /// Warp instructions of one run; emulated device only.
    pub instruction_fuel: u64,
    /// Time of one run; GPUs only.
    pub run_limit: Duration,
    /// What is looked for in kernels; emulated device only.
    pub checking: Checking,
}

/// How closely kernels are watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Checking {
    /// Bounds, alignment, freed and protected memory, barriers.
    #[default]
    Bounds,
    /// Races and values that nobody wrote as well, which takes longer.
    Full,
}

/// Every GPU that the driver lets this process use, in the driver's order; makes no context. Must be
/// called in a child: a driver can hang.
///
/// # Errors
/// [`DeviceError::Internal`] that says whether the driver is missing, too old or without a GPU.
pub fn list_gpus() -> Result<Vec<GpuInfo>, DeviceError> {
    cuda::list_gpus()
}

/// Opens a device for code of the judge's own; [`Device::bound`] it before anything else is put on it.
/// On a GPU this makes the context, which takes some tenths of a second.
pub fn open(request: &OpenRequest) -> Result<Box<dyn Device>, DeviceError> {
    match &request.target {
        Target::Emulated => Ok(Box::new(EmulatedDevice::new(emulated::Settings {
            limits: request.limits.clone(),
            memory_limit_bytes: OWN_MEMORY_BYTES,
            instruction_fuel: u64::MAX,
        }))),
        gpu @ Target::Gpu { .. } => Ok(Box::new(open_gpu(gpu, OWN_MEMORY_BYTES, OWN_RUN_LIMIT)?)),
    }
}

/// The same for a GPU, with bounds of the caller's own and what only a GPU can do.
///
/// # Errors
/// As [`CudaDevice::open`]; and where the target names a card and the driver shows another one.
pub fn open_gpu(
    target: &Target,
    memory_limit_bytes: u64,
    span_limit: Duration,
) -> Result<CudaDevice, DeviceError> {
    let Target::Gpu {
        ordinal,
        card,
        cupti,
    } = target
    else {
        return Err(DeviceError::Internal("the target is no GPU".to_owned()));
    };
    let device = CudaDevice::open(&cuda::Settings {
        // Of a process that sees one card alone it is the first.
        ordinal: if card.is_some() { 0 } else { *ordinal },
        memory_limit_bytes,
        cupti_library: cupti.clone(),
        span_limit,
    })?;
    is_meant(card.as_ref(), &device.gpu().uuid)?;
    Ok(device)
}

/// Whether the driver shows the card that is meant. What is measured is filed by card.
fn is_meant(card: Option<&Card>, shown: &str) -> Result<(), DeviceError> {
    match card {
        Some(card) if card.uuid != shown => Err(DeviceError::Internal(format!(
            "the driver shows {shown} instead of {}",
            card.uuid
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_card_than_the_one_meant_is_refused() {
        let card = Card {
            uuid: "GPU-1".to_owned(),
            minor: 0,
        };
        assert_eq!(is_meant(Some(&card), "GPU-1"), Ok(()));
        assert_eq!(is_meant(None, "GPU-2"), Ok(()));
        let refused = is_meant(Some(&card), "GPU-2").unwrap_err();
        assert!(
            refused.to_string().contains("GPU-2 instead of GPU-1"),
            "{refused}"
        );
    }

    #[test]
    fn the_emulated_device_is_no_gpu() {
        let opened = open_gpu(&Target::Emulated, 0, Duration::ZERO);
        assert!(matches!(opened, Err(DeviceError::Internal(_))));
    }
}
