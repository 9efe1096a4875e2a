//! A package as a reader sees it. Reference, baseline, solutions and secrets stay inside.

use domain::DeviceName;
use problems::package::{AxisKind as PackageAxis, ScalarSource};
use problems::shapes::Basis;
use problems::{
    Bilingual, Difficulty, Generator, Kind, Package, ParameterRole, ParameterSpec, Stratum,
    Tolerance,
};
use protocol::problem::{
    AxisKind, AxisView, CostView, DrawnAxis, LimitView, LimitsView, Localized, ParameterView,
    ProblemDetail, ProblemKind, ProblemSummary, ProvenanceView, ShapeView, StratumView,
};

/// The device whose limits a reader without a choice is shown.
const REFERENCE_DEVICE: DeviceName = DeviceName::H200;

/// A row of the list; who solved it is for the caller to fill in.
pub(crate) fn summary(package: &Package) -> ProblemSummary {
    ProblemSummary {
        slug: package.slug.clone(),
        version: package.version,
        kind: match package.kind {
            Kind::Lesson => ProblemKind::Lesson,
            Kind::Workload => ProblemKind::Workload,
        },
        title: localized(&package.title),
        difficulty: match package.difficulty {
            Difficulty::Easy => "easy",
            Difficulty::Medium => "medium",
            Difficulty::Hard => "hard",
        }
        .to_owned(),
        tags: package.tags.clone(),
        bound: heaviest(package).and_then(|stratum| Some(limit(package, stratum)?.bound)),
        devices: DeviceName::ALL.to_vec(),
        solvers: 0,
        solved: None,
    }
}

pub(crate) fn detail(package: &Package, summary: ProblemSummary) -> ProblemDetail {
    ProblemDetail {
        summary,
        statement: Localized {
            en: package.statement_en.clone(),
            zh: package.statement_zh.clone(),
        },
        declaration: package.signature().declaration(),
        parameters: package.parameters.iter().map(parameter).collect(),
        axes: package.axes.iter().map(axis).collect(),
        strata: package.strata.iter().map(|s| stratum(package, s)).collect(),
        edge_shapes: package
            .edge
            .iter()
            .map(|edge| ShapeView {
                id: edge.id.clone(),
                stratum: None,
                axes: edge.axes.clone(),
            })
            .collect(),
        emulated_shapes: package
            .emulated
            .iter()
            .map(|shape| ShapeView {
                id: shape.id.clone(),
                stratum: Some(shape.stratum.clone()),
                axes: shape.axes.clone(),
            })
            .collect(),
        cost: cost(package),
        limits: limits(package),
        constraints: package
            .constraints
            .iter()
            .map(|constraint| constraint.text().to_owned())
            .collect(),
        hints: package.hints.iter().map(localized).collect(),
        provenance: ProvenanceView {
            text: package.provenance.text.clone(),
            licence: package.provenance.licence.clone(),
        },
        starter: package.starter_source.as_str().to_owned(),
    }
}

fn localized(text: &Bilingual) -> Localized {
    Localized {
        en: text.en.clone(),
        zh: text.zh.clone(),
    }
}

fn parameter(spec: &ParameterSpec) -> ParameterView {
    let mut view = ParameterView {
        name: spec.name.clone(),
        about: spec.about.as_ref().map(localized),
        c_type: String::new(),
        element: domain::ElementType::F32,
        direction: None,
        shape: None,
        value: None,
        generator: None,
        tolerance: None,
    };
    match &spec.role {
        ParameterRole::Tensor {
            element,
            direction,
            dims,
            generator,
            tolerance,
            ..
        } => {
            let constness = if *direction == domain::signature::Direction::In {
                "const "
            } else {
                ""
            };
            view.c_type = format!("{constness}{}*", element.c_name());
            view.element = *element;
            view.direction = Some(*direction);
            view.shape = Some(dims.iter().map(|dim| dim.text().to_owned()).collect());
            view.generator = generator.as_ref().map(generator_text);
            view.tolerance = tolerance.as_ref().map(tolerance_text);
        }
        ParameterRole::Scalar { element, value } => {
            element.c_name().clone_into(&mut view.c_type);
            view.element = *element;
            view.value = Some(match value {
                ScalarSource::Expression(expression) => expression.text().to_owned(),
                ScalarSource::Number(number) => number.to_string(),
            });
        }
    }
    view
}

fn axis(axis: &problems::package::Axis) -> AxisView {
    let mut view = AxisView {
        name: axis.name.clone(),
        about: axis.about.as_ref().map(localized),
        kind: AxisKind::Const,
        value: None,
        min: None,
        max: None,
        align: None,
        expression: None,
    };
    match &axis.kind {
        PackageAxis::Constant(value) => view.value = Some(*value),
        PackageAxis::Variable { min, max, align } => {
            view.kind = AxisKind::Var;
            view.min = Some(*min);
            view.max = Some(*max);
            view.align = Some(*align);
        }
        PackageAxis::Derived(expression) => {
            view.kind = AxisKind::Expr;
            view.expression = Some(expression.text().to_owned());
        }
    }
    view
}

fn stratum(package: &Package, stratum: &Stratum) -> StratumView {
    let basis = match stratum.basis {
        Basis::Trace => "trace",
        Basis::TracedModel => "traced-model",
        Basis::Config => "config",
        Basis::Spec => "spec",
    };
    StratumView {
        id: stratum.id.clone(),
        label: stratum.label.clone(),
        axes: stratum.public_axes(),
        drawn: stratum
            .drawn
            .iter()
            .map(|(name, drawn)| {
                let range = DrawnAxis {
                    public: drawn.public,
                    lo: drawn.lo,
                    hi: drawn.hi,
                    align: drawn.align,
                };
                (name.clone(), range)
            })
            .collect(),
        calls: stratum.calls,
        time: stratum.time,
        w: stratum.weight,
        basis: Some(basis.to_owned()),
        source: Some(stratum.source.clone()),
        limit: limit(package, stratum),
    }
}

fn heaviest(package: &Package) -> Option<&Stratum> {
    let strata = package.strata.iter();
    strata.max_by(|a, b| a.weight.total_cmp(&b.weight))
}

/// T_SOL of the public draw; `None` where the package's expressions have no value there, which the
/// loader excludes.
fn limit(package: &Package, stratum: &Stratum) -> Option<LimitView> {
    let axes = package.resolve(&stratum.public_axes()).ok()?;
    let cost = package.cost(&axes).ok()?;
    let limit = scoring::limit::limit(&cost, scoring::device::device(REFERENCE_DEVICE));
    Some(LimitView {
        device: REFERENCE_DEVICE,
        flop: cost.total_flop(),
        fused_bytes: cost.fused_bytes,
        t_compute_s: limit.t_compute_s,
        t_memory_s: limit.t_memory_s,
        t_sol_s: limit.t_sol_s,
        bound: limit.bound,
    })
}

fn cost(package: &Package) -> CostView {
    let mut flop: std::collections::BTreeMap<String, String> = package
        .cost
        .flop
        .iter()
        .map(|(pipe, expression)| (pipe.to_string(), expression.text().to_owned()))
        .collect();
    if let Some(product) = &package.cost.fp32_product {
        flop.insert("fp32_product".to_owned(), product.text().to_owned());
    }
    CostView {
        flop,
        fused_bytes: package.cost.bytes.as_ref().map(|b| b.text().to_owned()),
    }
}

fn limits(package: &Package) -> LimitsView {
    LimitsView {
        compile_s: Some(package.limits.compile_s),
        run_s: Some(package.limits.run_s),
        memory_bytes: Some(package.limits.memory_bytes),
        scratch_bytes: Some(package.rules.scratch_bytes),
        emulated_warp_instructions: Some(package.limits.emulated_warp_instructions()),
        forbidden_pipes: package
            .rules
            .forbidden_pipes
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

fn generator_text(generator: &Generator) -> String {
    let (text, outliers) = match generator {
        Generator::Normal {
            mean,
            std,
            outliers,
        } => (format!("normal(mean {mean}, std {std})"), outliers.as_ref()),
        Generator::Uniform {
            low,
            high,
            outliers,
        } => (format!("uniform [{low}, {high})"), outliers.as_ref()),
        Generator::Integers { low, high } => (format!("integers [{low}, {high}]"), None),
        Generator::Constant { value } => (format!("constant {value}"), None),
        Generator::Sequence { start, step } => (format!("sequence {start}, step {step}"), None),
    };
    match outliers {
        Some(outliers) => format!(
            "{text}, {} % of elements times {}",
            outliers.share * 100.0,
            outliers.factor
        ),
        None => text,
    }
}

fn tolerance_text(tolerance: &Tolerance) -> String {
    match tolerance {
        Tolerance::Exact => "exact".to_owned(),
        Tolerance::Sum {
            factor,
            length,
            accumulation,
        } => format!(
            "{factor} · sqrt({}) · eps({}) · S + ulp/2",
            length.text(),
            format!("{accumulation:?}").to_lowercase()
        ),
    }
}
