//! The executor: owns a device with the submission on it, in an `__execute` child.

pub(crate) mod child;
mod run;
pub(crate) mod wire;
