//! A problem made up from an answer's own signature.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::catch_unwind;

use domain::{
    Axes, DeviceName, Direction, ElementType, Parameter, ParameterKind, Signature, Source,
};
use launch_plan::{Argument, Program};
use problems::expression::Expression;
use problems::package::{
    Accumulation, Algorithm, CostSpec, Limits, Provenance, Rules, ScalarSource,
};
use problems::shapes::Edge;
use problems::{
    Bilingual, Difficulty, Generator, Kind, Package, ParameterRole, ParameterSpec, Tolerance,
};

/// Size of every tensor.
const TENSOR_BYTES: u64 = 1 << 20;
/// Thread instructions that one answer may issue.
const INSTRUCTIONS: u64 = 100_000_000;

/// A package with one shape, in which every integer is `size`.
pub fn package(signature: &Signature, size: i64) -> Package {
    let parameters: Vec<ParameterSpec> = signature
        .0
        .iter()
        .enumerate()
        .map(|(position, parameter)| specified(position, parameter, size))
        .collect();
    let reference = reference(signature);
    Package {
        slug: "survey".to_owned(),
        version: 1,
        kind: Kind::Workload,
        title: Bilingual::default(),
        difficulty: Difficulty::Easy,
        tags: Vec::new(),
        lesson: None,
        axes: Vec::new(),
        constraints: Vec::new(),
        parameters,
        cost: CostSpec {
            flop: BTreeMap::new(),
            fp32_product: None,
            bytes: None,
            algorithm: Algorithm::Any,
        },
        limits: Limits {
            compile_s: 30.0,
            run_s: 60.0,
            memory_bytes: 4 << 30,
            emulated_instructions: INSTRUCTIONS,
        },
        rules: Rules {
            scratch_bytes: 1 << 30,
            ..Rules::default()
        },
        statement_en: String::new(),
        statement_zh: String::new(),
        editorial: None,
        hints: Vec::new(),
        baseline_source: reference.clone(),
        starter_source: reference.clone(),
        reference_source: reference,
        solutions: Vec::new(),
        strata: Vec::new(),
        edge: vec![Edge {
            id: "survey".to_owned(),
            axes: Axes::new(),
        }],
        emulated: Vec::new(),
        provenance: Provenance {
            text: String::new(),
            licence: String::new(),
        },
        digest: String::new(),
    }
}

fn specified(position: usize, parameter: &Parameter, size: i64) -> ParameterSpec {
    let number = |value: &dyn std::fmt::Display| {
        Expression::compile(&value.to_string(), []).expect("a number is an expression")
    };
    let role = match parameter.kind {
        // What is written may have been read before: other judges hand out defined outputs.
        ParameterKind::Tensor { element, direction } => ParameterRole::Tensor {
            element,
            direction: match direction {
                Direction::In => Direction::In,
                Direction::Out | Direction::Inout => Direction::Inout,
            },
            dims: vec![number(&(TENSOR_BYTES / element.size_bytes()))],
            align_bytes: 256,
            generator: Some(contents(element)),
            tolerance: (direction != Direction::In).then(|| {
                if element.is_float() {
                    Tolerance::Sum {
                        factor: 1.0,
                        length: number(&1),
                        accumulation: Accumulation::F32,
                    }
                } else {
                    Tolerance::Exact
                }
            }),
        },
        ParameterKind::Scalar { element } => ParameterRole::Scalar {
            element,
            value: if element.is_float() {
                ScalarSource::Number(1.0)
            } else {
                ScalarSource::Expression(number(&size))
            },
        },
    };
    ParameterSpec {
        // Two parameters may have one name, or none.
        name: format!("p{position}"),
        about: None,
        role,
    }
}

/// Small numbers: integers are often indices.
fn contents(element: ElementType) -> Generator {
    if element.is_float() {
        Generator::Uniform {
            low: -1.0,
            high: 1.0,
            outliers: None,
        }
    } else {
        let high = if element == ElementType::Bool { 1 } else { 7 };
        Generator::Integers { low: 0, high }
    }
}

/// Leaves every output as it is. Whether an answer agrees with that is not looked at.
fn reference(signature: &Signature) -> Source {
    let (mut head, mut body) = (Vec::new(), String::new());
    for (position, parameter) in signature.0.iter().enumerate() {
        match parameter.kind {
            ParameterKind::Tensor { element, direction }
                if direction != Direction::In && element.is_float() =>
            {
                head.push(format!("double* p{position}, double* scale{position}"));
                let bytes = TENSOR_BYTES / element.size_bytes() * 8;
                let _ = write!(body, " cudaMemset(scale{position}, 0, {bytes});");
            }
            ParameterKind::Tensor { element, .. } => {
                head.push(format!("{}* p{position}", element.c_name()));
            }
            ParameterKind::Scalar { element } => {
                head.push(format!("{} p{position}", element.c_name()));
            }
        }
    }
    let includes = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n";
    let text = format!("{includes}void solve({}) {{{body} }}\n", head.join(", "));
    Source::from_bytes(text.into_bytes()).expect("a short text")
}

/// Whether the host function can be planned, for answers whose device code does not compile: of those a
/// report says only that. `launch-plan` has no `unsafe`, and a panic counts as a failure.
pub fn plans(source: &Source, signature: &Signature, size: i64) -> bool {
    let arguments: Vec<Argument> = signature
        .0
        .iter()
        .map(|parameter| match parameter.kind {
            ParameterKind::Tensor { .. } => Argument::Buffer {
                bytes: TENSOR_BYTES,
            },
            ParameterKind::Scalar { element } if element.is_float() => Argument::Float(1.0),
            ParameterKind::Scalar { .. } => Argument::Int(size),
        })
        .collect();
    let limits = &scoring::device(DeviceName::Emulated).limits;
    let planned = catch_unwind(|| {
        let program = Program::parse(source.as_str(), signature).ok()?;
        program.plan(&arguments, limits).ok()
    });
    matches!(planned, Ok(Some(_)))
}
