//! Instructions of tensor cores, against plain products of small integers, which no rule of rounding
//! touches, and against layouts written down here from PTX's tables.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

#[path = "../common/mod.rs"]
mod common;

mod group;
mod mma;
mod rows;
mod values;
mod wmma;
