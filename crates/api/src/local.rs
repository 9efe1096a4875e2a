//! What the command that starts the service needs of the database: to open it, and to make the one
//! account, its login link and the worker's key. The command itself knows no database.

pub use database::{Database, DatabaseError, accounts, sessions};
