//! Devices as the service knows them.

use std::collections::BTreeMap;

use domain::{DeviceKind, DeviceName};
use serde::{Deserialize, Serialize};

/// `GET /api/v1/devices`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceList {
    /// Every device of the contract, in its order.
    pub devices: Vec<DeviceView>,
}

/// One device model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceView {
    /// Name.
    pub name: DeviceName,
    /// Measured or counted.
    pub kind: DeviceKind,
    /// Workers that could judge on it now.
    pub live_workers: u64,
    /// Judgings waiting for it.
    pub queued: u64,
    /// What it can do at most.
    pub description: Option<DeviceDescription>,
}

/// The figures behind T_SOL, from the card's datasheet. Those of the emulated device are of the card
/// it stands in for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceDescription {
    /// Marketing name.
    pub title: String,
    /// Architecture compiled for, e.g. `sm_90a`.
    pub arch: String,
    /// The card whose figures these are, where the device itself measures nothing.
    pub stands_in_for: Option<DeviceName>,
    /// DRAM bandwidth, byte/s.
    pub peak_bytes_per_s: f64,
    /// Dense peak per pipe, FLOP/s.
    pub peak_flop_per_s: BTreeMap<String, f64>,
    /// Time of an empty plan, s.
    pub launch_floor_s: f64,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Where each figure comes from, by field.
    pub sources: BTreeMap<String, String>,
}
