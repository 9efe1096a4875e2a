//! `[[parameters]]` and what hangs on them: generators and tolerances.

use domain::{Direction, ElementType};
use toml::Spanned;

use super::problem::{Names, identifier};
use crate::error::PackageError;
use crate::generate::{Generator, Outliers};
use crate::manifest::{self, GeneratorKind, ParameterUse};
use crate::package::{ParameterRole, ParameterSpec, ScalarSource, Tolerance};

/// Alignment of a buffer where the package does not say: that of `cudaMalloc`.
const ALIGN_BYTES: u64 = 256;

pub fn parameters(
    names: &Names<'_>,
    raw: Vec<manifest::Parameter>,
) -> Result<Vec<ParameterSpec>, PackageError> {
    let mut parameters: Vec<ParameterSpec> = Vec::new();
    for (i, parameter) in raw.into_iter().enumerate() {
        let field = format!("parameters[{i}]");
        let span = parameter.name.span();
        let name = parameter.name.as_ref().clone();
        identifier(names.text, &span, &format!("{field}.name"), &name)?;
        if parameters.iter().any(|p| p.name == name) {
            let message = format!("`{name}` is there already");
            let hint = "give each parameter its own name";
            return Err(names.text.at(&span, field, message, hint));
        }
        let role = if *parameter.usage.as_ref() == ParameterUse::Scalar {
            scalar(names, &field, &parameter)?
        } else {
            tensor(names, &field, &parameter)?
        };
        parameters.push(ParameterSpec {
            name,
            about: parameter.about,
            role,
        });
    }
    if parameters.iter().all(|p| !is_output(p)) {
        let hint = "give one parameter use = \"out\" or \"inout\"";
        return Err(names
            .text
            .of_field("parameters", "no parameter is written", hint));
    }
    Ok(parameters)
}

fn is_output(parameter: &ParameterSpec) -> bool {
    matches!(
        parameter.role,
        ParameterRole::Tensor {
            direction: Direction::Out | Direction::Inout,
            ..
        }
    )
}

fn scalar(
    names: &Names<'_>,
    field: &str,
    raw: &manifest::Parameter,
) -> Result<ParameterRole, PackageError> {
    let span = raw.name.span();
    let fault = |message: &str, hint: &str| Err(names.text.at(&span, field, message, hint));
    if raw.dims.is_some() || raw.generator.is_some() || raw.tolerance.is_some() {
        return fault(
            "a scalar has no dims, generator or tolerance",
            "remove them",
        );
    }
    let value = match (&raw.value, &raw.number) {
        (Some(value), None) if !raw.element.is_float() => {
            ScalarSource::Expression(names.compile(value, &format!("{field}.value"))?)
        }
        (None, Some(number)) if raw.element.is_float() => ScalarSource::Number(*number.as_ref()),
        _ => {
            return fault(
                "a scalar needs one value",
                "`value = \"<expression>\"` for integers, `number = 1e-6` for floats",
            );
        }
    };
    Ok(ParameterRole::Scalar {
        element: raw.element,
        value,
    })
}

fn tensor(
    names: &Names<'_>,
    field: &str,
    raw: &manifest::Parameter,
) -> Result<ParameterRole, PackageError> {
    let span = raw.name.span();
    let fault = |message: &str, hint: &str| Err(names.text.at(&span, field, message, hint));
    if raw.value.is_some() || raw.number.is_some() {
        return fault("a tensor has no value", "remove `value` and `number`");
    }
    let Some(dims) = &raw.dims else {
        return fault("a tensor needs `dims`", "e.g. dims = [\"M\", \"N\"]");
    };
    let direction = match raw.usage.as_ref() {
        ParameterUse::In => Direction::In,
        ParameterUse::Out => Direction::Out,
        ParameterUse::Inout | ParameterUse::Scalar => Direction::Inout,
    };
    let dims = dims
        .iter()
        .enumerate()
        .map(|(i, d)| names.compile(d, &format!("{field}.dims[{i}]")))
        .collect::<Result<_, _>>()?;
    let generator = match (&raw.generator, direction) {
        (None, Direction::Out) => None,
        (Some(raw_generator), Direction::In | Direction::Inout) => Some(generator(
            names,
            &format!("{field}.generator"),
            raw.element,
            raw_generator,
        )?),
        (Some(_), Direction::Out) => {
            return fault(
                "an output has no generator",
                "remove it: outputs are poisoned",
            );
        }
        (None, _) => {
            return fault(
                "an input needs a generator",
                "e.g. generator = { kind = \"normal\", mean = 0.5, std = 1.0 }",
            );
        }
    };
    Ok(ParameterRole::Tensor {
        element: raw.element,
        direction,
        dims,
        align_bytes: alignment(names, field, raw)?,
        generator,
        tolerance: tolerance(names, field, raw, direction)?,
    })
}

fn alignment(
    names: &Names<'_>,
    field: &str,
    raw: &manifest::Parameter,
) -> Result<u64, PackageError> {
    let Some(align) = &raw.align_bytes else {
        return Ok(ALIGN_BYTES);
    };
    let value = *align.as_ref();
    if value.is_power_of_two() && value >= raw.element.size_bytes() && value <= ALIGN_BYTES {
        return Ok(value);
    }
    let hint = format!("a power of two from the element's size to {ALIGN_BYTES}");
    let field = format!("{field}.align_bytes");
    Err(names
        .text
        .at(&align.span(), field, format!("is {value}"), hint))
}

fn tolerance(
    names: &Names<'_>,
    field: &str,
    raw: &manifest::Parameter,
    direction: Direction,
) -> Result<Option<Tolerance>, PackageError> {
    let span = raw.name.span();
    let fault = |message: &str, hint: &str| Err(names.text.at(&span, field, message, hint));
    match (&raw.tolerance, direction, raw.element.is_float()) {
        (None, Direction::In, _) => Ok(None),
        (Some(_), Direction::In, _) => fault("an input has no tolerance", "remove it"),
        (None, _, false) => Ok(Some(Tolerance::Exact)),
        (Some(_), _, false) => fault("integers are compared exactly", "remove `tolerance`"),
        (None, _, true) => fault(
            "a floating output needs a tolerance",
            "e.g. tolerance = { factor = 2.0, length = \"K\", accumulation = \"f32\" }",
        ),
        (Some(tolerance), _, true) => {
            let inner = tolerance.as_ref();
            if !(inner.factor >= 0.0 && inner.factor.is_finite()) {
                let field = format!("{field}.tolerance.factor");
                let message = format!("is {}", inner.factor);
                return Err(names.text.at(
                    &tolerance.span(),
                    field,
                    message,
                    "it must not be negative; 0 for operators that only move values",
                ));
            }
            let length = names.compile(&inner.length, &format!("{field}.tolerance.length"))?;
            Ok(Some(Tolerance::Sum {
                factor: inner.factor,
                length,
                accumulation: inner.accumulation,
            }))
        }
    }
}

fn generator(
    names: &Names<'_>,
    field: &str,
    element: ElementType,
    spanned: &Spanned<manifest::Generator>,
) -> Result<Generator, PackageError> {
    let raw = spanned.as_ref();
    let kind = *raw.kind.as_ref();
    let fault =
        |message: String, hint: &str| Err(names.text.at(&spanned.span(), field, message, hint));
    let real = matches!(kind, GeneratorKind::Normal | GeneratorKind::Uniform);
    if real && !element.is_float() {
        return fault(
            "draws real numbers for an integer tensor".to_owned(),
            "use { kind = \"integers\", low = 0, high = 9 }",
        );
    }
    let given = [
        ("mean", raw.mean),
        ("std", raw.std),
        ("low", raw.low),
        ("high", raw.high),
        ("value", raw.value),
        ("start", raw.start),
        ("step", raw.step),
    ];
    let wanted: &[&str] = match kind {
        GeneratorKind::Normal => &["mean", "std"],
        GeneratorKind::Uniform | GeneratorKind::Integers => &["low", "high"],
        GeneratorKind::Constant => &["value"],
        GeneratorKind::Sequence => &["start", "step"],
    };
    for (name, value) in given {
        match (value, wanted.contains(&name)) {
            (None, true) => return fault(format!("needs `{name}`"), "add it"),
            (Some(_), false) => return fault(format!("has no use for `{name}`"), "remove it"),
            (Some(v), true) if !v.is_finite() => {
                return fault(format!("`{name}` is {v}"), "use a finite number");
            }
            _ => {}
        }
    }
    let get = |value: Option<f64>| value.unwrap_or_default();
    let outliers = outliers(raw.outliers.as_ref());
    if raw.outliers.is_some() && (!real || outliers.is_none()) {
        return fault(
            "cannot have these outliers".to_owned(),
            "normal and uniform take { share = 0.001, factor = 30.0 }, share within 0 and 1",
        );
    }
    let (low, high) = (get(raw.low), get(raw.high));
    if low > high {
        return fault(format!("low = {low} is above high = {high}"), "swap them");
    }
    let integral = |v: f64| v.fract() == 0.0 && v.abs() <= 2_f64.powi(53);
    if kind == GeneratorKind::Integers && !(integral(low) && integral(high)) {
        return fault(
            "bounds are not integers".to_owned(),
            "use whole numbers up to 2^53",
        );
    }
    Ok(match kind {
        GeneratorKind::Normal => Generator::Normal {
            mean: get(raw.mean),
            std: get(raw.std),
            outliers,
        },
        GeneratorKind::Uniform => Generator::Uniform {
            low,
            high,
            outliers,
        },
        GeneratorKind::Integers => Generator::Integers {
            low: low as i64,
            high: high as i64,
        },
        GeneratorKind::Constant => Generator::Constant {
            value: get(raw.value),
        },
        GeneratorKind::Sequence => Generator::Sequence {
            start: get(raw.start),
            step: get(raw.step),
        },
    })
}

fn outliers(raw: Option<&manifest::Outliers>) -> Option<Outliers> {
    let raw = raw?;
    let legal = (0.0..=1.0).contains(&raw.share) && raw.factor.is_finite();
    legal.then_some(Outliers {
        share: raw.share,
        factor: raw.factor,
    })
}
