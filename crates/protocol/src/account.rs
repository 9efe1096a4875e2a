//! Who is calling.

use domain::UserId;
use serde::{Deserialize, Serialize};

/// The account behind a token or a session: `GET /api/v1/me`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Account {
    /// Id.
    pub user_id: UserId,
    /// Name as shown on boards.
    pub name: String,
    /// Whether it may see others' work and operate the service.
    pub operator: bool,
}

/// An account as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserRef {
    /// Id.
    pub user_id: UserId,
    /// Name as shown on boards.
    pub name: String,
}
