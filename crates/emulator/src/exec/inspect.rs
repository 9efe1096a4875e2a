//! Judging a warp's addresses: bounds, alignment, contiguity, sectors, banks.
#![allow(unsafe_code)]

use super::access::Addresses;
use crate::lanes::{FULL, LANES, Slot, View, has_wide_vectors};

/// Inactive lanes take the lead's address, so that they change no check and no count.
#[inline(always)]
pub(super) fn active(addresses: &Addresses, mask: u32, lead: u64) -> Addresses {
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

pub(super) struct Inspection {
    /// From the start of the allocation or of shared memory.
    pub(super) offsets: Addresses,
    pub(super) outside: bool,
    pub(super) misaligned: bool,
    pub(super) contiguous: bool,
    /// A bit for each sector within 32 of the first lane's.
    pub(super) near: u64,
    /// Some sector is farther away.
    pub(super) far: bool,
}

/// Computes the offsets of an access and judges them.
#[inline(always)]
pub(super) fn inspect(
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
pub(super) fn count_sectors(addresses: &Addresses) -> u64 {
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
pub(super) fn count_wavefronts(addresses: &Addresses, mask: u32, size: u32) -> u64 {
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
}
