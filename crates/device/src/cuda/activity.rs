//! Activity records: what the device did and when, on its own clock.
//!
//! Pure, so that it is tested without a GPU. Layouts of records grow only at their end: kind, start and
//! end lie where they did in every version of CUPTI since 11, for kernels, copies and memsets alike.

use std::time::Duration;

/// Records of these kinds are asked for.
pub(super) const KINDS: [u32; 3] = [MEMCPY, MEMSET, CONCURRENT_KERNEL];
const MEMCPY: u32 = 1;
const MEMSET: u32 = 2;
const CONCURRENT_KERNEL: u32 = 10;

const START_AT: usize = 16;
const END_AT: usize = 24;
/// As much of a record as is read.
pub(super) const PREFIX_BYTES: usize = 32;

/// One kernel, copy or memset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Activity {
    start_ns: u64,
    end_ns: u64,
}

impl Activity {
    /// Reads a record's prefix; `None` for kinds that do not occupy the device.
    pub(super) fn of(prefix: &[u8; PREFIX_BYTES]) -> Option<Self> {
        let kind = u32::from_ne_bytes(field(prefix, 0));
        KINDS.contains(&kind).then(|| Self {
            start_ns: u64::from_ne_bytes(field(prefix, START_AT)),
            end_ns: u64::from_ne_bytes(field(prefix, END_AT)),
        })
    }
}

/// Why records make no span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SpanError {
    #[error("the timer saw {seen} activities where there were {expected}")]
    Count { seen: usize, expected: usize },
    #[error("the timer has no time for an activity")]
    Untimed,
    #[error("the timer lost {0} records")]
    Dropped(usize),
}

/// First to last moment of all activities, gaps included.
pub(super) fn span(activities: &[Activity], expected: usize) -> Result<Duration, SpanError> {
    let seen = activities.len();
    if seen != expected {
        return Err(SpanError::Count { seen, expected });
    }
    let is_timed = |a: &Activity| a.start_ns > 0 && a.end_ns >= a.start_ns;
    if !activities.iter().all(is_timed) {
        return Err(SpanError::Untimed);
    }
    let first = activities.iter().map(|a| a.start_ns).min();
    let last = activities.iter().map(|a| a.end_ns).max();
    let span_ns = last.unwrap_or(0) - first.unwrap_or(0);
    Ok(Duration::from_nanos(span_ns))
}

fn field<const N: usize>(prefix: &[u8; PREFIX_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| prefix[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(start_ns: u64, end_ns: u64) -> Activity {
        Activity { start_ns, end_ns }
    }

    #[test]
    fn a_span_reaches_from_the_first_start_to_the_last_end() {
        let activities = [activity(500, 700), activity(100, 600), activity(900, 950)];
        assert_eq!(span(&activities, 3), Ok(Duration::from_nanos(850)));
        assert_eq!(span(&[], 0), Ok(Duration::ZERO));
    }

    #[test]
    fn a_missing_or_foreign_record_makes_no_span() {
        let one = [activity(1, 2)];
        let expected = SpanError::Count {
            seen: 1,
            expected: 2,
        };
        assert_eq!(span(&one, 2), Err(expected));
        assert_eq!(span(&[activity(0, 0)], 1), Err(SpanError::Untimed));
        assert_eq!(span(&[activity(5, 4)], 1), Err(SpanError::Untimed));
    }

    #[test]
    fn prefixes_are_read_at_their_offsets() {
        let mut prefix = [0; PREFIX_BYTES];
        prefix[0] = 10;
        prefix[16..24].copy_from_slice(&1_000_u64.to_ne_bytes());
        prefix[24..32].copy_from_slice(&1_580_u64.to_ne_bytes());
        assert_eq!(Activity::of(&prefix), Some(activity(1000, 1580)));
        prefix[0] = 38; // a synchronisation
        assert_eq!(Activity::of(&prefix), None);
    }
}
