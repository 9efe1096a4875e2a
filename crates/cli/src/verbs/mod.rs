//! One file a verb: its flags, then what it does. A verb returns the exit status it ends with.

pub(crate) mod calibrate;
pub(crate) mod cancel;
pub(crate) mod code;
pub(crate) mod devices;
pub(crate) mod down;
pub(crate) mod judge;
pub(crate) mod leaderboard;
pub(crate) mod measure;
pub(crate) mod problem;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod submissions;
pub(crate) mod submit;
pub(crate) mod toolchain;
pub(crate) mod up;
pub(crate) mod watch;
pub(crate) mod with_postgres;
pub(crate) mod worker;
