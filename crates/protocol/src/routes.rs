//! Every path of the API, so that no client spells one itself.

use domain::{AttemptId, DeviceName, JudgingId, SubmissionId};

/// `POST` hands in, `GET` lists the caller's own.
pub const SUBMISSIONS: &str = "/api/v1/submissions";
/// The problem list.
pub const PROBLEMS: &str = "/api/v1/problems";
/// The device list.
pub const DEVICES: &str = "/api/v1/devices";
/// The caller's account.
pub const ME: &str = "/api/v1/me";
/// Ends the caller's session.
pub const LOGOUT: &str = "/api/v1/logout";
/// A worker introduces itself.
pub const WORKER_REGISTER: &str = "/api/v1/worker/register";
/// A worker asks for work.
pub const WORKER_CLAIM: &str = "/api/v1/worker/claim";
/// What must hold in the database, checked now.
pub const INVARIANTS: &str = "/api/v1/operator/invariants";
/// The process answers.
pub const HEALTHZ: &str = "/healthz";
/// The database answers and its schema is the one expected.
pub const READYZ: &str = "/readyz";
/// The OpenAPI document.
pub const OPENAPI: &str = "/api/openapi.json";
/// Exchanges a login code (`?code=`) for a session cookie.
pub const LOGIN: &str = "/login";
/// Name of the session cookie.
pub const SESSION_COOKIE: &str = "lightspeed_session";
/// Header that names the request in the server's log.
pub const REQUEST_ID_HEADER: &str = "x-request-id";

/// One submission.
#[must_use]
pub fn submission(id: SubmissionId) -> String {
    format!("{SUBMISSIONS}/{id}")
}

/// Its events; resume with the header `Last-Event-ID` or `?after=seq`.
#[must_use]
pub fn submission_events(id: SubmissionId) -> String {
    format!("{SUBMISSIONS}/{id}/events")
}

/// Cancels it.
#[must_use]
pub fn submission_cancel(id: SubmissionId) -> String {
    format!("{SUBMISSIONS}/{id}/cancel")
}

/// One judging, report inside.
#[must_use]
pub fn judging(id: JudgingId) -> String {
    format!("/api/v1/judgings/{id}")
}

/// The compiled code of a judging.
#[must_use]
pub fn judging_code(id: JudgingId) -> String {
    format!("/api/v1/judgings/{id}/code")
}

/// One problem.
#[must_use]
pub fn problem(slug: &str) -> String {
    format!("{PROBLEMS}/{slug}")
}

/// The board of one problem on one device.
#[must_use]
pub fn board(slug: &str, device: DeviceName) -> String {
    format!("{PROBLEMS}/{slug}/boards/{device}")
}

/// Keeps an attempt's lease.
#[must_use]
pub fn heartbeat(id: AttemptId) -> String {
    format!("/api/v1/worker/attempts/{id}/heartbeat")
}

/// Streams an attempt's progress.
#[must_use]
pub fn progress(id: AttemptId) -> String {
    format!("/api/v1/worker/attempts/{id}/progress")
}

/// Ends an attempt.
#[must_use]
pub fn report(id: AttemptId) -> String {
    format!("/api/v1/worker/attempts/{id}/report")
}
