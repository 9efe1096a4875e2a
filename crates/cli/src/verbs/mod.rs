//! One file a verb: its flags, then what it does. A verb returns the exit status it ends with.

pub(crate) mod devices;
pub(crate) mod leaderboard;
pub(crate) mod submit;
pub(crate) mod watch;
pub(crate) mod with_postgres;
