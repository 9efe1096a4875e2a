//! The database crate on a real server (`DATABASE_URL`).

mod support;

mod accounts;
mod fairness;
mod final_rows;
mod invariants;
mod races;
mod wakeups;
