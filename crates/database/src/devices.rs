//! What is live and what waits, by device.

use std::time::Duration;

use domain::DeviceName;

use crate::words::{big_count, read};
use crate::{Database, DatabaseError};

/// A worker that was silent for longer counts as gone: twice the longest time between two calls.
pub const LIVE_WINDOW: Duration = Duration::from_secs(60);

/// One device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLoad {
    /// Device.
    pub device: DeviceName,
    /// Workers heard of within [`LIVE_WINDOW`].
    pub live_workers: u64,
    /// Judgings waiting.
    pub queued: u64,
}

/// Every device that has either.
pub async fn load(db: &Database) -> Result<Vec<DeviceLoad>, DatabaseError> {
    let rows = sqlx::query!(
        r#"WITH live AS (
               SELECT unnest(devices) AS device, count(*) AS workers FROM workers
               WHERE last_seen_at > lightspeed_now() - make_interval(secs => $1)
               GROUP BY 1
           ), waiting AS (
               SELECT device, count(*) AS judgings FROM judgings
               WHERE status = 'queued' GROUP BY device
           )
           SELECT coalesce(live.device, waiting.device) AS "device!",
                  coalesce(live.workers, 0) AS "workers!", coalesce(waiting.judgings, 0) AS "queued!"
           FROM live FULL JOIN waiting ON waiting.device = live.device
           ORDER BY 1"#,
        LIVE_WINDOW.as_secs_f64(),
    )
    .fetch_all(db.pool())
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(DeviceLoad {
                device: read("workers.devices", &row.device)?,
                live_workers: big_count("count", row.workers)?,
                queued: big_count("count", row.queued)?,
            })
        })
        .collect()
}
