//! Health, for load balancers and start scripts.

use serde::{Deserialize, Serialize};

/// `GET /healthz` (the process answers) and `GET /readyz` (so do the database and its schema).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// `ok`.
    pub status: String,
    /// Version of the server.
    pub version: String,
}
