//! Which problem versions exist, and how many have solved them.

use domain::UserId;
use domain::report::ProblemRef;
use serde_json::Value;

use crate::words::{big_count, count};
use crate::{Database, DatabaseError};

/// What publishing a version came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The version is new.
    New,
    /// It was there, with the same digest.
    Unchanged,
    /// It was there with another digest, which is now replaced. Results of both stand on one board,
    /// so a setter should have raised the version.
    Edited,
}

/// Makes a version known. `digest` is the package's SHA-256 in hexadecimal.
pub async fn publish(
    db: &Database,
    problem: &ProblemRef,
    digest: &str,
    metadata: &Value,
) -> Result<Published, DatabaseError> {
    let version = i32::try_from(problem.version).unwrap_or(i32::MAX);
    let before = sqlx::query_scalar!(
        "SELECT digest FROM problem_versions WHERE slug = $1 AND version = $2",
        problem.slug,
        version,
    )
    .fetch_optional(db.pool())
    .await?;
    sqlx::query!(
        "INSERT INTO problem_versions (slug, version, digest, metadata) VALUES ($1, $2, $3, $4)
         ON CONFLICT (slug, version)
         DO UPDATE SET digest = excluded.digest, metadata = excluded.metadata",
        problem.slug,
        version,
        digest,
        metadata,
    )
    .execute(db.pool())
    .await?;
    Ok(match before {
        None => Published::New,
        Some(before) if before == digest => Published::Unchanged,
        Some(_) => Published::Edited,
    })
}

/// How many users have an accepted ranked judging of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solvers {
    /// The version.
    pub problem: ProblemRef,
    /// Users.
    pub solvers: u64,
    /// Whether the given user is one of them.
    pub solved: bool,
}

/// Solvers of every version that has any.
pub async fn solvers(db: &Database, user: Option<UserId>) -> Result<Vec<Solvers>, DatabaseError> {
    let rows = sqlx::query!(
        r#"SELECT p.slug, p.version, count(DISTINCT s.user_id) AS "solvers!",
                  coalesce(bool_or(s.user_id = $1), false) AS "solved!"
           FROM judgings j
           JOIN submissions s ON s.id = j.submission_id
           JOIN problem_versions p ON p.id = s.problem_version
           WHERE j.verdict = 'accepted' AND s.mode = 'ranked'
           GROUP BY p.id"#,
        user.map(|user| user.0),
    )
    .fetch_all(db.pool())
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Solvers {
                problem: ProblemRef {
                    slug: row.slug,
                    version: count("problem_versions.version", row.version)?,
                },
                solvers: big_count("count", row.solvers)?,
                solved: row.solved,
            })
        })
        .collect()
}
