//! `GET /api/v1/problems/{slug}/boards/{device}`

use axum::Json;
use axum::extract::State;
use database::boards::{self, BoardKey};
use domain::DeviceKind;
use domain::report::ScoreMetric;
use protocol::board::{Board, BoardEntry};
use serde::Deserialize;

use crate::auth::Caller;
use crate::error::ApiError;
use crate::packages::reference;
use crate::parameters::{Id, Parameters, device, limit, package};
use crate::state::AppState;
use crate::views::user_ref;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1000;

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Query {
    /// At most this many entries; 100 unless said otherwise, 1000 at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<String>,
}

/// The best accepted ranked judging of each user, at the problem's newest version.
#[utoipa::path(get, path = "/api/v1/problems/{slug}/boards/{device}", tag = "public",
    operation_id = "board",
    params(("slug" = String, Path), ("device" = String, Path), Query),
    responses((status = 200, body = Board)))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id((slug, device_name)): Id<(String, String)>,
    Parameters(query): Parameters<Query>,
    caller: Caller,
) -> Result<Json<Board>, ApiError> {
    let problem = reference(package(&state, &slug)?);
    let device = device(&device_name)?;
    let limit = limit(query.limit.as_deref(), DEFAULT_LIMIT, MAX_LIMIT)?;
    let key = BoardKey {
        problem,
        device,
        metric: match device.kind() {
            DeviceKind::Gpu => ScoreMetric::Sol,
            DeviceKind::Emulated => ScoreMetric::ModelledSol,
        },
    };
    let board = boards::read(&state.db, &key, limit, caller.user().map(|user| user.id)).await?;
    Ok(Json(Board {
        problem: key.problem,
        device,
        device_kind: device.kind(),
        metric: key.metric,
        total: board.total,
        entries: board.entries.into_iter().map(entry).collect(),
        yours: board.yours.map(entry),
    }))
}

fn entry(entry: boards::BoardEntry) -> BoardEntry {
    BoardEntry {
        rank: entry.rank,
        user: user_ref(entry.user_id, entry.user_name),
        submission_id: entry.submission_id,
        judging_id: entry.judging_id,
        value: entry.score,
        strict_sol: entry.strict_sol,
        worst_shape: entry.worst_shape,
        judged_at: entry.judged_at,
    }
}
