//! The executor: owns a device with the submission on it, in an `__execute` child.

pub(crate) mod child;
mod intact;
mod printed;
mod run;
mod timed;
pub(crate) mod wire;
