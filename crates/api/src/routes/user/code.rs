//! `GET /api/v1/judgings/{id}/code`

use axum::Json;
use axum::extract::State;
use database::judgings;
use domain::{JudgingId, Status};
use protocol::judging::JudgingCode;
use protocol::{ErrorCode, ProblemBody};

use crate::access::{View, view};
use crate::auth::Caller;
use crate::error::ApiError;
use crate::parameters::Id;
use crate::state::AppState;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("The judging is not over: its code comes with its report.")]
    NotOver,
    #[error("Nothing was compiled for this judging, or it was judged before code was kept.")]
    None,
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::new(ErrorCode::NoCode, error.to_string())
    }
}

/// What the compiler made of the source: PTX and machine code, each line with the line of the source that it
/// was made from. Machine code may be missing, and says why. For those who may read the source.
#[utoipa::path(get, path = "/api/v1/judgings/{id}/code", tag = "user",
    operation_id = "judging_code", params(("id" = JudgingId, Path)),
    responses(
        (status = 200, body = JudgingCode, example = json!({
                "judging_id": "0190b5a0-0000-7000-8000-000000000001",
                "arch": "sm_90a",
                "ptx": {
                    "parts": [{
                        "kind": "kernel",
                        "name": "scale<256>",
                        "text": "ld.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f1, %f1;\nret;",
                        "source_lines": [3, 3, null],
                    }],
                    "lines_left_out": 0,
                },
                "sass": {
                    "parts": [{
                        "kind": "kernel",
                        "name": "scale<256>",
                        "text": "_Z5scaleILi256EEvPf:\n    /*0000*/       LDC R1, c[0x0][0x28] ;",
                        "source_lines": [null, 2],
                    }],
                    "lines_left_out": 0,
                },
                "no_sass": null,
            })),
        (status = 404, body = ProblemBody, content_type = "application/problem+json",
            description = "`not_found`: no such judging, or none whose source the caller may read. \
                           `no_code`: it is not over, or nothing was compiled."),
    ),
    security(("token" = []), ("session" = [])))]
pub(super) async fn handler(
    State(state): State<AppState>,
    Id(id): Id<JudgingId>,
    caller: Caller,
) -> Result<Json<JudgingCode>, ApiError> {
    let judging = judgings::get(&state.db, id).await?;
    let judging = judging.ok_or_else(ApiError::not_found)?;
    if view(&caller, judging.user_id, judging.mode, judging.verdict) != View::Full {
        return Err(ApiError::not_found());
    }
    let code = judgings::code(&state.db, id).await?;
    let code = code.ok_or(match judging.status {
        Status::Done => Error::None,
        Status::Queued | Status::Running => Error::NotOver,
    })?;
    Ok(Json(JudgingCode {
        judging_id: id,
        code,
    }))
}
