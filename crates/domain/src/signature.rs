//! The parameters of an entry point: what a problem asks for and a submission must have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ElementType;

/// The value of every axis of one shape, by name.
pub type Axes = BTreeMap<String, i64>;

/// How a tensor is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Direction {
    /// Read only.
    In,
    /// Written only; poisoned before each run.
    Out,
    /// Read and written.
    Inout,
}

/// Tensor (a device pointer) or scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ParameterKind {
    /// A pointer to device memory.
    Tensor {
        /// Type of each element.
        element: ElementType,
        /// How it is used.
        direction: Direction,
    },
    /// A value. Any integer type in the submission serves an integer scalar.
    Scalar {
        /// Type of the value.
        element: ElementType,
    },
}

/// One parameter, in the order of the entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Parameter {
    /// The problem's name for it. A submission may use another.
    pub name: String,
    /// Tensor or scalar.
    #[serde(flatten)]
    pub kind: ParameterKind,
}

/// All parameters in order. Matching is by position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Signature(pub Vec<Parameter>);

impl Signature {
    /// The declaration as C++ text, for messages and pages: `void solve(const float* A, int N)`.
    #[must_use]
    pub fn declaration(&self) -> String {
        let parameters: Vec<String> = self.0.iter().map(Parameter::declaration).collect();
        format!("void solve({})", parameters.join(", "))
    }
}

impl Parameter {
    fn declaration(&self) -> String {
        match self.kind {
            ParameterKind::Tensor { element, direction } => {
                let constness = if direction == Direction::In {
                    "const "
                } else {
                    ""
                };
                format!("{constness}{}* {}", element.c_name(), self.name)
            }
            ParameterKind::Scalar { element } => format!("{} {}", element.c_name(), self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declaration_reads_as_cpp() {
        let tensor = |direction| ParameterKind::Tensor {
            element: ElementType::F32,
            direction,
        };
        let signature = Signature(vec![
            Parameter {
                name: "A".into(),
                kind: tensor(Direction::In),
            },
            Parameter {
                name: "C".into(),
                kind: tensor(Direction::Out),
            },
            Parameter {
                name: "N".into(),
                kind: ParameterKind::Scalar {
                    element: ElementType::I32,
                },
            },
        ]);
        assert_eq!(
            signature.declaration(),
            "void solve(const float* A, float* C, int N)"
        );
    }
}
