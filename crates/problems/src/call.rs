//! One call of a problem: its signature, its arguments at a shape, what it costs, how exact it must be.
//!
//! For the shapes of a loaded package nothing here fails: the loader has tried.

use domain::{Axes, DeviceName, Direction, ElementType, Parameter, ParameterKind, Signature};
use scoring::{Cost, Pipe};
use serde::{Deserialize, Serialize};

use crate::element;
use crate::error::EvaluationError;
use crate::expression::Expression;
use crate::generate::Generator;
use crate::package::{Package, ParameterRole, ParameterSpec, ScalarSource, Solution, Tolerance};

/// A tensor at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorSpec {
    /// The parameter's name.
    pub name: String,
    /// Type of each element.
    pub element: ElementType,
    /// How it is used.
    pub direction: Direction,
    /// Extents; row-major.
    pub dims: Vec<u64>,
    /// What it holds at first; `None` for outputs, which are poisoned.
    pub generator: Option<Generator>,
    /// Its size.
    pub bytes: u64,
    /// The buffer's address is a multiple of it.
    pub align_bytes: u64,
}

impl TensorSpec {
    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.bytes / self.element.size_bytes()
    }
}

/// A value passed to the entry point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScalarValue {
    /// Of an integer type.
    Integer(i64),
    /// Of a floating type.
    Float(f64),
}

impl ScalarValue {
    /// The value as little-endian bytes of `element`.
    #[must_use]
    pub fn to_bytes(self, element: ElementType) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Integer(value) => element::encode_integer(value, element, &mut out),
            Self::Float(value) => element::encode(value, element, &mut out),
        }
        out
    }
}

/// A scalar at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarSpec {
    /// The parameter's name.
    pub name: String,
    /// Type.
    pub element: ElementType,
    /// Value.
    pub value: ScalarValue,
}

/// One argument of the entry point at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Argument {
    /// A buffer.
    Tensor(TensorSpec),
    /// A value.
    Scalar(ScalarSpec),
}

impl Package {
    /// The parameters a submission must have.
    #[must_use]
    pub fn signature(&self) -> Signature {
        Signature(
            self.parameters
                .iter()
                .map(|p| Parameter {
                    name: p.name.clone(),
                    kind: p.role.kind(),
                })
                .collect(),
        )
    }

    /// The parameters of `reference.cu`. A floating `out` or `inout` tensor `T* y` becomes
    /// `double* y, double* y_scale`; an `inout` one holds the exact input values on entry (see
    /// [`element::widen`]). Everything else is as in the submission.
    #[must_use]
    pub fn reference_signature(&self) -> Signature {
        let mut parameters = Vec::new();
        for parameter in self.signature().0 {
            match parameter.kind {
                ParameterKind::Tensor { element, direction }
                    if direction != Direction::In && element.is_float() =>
                {
                    let double = |name: String, direction| Parameter {
                        name,
                        kind: ParameterKind::Tensor {
                            element: ElementType::F64,
                            direction,
                        },
                    };
                    let scale = format!("{}_scale", parameter.name);
                    parameters.push(double(parameter.name, direction));
                    parameters.push(double(scale, Direction::Out));
                }
                _ => parameters.push(parameter),
            }
        }
        Signature(parameters)
    }

    /// The arguments of one call, in parameter order.
    pub fn arguments(&self, axes: &Axes) -> Result<Vec<Argument>, EvaluationError> {
        self.parameters.iter().map(|p| p.argument(axes)).collect()
    }

    /// The tensors of one call, in parameter order.
    pub fn tensors(&self, axes: &Axes) -> Result<Vec<TensorSpec>, EvaluationError> {
        let arguments = self.arguments(axes)?;
        Ok(arguments
            .into_iter()
            .filter_map(|a| match a {
                Argument::Tensor(tensor) => Some(tensor),
                Argument::Scalar(_) => None,
            })
            .collect())
    }

    /// The scalars of one call, in parameter order.
    pub fn scalars(&self, axes: &Axes) -> Result<Vec<ScalarSpec>, EvaluationError> {
        let arguments = self.arguments(axes)?;
        Ok(arguments
            .into_iter()
            .filter_map(|a| match a {
                Argument::Tensor(_) => None,
                Argument::Scalar(scalar) => Some(scalar),
            })
            .collect())
    }

    /// FLOP and bytes of one call. Without an override the bytes are those of every tensor, those
    /// of an `inout` one twice. Products of FP32 accuracy count as plain FP32 work where the rules
    /// forbid tensor cores.
    pub fn cost(&self, axes: &Axes) -> Result<Cost, EvaluationError> {
        let count = |field: &str, expression: &Expression| {
            let value = expression
                .integer(axes)
                .map_err(|e| EvaluationError::new(field, e))?;
            u64::try_from(value).map_err(|_| EvaluationError::new(field, format!("is {value}")))
        };
        let mut cost = Cost::default();
        for (pipe, expression) in &self.cost.flop {
            let flop = count(&format!("cost.flop.{pipe}"), expression)?;
            cost.flop.insert(*pipe, flop as f64);
        }
        if let Some(expression) = &self.cost.fp32_product {
            let flop = count("cost.fp32_product", expression)? as f64;
            if self.rules.forbidden_pipes.contains(&Pipe::Tf32) {
                *cost.flop.entry(Pipe::Fp32).or_default() += flop;
            } else {
                cost.fp32_product_flop = flop;
            }
        }
        cost.fused_bytes = match &self.cost.bytes {
            Some(expression) => count("cost.bytes", expression)?,
            None => self
                .tensors(axes)?
                .iter()
                .map(|t| match t.direction {
                    Direction::Inout => 2 * t.bytes,
                    Direction::In | Direction::Out => t.bytes,
                })
                .sum(),
        };
        Ok(cost)
    }

    /// How exact the output called `output` must be; `None` if there is no such output.
    #[must_use]
    pub fn tolerance(&self, output: &str) -> Option<&Tolerance> {
        self.parameters
            .iter()
            .find(|p| p.name == output)
            .and_then(|p| match &p.role {
                ParameterRole::Tensor { tolerance, .. } => tolerance.as_ref(),
                ParameterRole::Scalar { .. } => None,
            })
    }

    /// The solutions whose expectation says anything about `device`.
    pub fn solutions_for(&self, device: DeviceName) -> impl Iterator<Item = &Solution> {
        self.solutions
            .iter()
            .filter(move |s| s.expect.applies_to(device))
    }
}

impl Tolerance {
    /// `factor * sqrt(length) * eps`: what [`crate::compare::floats`] multiplies the scale by.
    /// Zero for exact outputs.
    pub fn slack(&self, axes: &Axes) -> Result<f64, EvaluationError> {
        match self {
            Self::Exact => Ok(0.0),
            Self::Sum {
                factor,
                length,
                accumulation,
            } => {
                let terms = length
                    .integer(axes)
                    .map_err(|e| EvaluationError::new("tolerance.length", e))?;
                Ok(factor * (terms.max(1) as f64).sqrt() * accumulation.unit_roundoff())
            }
        }
    }
}

impl ParameterRole {
    fn kind(&self) -> ParameterKind {
        match *self {
            Self::Tensor {
                element, direction, ..
            } => ParameterKind::Tensor { element, direction },
            Self::Scalar { element, .. } => ParameterKind::Scalar { element },
        }
    }
}

impl ParameterSpec {
    fn argument(&self, axes: &Axes) -> Result<Argument, EvaluationError> {
        let name = self.name.clone();
        match &self.role {
            ParameterRole::Tensor {
                element,
                direction,
                dims,
                align_bytes,
                generator,
                ..
            } => {
                let dims = self.extents(dims, axes)?;
                let bytes = dims
                    .iter()
                    .try_fold(element.size_bytes(), |n, &d| n.checked_mul(d))
                    .ok_or_else(|| EvaluationError::new(&name, "its size overflows"))?;
                Ok(Argument::Tensor(TensorSpec {
                    name,
                    element: *element,
                    direction: *direction,
                    dims,
                    generator: generator.clone(),
                    bytes,
                    align_bytes: *align_bytes,
                }))
            }
            ParameterRole::Scalar { element, value } => Ok(Argument::Scalar(ScalarSpec {
                value: scalar_value(&name, value, axes)?,
                name,
                element: *element,
            })),
        }
    }

    fn extents(&self, dims: &[Expression], axes: &Axes) -> Result<Vec<u64>, EvaluationError> {
        dims.iter()
            .enumerate()
            .map(|(i, dim)| {
                let field = || format!("{}.dims[{i}]", self.name);
                let extent = dim
                    .integer(axes)
                    .map_err(|e| EvaluationError::new(field(), e))?;
                u64::try_from(extent)
                    .map_err(|_| EvaluationError::new(field(), format!("is {extent}")))
            })
            .collect()
    }
}

fn scalar_value(
    name: &str,
    value: &ScalarSource,
    axes: &Axes,
) -> Result<ScalarValue, EvaluationError> {
    match value {
        ScalarSource::Number(number) => Ok(ScalarValue::Float(*number)),
        ScalarSource::Expression(expression) => expression
            .integer(axes)
            .map(ScalarValue::Integer)
            .map_err(|e| EvaluationError::new(name, e)),
    }
}
