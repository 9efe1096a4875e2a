//! The worker daemon: claims judgings over HTTP, judges them in sandboxed children, keeps its lease.
//!
//! It holds a URL and a key, never a database. Everything it may lose is covered by the lease: a
//! worker killed at any moment leaves a judging that another attempt takes up, and a worker that
//! cannot reach the API stops judging before its lease runs out. Invariant: a report is sent only
//! under a lease that this process believes in; the API's fence has the last word.

mod attempt;
mod client;
mod lease;
mod lighter;
mod supervisor;

pub use client::ClientError;
pub use supervisor::{DRAIN_GRACE, Settings, WorkerError, run};
