//! Devices as the service knows them.

use domain::{DeviceKind, DeviceName};
use serde::{Deserialize, Serialize};

/// `GET /api/v1/devices`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceList {
    /// Every device of the contract, in its order.
    pub devices: Vec<DeviceView>,
}

/// One device model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}
