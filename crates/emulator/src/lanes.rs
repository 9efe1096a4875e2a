//! Warp-wide arithmetic: one function over the 32 lanes of a register, under a lane mask.
//!
//! Registers are structure-of-arrays: a 32-bit register is 32 consecutive words (one a lane), a
//! 64-bit one 32 consecutive doublewords. An operation is written once as a scalar closure;
//! [`un`], [`bin`], [`ter`] and [`compare`] turn it into a loop. On x86-64 that loop is compiled twice,
//! lane by lane for the baseline and vectorised for AVX2 with FMA, and the processor decides once;
//! elsewhere it is vectorised for the baseline.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// All lanes active.
pub(crate) const FULL: u32 = u32::MAX;

/// A register of a frame or a constant: class in the top two bits, byte offset below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Slot(pub(crate) u32);

/// Which array a slot lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Registers of at most 32 bits.
    Narrow = 0,
    /// 64-bit registers.
    Wide = 1,
    /// Constants of at most 32 bits.
    NarrowConst = 2,
    /// 64-bit constants.
    WideConst = 3,
}

impl Slot {
    const OFFSET: u32 = (1 << 30) - 1;

    pub(crate) fn new(class: Class, index: usize) -> Self {
        let offset = index as u64 * u64::from(class.plane_bytes());
        // Beyond, the bits would name another class, and a place outside of every array.
        assert!(offset <= u64::from(Self::OFFSET), "too many registers");
        Self(((class as u32) << 30) | offset as u32)
    }

    pub(crate) fn class(self) -> Class {
        match self.0 >> 30 {
            0 => Class::Narrow,
            1 => Class::Wide,
            2 => Class::NarrowConst,
            _ => Class::WideConst,
        }
    }

    pub(crate) fn index(self) -> usize {
        ((self.0 & Self::OFFSET) / self.class().plane_bytes()) as usize
    }
}

impl Class {
    fn plane_bytes(self) -> u32 {
        match self {
            Self::Narrow | Self::NarrowConst => 128,
            Self::Wide | Self::WideConst => 256,
        }
    }

    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Self::Wide | Self::WideConst)
    }
}

/// What an instruction reaches of its warp: the four arrays and the predicate masks.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) bases: [*mut u8; 4],
    pub(crate) predicates: *mut u32,
}

/// A lane's value as it is stored.
pub(crate) trait Word: Copy + Default + 'static {}
impl Word for u32 {}
impl Word for u64 {}

impl View {
    /// # Safety
    /// `slot` must come from the decoder of the program whose frame and constants this view
    /// points to, and `T` must be `u64` for the wide classes, `u32` for the others.
    #[inline(always)]
    pub(crate) unsafe fn plane<T: Word>(&self, slot: Slot) -> *mut [T; LANES] {
        let base = self.bases[(slot.0 >> 30) as usize];
        // SAFETY: the decoder sized the arrays by the largest slot it gave out.
        unsafe { base.add((slot.0 & Slot::OFFSET) as usize).cast() }
    }

    /// # Safety
    /// As for [`View::plane`].
    #[inline(always)]
    pub(crate) unsafe fn store<T: Word>(&self, slot: Slot, mask: u32, values: &[T; LANES]) {
        // SAFETY: the caller's promise; no other reference to the plane is alive.
        let plane = unsafe { &mut *self.plane::<T>(slot) };
        if mask == FULL {
            *plane = *values;
        } else {
            for lane in 0..LANES {
                plane[lane] = if mask >> lane & 1 != 0 {
                    values[lane]
                } else {
                    plane[lane]
                };
            }
        }
    }

    /// # Safety
    /// As for [`View::plane`]; `index` must be a predicate of the same program.
    #[inline(always)]
    pub(crate) unsafe fn predicate(&self, index: u32) -> u32 {
        // SAFETY: the decoder sized the array.
        unsafe { *self.predicates.add(index as usize) }
    }

    /// # Safety
    /// As for [`View::predicate`].
    #[inline(always)]
    pub(crate) unsafe fn set_predicate(&self, index: u32, mask: u32, value: u32) {
        // SAFETY: the decoder sized the array.
        let predicate = unsafe { &mut *self.predicates.add(index as usize) };
        *predicate = (*predicate & !mask) | (value & mask);
    }
}

/// Destination and sources of an arithmetic instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Operands {
    pub(crate) dst: Slot,
    pub(crate) src: [Slot; 3],
}

/// One warp-wide operation.
///
/// # Safety
/// The operands must come from the decoder that chose the function, for the view's program.
pub(crate) type LaneFn = unsafe fn(&View, &Operands, u32);

/// One warp-wide comparison; its result has a bit a lane.
///
/// # Safety
/// As for [`LaneFn`].
pub(crate) type CompareFn = unsafe fn(&View, Slot, Slot) -> u32;

/// Whether the loops compiled for AVX2 and FMA may run.
pub(crate) fn has_wide_vectors() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    })
}

/// Whether every loop exists for wide vectors as well.
const HAS_TWO_FORMS: bool = cfg!(target_arch = "x86_64");

/// Makes a value of a closure type that captures nothing.
#[inline(always)]
fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "lane closures must not capture") };
    // SAFETY: a type of size zero that is Copy has one value, and a witness of it was passed to
    // `un`, `bin`, `ter` or `compare`, so the type is inhabited.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

macro_rules! shape {
    ($make:ident, $body:ident, $wide:ident, $base:ident, [$($t:ident $at:literal $v:ident),+]) => {
        /// With `SCALAR` the loop stays one lane at a time, which keeps the code small where a
        /// wider form exists beside it.
        #[inline(always)]
        unsafe fn $body<const SCALAR: bool, $($t: Word,)+ D: Word, F: Fn($($t),+) -> D + Copy>(
            view: &View,
            operands: &Operands,
            mask: u32,
        ) {
            let f = conjure::<F>();
            // SAFETY: the decoder paired this function with slots of these widths.
            unsafe {
                $(let $v = &*view.plane::<$t>(operands.src[$at]);)+
                let mut out = [D::default(); LANES];
                for lane in 0..LANES {
                    let lane = if SCALAR { std::hint::black_box(lane) } else { lane };
                    out[lane] = f($($v[lane]),+);
                }
                view.store(operands.dst, mask, &out);
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn $wide<$($t: Word,)+ D: Word, F: Fn($($t),+) -> D + Copy>(
            view: &View,
            operands: &Operands,
            mask: u32,
        ) {
            // SAFETY: as promised to this function.
            unsafe { $body::<false, $($t,)+ D, F>(view, operands, mask) }
        }

        unsafe fn $base<$($t: Word,)+ D: Word, F: Fn($($t),+) -> D + Copy>(
            view: &View,
            operands: &Operands,
            mask: u32,
        ) {
            // SAFETY: as promised to this function.
            unsafe { $body::<{ HAS_TWO_FORMS }, $($t,)+ D, F>(view, operands, mask) }
        }

        /// The warp-wide form of a scalar closure.
        pub(crate) fn $make<$($t: Word,)+ D: Word, F: Fn($($t),+) -> D + Copy>(_: F) -> LaneFn {
            #[cfg(target_arch = "x86_64")]
            if has_wide_vectors() {
                return $wide::<$($t,)+ D, F>;
            }
            $base::<$($t,)+ D, F>
        }
    };
}

shape!(un, un_body, un_wide, un_base, [A 0 a]);
shape!(bin, bin_body, bin_wide, bin_base, [A 0 a, B 1 b]);
shape!(ter, ter_body, ter_wide, ter_base, [A 0 a, B 1 b, C 2 c]);

#[inline(always)]
unsafe fn compare_body<A: Word, F: Fn(A, A) -> bool + Copy>(view: &View, a: Slot, b: Slot) -> u32 {
    let f = conjure::<F>();
    // SAFETY: the decoder paired this function with slots of this width.
    let (a, b) = unsafe { (&*view.plane::<A>(a), &*view.plane::<A>(b)) };
    let mut bits = 0;
    for lane in 0..LANES {
        bits |= u32::from(f(a[lane], b[lane])) << lane;
    }
    bits
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn compare_wide<A: Word, F: Fn(A, A) -> bool + Copy>(view: &View, a: Slot, b: Slot) -> u32 {
    // SAFETY: as promised to this function.
    unsafe { compare_body::<A, F>(view, a, b) }
}

unsafe fn compare_base<A: Word, F: Fn(A, A) -> bool + Copy>(view: &View, a: Slot, b: Slot) -> u32 {
    // SAFETY: as promised to this function.
    unsafe { compare_body::<A, F>(view, a, b) }
}

/// The warp-wide form of a scalar comparison.
pub(crate) fn compare<A: Word, F: Fn(A, A) -> bool + Copy>(_: F) -> CompareFn {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        return compare_wide::<A, F>;
    }
    compare_base::<A, F>
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inactive_lane_keeps_its_value() {
        let mut narrow = [[7u32; LANES], [0; LANES]];
        narrow[1] = std::array::from_fn(|lane| lane as u32);
        let view = View {
            bases: [narrow.as_mut_ptr().cast(); 4],
            predicates: std::ptr::null_mut(),
        };
        let operands = Operands {
            dst: Slot::new(Class::Narrow, 0),
            src: [Slot::new(Class::Narrow, 1); 3],
        };
        let double = un(|a: u32| a * 2);
        // SAFETY: both slots lie in `narrow`.
        unsafe { double(&view, &operands, 0b1010) };
        assert_eq!(narrow[0][..5], [7, 2, 7, 6, 7]);
    }

    #[test]
    fn slots_round_trip() {
        for class in [
            Class::Narrow,
            Class::Wide,
            Class::NarrowConst,
            Class::WideConst,
        ] {
            let slot = Slot::new(class, 1234);
            assert_eq!((slot.class(), slot.index()), (class, 1234));
        }
    }
}
