//! The board of one problem version on one device.

use chrono::{DateTime, Utc};
use domain::report::{ProblemRef, ScoreMetric};
use domain::{DeviceKind, DeviceName, JudgingId, SubmissionId};
use serde::{Deserialize, Serialize};

use crate::account::UserRef;

/// `GET /api/v1/problems/{slug}/boards/{device}`: the best accepted ranked judging of each user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Board {
    /// Problem at the version this board belongs to.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Measured or counted.
    pub device_kind: DeviceKind,
    /// What `value` is on this board.
    pub metric: ScoreMetric,
    /// Users on the board in all, of whom `entries` may hold only the first.
    pub total: u64,
    /// Best first. Equal values share a rank; among them the earlier comes first.
    pub entries: Vec<BoardEntry>,
    /// The caller's own entry, when there is one; it may lie beyond `entries`.
    pub yours: Option<BoardEntry>,
}

/// One user's best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BoardEntry {
    /// From 1; shared by equal values.
    pub rank: u64,
    /// Whose it is.
    pub user: UserRef,
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging that counts.
    pub judging_id: JudgingId,
    /// The headline of the board's metric, 0 to 1.
    pub value: f64,
    /// Strict SOL, where the metric has one.
    pub strict_sol: Option<f64>,
    /// Id of the shape with the lowest ratio.
    pub worst_shape: Option<String>,
    /// When the judging ended.
    pub judged_at: DateTime<Utc>,
}
