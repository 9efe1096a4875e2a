//! The executor: owns a device with the submission on it, in an `__execute` child.

pub(crate) mod child;
mod host;
mod intact;
mod live;
mod pool;
mod printed;
mod run;
mod timed;
pub(crate) mod wire;
