//! `GET /api/v1/devices`

use axum::Json;
use axum::extract::State;
use domain::DeviceName;
use protocol::device::{DeviceDescription, DeviceList, DeviceView};

use crate::error::ApiError;
use crate::state::AppState;

/// Every device, with the workers and the queue it has now.
#[utoipa::path(get, path = "/api/v1/devices", tag = "public", operation_id = "devices",
    responses((status = 200, body = DeviceList)))]
pub(super) async fn handler(State(state): State<AppState>) -> Result<Json<DeviceList>, ApiError> {
    let load = database::devices::load(&state.db).await?;
    let devices = DeviceName::ALL
        .iter()
        .map(|&name| {
            let now = load.iter().find(|load| load.device == name);
            DeviceView {
                name,
                kind: name.kind(),
                live_workers: now.map_or(0, |now| now.live_workers),
                queued: now.map_or(0, |now| now.queued),
                description: Some(description(name)),
            }
        })
        .collect();
    Ok(Json(DeviceList { devices }))
}

fn description(name: DeviceName) -> DeviceDescription {
    let device = scoring::device::device(name);
    DeviceDescription {
        title: device.limits.name.clone(),
        arch: device.limits.arch.clone(),
        stands_in_for: device.stands_in_for,
        peak_bytes_per_s: device.peak_bytes_per_s,
        peak_flop_per_s: device
            .peak_flop_per_s
            .iter()
            .map(|(pipe, peak)| (pipe.to_string(), *peak))
            .collect(),
        launch_floor_s: device.launch_floor_s,
        multiprocessors: device.limits.multiprocessors,
        sources: device.sources.clone(),
    }
}
