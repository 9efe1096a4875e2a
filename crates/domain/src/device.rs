//! Devices by name, and the limits a launch must respect on them.

use serde::{Deserialize, Serialize};

use crate::verdict::UnknownWord;

/// A real GPU or the CPU device that executes PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DeviceKind {
    /// Measured.
    Gpu,
    /// Counted, modelled; never measured.
    Emulated,
}

// `tt`, not `literal`: derive macros read attributes, and see no text in a `literal` fragment.
macro_rules! device_names {
    ($($variant:ident => $text:tt),+ $(,)?) => {
        /// A device model. The list is pinned by the contract; a GPU's index is never in the name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[allow(missing_docs)] // the names are the definition
        pub enum DeviceName {
            $(#[serde(rename = $text)] $variant),+
        }

        impl DeviceName {
            /// Every device, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The contract's spelling.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for DeviceName {
            type Err = UnknownWord;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(UnknownWord(text.to_owned())),
                }
            }
        }
    };
}

device_names! {
    Emulated => "emulated",
    T4 => "t4",
    A10 => "a10",
    A100_40gb => "a100-40gb",
    A100_80gb => "a100-80gb",
    L4 => "l4",
    L40s => "l40s",
    Rtx3090 => "rtx3090",
    Rtx4090 => "rtx4090",
    Rtx5090 => "rtx5090",
    H100Pcie => "h100-pcie",
    H100Sxm => "h100-sxm",
    H200 => "h200",
    B200 => "b200",
}

impl DeviceName {
    /// Whether results on it are measured or counted.
    #[must_use]
    pub fn kind(self) -> DeviceKind {
        if self == Self::Emulated {
            DeviceKind::Emulated
        } else {
            DeviceKind::Gpu
        }
    }
}

impl std::fmt::Display for DeviceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a launch may ask of a device. Queries in host code are answered from it, and a plan is
/// refused against it before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetLimits {
    /// NVRTC's name of the exact architecture, e.g. `sm_90a`.
    pub arch: String,
    /// Marketing name, as `cudaGetDeviceProperties` would give it.
    pub name: String,
    /// Compute capability, major.
    pub compute_major: u32,
    /// Compute capability, minor.
    pub compute_minor: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads in a block.
    pub max_threads_per_block: u32,
    /// Threads resident on one multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Blocks resident on one multiprocessor.
    pub max_blocks_per_multiprocessor: u32,
    /// Block extents x, y, z.
    pub max_block: [u32; 3],
    /// Grid extents x, y, z.
    pub max_grid: [u32; 3],
    /// Shared memory of a block without opting in.
    pub shared_memory_per_block_bytes: u32,
    /// Shared memory of a block after `cudaFuncSetAttribute`.
    pub shared_memory_per_block_optin_bytes: u32,
    /// Shared memory of one multiprocessor.
    pub shared_memory_per_multiprocessor_bytes: u32,
    /// 32-bit registers of one multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Device memory.
    pub global_memory_bytes: u64,
    /// L2 cache.
    pub l2_bytes: u64,
    /// Constant memory.
    pub constant_memory_bytes: u64,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Boost clock.
    pub clock_hz: u64,
    /// Memory bus width in bits.
    pub memory_bus_bits: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_only_one_is_emulated() {
        for &name in DeviceName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
        }
        let emulated = DeviceName::ALL
            .iter()
            .filter(|n| n.kind() == DeviceKind::Emulated);
        assert_eq!(emulated.count(), 1);
    }

    #[cfg(feature = "openapi")]
    #[test]
    fn the_api_document_spells_names_as_the_json_does() {
        let schema = serde_json::to_value(<DeviceName as utoipa::PartialSchema>::schema()).unwrap();
        let json = serde_json::to_value(DeviceName::ALL).unwrap();
        assert_eq!(schema["enum"], json);
    }
}
