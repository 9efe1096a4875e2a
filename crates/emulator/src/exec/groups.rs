//! Groups of copies, as each thread commits them: `cp.async` and bulk stores have some of their own.

use super::elements::lanes_of;
use crate::lanes::LANES;

/// How many groups each lane has committed.
#[derive(Debug, Default)]
pub(super) struct Groups([u32; LANES]);

impl Groups {
    pub(super) fn clear(&mut self) {
        self.0 = [0; LANES];
    }

    pub(super) fn commit(&mut self, mask: u32) {
        for lane in lanes_of(mask) {
            self.0[lane] = self.0[lane].saturating_add(1);
        }
    }

    /// The group that the lane's next copy joins.
    pub(super) fn current(&self, lane: usize) -> u32 {
        self.0[lane]
    }

    /// Whether a copy has to be done once these lanes wait for all but `keep` groups; without a number for
    /// everything, committed or not.
    pub(super) fn is_due(&self, lane: usize, group: u32, mask: u32, keep: Option<u32>) -> bool {
        mask >> lane & 1 != 0 && keep.is_none_or(|keep| group < self.0[lane].saturating_sub(keep))
    }
}
