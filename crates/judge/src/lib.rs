//! The judging procedure: a package, a source and a device become a [`domain::Report`].
//!
//! The same procedure serves the worker and `lightspeed judge`; it knows neither HTTP nor a database.
//! Untrusted text is only handed on: parsing, planning and compiling happen in a `__compile` child,
//! execution in an `__execute` child, reference and comparison in a `__check` child, all confined by
//! the `sandbox` crate. A card itself is measured in a `__gauge` child, by the judge's own kernels. A binary that calls
//! [`judge`] must call [`child::run`] first thing in `main` when it was started for a role.

mod assemble;
mod baseline;
mod bench;
pub mod calibration;
mod check;
pub mod child;
mod compile;
mod environment;
mod execute;
pub mod experiments;
mod gpus;
mod host_code;
mod inputs;
mod instances;
mod jobs;
mod kept_code;
mod kept_outputs;
mod kernel_table;
mod kernels;
mod lane;
mod loaded;
mod measuring;
mod opened;
mod opening;
mod outcome;
mod pair;
mod policy;
mod procedure;
mod ptx_facts;
mod redact;
mod request;
mod resources;
mod scores;
mod stage;
#[cfg(test)]
mod test_support;
mod timing;
mod trust;
pub mod verify;
mod wire;

pub use device::Card;
pub use device::GpuInfo;
pub use device::emulated::MODEL_LEAVES_OUT;
pub use environment::{Environment, EnvironmentError, Gpu};
pub use gpus::gpus;
pub use lane::{Held, Lane};
pub use procedure::{Judged, judge, judge_listing, judge_listing_over, judge_over};
pub use request::JudgeRequest;
pub use toolchain::{NVRTC_VERSION, Toolchain, ToolchainError};
