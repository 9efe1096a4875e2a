//! `GET /api/v1/devices`

use axum::Json;
use axum::extract::State;
use domain::DeviceName;
use protocol::device::{DeviceList, DeviceView};

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
            }
        })
        .collect();
    Ok(Json(DeviceList { devices }))
}
