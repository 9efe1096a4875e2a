//! The word of a barrier in shared memory.
//!
//! It is opaque to programs; here it is, from the lowest bit: 20 bits of arrivals due in this phase,
//! 20 bits of arrivals expected in each, 21 bits of bytes due (a signed number), a bit that is set
//! while the barrier lives, and the parity of the current phase. A state is the word as it was
//! before an arrival.

use crate::program::PENDING_MASK;

const ALIVE: u64 = 1 << 61;
pub(super) const PARITY: u64 = 1 << 62;
/// Arrivals that a barrier can expect.
pub(super) const MAX_ARRIVALS: u32 = PENDING_MASK;
/// Bytes that can be due, either way.
pub(super) const MAX_BYTES: u32 = (1 << 20) - 1;
/// A barrier's word, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mbarrier {
    pub(super) pending: u32,
    pub(super) expected: u32,
    pub(super) bytes: i32,
    pub(super) parity: bool,
}

impl Mbarrier {
    pub(super) fn decode(word: u64) -> Option<Self> {
        (word & ALIVE != 0 && word >> 63 == 0).then_some(Self {
            pending: word as u32 & PENDING_MASK,
            expected: (word >> 20) as u32 & PENDING_MASK,
            bytes: ((word << 3) as i64 >> 43) as i32,
            parity: word & PARITY != 0,
        })
    }

    pub(super) fn encode(self) -> u64 {
        let bytes = u64::from(self.bytes as u32) & 0x1f_ffff;
        let parity = if self.parity { PARITY } else { 0 };
        u64::from(self.pending) | u64::from(self.expected) << 20 | bytes << 40 | ALIVE | parity
    }

    pub(super) fn initial(count: u32) -> Self {
        Self {
            pending: count,
            expected: count,
            bytes: 0,
            parity: false,
        }
    }

    /// Takes `count` of the arrivals that are due.
    pub(super) fn arrive(&mut self, count: u32) -> Result<(), String> {
        if count > self.pending {
            return Err(format!(
                "which {} left: more than the {} that it expects in a phase",
                due(self.pending, "arrival"),
                self.expected
            ));
        }
        self.pending -= count;
        Ok(())
    }

    /// Makes the phase wait for more arrivals.
    pub(super) fn await_more(&mut self, count: u32) -> Result<(), String> {
        let sum = self.pending + count;
        if sum > MAX_ARRIVALS {
            return Err(format!(
                "which then waits for {sum} arrivals; {MAX_ARRIVALS} is the most"
            ));
        }
        self.pending = sum;
        Ok(())
    }

    /// Adds bytes to those that are due; less than none if they have come.
    pub(super) fn expect(&mut self, bytes: i64) -> Result<(), String> {
        let sum = i64::from(self.bytes) + bytes;
        if sum.unsigned_abs() > u64::from(MAX_BYTES) {
            return Err(format!(
                "which then waits for {sum} bytes; {MAX_BYTES} is the most"
            ));
        }
        self.bytes = sum as i32;
        Ok(())
    }

    /// Begins the next phase if nothing is due any more.
    pub(super) fn settle(&mut self) -> bool {
        let is_over = self.pending == 0 && self.bytes == 0;
        if is_over {
            self.parity = !self.parity;
            self.pending = self.expected;
        }
        is_over
    }
}

pub(super) fn due(count: u32, what: &str) -> String {
    if count == 1 {
        format!("has 1 {what}")
    } else {
        format!("has {count} {what}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_what_was_put_in() {
        let barrier = Mbarrier {
            pending: 3,
            expected: MAX_ARRIVALS,
            bytes: -(MAX_BYTES as i32),
            parity: true,
        };
        assert_eq!(Mbarrier::decode(barrier.encode()), Some(barrier));
        assert_eq!(Mbarrier::decode(0), None);
        assert_eq!(Mbarrier::decode(u64::MAX), None);
    }

    #[test]
    fn a_phase_ends_when_neither_arrivals_nor_bytes_are_due() {
        let mut barrier = Mbarrier::initial(2);
        barrier.expect(64).unwrap();
        barrier.arrive(2).unwrap();
        assert!(!barrier.settle());
        barrier.expect(-64).unwrap();
        assert!(barrier.settle());
        assert_eq!((barrier.pending, barrier.parity), (2, true));
        assert!(barrier.arrive(3).is_err());
    }
}
