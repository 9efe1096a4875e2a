//! Loads and stores: the space meant, the checks, the counters.
#![allow(unsafe_code)]

use super::block::Block;
use super::elements::{
    copy_whole, extend, gather_elements, lanes_of, scatter_elements, write_lane,
};
use super::inspect::{active, count_sectors, count_wavefronts, inspect};
use super::reconverge::{Warp, lane_value};
use super::violations::{Verb, bytes_text, bytes_text_u64, local_stop, shared_stop};
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::{FULL, LANES, View};
use crate::memory::{LOCAL_BASE, PARAMETER_BASE, Region, SHARED_BASE};
use crate::program::{Access, AddressSpace};

pub(super) type Addresses = [u64; LANES];

/// Where an activation's part of local memory lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameBounds {
    pub(super) base: u32,
    /// End of the activation's frame: nothing lives above.
    pub(super) top: u32,
}

/// Memory that lanes can be pointed into: bounds and alignment are checked already.
pub(super) enum Target {
    /// Lane `l` accesses `base + offsets[l]`.
    Offsets {
        base: *mut u8,
        offsets: Addresses,
        contiguous: bool,
    },
    /// Lane `l` accesses `pointers[l]`: the lanes meet several allocations.
    Pointers([*mut u8; LANES]),
    /// Addresses in the warp's interleaved local memory.
    Local(Addresses),
}

impl Worker<'_> {
    pub(super) fn load(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        view: &View,
        access: &Access,
        mask: u32,
        frame: FrameBounds,
    ) -> Result<(), Stop> {
        if access.space == AddressSpace::Parameter && access.address.is_none() {
            return self.load_uniform_parameter(view, access, mask);
        }
        if let Some(located) = self.locate(block, view, access, mask, Verb::Read) {
            // SAFETY: `locate` checked bounds and alignment of every active lane.
            unsafe { self.load_from(warp, view, access, mask, &located) };
            return Ok(());
        }
        let addresses = addresses(view, access, frame);
        let mut rest = mask;
        while rest != 0 {
            let (space, mask, addresses) = window(access.space, &addresses, rest);
            rest &= !mask;
            if space == AddressSpace::Parameter {
                self.load_parameters(view, access, mask, &addresses)?;
                continue;
            }
            let size = access.bytes * access.count;
            let target = self.resolve(block, space, mask, &addresses, size, Verb::Read, frame)?;
            // SAFETY: `resolve` checked bounds and alignment of every active lane.
            unsafe { self.load_from(warp, view, access, mask, &target) };
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        view: &View,
        access: &Access,
        mask: u32,
        frame: FrameBounds,
    ) -> Result<(), Stop> {
        if let Some(located) = self.locate(block, view, access, mask, Verb::Write) {
            // SAFETY: `locate` checked bounds and alignment of every active lane.
            unsafe { self.store_to(warp, view, access, mask, &located) };
            return Ok(());
        }
        let addresses = addresses(view, access, frame);
        let mut rest = mask;
        while rest != 0 {
            let (space, mask, addresses) = window(access.space, &addresses, rest);
            rest &= !mask;
            if space == AddressSpace::Parameter {
                let lane = mask.trailing_zeros();
                let message = "writes to a parameter of the kernel, which is read-only".to_owned();
                return Err(Stop::new(FaultKind::WriteToReadOnly, lane, message));
            }
            let size = access.bytes * access.count;
            let target = self.resolve(block, space, mask, &addresses, size, Verb::Write, frame)?;
            // SAFETY: `resolve` checked bounds and alignment of every active lane.
            unsafe { self.store_to(warp, view, access, mask, &target) };
        }
        Ok(())
    }

    /// Checks an access of `size` bytes a lane and counts it.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn resolve(
        &mut self,
        block: &mut Block,
        space: AddressSpace,
        mask: u32,
        addresses: &Addresses,
        size: u32,
        verb: Verb,
        frame: FrameBounds,
    ) -> Result<Target, Stop> {
        match space {
            AddressSpace::Shared => self.resolve_shared(block, mask, addresses, size, verb),
            AddressSpace::Cluster => self.resolve_cluster(block, mask, addresses, size, verb),
            AddressSpace::Local => self.resolve_local(mask, addresses, size, verb, frame),
            _ => self.resolve_global(mask, addresses, size, verb),
        }
    }

    /// The frequent case in one pass: all active lanes inside one allocation, or inside shared
    /// memory. Nothing is counted unless it succeeds.
    #[inline(always)]
    pub(super) fn locate(
        &mut self,
        block: &mut Block,
        view: &View,
        access: &Access,
        mask: u32,
        verb: Verb,
    ) -> Option<Target> {
        let slot = access.address?;
        // SAFETY: the slot is one of the program's.
        let lead = unsafe { lane_value(view, slot, mask.trailing_zeros() as usize) };
        let lead = lead.wrapping_add(access.offset as u64);
        let size = u64::from(access.bytes * access.count);
        let (base, bytes, data, is_shared) = match access.space {
            AddressSpace::Shared | AddressSpace::Cluster => (
                0,
                u64::from(block.shared_bytes),
                block.shared.as_mut_ptr().cast(),
                true,
            ),
            AddressSpace::Generic if (SHARED_BASE..LOCAL_BASE).contains(&lead) => (
                SHARED_BASE,
                u64::from(block.shared_bytes),
                block.shared.as_mut_ptr().cast(),
                true,
            ),
            AddressSpace::Global | AddressSpace::Generic => {
                if lead.wrapping_sub(self.region.address) >= self.region.bytes {
                    self.region = self.find_region(lead)?;
                }
                let region = self.region;
                if verb != Verb::Read && region.read_only {
                    return None;
                }
                (region.address, region.bytes, region.data, false)
            }
            AddressSpace::Local | AddressSpace::Parameter => return None,
        };
        if bytes < size {
            return None;
        }
        let shift = (access.offset as u64).wrapping_sub(base);
        let lead = lead.wrapping_sub(base);
        let found = inspect(view, slot, shift, mask, lead, bytes - size, size);
        if found.outside || found.misaligned {
            return None;
        }
        let contiguous = found.contiguous && mask == FULL;
        if is_shared {
            self.count_shared(&found.offsets, mask, size as u32, contiguous);
        } else {
            let sectors = if found.far {
                count_sectors(&found.offsets)
            } else {
                u64::from(found.near.count_ones())
            };
            self.count_global(base.wrapping_add(lead), sectors, verb);
        }
        Some(Target::Offsets {
            base: data,
            offsets: found.offsets,
            contiguous,
        })
    }

    /// Lanes in several allocations, or a fault.
    #[cold]
    fn resolve_global(
        &mut self,
        mask: u32,
        addresses: &Addresses,
        size: u32,
        verb: Verb,
    ) -> Result<Target, Stop> {
        let bytes = u64::from(size);
        let mut pointers = [std::ptr::null_mut(); LANES];
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let region = self.find_region(address).unwrap_or(Region::NONE);
            let offset = address.wrapping_sub(region.address);
            let inside = region.bytes >= bytes && offset <= region.bytes - bytes;
            let writes = verb != Verb::Read;
            if !inside || !address.is_multiple_of(bytes) || writes && region.read_only {
                return Err(self.global_stop(&region, lane as u32, address, size, verb));
            }
            pointers[lane] = region.data.wrapping_add(offset as usize);
        }
        let lead = addresses[mask.trailing_zeros() as usize];
        let sectors = count_sectors(&active(addresses, mask, lead));
        self.count_global(lead, sectors, verb);
        Ok(Target::Pointers(pointers))
    }

    /// The allocation that an address means: of the host's, or of the device's heap.
    #[inline]
    pub(super) fn find_region(&self, address: u64) -> Option<Region> {
        let region = self.context.regions.find(address).copied();
        region.or_else(|| self.heap().find(address))
    }

    /// Shared memory of any block of the cluster.
    #[cold]
    fn resolve_cluster(
        &mut self,
        block: &mut Block,
        mask: u32,
        addresses: &Addresses,
        size: u32,
        verb: Verb,
    ) -> Result<Target, Stop> {
        let mut pointers = [std::ptr::null_mut(); LANES];
        let mut offsets = *addresses;
        for lane in lanes_of(mask) {
            let (space, range) = (AddressSpace::Cluster, (size, size));
            let address = addresses[lane];
            if address > 0xffff_ffff {
                let total = u64::from(block.shared_bytes);
                return Err(shared_stop(lane as u32, address, size, total, true, verb));
            }
            let place = self.shared_place(block, lane as u32, address, space, range, verb)?;
            offsets[lane] = u64::from(place.offset);
            pointers[lane] = self.shared_pointer(block, place);
        }
        self.count_shared(&offsets, mask, size, false);
        Ok(Target::Pointers(pointers))
    }

    /// A request for sectors of the allocation of `address`.
    pub(super) fn count_global(&mut self, address: u64, sectors: u64, verb: Verb) {
        self.counters.global_requests += 1;
        let moves = [verb != Verb::Write, verb != Verb::Read];
        (self.traffic).note(self.context.regions, address, sectors, moves);
        match verb {
            Verb::Read => self.counters.global_load_sectors += sectors,
            Verb::Write => self.counters.global_store_sectors += sectors,
            Verb::Update => self.counters.global_atomic_sectors += sectors,
        }
    }

    fn count_shared(&mut self, offsets: &Addresses, mask: u32, size: u32, contiguous: bool) {
        self.counters.shared_requests += 1;
        self.counters.shared_wavefronts += if contiguous && size >= 4 {
            u64::from(size / 4)
        } else {
            count_wavefronts(offsets, mask, size)
        };
    }

    fn resolve_shared(
        &mut self,
        block: &mut Block,
        mask: u32,
        addresses: &Addresses,
        size: u32,
        verb: Verb,
    ) -> Result<Target, Stop> {
        let total = u64::from(block.shared_bytes);
        let bytes = u64::from(size);
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let outside = bytes > total || address > total - bytes;
            if outside || !address.is_multiple_of(bytes) {
                return Err(shared_stop(
                    lane as u32,
                    address,
                    size,
                    total,
                    outside,
                    verb,
                ));
            }
        }
        self.count_shared(addresses, mask, size, false);
        let base = block.shared.as_mut_ptr().cast();
        Ok(Target::Offsets {
            base,
            offsets: *addresses,
            contiguous: false,
        })
    }

    fn resolve_local(
        &mut self,
        mask: u32,
        addresses: &Addresses,
        size: u32,
        verb: Verb,
        frame: FrameBounds,
    ) -> Result<Target, Stop> {
        let (total, bytes) = (u64::from(frame.top), u64::from(size));
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let outside = bytes > total || address > total - bytes;
            if outside || !address.is_multiple_of(bytes) {
                return Err(local_stop(lane as u32, address, size, total, outside, verb));
            }
        }
        self.counters.local_requests += 1;
        Ok(Target::Local(*addresses))
    }

    /// `ld.param` at a fixed offset: one value for all lanes.
    fn load_uniform_parameter(
        &mut self,
        view: &View,
        access: &Access,
        mask: u32,
    ) -> Result<(), Stop> {
        let buffer = self.context.launch.parameters;
        for at in 0..access.count {
            let Some(slot) = access.data[at as usize] else {
                continue;
            };
            let start = access.offset as usize + (at * access.bytes) as usize;
            let Some(bytes) = buffer.get(start..start + access.bytes as usize) else {
                return self.load_parameters(view, access, mask, &[access.offset as u64; LANES]);
            };
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let value = extend(u64::from_le_bytes(word), access);
            // SAFETY: the slot is one of the program's.
            unsafe {
                if slot.class().is_wide() {
                    view.store(slot, mask, &[value; LANES]);
                } else {
                    view.store(slot, mask, &[value as u32; LANES]);
                }
            }
        }
        Ok(())
    }

    fn load_parameters(
        &mut self,
        view: &View,
        access: &Access,
        mask: u32,
        addresses: &Addresses,
    ) -> Result<(), Stop> {
        let buffer = self.context.launch.parameters;
        let buffer = &buffer[..self.context.kernel.parameter_bytes as usize];
        for at in 0..access.count {
            let Some(slot) = access.data[at as usize] else {
                continue;
            };
            for lane in lanes_of(mask) {
                let start = addresses[lane].wrapping_add(u64::from(at * access.bytes));
                let end = start.saturating_add(u64::from(access.bytes));
                let Some(bytes) = buffer.get(start as usize..end as usize) else {
                    let message = format!(
                        "reads {} at offset {start} of the kernel's parameters, which have {}",
                        bytes_text(access.bytes),
                        bytes_text_u64(buffer.len() as u64)
                    );
                    return Err(Stop::new(FaultKind::OutOfBounds, lane as u32, message));
                };
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                let value = extend(u64::from_le_bytes(word), access);
                // SAFETY: the slot is one of the program's.
                unsafe { write_lane(view, slot, lane, value) };
            }
        }
        Ok(())
    }

    /// # Safety
    /// Every active lane's target must hold the access.
    unsafe fn load_from(
        &self,
        warp: &Warp,
        view: &View,
        access: &Access,
        mask: u32,
        target: &Target,
    ) {
        // SAFETY: the caller's promise, and slots of the program.
        unsafe {
            match target {
                Target::Offsets {
                    base,
                    offsets,
                    contiguous,
                } => {
                    let pointer = |lane: usize| base.wrapping_add(offsets[lane] as usize);
                    if *contiguous && self.context.alone && copy_whole(view, access, pointer(0)) {
                        return;
                    }
                    gather_elements(view, access, mask, pointer);
                }
                Target::Pointers(pointers) => {
                    gather_elements(view, access, mask, |lane: usize| pointers[lane]);
                }
                Target::Local(addresses) => {
                    for at in 0..access.count {
                        let Some(slot) = access.data[at as usize] else {
                            continue;
                        };
                        for lane in lanes_of(mask) {
                            let address = addresses[lane] as u32 + at * access.bytes;
                            let value = warp.local.read(lane, address, access.bytes);
                            write_lane(view, slot, lane, extend(value, access));
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// Every active lane's target must hold the access.
    unsafe fn store_to(
        &self,
        warp: &mut Warp,
        view: &View,
        access: &Access,
        mask: u32,
        target: &Target,
    ) {
        // SAFETY: the caller's promise, and slots of the program.
        unsafe {
            match target {
                Target::Offsets { base, offsets, .. } => {
                    let pointer = |lane: usize| base.wrapping_add(offsets[lane] as usize);
                    scatter_elements(view, access, mask, pointer);
                }
                Target::Pointers(pointers) => {
                    scatter_elements(view, access, mask, |lane: usize| pointers[lane]);
                }
                Target::Local(addresses) => {
                    for at in 0..access.count {
                        let Some(slot) = access.data[at as usize] else {
                            continue;
                        };
                        for lane in lanes_of(mask) {
                            let address = addresses[lane] as u32 + at * access.bytes;
                            let value = lane_value(view, slot, lane);
                            warp.local.write(lane, address, access.bytes, value);
                        }
                    }
                }
            }
        }
    }
}

/// One 64-bit address a lane; sums with narrow registers are zero-extended.
pub(super) fn addresses(view: &View, access: &Access, frame: FrameBounds) -> Addresses {
    let mut offset = access.offset as u64;
    if access.in_frame {
        offset = offset.wrapping_add(u64::from(frame.base));
    }
    let mut out = [offset; LANES];
    if let Some(slot) = access.address {
        // SAFETY: the slot is one of the program's, read at its class's width.
        unsafe {
            if slot.class().is_wide() {
                let plane = &*view.plane::<u64>(slot);
                for lane in 0..LANES {
                    out[lane] = plane[lane].wrapping_add(offset);
                }
            } else {
                let plane = &*view.plane::<u32>(slot);
                for lane in 0..LANES {
                    // A 32-bit register holds a whole address: the sum wraps as it does.
                    out[lane] = u64::from(plane[lane].wrapping_add(offset as u32));
                }
            }
        }
    }
    out
}

/// The space of the first active lane, the lanes that share it, and their addresses inside it.
pub(super) fn window(
    space: AddressSpace,
    addresses: &Addresses,
    mask: u32,
) -> (AddressSpace, u32, Addresses) {
    if space != AddressSpace::Generic {
        return (space, mask, *addresses);
    }
    let of = |address: u64| {
        if address < SHARED_BASE {
            (AddressSpace::Global, 0)
        } else if address < LOCAL_BASE {
            (AddressSpace::Cluster, SHARED_BASE)
        } else if address < PARAMETER_BASE {
            (AddressSpace::Local, LOCAL_BASE)
        } else if address < PARAMETER_BASE << 1 {
            (AddressSpace::Parameter, PARAMETER_BASE)
        } else {
            (AddressSpace::Global, 0)
        }
    };
    let (space, base) = of(addresses[mask.trailing_zeros() as usize]);
    let same = lanes_of(mask)
        .filter(|&lane| of(addresses[lane]).0 == space)
        .fold(0, |same, lane| same | 1 << lane);
    (
        space,
        same,
        addresses.map(|address| address.wrapping_sub(base)),
    )
}
