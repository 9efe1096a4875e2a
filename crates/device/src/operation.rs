//! What can be put on a stream.

/// A device allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// An ordered queue of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);

/// A place in device memory. The offset may leave the buffer, as pointer arithmetic does; only the
/// access that follows is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The null pointer.
    Null,
    /// `offset_bytes` from the start of a buffer.
    Buffer {
        /// The allocation meant.
        buffer: BufferId,
        /// Distance from its first byte.
        offset_bytes: i64,
    },
}

impl Address {
    /// The first byte of a buffer.
    #[must_use]
    pub fn start_of(buffer: BufferId) -> Self {
        Self::Buffer {
            buffer,
            offset_bytes: 0,
        }
    }
}

/// A tensor for the tensor memory accelerator, on this device.
pub type TensorMap = domain::TensorMap<Address>;

/// One kernel argument, already of the kernel's own type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A device pointer.
    Pointer(Address),
    /// Little-endian bytes of a value.
    Value(Vec<u8>),
    /// Bytes of a struct with device pointers in it, each at its offset.
    Record {
        /// Of the whole struct.
        bytes: Vec<u8>,
        /// Offset within the struct, and what to write there.
        pointers: Vec<(u64, Address)>,
    },
    /// A tensor for the tensor memory accelerator: 128 bytes that the driver encodes.
    TensorMap(TensorMap),
}

impl Argument {
    /// A struct's bytes with the addresses that `resolve` gives for the pointers in it.
    pub(crate) fn record<E>(
        bytes: &[u8],
        pointers: &[(u64, Address)],
        mut resolve: impl FnMut(Address) -> Result<u64, E>,
    ) -> Result<Vec<u8>, E> {
        let mut bytes = bytes.to_vec();
        for &(offset, address) in pointers {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let place = start
                .checked_add(8)
                .and_then(|end| bytes.get_mut(start..end));
            if let Some(place) = place {
                place.copy_from_slice(&resolve(address)?.to_le_bytes());
            }
        }
        Ok(bytes)
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The module that holds the kernel.
    pub module: ModuleId,
    /// The kernel's mangled name.
    pub kernel: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; `None` for a launch without clusters.
    pub cluster: Option<[u32; 3]>,
    /// All blocks are resident at once and may wait for each other.
    pub cooperative: bool,
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
}

/// One operation of a stream, run in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Run a kernel.
    Launch(LaunchSpec),
    /// Give a buffer back, in order with the rest.
    Free(BufferId),
    /// Set bytes.
    Memset {
        /// First byte.
        destination: Address,
        /// The value of every byte.
        value: u8,
        /// How many.
        bytes: u64,
    },
    /// Copy within device memory.
    Copy {
        /// First byte written.
        destination: Address,
        /// First byte read.
        source: Address,
        /// How many.
        bytes: u64,
    },
    /// Copy known bytes from the host.
    Upload {
        /// First byte written.
        destination: Address,
        /// What is written.
        data: Vec<u8>,
    },
}
