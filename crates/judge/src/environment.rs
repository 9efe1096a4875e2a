//! What the procedure needs from its surroundings, all of it injected.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device::{Card, OpenRequest, Target};
use domain::report::Ceilings;
use domain::{Clock, DeviceName};
use toolchain::Toolchain;

use crate::Lane;
use crate::calibration::Calibration;

/// What the cache of compiles may hold where nothing else is said.
const CACHE_BYTES: u64 = 512 << 20;

/// The surroundings of a judging.
#[derive(Clone)]
pub struct Environment {
    /// The pinned compiler.
    pub toolchain: Toolchain,
    /// The binary that is re-executed for each role of [`crate::child`].
    pub program: PathBuf,
    /// Where compiled sources, the judge's own compiled kernels and the times of baselines are kept
    /// between judgings; `None` keeps nothing.
    pub cache: Option<PathBuf>,
    /// Bytes that the cache may hold; what was used longest ago goes.
    pub cache_bytes: u64,
    /// Where calibrations of this host's GPUs are kept, one file a card; `None` knows none.
    pub calibrations: Option<PathBuf>,
    /// The GPU of this host that judgings on a GPU use, where there is one.
    pub lane: Option<Arc<Lane>>,
    /// Folder into which the code of submissions is written, for a person who judges their own.
    pub keep_code: Option<PathBuf>,
    /// Folder into which the outputs of untimed runs are written, for a person who compares devices.
    pub keep_outputs: Option<PathBuf>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Judge on a host without Landlock too. Every report then carries a warning.
    pub allow_unconfined: bool,
    /// Set to stop the judging; it then ends as `cancelled`.
    pub cancel: Arc<AtomicBool>,
}

impl Environment {
    /// Surroundings that re-execute the running binary.
    pub fn new(toolchain: Toolchain, clock: Arc<dyn Clock>) -> Result<Self, EnvironmentError> {
        let program = std::env::current_exe().map_err(EnvironmentError::Program)?;
        Ok(Self {
            toolchain,
            program,
            cache: None,
            cache_bytes: CACHE_BYTES,
            calibrations: None,
            lane: None,
            keep_code: None,
            keep_outputs: None,
            clock,
            allow_unconfined: false,
            cancel: Arc::default(),
        })
    }

    /// What the GPU reached when it was last calibrated. Read each time: a worker need not be started
    /// again after a calibration.
    #[must_use]
    pub fn ceilings(&self) -> Option<Ceilings> {
        let (folder, lane) = (self.calibrations.as_ref()?, self.lane.as_ref()?);
        Calibration::load(folder, &lane.gpu().uuid).map(|calibration| calibration.ceilings)
    }
}

/// A GPU of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// What model it is.
    pub name: DeviceName,
    /// The driver's name of this very card.
    pub uuid: String,
    /// The driver's index.
    pub ordinal: u32,
    /// The card itself, where the driver tells enough for a process to see no other.
    pub card: Option<Card>,
    /// What to time with; without it nothing is ranked.
    pub cupti: Option<PathBuf>,
}

impl Gpu {
    /// What this GPU is opened with.
    pub(crate) fn open_request(&self) -> OpenRequest {
        OpenRequest {
            target: Target::Gpu {
                ordinal: self.ordinal,
                card: self.card.clone(),
                cupti: self.cupti.clone(),
            },
            limits: scoring::device(self.name).limits.clone(),
        }
    }
}

/// Why the surroundings could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The running binary cannot be found again.
    #[error("cannot find the running program, which the sandboxed children are started from")]
    Program(#[source] std::io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_opened_as_the_very_card_that_it_is() {
        let card = Card {
            uuid: "GPU-1".to_owned(),
            minor: 2,
        };
        let gpu = Gpu {
            name: DeviceName::H200,
            uuid: card.uuid.clone(),
            ordinal: 3,
            card: Some(card.clone()),
            cupti: Some("/toolchain/libcupti.so.13".into()),
        };
        let request = gpu.open_request();
        assert_eq!(request.limits, scoring::device(DeviceName::H200).limits);
        let Target::Gpu {
            ordinal: 3,
            card: Some(shown),
            cupti: Some(_),
        } = request.target
        else {
            panic!("another target");
        };
        assert_eq!(shown, card);
    }
}
