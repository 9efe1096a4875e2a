//! Guard bands: where they lie around a buffer, and what their contents tell.
//!
//! Pure arithmetic, so that it is tested without a GPU. A band holds one constant; a kernel that writes
//! that very constant, or beyond the band, is not found out.

use domain::VerdictKind;

use crate::Fault;

/// Length of a band.
pub(super) const GUARD_BYTES: u64 = 4096;
/// What bands are filled with. No poison and no sentinel of common formats.
pub(super) const PATTERN: u8 = 0xC7;
/// Alignment of a buffer's first byte.
const ALIGN_BYTES: u64 = 256;

/// A buffer with its bands, as offsets into one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    bytes: u64,
}

impl Layout {
    /// `None` where the sum overflows.
    pub(super) fn around(bytes: u64) -> Option<Self> {
        bytes
            .checked_add(ALIGN_BYTES - 1 + 2 * GUARD_BYTES)
            .map(|_| Self { bytes })
    }

    /// Where the buffer begins, just after the band in front of it.
    pub(super) fn start(self) -> u64 {
        GUARD_BYTES
    }

    /// Where the band behind begins: at the first byte past the end, however odd.
    pub(super) fn behind(self) -> u64 {
        GUARD_BYTES + self.bytes
    }

    /// Length of the band behind, which reaches to the end of the allocation.
    pub(super) fn behind_bytes(self) -> u64 {
        self.total_bytes() - self.behind()
    }

    /// Size of the whole allocation.
    pub(super) fn total_bytes(self) -> u64 {
        GUARD_BYTES + self.bytes.next_multiple_of(ALIGN_BYTES) + GUARD_BYTES
    }
}

/// Which band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// What a band tells: `None` when it is as it was made.
pub(super) fn violation(label: &str, bytes: u64, side: Side, band: &[u8]) -> Option<Fault> {
    let changed = |byte: &&u8| **byte != PATTERN;
    let first = band.iter().position(|byte| *byte != PATTERN)?;
    let count = band.iter().filter(changed).count();
    let first = i128::try_from(first).ok()?;
    let (offset, place) = match side {
        Side::Before => (first - band.len() as i128, "before its start"),
        Side::After => (first + i128::from(bytes), "past its end"),
    };
    Some(Fault {
        kind: VerdictKind::OutOfBounds,
        message: format!(
            "a kernel wrote {} at offset {offset} of `{label}`, which has {}: {place}",
            bytes_text(count as u64),
            bytes_text(bytes),
        ),
        line: None,
    })
}

fn bytes_text(bytes: u64) -> String {
    if bytes == 1 {
        "1 byte".to_owned()
    } else {
        format!("{bytes} bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_touch_the_buffer_on_both_sides() {
        let layout = Layout::around(1000).unwrap();
        assert_eq!((layout.start(), layout.behind()), (4096, 5096));
        assert_eq!(layout.total_bytes(), 4096 + 1024 + 4096);
        assert_eq!(layout.behind_bytes(), 24 + 4096);
        let empty = Layout::around(0).unwrap();
        assert_eq!((empty.behind(), empty.behind_bytes()), (4096, 4096));
        assert_eq!(Layout::around(u64::MAX - 1), None);
    }

    #[test]
    fn a_whole_band_tells_nothing() {
        let band = [PATTERN; 4096];
        assert_eq!(violation("x", 16, Side::After, &band), None);
        assert_eq!(violation("x", 16, Side::Before, &[]), None);
    }

    #[test]
    fn a_write_past_the_end_names_buffer_side_and_offset() {
        let mut band = [PATTERN; 4096];
        band[..16].fill(0);
        let fault = violation("C", 1024, Side::After, &band).unwrap();
        assert_eq!(fault.kind, VerdictKind::OutOfBounds);
        assert_eq!(
            fault.message,
            "a kernel wrote 16 bytes at offset 1024 of `C`, which has 1024 bytes: past its end"
        );
    }

    #[test]
    fn a_write_before_the_start_has_a_negative_offset() {
        let mut band = [PATTERN; 4096];
        band[4095] = 1;
        let fault = violation("A", 1, Side::Before, &band).unwrap();
        assert_eq!(
            fault.message,
            "a kernel wrote 1 byte at offset -1 of `A`, which has 1 byte: before its start"
        );
    }
}
