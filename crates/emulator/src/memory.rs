//! Device memory of one context: allocations far apart, each with a label.
//!
//! An address names its allocation even when it lies outside: each allocation owns one slot or
//! more of 16 GiB, begins 8 GiB into it, and leaves 8 GiB unmapped behind its end, so that any
//! error of a 32-bit element index stays in the gap. Slots are not reused, so that a freed
//! allocation is still known by name.

use std::collections::HashMap;

use crate::byte_set::ByteSet;
use crate::heap::Heap;
use crate::module::Module;
use crate::syntax::Space;

const SLOT_SHIFT: u32 = 34;
const LEAD_BYTES: u64 = 1 << 33;
/// Generic addresses of shared memory.
pub(crate) const SHARED_BASE: u64 = 1 << 56;
/// Above this bit, an address of shared memory holds the rank plus one of the block in the cluster
/// that it belongs to; 0 stands for the block that uses it.
pub(crate) const CLUSTER_SHIFT: u32 = 24;
/// The bits of such an address below.
pub(crate) const SHARED_OFFSET: u64 = (1 << CLUSTER_SHIFT) - 1;
/// Generic addresses of a thread's local memory.
pub(crate) const LOCAL_BASE: u64 = 1 << 57;
/// Generic addresses of kernel parameters.
pub(crate) const PARAMETER_BASE: u64 = 1 << 58;
/// Addresses of functions, 16 bytes apart.
const FUNCTION_BASE: u64 = 1 << 59;

/// What a pointer to a function holds.
pub(crate) fn function_address(index: usize) -> u64 {
    FUNCTION_BASE + 16 * index as u64
}

/// The function that a pointer leads to, if it leads to one of so many.
pub(crate) fn function_at(address: u64, functions: usize) -> Option<usize> {
    let offset = address.checked_sub(FUNCTION_BASE)?;
    let index = (offset / 16) as usize;
    (offset.is_multiple_of(16) && index < functions).then_some(index)
}

/// From here on, memory is better got anew than zeroed.
const LARGE_BYTES: u64 = 1 << 20;
/// Half of what lies below shared memory; the other half is the heap of device code.
const MAX_SLOTS: u64 = SHARED_BASE >> 1 >> SLOT_SHIFT;

/// Why the host could not do something with device memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The allocation would exceed the limit.
    #[error("out of device memory: {requested_bytes} bytes asked for, {free_bytes} bytes free")]
    OutOfMemory {
        /// Size that was asked for.
        requested_bytes: u64,
        /// What the limit leaves.
        free_bytes: u64,
    },
    /// The address is not in an allocation.
    #[error("{address:#x} is not a device address")]
    UnknownAddress {
        /// The address.
        address: u64,
    },
    /// The allocation was freed.
    #[error("`{label}` was freed")]
    Freed {
        /// Its label.
        label: String,
    },
    /// The range leaves the allocation.
    #[error(
        "{bytes} bytes at offset {offset_bytes} do not fit `{label}`, which has {allocation_bytes} bytes"
    )]
    OutOfBounds {
        /// Label of the allocation.
        label: String,
        /// Offset of the range, which may be negative.
        offset_bytes: i64,
        /// Length of the range.
        bytes: u64,
        /// Size of the allocation.
        allocation_bytes: u64,
    },
    /// `free` was given an address inside an allocation.
    #[error("{address:#x} is not the start of an allocation")]
    NotAnAllocation {
        /// The address.
        address: u64,
    },
}

#[derive(Debug)]
struct Allocation {
    address: u64,
    bytes: u64,
    /// Absent once freed. Whole words, so that any aligned access is aligned on the host as well.
    words: Option<Box<[u64]>>,
    label: String,
    read_only: bool,
    contents: Contents,
}

/// What is known of an allocation's contents.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Bytes that hold a value; none where all do.
    pub(crate) defined: Option<ByteSet>,
    /// What kernels store there leaves the device.
    pub(crate) is_result: bool,
}

/// All device memory of one context.
#[derive(Debug)]
pub struct Memory {
    limit_bytes: u64,
    used_bytes: u64,
    allocations: Vec<Allocation>,
    /// Allocation of each slot; slot 0 holds the null address and belongs to none.
    slots: Vec<Option<u32>>,
    pub(crate) heap: Heap,
}

impl Memory {
    /// Admits so many bytes besides those that are allocated.
    pub fn admit(&mut self, bytes: u64) {
        self.limit_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// An empty memory that can hold `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            used_bytes: 0,
            allocations: Vec::new(),
            slots: vec![None],
            heap: Heap::default(),
        }
    }

    /// Allocates `bytes` zeroed bytes, aligned to 256, and returns their device address. Messages
    /// call the allocation by its label.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] past the limit.
    pub fn allocate(&mut self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        let free_bytes = self.limit_bytes - self.used_bytes;
        let slots = (LEAD_BYTES + LEAD_BYTES)
            .saturating_add(bytes)
            .div_ceil(1 << SLOT_SHIFT);
        if bytes > free_bytes || self.slots.len() as u64 + slots > MAX_SLOTS {
            return Err(MemoryError::OutOfMemory {
                requested_bytes: bytes,
                free_bytes,
            });
        }
        let address = ((self.slots.len() as u64) << SLOT_SHIFT) + LEAD_BYTES;
        let index = self.allocations.len() as u32;
        self.slots.extend((0..slots).map(|_| Some(index)));
        self.allocations.push(Allocation {
            address,
            bytes,
            words: Some(vec![0; bytes.div_ceil(8) as usize].into_boxed_slice()),
            label: label.to_owned(),
            read_only: false,
            contents: Contents::default(),
        });
        self.used_bytes += bytes;
        Ok(address)
    }

    /// As [`Memory::allocate`], with contents that are undefined, as `cudaMalloc`'s are, until the host
    /// or a kernel writes them. (They read as zero all the same.)
    ///
    /// # Errors
    /// As for [`Memory::allocate`].
    pub fn allocate_undefined(&mut self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        let address = self.allocate(bytes, label)?;
        if let Some(allocation) = self.allocations.last_mut() {
            allocation.contents.defined = Some(ByteSet::empty(bytes));
        }
        Ok(address)
    }

    /// Declares that an allocation is for results: what it holds counts as undefined from now on, and
    /// an undefined value that a kernel stores there is a fault at once.
    ///
    /// # Errors
    /// For an address outside every live allocation.
    pub fn expect_results(&mut self, address: u64) -> Result<(), MemoryError> {
        let (at, _) = self.checked(address, 0)?;
        let allocation = &mut self.allocations[at];
        allocation.contents = Contents {
            defined: Some(ByteSet::empty(allocation.bytes)),
            is_result: true,
        };
        Ok(())
    }

    /// Whether a byte holds a value that somebody wrote, as far as that was followed.
    ///
    /// # Errors
    /// For an address outside every live allocation.
    pub fn is_defined(&self, address: u64) -> Result<bool, MemoryError> {
        let (at, offset) = self.checked(address, 1)?;
        let defined = &self.allocations[at].contents.defined;
        Ok(defined
            .as_ref()
            .is_none_or(|set| set.contains(offset as u64)))
    }

    fn define(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        let (at, offset) = self.checked(address, bytes)?;
        let allocation = &mut self.allocations[at];
        if bytes == allocation.bytes {
            allocation.contents.defined = None;
        } else if let Some(set) = &mut allocation.contents.defined {
            set.set_range(offset as u64, bytes, true);
        }
        Ok(())
    }

    /// Lends what is known of every allocation's contents to a launch that follows it.
    pub(crate) fn lend_contents(&mut self) -> Vec<Contents> {
        let allocations = self.allocations.iter_mut();
        allocations
            .map(|allocation| std::mem::take(&mut allocation.contents))
            .collect()
    }

    pub(crate) fn take_contents_back(&mut self, contents: Vec<Contents>) {
        for (allocation, contents) in self.allocations.iter_mut().zip(contents) {
            allocation.contents = contents;
        }
    }

    /// A launch that follows nothing may have written anything.
    pub(crate) fn define_all(&mut self) {
        for allocation in &mut self.allocations {
            allocation.contents.defined = None;
        }
    }

    /// Label, address and size of an allocation by its number, live or not.
    pub(crate) fn described(&self, number: usize) -> Option<(&str, u64, u64)> {
        let allocation = self.allocations.get(number)?;
        Some((&allocation.label, allocation.address, allocation.bytes))
    }

    /// Frees an allocation by its address. Null is allowed and does nothing.
    ///
    /// # Errors
    /// For an address that is not the start of a live allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        if address == 0 {
            return Ok(());
        }
        let at = self.find(address)?;
        let allocation = &mut self.allocations[at];
        if allocation.address != address {
            return Err(MemoryError::NotAnAllocation { address });
        }
        if allocation.words.take().is_none() {
            return Err(MemoryError::Freed {
                label: allocation.label.clone(),
            });
        }
        self.used_bytes -= allocation.bytes;
        Ok(())
    }

    /// Copies bytes from the host. Protection does not concern the host.
    ///
    /// # Errors
    /// For a range that does not lie in one live allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.range_mut(address, bytes.len() as u64)?
            .copy_from_slice(bytes);
        self.define(address, bytes.len() as u64)
    }

    /// Copies bytes to the host.
    ///
    /// # Errors
    /// As for [`Memory::write`].
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        bytes.copy_from_slice(self.range(address, bytes.len() as u64)?);
        Ok(())
    }

    /// Sets `bytes` bytes to one value.
    ///
    /// # Errors
    /// As for [`Memory::write`].
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), MemoryError> {
        self.range_mut(address, bytes)?.fill(value);
        self.define(address, bytes)
    }

    /// Copies between device addresses; the ranges may overlap.
    ///
    /// # Errors
    /// As for [`Memory::write`].
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        let copy = self.range(from, bytes)?.to_vec();
        let (at, start) = self.checked(from, bytes)?;
        let source = self.allocations[at].contents.defined.clone();
        self.write(to, &copy)?;
        if let Some(source) = source {
            self.copy_definedness(to, &source, start as u64, bytes)?;
        }
        Ok(())
    }

    /// What was undefined where bytes came from is so where they went.
    fn copy_definedness(
        &mut self,
        to: u64,
        source: &ByteSet,
        start: u64,
        bytes: u64,
    ) -> Result<(), MemoryError> {
        let (at, offset) = self.checked(to, bytes)?;
        let allocation = &mut self.allocations[at];
        let total = allocation.bytes;
        let undefined = (0..bytes).filter(|&byte| !source.contains(start + byte));
        for byte in undefined {
            let set = allocation.contents.defined.get_or_insert_with(|| {
                let mut all = ByteSet::empty(total);
                all.set_range(0, total, true);
                all
            });
            set.set_range(offset as u64 + byte, 1, false);
        }
        Ok(())
    }

    /// Makes kernel writes to an allocation a fault of their own, or allows them again.
    ///
    /// # Errors
    /// For an address outside every live allocation.
    pub fn protect(&mut self, address: u64, read_only: bool) -> Result<(), MemoryError> {
        let at = self.find(address)?;
        self.allocations[at].read_only = read_only;
        Ok(())
    }

    /// Label, start and size of the live allocation that holds an address.
    ///
    /// # Errors
    /// For an address outside every live allocation.
    pub fn allocation(&self, address: u64) -> Result<(&str, u64, u64), MemoryError> {
        let at = self.find(address)?;
        self.range(address, 0)?;
        let allocation = &self.allocations[at];
        Ok((&allocation.label, allocation.address, allocation.bytes))
    }

    /// Bytes allocated now.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Allocations that kernels made with `malloc` and did not free, and their bytes. They have a limit
    /// of their own, 8 MiB.
    pub fn device_heap(&self) -> (u64, u64) {
        self.heap.live()
    }

    /// What may be allocated in all.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Gives a module's variables addresses and their initial contents.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] past the limit.
    pub fn load(&mut self, module: &Module) -> Result<LoadedModule, MemoryError> {
        let mut addresses = HashMap::new();
        for variable in module.variables() {
            if matches!(variable.space, Space::Global | Space::Const) {
                let address = self.allocate(variable.bytes, &variable.name)?;
                addresses.insert(variable.name.clone(), (address, variable.bytes));
            }
        }
        let loaded = LoadedModule {
            module: module.clone(),
            addresses,
        };
        self.initialise(&loaded)?;
        Ok(loaded)
    }

    /// Writes the initial contents of a module's variables again.
    ///
    /// # Errors
    /// If the module was unloaded.
    pub fn reset_globals(&mut self, loaded: &LoadedModule) -> Result<(), MemoryError> {
        for &(address, bytes) in loaded.addresses.values() {
            self.zero(address, bytes)?;
        }
        self.initialise(loaded)
    }

    /// Zeros an allocation. Of a large one the host is given new pages, which cost nothing until
    /// they are touched.
    fn zero(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        if bytes < LARGE_BYTES {
            return self.fill(address, 0, bytes);
        }
        let (at, _) = self.checked(address, bytes)?;
        let allocation = &mut self.allocations[at];
        let words = allocation.words.take().map_or(0, |words| words.len());
        allocation.words = Some(vec![0; words].into_boxed_slice());
        Ok(())
    }

    /// Writes what a module's variables begin with into zeroed memory.
    fn initialise(&mut self, loaded: &LoadedModule) -> Result<(), MemoryError> {
        for variable in loaded.module.variables() {
            let Some(&(address, bytes)) = loaded.addresses.get(&variable.name) else {
                continue;
            };
            let length = variable.init.len().min(bytes as usize);
            self.write(address, &variable.init[..length])?;
            for reference in &variable.references {
                let variable = loaded.addresses.get(&reference.symbol).map(|&(at, _)| at);
                let function = || {
                    let index = loaded.module.function_index(&reference.symbol)?;
                    Some(function_address(index))
                };
                let target = variable.or_else(function).unwrap_or(0);
                let value = target.wrapping_add(reference.addend as u64);
                self.write(address + reference.offset, &value.to_le_bytes())?;
            }
            self.protect(address, variable.space == Space::Const)?;
        }
        Ok(())
    }

    /// Frees a module's variables.
    ///
    /// # Errors
    /// If it was unloaded already.
    pub fn unload(&mut self, loaded: &LoadedModule) -> Result<(), MemoryError> {
        loaded
            .addresses
            .values()
            .try_for_each(|&(address, _)| self.free(address))
    }

    fn find(&self, address: u64) -> Result<usize, MemoryError> {
        let slot = self
            .slots
            .get((address >> SLOT_SHIFT) as usize)
            .copied()
            .flatten();
        slot.map(|at| at as usize)
            .ok_or(MemoryError::UnknownAddress { address })
    }

    fn checked(&self, address: u64, bytes: u64) -> Result<(usize, usize), MemoryError> {
        let at = self.find(address)?;
        let allocation = &self.allocations[at];
        if allocation.words.is_none() {
            return Err(MemoryError::Freed {
                label: allocation.label.clone(),
            });
        }
        let offset = address.wrapping_sub(allocation.address);
        if offset > allocation.bytes || bytes > allocation.bytes - offset {
            return Err(MemoryError::OutOfBounds {
                label: allocation.label.clone(),
                offset_bytes: offset as i64,
                bytes,
                allocation_bytes: allocation.bytes,
            });
        }
        Ok((at, offset as usize))
    }

    fn range(&self, address: u64, bytes: u64) -> Result<&[u8], MemoryError> {
        let (at, offset) = self.checked(address, bytes)?;
        let words = self.allocations[at].words.as_deref().unwrap_or_default();
        Ok(&bytes_of(words)[offset..offset + bytes as usize])
    }

    fn range_mut(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], MemoryError> {
        let (at, offset) = self.checked(address, bytes)?;
        let words = self.allocations[at]
            .words
            .as_deref_mut()
            .unwrap_or_default();
        Ok(&mut bytes_of_mut(words)[offset..offset + bytes as usize])
    }

    /// A view that kernels run on; the caller keeps this memory borrowed meanwhile.
    pub(crate) fn regions(&mut self) -> Regions {
        let regions = self.allocations.iter_mut().map(|allocation| Region {
            address: allocation.address,
            bytes: if allocation.words.is_some() {
                allocation.bytes
            } else {
                0
            },
            data: allocation
                .words
                .as_deref_mut()
                .map_or(std::ptr::null_mut(), |words| words.as_mut_ptr().cast()),
            read_only: allocation.read_only,
            freed: allocation.words.is_none(),
        });
        Regions {
            regions: regions.collect(),
            slots: self.slots.clone(),
        }
    }

    /// Label and size of the allocation whose slot holds an address, live or not.
    pub(crate) fn describe(&self, address: u64) -> Option<(&str, u64, u64)> {
        let allocation = &self.allocations[self.find(address).ok()?];
        Some((&allocation.label, allocation.address, allocation.bytes))
    }
}

/// A module whose variables have addresses in one [`Memory`].
#[derive(Debug, Clone)]
pub struct LoadedModule {
    module: Module,
    addresses: HashMap<String, (u64, u64)>,
}

impl LoadedModule {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Device address and size of a `__device__` or `__constant__` variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.addresses.get(name).copied()
    }
}

/// One allocation as kernels see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) data: *mut u8,
    pub(crate) read_only: bool,
    pub(crate) freed: bool,
}

impl Region {
    /// Holds no address.
    pub(crate) const NONE: Self = Self {
        address: 0,
        bytes: 0,
        data: std::ptr::null_mut(),
        read_only: false,
        freed: false,
    };
}

/// Every allocation, for lookups by address.
#[derive(Debug)]
pub(crate) struct Regions {
    regions: Vec<Region>,
    slots: Vec<Option<u32>>,
}

// SAFETY: the pointers lead into allocations that the launch borrows exclusively; its threads
// access them by relaxed atomics, or alone.
#[allow(unsafe_code)]
unsafe impl Sync for Regions {}

impl Regions {
    /// The allocation whose slot holds the address.
    pub(crate) fn find(&self, address: u64) -> Option<&Region> {
        self.find_numbered(address).map(|(_, region)| region)
    }

    /// The same with the allocation's number.
    pub(crate) fn find_numbered(&self, address: u64) -> Option<(u32, &Region)> {
        let slot = self
            .slots
            .get((address >> SLOT_SHIFT) as usize)
            .copied()
            .flatten()?;
        Some((slot, self.regions.get(slot as usize)?))
    }

    pub(crate) fn count(&self) -> usize {
        self.regions.len()
    }

    /// Size of the allocation with a number.
    pub(crate) fn bytes_of(&self, number: usize) -> Option<u64> {
        self.regions.get(number).map(|region| region.bytes)
    }
}

#[allow(unsafe_code)]
fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: any word is eight valid bytes, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[allow(unsafe_code)]
fn bytes_of_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as for `bytes_of`; any bytes are a valid word.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_copies_are_bounds_checked_and_named() {
        let mut memory = Memory::new(1 << 20);
        let a = memory.allocate(10, "a").unwrap();
        memory.write(a + 2, &[1, 2, 3]).unwrap();
        let mut back = [0; 4];
        memory.read(a + 1, &mut back).unwrap();
        assert_eq!(back, [0, 1, 2, 3]);
        let error = memory.write(a + 8, &[0; 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 bytes at offset 8 do not fit `a`, which has 10 bytes"
        );
        assert!(memory.read(a - 1, &mut back).is_err());
        assert_eq!(
            memory.read(16, &mut back),
            Err(MemoryError::UnknownAddress { address: 16 })
        );
    }

    #[test]
    fn freed_memory_is_remembered_and_its_room_given_back() {
        let mut memory = Memory::new(64);
        let a = memory.allocate(64, "a").unwrap();
        assert!(matches!(
            memory.allocate(1, "b"),
            Err(MemoryError::OutOfMemory { .. })
        ));
        assert_eq!(
            memory.free(a + 8),
            Err(MemoryError::NotAnAllocation { address: a + 8 })
        );
        memory.free(a).unwrap();
        assert_eq!(
            memory.free(a),
            Err(MemoryError::Freed { label: "a".into() })
        );
        assert_eq!(
            memory.fill(a, 0, 1),
            Err(MemoryError::Freed { label: "a".into() })
        );
        let b = memory.allocate(64, "b").unwrap();
        assert_ne!(a, b);
    }

    #[test]
    fn copies_may_overlap() {
        let mut memory = Memory::new(64);
        let a = memory.allocate(8, "a").unwrap();
        memory.write(a, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        memory.copy(a + 1, a, 7).unwrap();
        let mut back = [0; 8];
        memory.read(a, &mut back).unwrap();
        assert_eq!(back, [1, 1, 2, 3, 4, 5, 6, 7]);
    }
}
