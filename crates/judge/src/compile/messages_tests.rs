//! The mistakes that learners make most, from the submitted text to what they read: line and column,
//! message, hint. Each goes through parser, host interpreter and compiler as a submission does.

mod device;
mod host;
mod warnings;

use domain::{
    DeviceName, Diagnostic, Direction, ElementType, Parameter, ParameterKind, Severity, Signature,
};
use launch_plan::Argument;

use super::child::answer;
use super::wire::{CompileJob, CompileReply, CompileTask, ShapeCall};
use crate::instances::Asked;
use crate::test_support::toolchain;

/// Line and column (0 where there is none), message and hint of the first error.
type Told = (u32, u32, String, String);

fn told(source: &str) -> Told {
    let tensor = |name: &str, direction| Parameter {
        name: name.to_owned(),
        kind: ParameterKind::Tensor {
            element: ElementType::F32,
            direction,
        },
    };
    let count = Parameter {
        name: "n".to_owned(),
        kind: ParameterKind::Scalar {
            element: ElementType::I32,
        },
    };
    let signature = vec![
        tensor("x", Direction::In),
        tensor("y", Direction::Out),
        count,
    ];
    let buffer = Argument::Buffer { bytes: 4000 };
    let job = CompileJob {
        source: source.to_owned(),
        signature: Signature(signature),
        shapes: vec![ShapeCall {
            arguments: vec![buffer, buffer, Argument::Int(1000)],
            held_out: false,
        }],
        limits: scoring::device(DeviceName::H200).limits.clone(),
        toolchain: toolchain(),
        asked: Asked::default(),
    };
    let request = serde_json::to_vec(&CompileTask::Source(job)).unwrap();
    let reply: CompileReply = serde_json::from_slice(&answer(&request).unwrap()).unwrap();
    let diagnostics = match reply.outcome {
        Ok(compiled) => compiled.warnings,
        Err(refusal) => refusal.diagnostics,
    };
    let worst = [Severity::Error, Severity::Warning];
    // What follows from one mistake is left out.
    let is_own =
        |d: &&Diagnostic| d.severity == Severity::Error && !d.message.starts_with("cannot open");
    let errors = diagnostics.iter().filter(is_own);
    assert!(errors.count() <= 1, "{diagnostics:#?}\n{source}");
    let mut worst = worst.iter();
    let first = worst.find_map(|severity| diagnostics.iter().find(|d| d.severity == *severity));
    let first = first.unwrap_or_else(|| panic!("nothing is said of\n{source}"));
    (
        first.line.unwrap_or(0),
        first.column.unwrap_or(0),
        first.message.clone(),
        first.hint.clone().unwrap_or_default(),
    )
}

/// A file with one kernel and the given body of `solve(x, y, n)`, which stands in line 5.
fn host(body: &str) -> String {
    device(
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];",
        body,
    )
}

/// The same with the kernel's two lines, which begin in line 2.
fn device(kernel: &str, body: &str) -> String {
    format!(
        "__global__ void twice(const float* x, float* y, int n) {{\n{kernel}\n}}\n\
         extern \"C\" void solve(const float* x, float* y, int n) {{ {body} }}\n"
    )
}

const LAUNCH: &str = "twice<<<(n + 255) / 256, 256>>>(x, y, n);";

fn in_kernel(kernel: &str) -> String {
    device(kernel, LAUNCH)
}

/// Compares all before it fails, and shows what was found.
fn all(cases: Vec<(&str, String, Told)>) {
    let mut wrong = Vec::new();
    for (what, source, expected) in cases {
        let found = told(&source);
        if found != expected {
            wrong.push(format!(
                "{what}\n{source}\n  found {found:?}\n  not   {expected:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn case<'a>(
    what: &'a str,
    source: String,
    line: u32,
    column: u32,
    message: &str,
    hint: &str,
) -> (&'a str, String, Told) {
    let told = (line, column, message.to_owned(), hint.to_owned());
    (what, source, told)
}
