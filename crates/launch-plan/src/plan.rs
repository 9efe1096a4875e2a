//! What a submission's host function does, for one shape, as data.

use std::collections::BTreeSet;

use domain::{Diagnostic, TensorMap};
use serde::{Deserialize, Serialize};

/// One argument of the entry function, by position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// A tensor in device memory, at an address that is a multiple of 256.
    Buffer {
        /// Its size.
        bytes: u64,
    },
    /// An integer scalar.
    Int(i64),
    /// A floating scalar.
    Float(f64),
}

/// All operations of one call of the entry function, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// In the order in which the one stream executes them.
    pub operations: Vec<Operation>,
    /// Legal, but probably not what was meant.
    pub warnings: Vec<Diagnostic>,
    /// Set where the function's course depends on what kernels compute: it must be interpreted while the
    /// device runs, and the operations are what it may come to, no more.
    #[serde(default)]
    pub live: Option<Live>,
    /// Device variables that [`Buffer::Symbol`] means, as name expressions.
    #[serde(default)]
    pub symbols: Vec<String>,
    /// Kernels that the host function asked the compiler's numbers of. If there are any, a plan that
    /// was made without [`crate::KernelFacts`] of them holds guesses and is to be made again.
    #[serde(default)]
    pub asked: BTreeSet<KernelInstance>,
}

/// What a run that is interpreted needs, as far as rehearsals with guessed values tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Where a value that was read back is used first; lines count from 1.
    pub line: u32,
    /// Kernels that may be launched.
    pub kernels: BTreeSet<KernelInstance>,
    /// Device variables that may be read or written, by name expression.
    pub symbols: BTreeSet<String>,
}

impl Plan {
    /// Every kernel that is or may be launched; what NVRTC must be asked to instantiate.
    #[must_use]
    pub fn instantiations(&self) -> BTreeSet<KernelInstance> {
        let live = self
            .live
            .iter()
            .flat_map(|live| live.kernels.iter().cloned());
        kernels_of(&self.operations).chain(live).collect()
    }

    /// Scratch memory of all allocations together.
    #[must_use]
    pub fn scratch_bytes(&self) -> u64 {
        let sizes = self.operations.iter().map(|operation| match operation {
            Operation::Allocate { bytes, .. } => *bytes,
            _ => 0,
        });
        sizes.fold(0, u64::saturating_add)
    }

    /// Kernel launches in the plan.
    #[must_use]
    pub fn launch_count(&self) -> usize {
        self.operations
            .iter()
            .filter(|operation| matches!(operation, Operation::Launch(_)))
            .count()
    }
}

/// Every launch's kernel.
pub(crate) fn kernels_of(operations: &[Operation]) -> impl Iterator<Item = KernelInstance> {
    operations.iter().filter_map(|operation| match operation {
        Operation::Launch(launch) => Some(launch.kernel.clone()),
        _ => None,
    })
}

/// One step on the device. `line` counts from 1 in the submitted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the fields that repeat are told once, in the enum's text
pub enum Operation {
    /// `cudaMalloc`: scratch memory of `bytes` bytes, at an address that is a multiple of 256.
    /// Numbers are given out in order and not used again.
    Allocate { scratch: u32, bytes: u64, line: u32 },
    /// `cudaFree`.
    Free { scratch: u32, line: u32 },
    /// `kernel<<<...>>>(...)`.
    Launch(Launch),
    /// `cudaMemset`.
    Memset {
        destination: Place,
        value: u8,
        bytes: u64,
        line: u32,
    },
    /// `cudaMemcpy` within device memory.
    Copy {
        destination: Place,
        source: Place,
        bytes: u64,
        line: u32,
    },
    /// `cudaMemcpy` of host values that the plan knows.
    Upload {
        destination: Place,
        data: Vec<u8>,
        line: u32,
    },
    /// `cudaMemcpyToSymbol` of host values that the plan knows. `symbol` is a name expression.
    UploadSymbol {
        symbol: String,
        offset_bytes: u64,
        data: Vec<u8>,
        line: u32,
    },
    /// `cudaMemcpyToSymbol` from device memory.
    CopyToSymbol {
        symbol: String,
        offset_bytes: u64,
        source: Place,
        bytes: u64,
        line: u32,
    },
}

/// A kernel launch, checked against the device's limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Which function.
    pub kernel: KernelInstance,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; `None` for a launch that asks for no clusters.
    #[serde(default)]
    pub cluster: Option<[u32; 3]>,
    /// All blocks are resident at once and may wait for each other.
    #[serde(default)]
    pub cooperative: bool,
    /// Shared memory beyond what the kernel declares.
    pub dynamic_shared_bytes: u32,
    /// One for each parameter of the kernel.
    pub arguments: Vec<LaunchArgument>,
    /// Where the launch was written, from 1.
    pub line: u32,
    /// Where the launch was written, from 1.
    pub column: u32,
}

/// An NVRTC name expression: `k`, `ns::k` or `k<16, float>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KernelInstance(pub String);

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchArgument {
    /// A device address.
    Pointer(Place),
    /// Little-endian bytes, converted to the parameter's type, as many as that type has.
    Value(Vec<u8>),
    /// The bytes of a struct with device addresses in it, each at its offset.
    Record {
        /// Of the whole struct, zeros where the addresses go.
        bytes: Vec<u8>,
        /// Offset within the struct, and the address.
        pointers: Vec<(u64, Place)>,
    },
    /// A `CUtensorMap`, which the device's own driver encodes.
    TensorMap(Box<TensorMapSpec>),
}

/// What `cuTensorMapEncodeTiled` was asked for, checked and not yet encoded.
pub type TensorMapSpec = TensorMap<Place>;

/// A device address. It may lie outside its buffer; only accesses are checked, and on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The allocation that it was made from.
    pub buffer: Buffer,
    /// Distance from the buffer's start, possibly negative.
    pub offset_bytes: i64,
}

/// Where a device pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// The entry function's parameter of this position.
    Parameter(u32),
    /// Memory of an [`Operation::Allocate`].
    Scratch(u32),
    /// A device variable, by its index in [`Plan::symbols`].
    Symbol(u32),
    /// The null pointer.
    Null,
}
