//! What a serving process does besides answering: it gives back what dead workers hold.

use std::time::Duration;

use database::{DatabaseError, queue, sessions};
use domain::Status;
use tokio::time::MissedTickBehavior;

use crate::state::AppState;

/// A judging that waited this long joins the first class.
const AGE_AFTER: Duration = Duration::from_mins(10);

/// Runs until aborted. Several processes may do so at once; an advisory lock picks one.
pub(crate) async fn keep_house(state: AppState) {
    let mut ticks = tokio::time::interval(state.lease.expiry_interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = round(&state).await {
            tracing::warn!(%error, "looking for lapsed leases failed; trying again");
        }
    }
}

async fn round(state: &AppState) -> Result<(), DatabaseError> {
    for changed in queue::expire(&state.db, &state.lease.policy())
        .await?
        .unwrap_or_default()
    {
        tracing::warn!(
            judging.id = %changed.judging_id,
            verdict = changed.verdict.map(tracing::field::display),
            "a worker was lost"
        );
        state.tell(&changed);
    }
    queue::age(&state.db, AGE_AFTER).await?;
    sessions::sweep(&state.db).await?;
    Ok(())
}

impl AppState {
    /// Wakes those who wait for what changed.
    pub(crate) fn tell(&self, changed: &queue::Changed) {
        self.wakeups.changed(changed.submission_id);
        if changed.status == Status::Queued {
            self.wakeups.work(changed.device);
        }
    }
}
