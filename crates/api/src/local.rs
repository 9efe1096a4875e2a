//! What the command that starts the service needs of the database: to open it, and to make the one
//! account, its login link and the worker's key. The command itself knows no database. And packages as
//! the API shows them, for reading without a service.

use problems::Package;
use protocol::problem::{ProblemDetail, ProblemSummary};

pub use database::{Database, DatabaseError, Refusal, accounts, sessions};

use crate::routes::view;

/// A row of the list. Who solved it is not known here.
#[must_use]
pub fn problem_summary(package: &Package) -> ProblemSummary {
    view::summary(package)
}

/// One problem. Who solved it is not known here.
#[must_use]
pub fn problem_detail(package: &Package) -> ProblemDetail {
    view::detail(package, view::summary(package))
}
