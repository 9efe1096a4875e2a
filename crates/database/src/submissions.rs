//! Handing in, listing and cancelling submissions.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::report::{ProblemRef, Score};
use domain::source::Source;
use domain::{
    DeviceName, JudgingId, Mode, Phase, Status, SubmissionId, UserId, Verdict, VerdictKind,
};
use uuid::Uuid;

use crate::words::{big_count, count, read, read_option};
use crate::{Database, DatabaseError};

/// What a user hands in.
#[derive(Clone, Debug)]
pub struct NewSubmission<'a> {
    /// Fresh.
    pub id: SubmissionId,
    /// Fresh: its first judging.
    pub judging_id: JudgingId,
    /// Whose.
    pub user_id: UserId,
    /// A published version.
    pub problem: &'a ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// The text.
    pub source: &'a Source,
    /// What it is expected to cost; later submissions of this user start that much later.
    pub estimate: Duration,
}

/// A submission with the state of its newest judging.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Id.
    pub id: SubmissionId,
    /// Whose.
    pub user_id: UserId,
    /// Their name.
    pub user_name: String,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// SHA-256 of the text in hexadecimal.
    pub source_sha256: String,
    /// When it was handed in.
    pub created_at: DateTime<Utc>,
    /// Number of its newest event.
    pub last_seq: u64,
    /// The newest judging.
    pub judging_id: JudgingId,
    /// Where that stands.
    pub status: Status,
    /// What a running attempt is at.
    pub phase: Option<Phase>,
    /// The verdict, once done.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// The score, where one was earned.
    pub score: Option<Score>,
    /// When the verdict was written.
    pub finished_at: Option<DateTime<Utc>>,
}

/// Stores a submission and queues its first judging. `None`: no such problem version is published.
pub async fn submit(db: &Database, new: &NewSubmission<'_>) -> Result<Option<()>, DatabaseError> {
    let mut tx = db.pool().begin().await?;
    let virtual_start = sqlx::query_scalar!(
        r#"-- Fairness: a user's judgings start one estimate apart on their own clock, so that a
           -- hundred submissions of one user stand behind the first of another.
           UPDATE users
           SET virtual_clock = greatest(virtual_clock, lightspeed_now()) + make_interval(secs => $2)
           WHERE id = $1
           RETURNING virtual_clock"#,
        new.user_id.0,
        new.estimate.as_secs_f64(),
    )
    .fetch_one(&mut *tx)
    .await?;
    let queued = sqlx::query!(
        "WITH problem AS (
             SELECT id FROM problem_versions WHERE slug = $1 AND version = $2
         ), source AS (
             INSERT INTO sources (sha256, body) VALUES ($3, $4) ON CONFLICT (sha256) DO NOTHING
         ), submission AS (
             INSERT INTO submissions
                 (id, user_id, problem_version, device, mode, source_sha256, created_at)
             SELECT $5, $6, problem.id, $7, $8, $3, lightspeed_now() FROM problem
             RETURNING id, problem_version, device, created_at
         )
         INSERT INTO judgings
             (id, submission_id, problem_version, device, class, virtual_start, queued_at)
         SELECT $9, id, problem_version, device, $10, $11, created_at FROM submission",
        new.problem.slug,
        i32::try_from(new.problem.version).unwrap_or(i32::MAX),
        new.source.sha256(),
        new.source.as_str(),
        new.id.0,
        new.user_id.0,
        new.device.as_str(),
        new.mode.as_str(),
        new.judging_id.0,
        class(new.mode),
        virtual_start,
    )
    .execute(&mut *tx)
    .await?;
    if queued.rows_affected() == 0 {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(()))
}

/// One submission.
pub async fn get(db: &Database, id: SubmissionId) -> Result<Option<Submission>, DatabaseError> {
    Ok(load(db, &[id.0]).await?.pop())
}

/// A user's submissions, newest first: at most `limit`, older than `before`, of one problem if named.
pub async fn list(
    db: &Database,
    user: UserId,
    problem: Option<&str>,
    before: Option<SubmissionId>,
    limit: u32,
) -> Result<Vec<Submission>, DatabaseError> {
    let ids = sqlx::query_scalar!(
        "SELECT s.id FROM submissions s JOIN problem_versions p ON p.id = s.problem_version
         WHERE s.user_id = $1 AND ($2::text IS NULL OR p.slug = $2)
           AND ($3::uuid IS NULL OR s.id < $3)
         ORDER BY s.id DESC LIMIT $4",
        user.0,
        problem,
        before.map(|id| id.0),
        i64::from(limit),
    )
    .fetch_all(db.pool())
    .await?;
    load(db, &ids).await
}

/// The submitted text. The caller has made sure that the reader may see it.
pub async fn source(db: &Database, id: SubmissionId) -> Result<Option<String>, DatabaseError> {
    let body = sqlx::query_scalar!(
        "SELECT c.body FROM submissions s JOIN sources c ON c.sha256 = s.source_sha256
         WHERE s.id = $1",
        id.0,
    )
    .fetch_optional(db.pool())
    .await?;
    Ok(body)
}

/// Every judging of a submission, oldest first.
pub async fn judging_ids(db: &Database, id: SubmissionId) -> Result<Vec<JudgingId>, DatabaseError> {
    let ids = sqlx::query_scalar!(
        "SELECT id FROM judgings WHERE submission_id = $1 ORDER BY queued_at, id",
        id.0,
    )
    .fetch_all(db.pool())
    .await?;
    Ok(ids.into_iter().map(JudgingId).collect())
}

/// How many judgings will be taken before this one; `None` unless it is queued.
pub async fn queued_ahead(db: &Database, id: JudgingId) -> Result<Option<u64>, DatabaseError> {
    let ahead = sqlx::query_scalar!(
        r#"SELECT (SELECT count(*) FROM judgings other
                   WHERE other.status = 'queued' AND other.device = mine.device
                     AND (other.class, other.virtual_start, other.id)
                         < (mine.class, mine.virtual_start, mine.id)) AS "ahead!"
           FROM judgings mine WHERE mine.id = $1 AND mine.status = 'queued'"#,
        id.0,
    )
    .fetch_optional(db.pool())
    .await?;
    ahead.map(|ahead| big_count("count", ahead)).transpose()
}

/// Ends every judging of the submission that has no verdict, as `cancelled`; answers how many there
/// were. A worker at it learns from its next heartbeat.
pub async fn cancel(db: &Database, id: SubmissionId) -> Result<u64, DatabaseError> {
    let mut tx = db.pool().begin().await?;
    sqlx::query!(
        "-- A claim may be at a judging. Only a statement that begins after it has ended sees the attempt
         -- it made; else that attempt would live on under a judging that is over.
         SELECT id FROM judgings WHERE submission_id = $1 AND status <> 'done'
         ORDER BY id FOR UPDATE",
        id.0,
    )
    .fetch_all(&mut *tx)
    .await?;
    let cancelled = sqlx::query_scalar!(
        r#"WITH cancelled AS (
               UPDATE judgings
               SET status = 'done', verdict = 'cancelled', finished_at = lightspeed_now(),
                   phase = NULL, message = 'Cancelled on request.'
               WHERE submission_id = $1 AND status <> 'done'
               RETURNING id
           ), ended AS (
               UPDATE attempts SET outcome = 'cancelled', ended_at = lightspeed_now()
               FROM cancelled
               WHERE attempts.judging_id = cancelled.id AND attempts.outcome IS NULL
           )
           SELECT count(*) AS "count!" FROM cancelled"#,
        id.0,
    )
    .fetch_one(&mut *tx)
    .await?;
    tx.commit().await?;
    big_count("count", cancelled)
}

fn class(mode: Mode) -> i16 {
    match mode {
        Mode::Practice => 0,
        Mode::Ranked => 1,
    }
}

async fn load(db: &Database, ids: &[Uuid]) -> Result<Vec<Submission>, DatabaseError> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT s.id, s.user_id, u.name AS user_name, p.slug, p.version, s.device, s.mode,
                  s.source_sha256, s.created_at, s.last_seq, j.id AS judging_id, j.status, j.phase,
                  j.verdict, j.kind, j.message, j.finished_at,
                  j.metric, j.score, j.strict_sol, j.worst_shape, j.scoring_version
           FROM submissions s
           JOIN users u ON u.id = s.user_id
           JOIN problem_versions p ON p.id = s.problem_version
           CROSS JOIN LATERAL (
               SELECT * FROM judgings WHERE submission_id = s.id
               ORDER BY queued_at DESC, id DESC LIMIT 1
           ) j
           WHERE s.id = ANY($1) ORDER BY s.id DESC"#,
        ids,
    )
    .fetch_all(db.pool())
    .await?;
    rows.into_iter().map(Submission::try_from).collect()
}

struct Row {
    id: Uuid,
    user_id: Uuid,
    user_name: String,
    slug: String,
    version: i32,
    device: String,
    mode: String,
    source_sha256: String,
    created_at: DateTime<Utc>,
    last_seq: i64,
    judging_id: Uuid,
    status: String,
    phase: Option<String>,
    verdict: Option<String>,
    kind: Option<String>,
    message: Option<String>,
    finished_at: Option<DateTime<Utc>>,
    metric: Option<String>,
    score: Option<f64>,
    strict_sol: Option<f64>,
    worst_shape: Option<String>,
    scoring_version: Option<i32>,
}

impl TryFrom<Row> for Submission {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let score = match (row.metric.as_deref(), row.scoring_version) {
            (Some(metric), Some(version)) => Some(Score {
                metric: read("judgings.metric", metric)?,
                value: row.score,
                strict_sol: row.strict_sol,
                worst_shape: row.worst_shape,
                scoring_version: count("judgings.scoring_version", version)?,
            }),
            _ => None,
        };
        Ok(Self {
            id: SubmissionId(row.id),
            user_id: UserId(row.user_id),
            user_name: row.user_name,
            problem: ProblemRef {
                slug: row.slug,
                version: count("problem_versions.version", row.version)?,
            },
            device: read("submissions.device", &row.device)?,
            mode: read("submissions.mode", &row.mode)?,
            source_sha256: row.source_sha256,
            created_at: row.created_at,
            last_seq: big_count("submissions.last_seq", row.last_seq)?,
            judging_id: JudgingId(row.judging_id),
            status: read("judgings.status", &row.status)?,
            phase: read_option("judgings.phase", row.phase.as_deref())?,
            verdict: read_option("judgings.verdict", row.verdict.as_deref())?,
            kind: read_option("judgings.kind", row.kind.as_deref())?,
            message: row.message,
            score,
            finished_at: row.finished_at,
        })
    }
}
