//! Broken and hostile input through the real binary, its sandboxed children and NVRTC: what must not work
//! does not, and what is said of it names the cause. A file for each thing that is attacked.
#![allow(clippy::unwrap_used)] // a step that fails fails the test

mod cache;
mod compile;
mod device;
mod files;
mod held_out;
mod host;
mod machine_code;
mod modelled;
mod practice;
mod service;
mod source;
