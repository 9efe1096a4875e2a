//! The checker: runs the reference and compares, in a `__check` child.
//!
//! It never shares a context with the submission, so that nothing the submission can reach holds an
//! expected value.

pub(crate) mod child;
mod expected;
pub(crate) mod wire;
