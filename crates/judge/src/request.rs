//! What is to be judged.

use std::sync::Arc;
use std::time::Duration;

use domain::{DeviceName, Mode, Source};
use problems::Package;

/// One source for one problem on one device.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    /// The problem.
    pub package: Arc<Package>,
    /// The submission.
    pub source: Source,
    /// Where it runs.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// How long it waited in a queue, where there is one.
    pub queued: Option<Duration>,
    /// Seed that every input is derived from; never shown to the submission.
    pub master_seed: [u8; 32],
}
