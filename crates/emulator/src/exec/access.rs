//! Loads and stores: windows, bounds, alignment, sectors, banks.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::block::Block;
use super::reconverge::{Warp, lane_value};
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::{FULL, LANES, Slot, View, has_wide_vectors};
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

/// What an access does, for messages and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Read,
    Write,
    Update,
}

impl Verb {
    fn text(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Update => "updates",
        }
    }
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

/// Lanes of a mask, from the lowest.
#[inline(always)]
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
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
            AddressSpace::Shared => (
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
                    self.region = self.context.regions.find(lead).copied()?;
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
            self.count_global(sectors, verb);
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
            let region = self
                .context
                .regions
                .find(address)
                .copied()
                .unwrap_or(Region::NONE);
            let offset = address.wrapping_sub(region.address);
            let inside = region.bytes >= bytes && offset <= region.bytes - bytes;
            let writes = verb != Verb::Read;
            if !inside || !address.is_multiple_of(bytes) || writes && region.read_only {
                return Err(self.global_stop(&region, lane as u32, address, size, verb));
            }
            pointers[lane] = region.data.wrapping_add(offset as usize);
        }
        let lead = addresses[mask.trailing_zeros() as usize];
        self.count_global(count_sectors(&active(addresses, mask, lead)), verb);
        Ok(Target::Pointers(pointers))
    }

    fn count_global(&mut self, sectors: u64, verb: Verb) {
        self.counters.global_requests += 1;
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

    fn global_stop(&self, region: &Region, lane: u32, address: u64, size: u32, verb: Verb) -> Stop {
        let bytes = bytes_text(size);
        let verb_text = verb.text();
        let described = self.context.memory.describe(address);
        let Some((label, start, total)) = described else {
            let what = if address < 1 << 20 {
                format!("{verb_text} {bytes} through a null pointer (address {address:#x})")
            } else {
                format!("{verb_text} {bytes} at {address:#x}, which is in no allocation")
            };
            let mut stop = Stop::new(FaultKind::OutOfBounds, lane, what);
            stop.address = Some(address);
            return stop;
        };
        let offset = address.wrapping_sub(start) as i64;
        let total_text = bytes_text_u64(total);
        let (kind, what) = if region.freed {
            let what =
                format!("{verb_text} {bytes} at offset {offset} of `{label}` after it was freed");
            (FaultKind::UseAfterFree, what)
        } else if offset < 0 || offset as u64 + u64::from(size) > total {
            let what = format!(
                "{verb_text} {bytes} at offset {offset} of `{label}`, which has {total_text}"
            );
            (FaultKind::OutOfBounds, what)
        } else if !address.is_multiple_of(u64::from(size)) {
            let what = format!(
                "{verb_text} {bytes} at offset {offset} of `{label}`, which is not a multiple of {size}"
            );
            (FaultKind::Misaligned, what)
        } else {
            let what =
                format!("{verb_text} {bytes} at offset {offset} of `{label}`, which is read-only");
            (FaultKind::WriteToReadOnly, what)
        };
        let mut stop = Stop::new(kind, lane, what);
        stop.address = Some(address);
        stop.allocation = Some(label.to_owned());
        stop
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
                            let value = read_local(&warp.local, lane, address, access.bytes);
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
                            write_local(&mut warp.local, lane, address, access.bytes, value);
                        }
                    }
                }
            }
        }
    }
}

/// A full warp reading 32 consecutive elements of the register's width. Whether it did.
///
/// # Safety
/// `first` must begin 32 elements that no other thread writes meanwhile.
unsafe fn copy_whole(view: &View, access: &Access, first: *mut u8) -> bool {
    let Some(slot) = access.data[0] else {
        return false;
    };
    if access.count != 1 {
        return false;
    }
    // SAFETY: the caller's promise; the slot is one of the program's.
    unsafe {
        match (access.bytes, slot.class().is_wide()) {
            (4, false) => {
                *view.plane::<u32>(slot) = first.cast::<[u32; LANES]>().read_unaligned();
            }
            (8, true) => {
                *view.plane::<u64>(slot) = first.cast::<[u64; LANES]>().read_unaligned();
            }
            _ => return false,
        }
    }
    true
}

/// One 64-bit address a lane; narrow registers are zero-extended.
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
                    out[lane] = u64::from(plane[lane]).wrapping_add(offset);
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
            (AddressSpace::Shared, SHARED_BASE)
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

/// Inactive lanes take the lead's address, so that they change no check and no count.
#[inline(always)]
fn active(addresses: &Addresses, mask: u32, lead: u64) -> Addresses {
    let mut out = *addresses;
    if mask != FULL {
        for (lane, address) in out.iter_mut().enumerate() {
            *address = if mask >> lane & 1 != 0 {
                *address
            } else {
                lead
            };
        }
    }
    out
}

struct Inspection {
    /// From the start of the allocation or of shared memory.
    offsets: Addresses,
    outside: bool,
    misaligned: bool,
    contiguous: bool,
    /// A bit for each sector within 32 of the first lane's.
    near: u64,
    /// Some sector is farther away.
    far: bool,
}

/// Computes the offsets of an access and judges them.
#[inline(always)]
fn inspect(
    view: &View,
    slot: Slot,
    shift: u64,
    mask: u32,
    lead: u64,
    limit: u64,
    size: u64,
) -> Inspection {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the processor has the features.
        return unsafe { inspect_wide(view, slot, shift, mask, lead, limit, size) };
    }
    inspect_body(view, slot, shift, mask, lead, limit, size)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn inspect_wide(
    view: &View,
    slot: Slot,
    shift: u64,
    mask: u32,
    lead: u64,
    limit: u64,
    size: u64,
) -> Inspection {
    inspect_body(view, slot, shift, mask, lead, limit, size)
}

#[inline(always)]
fn inspect_body(
    view: &View,
    slot: Slot,
    shift: u64,
    mask: u32,
    lead: u64,
    limit: u64,
    size: u64,
) -> Inspection {
    let mut offsets = [0; LANES];
    // SAFETY: the slot is one of the program's, read at its class's width.
    unsafe {
        if slot.class().is_wide() {
            let plane = &*view.plane::<u64>(slot);
            for lane in 0..LANES {
                offsets[lane] = plane[lane].wrapping_add(shift);
            }
        } else {
            let plane = &*view.plane::<u32>(slot);
            for lane in 0..LANES {
                offsets[lane] = u64::from(plane[lane]).wrapping_add(shift);
            }
        }
    }
    // Inactive lanes take the lead's offset, so that they change no check and no count.
    if mask != FULL {
        for (lane, offset) in offsets.iter_mut().enumerate() {
            *offset = if mask >> lane & 1 != 0 { *offset } else { lead };
        }
    }
    let (mut outside, mut any, mut apart, mut near, mut far) = (0, 0, 0, 0u64, 0);
    let (first, sector) = (offsets[0], (offsets[0] >> 5).wrapping_sub(32));
    for (lane, &offset) in offsets.iter().enumerate() {
        outside |= u64::from(offset > limit);
        any |= offset;
        apart |= offset ^ first.wrapping_add(lane as u64 * size);
        let distance = (offset >> 5).wrapping_sub(sector);
        far |= distance & !63;
        near |= 1 << (distance & 63);
    }
    Inspection {
        offsets,
        outside: outside != 0,
        misaligned: any & (size - 1) != 0,
        contiguous: apart == 0,
        near,
        far: far != 0,
    }
}

/// Distinct 32-byte sectors. An aligned element of at most 32 bytes lies in one.
fn count_sectors(addresses: &Addresses) -> u64 {
    let first = addresses[0] >> 5;
    let mut near = 0u64;
    let mut far = false;
    for &address in addresses {
        let distance = (address >> 5).wrapping_sub(first).wrapping_add(32);
        far |= distance > 63;
        near |= 1 << (distance & 63);
    }
    if !far {
        return u64::from(near.count_ones());
    }
    let mut sectors = addresses.map(|address| address >> 5);
    if !sectors.is_sorted() {
        sectors.sort_unstable();
    }
    1 + sectors.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
}

/// Passes over the banks: elements of up to 4 bytes take all lanes together, of 8 bytes a half
/// warp at a time, of 16 bytes a quarter; within a pass a bank gives one word.
fn count_wavefronts(addresses: &Addresses, mask: u32, size: u32) -> u64 {
    let words = size.div_ceil(4) as usize;
    let group = LANES / words.clamp(1, 8);
    let mut total = 0;
    for first in (0..LANES).step_by(group) {
        let mut seen = [[0u32; LANES]; 32];
        let mut depth = [0usize; 32];
        let lanes = addresses.iter().enumerate().skip(first).take(group);
        for (_, address) in lanes.filter(|(lane, _)| mask >> lane & 1 != 0) {
            for word in 0..words {
                let word = (address >> 2) as u32 + word as u32;
                let bank = word as usize % 32;
                if !seen[bank][..depth[bank]].contains(&word) {
                    seen[bank][depth[bank]] = word;
                    depth[bank] += 1;
                }
            }
        }
        total += depth.iter().copied().max().unwrap_or(0);
    }
    total as u64
}

fn bytes_text(bytes: u32) -> String {
    bytes_text_u64(u64::from(bytes))
}

fn bytes_text_u64(bytes: u64) -> String {
    if bytes == 1 {
        "1 byte".to_owned()
    } else {
        format!("{bytes} bytes")
    }
}

fn shared_stop(lane: u32, address: u64, size: u32, total: u64, outside: bool, verb: Verb) -> Stop {
    let (verb, bytes) = (verb.text(), bytes_text(size));
    let offset = address as u32 as i32;
    let (kind, what) = if outside {
        let has = bytes_text_u64(total);
        let what = format!("{verb} {bytes} at offset {offset} of shared memory, which has {has}");
        (FaultKind::OutOfBounds, what)
    } else {
        let what = format!(
            "{verb} {bytes} at offset {offset} of shared memory, which is not a multiple of {size}"
        );
        (FaultKind::Misaligned, what)
    };
    Stop::new(kind, lane, what)
}

fn local_stop(lane: u32, address: u64, size: u32, total: u64, outside: bool, verb: Verb) -> Stop {
    let (verb, bytes) = (verb.text(), bytes_text(size));
    let offset = address as i64;
    let (kind, what) = if outside {
        let has = bytes_text_u64(total);
        let what =
            format!("{verb} {bytes} at offset {offset} of its local memory, which has {has}");
        (FaultKind::OutOfBounds, what)
    } else {
        let what = format!(
            "{verb} {bytes} at offset {offset} of its local memory, which is not a multiple of {size}"
        );
        (FaultKind::Misaligned, what)
    };
    Stop::new(kind, lane, what)
}

/// A loaded element, extended to 64 bits.
fn extend(value: u64, access: &Access) -> u64 {
    let shift = 64 - 8 * access.bytes;
    if access.signed {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value
    }
}

/// # Safety
/// `slot` must be one of the view's program.
#[inline(always)]
pub(super) unsafe fn write_lane(view: &View, slot: Slot, lane: usize, value: u64) {
    // SAFETY: the caller's promise; the class gives the width.
    unsafe {
        if slot.class().is_wide() {
            (*view.plane::<u64>(slot))[lane] = value;
        } else {
            (*view.plane::<u32>(slot))[lane] = value as u32;
        }
    }
}

/// The lanes of a mask in order; all of them without looking at its bits.
#[inline(always)]
fn each_lane(mask: u32, mut f: impl FnMut(usize)) {
    if mask == FULL {
        (0..LANES).for_each(&mut f);
    } else {
        lanes_of(mask).for_each(f);
    }
}

/// An element of memory, accessed by relaxed atomics: other host threads may run other blocks.
trait Element: Copy {
    unsafe fn get(pointer: *mut u8) -> Self;
    unsafe fn put(pointer: *mut u8, value: u64);
    fn zero_extended(self) -> u64;
    fn sign_extended(self) -> u64;
}

macro_rules! element {
    ($t:ty, $signed:ty, $atomic:ty) => {
        impl Element for $t {
            #[inline(always)]
            unsafe fn get(pointer: *mut u8) -> Self {
                // SAFETY: in bounds and aligned, by the caller's promise.
                unsafe { <$atomic>::from_ptr(pointer.cast()).load(Relaxed) }
            }

            #[inline(always)]
            unsafe fn put(pointer: *mut u8, value: u64) {
                // SAFETY: in bounds and aligned, by the caller's promise.
                unsafe { <$atomic>::from_ptr(pointer.cast()).store(value as $t, Relaxed) }
            }

            #[inline(always)]
            fn zero_extended(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn sign_extended(self) -> u64 {
                self as $signed as u64
            }
        }
    };
}

element!(u8, i8, AtomicU8);
element!(u16, i16, AtomicU16);
element!(u32, i32, AtomicU32);
element!(u64, i64, AtomicU64);

/// # Safety
/// Every active lane's pointer must lead to the access's elements.
#[inline(always)]
unsafe fn gather_elements(
    view: &View,
    access: &Access,
    mask: u32,
    pointer: impl Fn(usize) -> *mut u8,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match access.bytes {
            1 => gather::<u8>(view, access, mask, pointer),
            2 => gather::<u16>(view, access, mask, pointer),
            4 => gather::<u32>(view, access, mask, pointer),
            _ => gather::<u64>(view, access, mask, pointer),
        }
    }
}

/// # Safety
/// As for [`gather_elements`].
#[inline(always)]
unsafe fn gather<E: Element>(
    view: &View,
    access: &Access,
    mask: u32,
    pointer: impl Fn(usize) -> *mut u8,
) {
    for at in 0..access.count as usize {
        let Some(slot) = access.data[at] else {
            continue;
        };
        // SAFETY: the caller's promise; the slot is one of the program's.
        unsafe {
            let value = |lane: usize| {
                let element = E::get(pointer(lane).wrapping_add(at * size_of::<E>()));
                if access.signed {
                    element.sign_extended()
                } else {
                    element.zero_extended()
                }
            };
            if slot.class().is_wide() {
                let plane = &mut *view.plane::<u64>(slot);
                each_lane(mask, |lane| plane[lane] = value(lane));
            } else {
                let plane = &mut *view.plane::<u32>(slot);
                each_lane(mask, |lane| plane[lane] = value(lane) as u32);
            }
        }
    }
}

/// # Safety
/// As for [`gather_elements`].
#[inline(always)]
unsafe fn scatter_elements(
    view: &View,
    access: &Access,
    mask: u32,
    pointer: impl Fn(usize) -> *mut u8,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match access.bytes {
            1 => scatter::<u8>(view, access, mask, pointer),
            2 => scatter::<u16>(view, access, mask, pointer),
            4 => scatter::<u32>(view, access, mask, pointer),
            _ => scatter::<u64>(view, access, mask, pointer),
        }
    }
}

/// # Safety
/// As for [`gather_elements`].
#[inline(always)]
unsafe fn scatter<E: Element>(
    view: &View,
    access: &Access,
    mask: u32,
    pointer: impl Fn(usize) -> *mut u8,
) {
    for at in 0..access.count as usize {
        let Some(slot) = access.data[at] else {
            continue;
        };
        // SAFETY: the caller's promise; the slot is one of the program's.
        unsafe {
            let put = |lane: usize, value: u64| {
                E::put(pointer(lane).wrapping_add(at * size_of::<E>()), value);
            };
            if slot.class().is_wide() {
                let plane = &*view.plane::<u64>(slot);
                each_lane(mask, |lane| put(lane, plane[lane]));
            } else {
                let plane = &*view.plane::<u32>(slot);
                each_lane(mask, |lane| put(lane, u64::from(plane[lane])));
            }
        }
    }
}

/// An aligned element of one lane's local memory.
pub(super) fn read_local(local: &[[u32; LANES]], lane: usize, address: u32, bytes: u32) -> u64 {
    let row = address as usize / 4;
    if bytes == 8 {
        return u64::from(local[row][lane]) | u64::from(local[row + 1][lane]) << 32;
    }
    let word = local[row][lane] >> (8 * (address % 4));
    u64::from(match bytes {
        1 => word & 0xff,
        2 => word & 0xffff,
        _ => word,
    })
}

/// As [`read_local`], the other way.
pub(super) fn write_local(
    local: &mut [[u32; LANES]],
    lane: usize,
    address: u32,
    bytes: u32,
    value: u64,
) {
    let row = address as usize / 4;
    if bytes == 8 {
        local[row][lane] = value as u32;
        local[row + 1][lane] = (value >> 32) as u32;
        return;
    }
    let shift = 8 * (address % 4);
    let mask = match bytes {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
    };
    let word = &mut local[row][lane];
    *word = *word & !(mask << shift) | (value as u32 & mask) << shift;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stride(bytes: u64) -> Addresses {
        std::array::from_fn(|lane| (1 << 33) + lane as u64 * bytes)
    }

    #[test]
    fn sectors_of_strides() {
        assert_eq!(count_sectors(&stride(4)), 4);
        assert_eq!(count_sectors(&stride(8)), 8);
        assert_eq!(count_sectors(&stride(32)), 32);
        assert_eq!(count_sectors(&stride(1 << 12)), 32);
        assert_eq!(count_sectors(&stride(0)), 1);
        let mut reversed = stride(4);
        reversed.reverse();
        assert_eq!(count_sectors(&reversed), 4);
        let scattered = std::array::from_fn(|lane| (lane as u64 * 7 % 4) << 20);
        assert_eq!(count_sectors(&scattered), 4);
    }

    #[test]
    fn wavefronts_of_strides() {
        let at = |bytes: u64| -> Addresses { std::array::from_fn(|lane| lane as u64 * bytes) };
        assert_eq!(count_wavefronts(&at(4), FULL, 4), 1);
        assert_eq!(count_wavefronts(&at(0), FULL, 4), 1);
        assert_eq!(count_wavefronts(&at(8), FULL, 4), 2);
        assert_eq!(count_wavefronts(&at(128), FULL, 4), 32);
        assert_eq!(count_wavefronts(&at(132), FULL, 4), 1);
        assert_eq!(count_wavefronts(&at(8), FULL, 8), 2);
        assert_eq!(count_wavefronts(&at(16), FULL, 16), 4);
        assert_eq!(count_wavefronts(&at(128), 0b11, 4), 2);
        assert_eq!(count_wavefronts(&at(1), FULL, 1), 1);
    }

    #[test]
    fn local_elements_interleave() {
        let mut local = vec![[0; LANES]; 4];
        write_local(&mut local, 3, 8, 8, 0x1122_3344_5566_7788);
        write_local(&mut local, 3, 9, 1, 0xaa);
        assert_eq!(read_local(&local, 3, 8, 8), 0x1122_3344_5566_aa88);
        assert_eq!(read_local(&local, 3, 12, 2), 0x3344);
        assert_eq!(read_local(&local, 4, 8, 8), 0);
    }
}
