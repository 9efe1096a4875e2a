//! T_SOL, SOL, MFU, aggregation and plausibility. Pure: formulas and device descriptions, no I/O.
pub mod pipe;

pub use pipe::{Cost, Pipe, Unit};
