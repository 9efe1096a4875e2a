//! What the workers of a launch leave, put together: counters, texts in the order of the blocks, and the fault
//! of the lowest.
//!
//! Invariant: none of it depends on how the blocks were spread over the workers.
#![allow(
    clippy::result_large_err,
    reason = "a fault is built once and ends the launch"
)]

use super::traffic::Traffic;
use super::{Limits, Outcome, Output, placed, worker};
use crate::counters::Counters;
use crate::fault::Fault;
use crate::memory::Regions;

/// The outcome without what the checks found.
pub(super) fn gather(
    mut results: Vec<worker::Results>,
    (cluster_blocks, side_by_side): (u32, bool),
    limits: &Limits,
    regions: &Regions,
) -> Result<Outcome, Fault> {
    // Blocks print in their own order, whoever ran them.
    let mut counters = Counters::default();
    let mut work = 0;
    let mut traffic = Traffic::default();
    let mut texts = Vec::new();
    let mut fault: Option<(u64, Fault)> = None;
    for result in &mut results {
        counters += result.counters;
        work += result.work;
        traffic.merge(&result.traffic);
        texts.append(&mut result.printed);
        if let Some(found) = result.fault.take()
            && fault.as_ref().is_none_or(|(block, _)| found.0 < *block)
        {
            fault = Some(found);
        }
    }
    traffic.count(regions, &mut counters);
    texts.sort_by_key(|(block, _)| *block);
    // Of the sum alone, so that the verdict is the same however many workers shared the launch.
    if fault.is_none() && counters.warp_instructions + work > limits.instruction_fuel {
        let spent = placed::launch_out_of_fuel(counters.warp_instructions + work, limits);
        fault = Some((u64::MAX, spent));
    }
    let text = if side_by_side {
        // They printed in turn, until one of them faulted.
        Shown {
            before: String::new(),
            last: texts.into_iter().map(|(_, text)| text).collect(),
        }
    } else {
        shown(
            texts,
            fault.as_ref().map(|(group, _)| *group),
            cluster_blocks,
        )
    };
    if let (Some((_, mut fault)), false) = (fault, text.exceeds(limits)) {
        fault.output = text.whole();
        fault
            .output
            .truncate(floor_boundary(&fault.output, limits.output_bytes));
        return Err(fault);
    }
    let text = text.whole();
    if text.len() > limits.output_bytes {
        return Err(placed::output_limit(limits.output_bytes, text));
    }
    Ok(Outcome {
        counters,
        output: Output { text },
        footprints: Vec::new(),
        is_checked: true,
        uncounted: None,
    })
}

/// What is shown of a launch's texts.
struct Shown {
    /// Of the clusters below the one that faulted.
    before: String,
    /// Of the one that faulted, or of all that ran side by side with it.
    last: String,
}

/// The texts of blocks in their order, without those of clusters above the one that faulted.
fn shown(texts: Vec<(u64, String)>, faulted: Option<u64>, cluster_blocks: u32) -> Shown {
    let mut shown = Shown {
        before: String::new(),
        last: String::new(),
    };
    for (block, text) in texts {
        let group = block / u64::from(cluster_blocks);
        match faulted.map(|faulted| group.cmp(&faulted)) {
            Some(std::cmp::Ordering::Greater) => break,
            Some(std::cmp::Ordering::Equal) => shown.last += &text,
            Some(std::cmp::Ordering::Less) | None => shown.before += &text,
        }
    }
    shown
}

impl Shown {
    /// Whether the limit was passed before the cluster that faulted began.
    fn exceeds(&self, limits: &Limits) -> bool {
        self.before.len() > limits.output_bytes
    }

    fn whole(self) -> String {
        self.before + &self.last
    }
}

/// The largest character boundary that is not beyond `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
