//! Tiles between registers and dense matrices.
#![allow(unsafe_code)]

use crate::lanes::{LANES, View};
use crate::numerics::fp8;
use crate::numerics::half::{Bf16, F16, Half};
use crate::numerics::tensor::Format;
use crate::program::{Fragment, Integer};

/// How far apart two lines, and two places along one, are in a dense matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pitch {
    pub(super) line: usize,
    pub(super) place: usize,
}

/// Elements that one register of each lane holds.
pub(super) fn per_register(format: Format) -> usize {
    match format {
        Format::F16 | Format::Bf16 => 2,
        Format::Tf32 => 1,
        Format::E4m3 | Format::E5m2 => 4,
    }
}

/// The elements in one register's words, as f32.
#[inline(always)]
pub(super) fn widen(format: Format, word: u32, out: &mut [f32]) {
    match format {
        Format::F16 => {
            out[0] = F16::widen(word as u16);
            out[1] = F16::widen((word >> 16) as u16);
        }
        Format::Bf16 => {
            out[0] = Bf16::widen(word as u16);
            out[1] = Bf16::widen((word >> 16) as u16);
        }
        Format::Tf32 => out[0] = f32::from_bits(word & !0x1fff),
        Format::E4m3 => {
            for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                *out = fp8::from_e4m3(byte);
            }
        }
        Format::E5m2 => {
            for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
                *out = fp8::from_e5m2(byte);
            }
        }
    }
}

/// Factors of a fragment as f32.
#[inline(always)]
pub(super) fn floats(
    view: &View,
    fragment: &Fragment,
    format: Format,
    pitch: Pitch,
    out: &mut [f32],
) {
    let each = per_register(format);
    for (&register, &(line, place)) in fragment.registers.iter().zip(&fragment.tiles) {
        // SAFETY: the slot is one of the program's, 32 bits wide.
        let plane = unsafe { &*view.plane::<u32>(register) };
        let mut tile = [0.0; 4 * LANES];
        for (lane, &word) in plane.iter().enumerate() {
            widen(format, word, &mut tile[lane * each..][..each]);
        }
        place_tile(&tile[..each * LANES], (line, place), pitch, out);
    }
}

/// Puts eight lines of a tile where they belong.
#[inline(always)]
pub(super) fn place_tile<T: Copy>(
    tile: &[T],
    (line, place): (u16, u16),
    pitch: Pitch,
    out: &mut [T],
) {
    let along = tile.len() / 8;
    let first = usize::from(line) * pitch.line + usize::from(place) * pitch.place;
    for (number, part) in tile.chunks_exact(along).enumerate() {
        let start = first + number * pitch.line;
        if pitch.place == 1 {
            out[start..start + along].copy_from_slice(part);
        } else {
            for (at, &value) in part.iter().enumerate() {
                out[start + at * pitch.place] = value;
            }
        }
    }
}

/// Small integers of a fragment.
pub(super) fn integers(
    view: &View,
    fragment: &Fragment,
    integer: Integer,
    pitch: Pitch,
    out: &mut [i32],
) {
    let each = (32 / integer.bits) as usize;
    for (&register, &origin) in fragment.registers.iter().zip(&fragment.tiles) {
        // SAFETY: the slot is one of the program's, 32 bits wide.
        let plane = unsafe { &*view.plane::<u32>(register) };
        let mut tile = [0; 8 * LANES];
        for (lane, &word) in plane.iter().enumerate() {
            small(integer, word, &mut tile[lane * each..][..each]);
        }
        place_tile(&tile[..each * LANES], origin, pitch, out);
    }
}

/// The integers in one word.
pub(super) fn small(integer: Integer, word: u32, out: &mut [i32]) {
    let rest = 32 - integer.bits;
    for (at, out) in out.iter_mut().enumerate() {
        let high = word << (rest - at as u32 * integer.bits);
        *out = if integer.signed {
            high as i32 >> rest
        } else {
            (high >> rest) as i32
        };
    }
}

/// Whole registers of a fragment, four places a line: 32-bit words or doubles.
pub(super) fn words<T: crate::lanes::Word>(
    view: &View,
    fragment: &Fragment,
    bits_per_word: u16,
    pitch: Pitch,
    out: &mut [T],
) {
    for (&register, &(line, place)) in fragment.registers.iter().zip(&fragment.tiles) {
        // SAFETY: the slot is one of the program's, of this width.
        let plane = unsafe { &*view.plane::<T>(register) };
        place_tile(plane, (line, place / bits_per_word), pitch, out);
    }
}

/// An accumulator of two registers a tile, row by row.
#[inline(always)]
pub(super) fn pairs<T: crate::lanes::Word>(
    view: &View,
    fragment: &Fragment,
    columns: usize,
    mut put: impl FnMut(usize, T),
) {
    for (pair, &(line, place)) in { fragment.registers.chunks_exact(2) }.zip(&fragment.tiles) {
        // SAFETY: the slots are the program's, of this width.
        let planes = unsafe { [&*view.plane::<T>(pair[0]), &*view.plane::<T>(pair[1])] };
        let first = usize::from(line) * columns + usize::from(place);
        for (lane, (&even, &odd)) in planes[0].iter().zip(planes[1]).enumerate() {
            let at = first + lane / 4 * columns + lane % 4 * 2;
            put(at, even);
            put(at + 1, odd);
        }
    }
}

/// As [`pairs`], the other way.
#[inline(always)]
pub(super) fn put_pairs<T: crate::lanes::Word>(
    view: &View,
    fragment: &Fragment,
    columns: usize,
    get: impl Fn(usize) -> T,
) {
    for (pair, &(line, place)) in { fragment.registers.chunks_exact(2) }.zip(&fragment.tiles) {
        let first = usize::from(line) * columns + usize::from(place);
        for (odd, &register) in pair.iter().enumerate() {
            let value = |lane: usize| get(first + lane / 4 * columns + lane % 4 * 2 + odd);
            // SAFETY: the slot is one of the program's, of this width.
            unsafe { *view.plane::<T>(register) = std::array::from_fn(value) };
        }
    }
}

/// An f16 accumulator, as f32.
#[inline(always)]
pub(super) fn halves(view: &View, fragment: &Fragment, columns: usize, out: &mut [f32]) {
    let pitch = Pitch {
        line: columns,
        place: 1,
    };
    floats(view, fragment, Format::F16, pitch, out);
}

/// As [`halves`], the other way.
#[inline(always)]
pub(super) fn put_halves(view: &View, fragment: &Fragment, columns: usize, values: &[f32]) {
    for (&register, &(line, place)) in fragment.registers.iter().zip(&fragment.tiles) {
        let first = usize::from(line) * columns + usize::from(place);
        let word = |lane: usize| {
            let at = first + lane / 4 * columns + lane % 4 * 2;
            u32::from(F16::narrow(values[at])) | u32::from(F16::narrow(values[at + 1])) << 16
        };
        // SAFETY: the slot is one of the program's, 32 bits wide.
        unsafe { *view.plane::<u32>(register) = std::array::from_fn(word) };
    }
}
