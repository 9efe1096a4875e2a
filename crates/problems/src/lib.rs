//! Problem packages: model, loader, shape drawing, expressions, input generators, comparison.
//!
//! A package is a directory of data and text; `README.md` of this crate documents every file and
//! field. Nothing here runs a kernel: the judge does, with what this crate tells it.
//!
//! ```no_run
//! use domain::{DeviceKind, Mode};
//!
//! let package = problems::Package::load("problems/vector_add".as_ref())?;
//! for shape in package.shapes(Mode::Practice, DeviceKind::Emulated, None) {
//!     let arguments = package.arguments(&shape.axes)?;
//!     let cost = package.cost(&shape.axes)?;
//! #   let _ = (arguments, cost);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod call;
pub mod compare;
pub mod element;
pub mod error;
pub mod expect;
pub mod expression;
pub mod generate;
mod load;
mod manifest;
pub mod package;
pub mod shapes;
pub mod subkey;

pub use call::{Argument, ScalarSpec, ScalarValue, TensorSpec};
pub use error::{EvaluationError, PackageError};
pub use expect::Expectation;
pub use generate::{Generator, Outliers};
pub use load::load_all;
pub use package::{
    Bilingual, Difficulty, Kind, Package, ParameterRole, ParameterSpec, Solution, Tolerance,
};
pub use shapes::{EpochSecret, Shape, Stratum};
