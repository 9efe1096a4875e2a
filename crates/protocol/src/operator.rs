//! What operators may ask.

use serde::{Deserialize, Serialize};

/// `GET /api/v1/operator/invariants`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvariantReport {
    /// Empty when the database is sound.
    pub violations: Vec<Violation>,
}

/// One row that breaks a rule of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Violation {
    /// The rule, in words.
    pub invariant: String,
    /// Id of the row.
    pub subject: String,
}
