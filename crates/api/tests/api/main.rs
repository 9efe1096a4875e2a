//! The API as its callers meet it, on a real database (`DATABASE_URL`).

#![allow(clippy::unwrap_used)] // the whole crate is tests

mod support;

mod auth;
mod bad_input;
mod boards;
mod code;
mod documents;
mod events;
mod login;
mod outages;
mod page;
mod queue;
mod serving;
mod visibility;
