//! The sentences of faulty accesses.

use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::memory::Region;

/// What an access does, for messages and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Read,
    Write,
    Update,
}

impl Verb {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Update => "updates",
        }
    }
}

impl Worker<'_> {
    /// An access of global memory that cannot be.
    pub(super) fn global_stop(
        &self,
        region: &Region,
        lane: u32,
        address: u64,
        size: u32,
        verb: Verb,
    ) -> Stop {
        let bytes = bytes_text(size);
        let verb_text = verb.text();
        let heap = self.heap().describe(address);
        let heap = heap.map(|(start, bytes)| ("memory from malloc", start, bytes));
        let described = self.context.memory.describe(address).or(heap);
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
}

pub(super) fn bytes_text(bytes: u32) -> String {
    bytes_text_u64(u64::from(bytes))
}

pub(super) fn bytes_text_u64(bytes: u64) -> String {
    if bytes == 1 {
        "1 byte".to_owned()
    } else {
        format!("{bytes} bytes")
    }
}

pub(super) fn shared_stop(
    lane: u32,
    address: u64,
    size: u32,
    total: u64,
    outside: bool,
    verb: Verb,
) -> Stop {
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

pub(super) fn local_stop(
    lane: u32,
    address: u64,
    size: u32,
    total: u64,
    outside: bool,
    verb: Verb,
) -> Stop {
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
