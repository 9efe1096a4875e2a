//! Boards: the best accepted ranked judging of each user, by problem version, device and metric.

use chrono::{DateTime, Utc};
use domain::report::{ProblemRef, ScoreMetric};
use domain::{DeviceName, JudgingId, SubmissionId, UserId};

use crate::words::{big_count, write};
use crate::{Database, DatabaseError};

/// Which board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardKey {
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// What is ranked; numbers of different metrics never mix.
    pub metric: ScoreMetric,
}

/// The first rows of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Users on it in all.
    pub total: u64,
    /// Best first.
    pub entries: Vec<BoardEntry>,
    /// The given user's own row, wherever it lies.
    pub yours: Option<BoardEntry>,
}

/// One user's best.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardEntry {
    /// From 1; shared by equal scores.
    pub rank: u64,
    /// Whose.
    pub user_id: UserId,
    /// Their name.
    pub user_name: String,
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// The score.
    pub score: f64,
    /// Strict SOL, where the metric has one.
    pub strict_sol: Option<f64>,
    /// The shape with the lowest ratio.
    pub worst_shape: Option<String>,
    /// When the judging ended.
    pub judged_at: DateTime<Utc>,
}

/// Reads a board: at most `limit` rows, and the row of `user`.
pub async fn read(
    db: &Database,
    key: &BoardKey,
    limit: u32,
    user: Option<UserId>,
) -> Result<Board, DatabaseError> {
    let rows = sqlx::query!(
        r#"WITH best AS (
               -- A user's best; of equal ones the earliest, so that resubmitting gains nothing.
               SELECT DISTINCT ON (s.user_id) s.user_id, j.id, j.submission_id, j.score,
                      j.strict_sol, j.worst_shape, j.finished_at
               FROM judgings j
               JOIN submissions s ON s.id = j.submission_id
               JOIN problem_versions p ON p.id = j.problem_version
               WHERE p.slug = $1 AND p.version = $2 AND j.device = $3 AND j.metric = $4
                 AND j.verdict = 'accepted' AND j.score IS NOT NULL AND s.mode = 'ranked'
               ORDER BY s.user_id, j.score DESC, j.finished_at, j.id
           ), ranked AS (
               SELECT best.*, rank() OVER (ORDER BY score DESC) AS rank,
                      row_number() OVER (ORDER BY score DESC, finished_at, id) AS place,
                      count(*) OVER () AS total
               FROM best
           )
           SELECT r.rank AS "rank!", r.place AS "place!", r.total AS "total!", r.user_id,
                  u.name AS user_name, r.submission_id, r.id AS judging_id, r.score AS "score!",
                  r.strict_sol, r.worst_shape, r.finished_at AS "judged_at!"
           FROM ranked r JOIN users u ON u.id = r.user_id
           WHERE r.place <= $5 OR r.user_id = $6
           ORDER BY r.place"#,
        key.problem.slug,
        i32::try_from(key.problem.version).unwrap_or(i32::MAX),
        key.device.as_str(),
        write(key.metric),
        i64::from(limit),
        user.map(|user| user.0),
    )
    .fetch_all(db.pool())
    .await?;

    let mut board = Board {
        total: 0,
        entries: Vec::new(),
        yours: None,
    };
    for row in rows {
        board.total = big_count("count", row.total)?;
        let entry = BoardEntry {
            rank: big_count("rank", row.rank)?,
            user_id: UserId(row.user_id),
            user_name: row.user_name,
            submission_id: SubmissionId(row.submission_id),
            judging_id: JudgingId(row.judging_id),
            score: row.score,
            strict_sol: row.strict_sol,
            worst_shape: row.worst_shape,
            judged_at: row.judged_at,
        };
        if Some(entry.user_id) == user {
            board.yours = Some(entry.clone());
        }
        if row.place <= i64::from(limit) {
            board.entries.push(entry);
        }
    }
    Ok(board)
}
