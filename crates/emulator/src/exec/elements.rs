//! Single elements between memory and registers, lane by lane.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::lanes::{FULL, LANES, Slot, View};
use crate::program::Access;

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

/// A full warp reading 32 consecutive elements of the register's width. Whether it did.
///
/// # Safety
/// `first` must begin 32 elements that no other thread writes meanwhile.
pub(super) unsafe fn copy_whole(view: &View, access: &Access, first: *mut u8) -> bool {
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

/// A loaded element, extended to 64 bits.
pub(super) fn extend(value: u64, access: &Access) -> u64 {
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
pub(super) unsafe fn gather_elements(
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
pub(super) unsafe fn scatter_elements(
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
