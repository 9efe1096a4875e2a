//! Making the packages known to the database.

use database::problems::{Published, publish as publish_version};
use database::{Database, DatabaseError};
use domain::report::ProblemRef;
use problems::Package;
use serde_json::json;

/// Publishes every package. [`crate::serve`] does so itself.
pub async fn publish(db: &Database, packages: &[Package]) -> Result<(), DatabaseError> {
    for package in packages {
        let problem = reference(package);
        let metadata = json!({ "title": package.title, "kind": package.kind });
        let published = publish_version(db, &problem, &package.digest, &metadata).await?;
        if published == Published::Edited {
            tracing::warn!(
                problem.slug = problem.slug,
                problem.version = problem.version,
                "the package was edited without raising its version; its board mixes results of both"
            );
        }
    }
    Ok(())
}

/// Slug and version.
pub(crate) fn reference(package: &Package) -> ProblemRef {
    ProblemRef {
        slug: package.slug.clone(),
        version: package.version,
    }
}
