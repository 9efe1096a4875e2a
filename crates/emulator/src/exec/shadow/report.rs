//! The sentences of races and of values that nobody wrote.

use super::race::Rival;
use crate::exec::violations::Verb;
use crate::exec::violations::bytes_text;
use crate::exec::worker::{Stop, Worker};
use crate::fault::{FaultKind, triple};

/// Where a lane accesses: in shared memory, or in an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spot {
    /// None for shared memory.
    pub(super) allocation: Option<u32>,
    pub(super) offset: u64,
}

/// The load from which an undefined value comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) spot: Spot,
    pub(super) bytes: u32,
    pub(super) line: u16,
}

fn on_line(line: u16) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(" on line {line}")
    }
}

impl Worker<'_> {
    /// `offset 12 of shared memory`, `` offset 12 of `x` ``.
    fn spot_text(&self, spot: Spot) -> String {
        let offset = spot.offset;
        match self.label(spot) {
            Some(label) => format!("offset {offset} of `{label}`"),
            None => format!("offset {offset} of shared memory"),
        }
    }

    fn label(&self, spot: Spot) -> Option<&str> {
        let (label, ..) = self.context.memory.described(spot.allocation? as usize)?;
        Some(label)
    }

    fn stop_at(&self, kind: FaultKind, lane: u32, spot: Spot, what: String) -> Stop {
        let mut stop = Stop::new(kind, lane, what);
        let described = spot
            .allocation
            .and_then(|at| self.context.memory.described(at as usize));
        if let Some((label, start, _)) = described {
            stop.address = Some(start + spot.offset);
            stop.allocation = Some(label.to_owned());
        }
        stop
    }

    pub(super) fn race_stop(
        &self,
        lane: u32,
        spot: Spot,
        bytes: u32,
        verb: Verb,
        rival: &Rival,
    ) -> Stop {
        let touch = rival.touch;
        let own = (self.running.0 as u32, self.running.1);
        let same_warp = own == (touch.block, u32::from(touch.warp));
        // In its own warp another lane is meant.
        let others = touch.lanes & !(u32::from(same_warp) << lane);
        let lane_there = others.trailing_zeros().min(31);
        let thread = 32 * u32::from(touch.warp) + lane_there;
        let thread = triple(self.index_of_thread(thread));
        let did = match (rival.wrote, touch.flags & super::touch::Touch::STRONG != 0) {
            (true, false) => "wrote",
            (true, true) => "updated",
            (false, _) => "read",
        };
        let (what, missing) = if touch.block == own.0 {
            let missing = if same_warp {
                "no __syncwarp()"
            } else {
                "no barrier"
            };
            (String::new(), missing)
        } else {
            let block = self.context.block_index(u64::from(touch.block));
            (format!(" of block {}", triple(block)), "nothing")
        };
        let what = format!(
            "{} {} at {}, which thread {thread}{what} {did}{}: {missing} orders the two",
            verb.text(),
            bytes_text(bytes),
            self.spot_text(spot),
            on_line(touch.line),
        );
        self.stop_at(FaultKind::Race, lane, spot, what)
    }

    /// Lanes of one store write different values to one place.
    pub(super) fn clash_stop(&self, lane: u32, other: u32, spot: Spot, bytes: u32) -> Stop {
        let thread = triple(self.index_of_thread(32 * self.running.1 + other));
        let what = format!(
            "writes {} at {}, to which thread {thread} writes another value at the same time",
            bytes_text(bytes),
            self.spot_text(spot),
        );
        self.stop_at(FaultKind::Race, lane, spot, what)
    }

    /// An update of a value that was never written.
    pub(super) fn update_stop(&self, lane: u32, spot: Spot, bytes: u32) -> Stop {
        let what = format!(
            "updates {} at {}, which nobody has written",
            bytes_text(bytes),
            self.spot_text(spot)
        );
        self.stop_at(FaultKind::UndefinedValue, lane, spot, what)
    }

    /// Something is decided by a value that was never written. `use_text`: what is done with it.
    pub(super) fn undefined_stop(&self, lane: u32, origin: &Origin, use_text: &str) -> Stop {
        let what = format!(
            "{use_text} a value that nobody wrote: {} read at {}{}",
            bytes_text(origin.bytes),
            self.spot_text(origin.spot),
            on_line(origin.line),
        );
        self.stop_at(FaultKind::UndefinedValue, lane, origin.spot, what)
    }
}
