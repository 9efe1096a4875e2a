//! Why a child gave no response.

use std::time::Duration;

/// Why a child gave no response. Its process group was killed in every case, and is gone unless a driver
/// holds it.
#[derive(Debug, thiserror::Error)]
pub enum ChildFailure {
    /// The child could not be started.
    #[error("cannot start the child process")]
    Spawn(#[source] std::io::Error),
    /// No response within the policy's wall clock.
    #[error("no response within {} s", limit.as_secs_f64())]
    WallClock {
        /// The policy's limit.
        limit: Duration,
    },
    /// The policy's processor time was used up.
    #[error("out of processor time")]
    CpuLimit,
    /// The policy's memory was used up.
    #[error("out of memory")]
    MemoryLimit,
    /// A signal ended the child.
    #[error("ended by signal {signal}{}", said(stderr))]
    Signal {
        /// The signal's number.
        signal: i32,
        /// What the child wrote to standard error, at most 64 KiB. Untrusted.
        stderr: String,
    },
    /// The child exited without a response.
    #[error("exited with status {code} and no response{}", said(stderr))]
    ExitCode {
        /// The exit status.
        code: i32,
        /// What the child wrote to standard error, at most 64 KiB. Untrusted.
        stderr: String,
    },
    /// More bytes than the policy admits.
    #[error("the response is larger than the policy admits")]
    ResponseTooLarge,
    /// Bytes that are no frames, or frames out of order.
    #[error("the child broke the protocol: {0}")]
    Protocol(String),
    /// The caller's flag was set.
    #[error("cancelled")]
    Cancelled,
    /// The host lacks Landlock or seccomp and the policy insists on both.
    #[error("this host cannot confine the child: {0}")]
    Unconfined(String),
}

impl ChildFailure {
    /// The failure without what the child wrote to standard error, for readers who must not see what
    /// untrusted code printed.
    #[must_use]
    pub fn in_own_words(&self) -> String {
        match self {
            Self::Signal { signal, .. } => format!("ended by signal {signal}"),
            Self::ExitCode { code, .. } => format!("exited with status {code} and no response"),
            other => other.to_string(),
        }
    }
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}
