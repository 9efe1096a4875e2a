//! A worker introduces itself.

use chrono::{DateTime, Utc};
use domain::report::{ProblemRef, ToolchainRef};
use domain::{DeviceName, WorkerId};
use serde_json::json;

use super::give_back::{GiveBack, give_back};
use super::{Changed, WorkerProcess};
use crate::accounts::WorkerKeyId;
use crate::words::count;
use crate::{Database, DatabaseError};

/// A process that wants to judge.
#[derive(Clone, Debug)]
pub struct NewWorker<'a> {
    /// The key it authenticated with.
    pub key: WorkerKeyId,
    /// Unique under that key.
    pub name: &'a str,
    /// What it can judge on.
    pub devices: &'a [DeviceName],
    /// What it has packages for; versions that are not published are left out.
    pub problems: &'a [ProblemRef],
    /// What it compiles with.
    pub toolchain: &'a ToolchainRef,
    /// For the id of a name that is new.
    pub now: DateTime<Utc>,
}

/// Registers a process. The one that had the name before is refused from now on, and what it was
/// judging goes back to the queue as a fault; those judgings are returned.
pub async fn register(
    db: &Database,
    worker: &NewWorker<'_>,
    max_faults: u32,
) -> Result<(WorkerProcess, Vec<Changed>), DatabaseError> {
    let devices: Vec<String> = worker.devices.iter().map(ToString::to_string).collect();
    let slugs: Vec<String> = worker.problems.iter().map(|p| p.slug.clone()).collect();
    let versions: Vec<i32> = worker
        .problems
        .iter()
        .map(|p| i32::try_from(p.version).unwrap_or(i32::MAX))
        .collect();
    let mut tx = db.pool().begin().await?;
    let row = sqlx::query!(
        "INSERT INTO workers (id, key_id, name, devices, problem_versions, toolchain,
                              registered_at, last_seen_at)
         VALUES ($1, $2, $3, $4,
                 ARRAY(SELECT p.id FROM problem_versions p
                       JOIN unnest($5::text[], $6::int[]) AS has (slug, version)
                         ON has.slug = p.slug AND has.version = p.version),
                 $7, lightspeed_now(), lightspeed_now())
         ON CONFLICT (key_id, name) DO UPDATE
         SET incarnation = workers.incarnation + 1, devices = excluded.devices,
             problem_versions = excluded.problem_versions, toolchain = excluded.toolchain,
             registered_at = excluded.registered_at, last_seen_at = excluded.last_seen_at
         RETURNING id, incarnation",
        WorkerId::new(worker.now).0,
        worker.key.0,
        worker.name,
        &devices,
        &slugs,
        &versions,
        json!(worker.toolchain),
    )
    .fetch_one(&mut *tx)
    .await?;
    let orphans = sqlx::query_scalar!(
        "SELECT a.id FROM judgings j JOIN attempts a ON a.judging_id = j.id
         WHERE a.worker_id = $1 AND a.outcome IS NULL
         ORDER BY j.id FOR UPDATE OF j, a",
        row.id,
    )
    .fetch_all(&mut *tx)
    .await?;
    let changed = give_back(
        &mut tx,
        &orphans,
        GiveBack::Expired {
            reason: "a newer process registered under the worker's name",
            max_faults,
        },
    )
    .await?;
    tx.commit().await?;
    let process = WorkerProcess {
        key: worker.key,
        id: WorkerId(row.id),
        incarnation: count("workers.incarnation", row.incarnation)?,
    };
    Ok((process, changed))
}
