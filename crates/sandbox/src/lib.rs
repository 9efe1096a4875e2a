//! Confines and re-executes the one binary as a throw-away child.
//!
//! The parent describes a child as a [`ChildCommand`] and calls [`ChildCommand::run`]: one request
//! goes in, progress messages and one response come out, and the child's whole process group is
//! dead and reaped when the call returns, whatever happened. The child's `main` calls [`enter`]
//! before anything else when its first argument is a role; [`ChildCommand::start`] keeps the line
//! open for more requests, with a [`Mailbox`] for bulk. From `enter` on the child can
//!
//! - read only the paths that the policy names (Landlock), and write, create or execute nothing, but for
//!   the one [`Program`] that a policy may name, which the child becomes as its last step;
//! - open no socket, start no process, trace or signal nobody (seccomp, capabilities dropped);
//! - use only the processor time and memory that the policy grants (rlimits).
//!
//! What the child says is untrusted: frames are checked and capped by the parent. Nothing is
//! inherited but three pipes and the mailbox, where there is one; the environment is [`ENVIRONMENT`], nothing else.
//!
//! Not done here: an empty network namespace, cgroups and a zygote.
#![cfg(target_os = "linux")]

mod caught;
mod child;
mod command;
mod confine;
mod failure;
mod frame;
mod limits;
mod mailbox;
mod policy;
mod program;
mod seccomp;
mod supervise;
mod support;

pub use caught::CaughtOutput;
pub use child::{ChildChannel, EnterError, enter};
pub use command::{ChildCommand, ChildResponse, ENVIRONMENT};
pub use failure::ChildFailure;
pub use mailbox::Mailbox;
pub use policy::{Confinement, Policy, Program};
pub use program::PROGRAM_INPUT;
pub use supervise::Session;
pub use support::{Support, support};
