//! What clients, workers and the API say to each other: one serde type a message, one path a route.
//!
//! Types only: no I/O, no policy. Everything here is public contract under `/api/v1`; fields may be
//! added, none may change its meaning. Readers ignore fields they do not know. Absent is `null`.

pub mod account;
pub mod board;
pub mod device;
pub mod error;
pub mod event;
pub mod health;
pub mod judging;
pub mod operator;
pub mod problem;
pub mod routes;
pub mod submission;
pub mod timing;
pub mod worker;

pub use error::{ErrorCode, ProblemBody};
pub use event::{Event, EventId};
