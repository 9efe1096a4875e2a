//! Logs of the long-running verbs: to stderr, filtered by `LIGHTSPEED_LOG`.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Starts logging for a daemon. `LIGHTSPEED_LOG` takes the usual directives: `api=debug,info`.
pub(crate) fn start() {
    with_default("info");
}

/// Starts logging for `up`, whose stderr a person reads: warnings alone.
pub(crate) fn start_quietly() {
    with_default("warn");
}

fn with_default(directives: &str) {
    let told = EnvFilter::try_from_env("LIGHTSPEED_LOG");
    let filter = told.unwrap_or_else(|_| EnvFilter::new(directives));
    // A second start in one process (tests) keeps the first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
}
