//! `GET /api/v1/operator/invariants`

use axum::Json;
use axum::extract::State;
use protocol::operator::{InvariantReport, Violation};

use crate::auth::Operator;
use crate::error::ApiError;
use crate::state::AppState;

/// Checks what must hold in the database. Reads whole tables.
#[utoipa::path(get, path = "/api/v1/operator/invariants", tag = "operator",
    operation_id = "operator_invariants",
    responses((status = 200, body = InvariantReport)), security(("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Operator: Operator,
) -> Result<Json<InvariantReport>, ApiError> {
    let violations = database::invariants::check(&state.db).await?;
    Ok(Json(InvariantReport {
        violations: violations
            .into_iter()
            .map(|violation| Violation {
                invariant: violation.invariant,
                subject: violation.subject,
            })
            .collect(),
    }))
}
