//! The words of the product as types: ids, verdicts, devices, submissions, judgings, reports.
//!
//! No I/O and no policy: every other crate may depend on this one, so it holds only what two rooms
//! must agree on. The spelling of everything serialised here is public contract
//! (`lightspeed.report/1`, the HTTP API); growing it is free, changing it takes a new version.

pub mod clock;
pub mod code;
pub mod device;
pub mod diagnostic;
pub mod element;
pub mod ids;
pub mod judging;
pub mod kernel_name;
pub mod machine;
pub mod misspelling;
pub mod printable;
pub mod report;
pub mod rounding;
pub mod signature;
pub mod slips;
pub mod source;
pub mod tensor_map;
pub mod verdict;

pub use clock::{Clock, SystemClock};
pub use code::{CodeFault, CodeKind, CodeListing, CodePart, CodeText};
pub use device::{DeviceKind, DeviceName, TargetLimits};
pub use diagnostic::{Diagnostic, Severity, Stage};
pub use element::ElementType;
pub use ids::{AttemptId, JudgingId, RequestId, SubmissionId, UserId, WorkerId};
pub use judging::{Mode, Phase, Progress, Status};
pub use kernel_name::plain_name;
pub use machine::{MachineState, TimerRef};
pub use printable::{printable, shows, told};
pub use report::Report;
pub use signature::{Axes, Direction, Parameter, ParameterKind, Signature};
pub use source::{Source, SourceError};
pub use tensor_map::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement, TensorMap};
/// The header with what a host compiler predefines. The toolchain hands it to NVRTC, and the host
/// interpreter reads its `#define`s: both sides of a file know the same.
pub const PREDEFINED_HEADER: &str = include_str!("predefined.h");

pub use verdict::{Verdict, VerdictKind};
