//! The state of a GPU around a measurement, and what measured it.

use serde::{Deserialize, Serialize};

/// One reading of a GPU's sensors. `null` where the card or the driver does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineState {
    /// Clock of the multiprocessors.
    pub sm_clock_hz: Option<u64>,
    /// Clock of the memory.
    pub memory_clock_hz: Option<u64>,
    /// Temperature of the chip.
    pub temperature_c: Option<u32>,
    /// Power drawn.
    pub power_w: Option<f64>,
    /// Power limit in force.
    pub power_limit_w: Option<f64>,
    /// Energy drawn since the driver was loaded.
    pub energy_j: Option<f64>,
    /// Why clocks are held down at this moment, by the driver's names in snake case.
    pub throttle_reasons: Vec<String>,
    /// Nanoseconds during which power or heat has held clocks down since the driver was loaded.
    pub throttled_ns: Option<u64>,
    /// Uncorrected memory errors since the driver was loaded.
    pub ecc_uncorrected: Option<u64>,
}

/// What measures spans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimerRef {
    /// `cupti`, or `events` where CUPTI is missing and nothing is ranked.
    pub name: String,
    /// Version of CUPTI's interface.
    pub cupti: Option<String>,
    /// Driver version, e.g. `13.0`.
    pub driver: String,
    /// Why nothing it measures is ranked, where that is so.
    #[serde(default)]
    pub unranked: Option<String>,
}
