//! The database crate on a real server (`DATABASE_URL`).

#![allow(clippy::unwrap_used)] // the whole crate is tests

mod support;

mod accounts;
mod fairness;
mod final_rows;
mod invariants;
mod races;
mod wakeups;
