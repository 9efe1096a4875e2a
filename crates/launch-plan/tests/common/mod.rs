//! What the tests share: signatures, a device, and plans as short text.
#![allow(dead_code, missing_docs)] // each test file uses its own part

pub mod anything;
pub mod bounds;
pub mod broken;
pub mod dice;
pub mod seeds;
pub mod values;

use domain::{Direction, ElementType, Parameter, ParameterKind, Signature, TargetLimits};
use launch_plan::{Argument, Buffer, LaunchArgument, Operation, Place, Plan, PlanFailure, Program};

pub fn tensor(name: &str, element: ElementType, direction: Direction) -> Parameter {
    Parameter {
        name: name.into(),
        kind: ParameterKind::Tensor { element, direction },
    }
}

pub fn scalar(name: &str, element: ElementType) -> Parameter {
    Parameter {
        name: name.into(),
        kind: ParameterKind::Scalar { element },
    }
}

/// `solve(const float* A, const float* B, float* C, int N)`
pub fn vector_add() -> Signature {
    Signature(vec![
        tensor("A", ElementType::F32, Direction::In),
        tensor("B", ElementType::F32, Direction::In),
        tensor("C", ElementType::F32, Direction::Out),
        scalar("N", ElementType::I32),
    ])
}

pub fn vector_add_arguments(n: i64) -> Vec<Argument> {
    let buffer = Argument::Buffer {
        bytes: n.unsigned_abs() * 4,
    };
    vec![buffer, buffer, buffer, Argument::Int(n)]
}

pub fn limits() -> TargetLimits {
    TargetLimits {
        arch: "sm_90a".into(),
        name: "NVIDIA H200".into(),
        compute_major: 9,
        compute_minor: 0,
        multiprocessors: 132,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_blocks_per_multiprocessor: 32,
        max_block: [1024, 1024, 64],
        max_grid: [2_147_483_647, 65_535, 65_535],
        shared_memory_per_block_bytes: 49_152,
        shared_memory_per_block_optin_bytes: 232_448,
        shared_memory_per_multiprocessor_bytes: 233_472,
        registers_per_multiprocessor: 65_536,
        global_memory_bytes: 150_000_000_000,
        l2_bytes: 52_428_800,
        constant_memory_bytes: 65_536,
        warp_size: 32,
        clock_hz: 1_980_000_000,
        memory_bus_bits: 6144,
    }
}

/// A file with two kernels and the given body of `solve(A, B, C, N)`.
pub fn with_body(body: &str) -> String {
    format!("{KERNELS}void solve(const float* A, const float* B, float* C, int N) {{\n{body}\n}}\n")
}

/// Line of the first line of the body in [`with_body`].
pub const BODY_LINE: u32 = 8;

const KERNELS: &str = "\
#include <cuda_runtime.h>
#define BLOCK 256
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
__global__ void k(const float* a, const float* b, float* c, int n) {}
__global__ void one(float* c, int n) {}
template <int T, typename V = float> __global__ void tk(const V* a, V* c, int n) {}
";

pub fn parse(source: &str) -> Result<Program, PlanFailure> {
    Program::parse(source, &vector_add())
}

pub fn plan_of(source: &str, n: i64) -> Result<Plan, PlanFailure> {
    parse(source)?.plan(&vector_add_arguments(n), &limits())
}

/// The plan of a body, one operation a line.
pub fn plan_text(body: &str, n: i64) -> String {
    match plan_of(&with_body(body), n) {
        Ok(plan) => text(&plan),
        Err(failure) => panic!("{}: {failure}\n{:?}", failure.kind, failure.diagnostics),
    }
}

/// Kind, line and column, message and hint of the failure of a body.
pub fn failure_of(body: &str, n: i64) -> (String, u32, u32, String, String) {
    match plan_of(&with_body(body), n) {
        Ok(plan) => panic!("a plan was made:\n{}", text(&plan)),
        Err(failure) => described(&failure),
    }
}

pub fn described(failure: &PlanFailure) -> (String, u32, u32, String, String) {
    let first = &failure.diagnostics[0];
    (
        failure.kind.to_string(),
        first.line.unwrap_or(0),
        first.column.unwrap_or(0),
        first.message.clone(),
        first.hint.clone().unwrap_or_default(),
    )
}

pub fn text(plan: &Plan) -> String {
    let lines: Vec<String> = plan.operations.iter().map(operation_text).collect();
    lines.join("\n")
}

fn operation_text(operation: &Operation) -> String {
    match operation {
        Operation::Allocate { scratch, bytes, .. } => format!("s{scratch} = alloc {bytes}"),
        Operation::Free { scratch, .. } => format!("free s{scratch}"),
        Operation::Launch(launch) => {
            let dims = |d: [u32; 3]| format!("{}x{}x{}", d[0], d[1], d[2]);
            let arguments: Vec<String> = launch.arguments.iter().map(argument_text).collect();
            format!(
                "{} <{}, {}, {}> ({})",
                launch.kernel.0,
                dims(launch.grid),
                dims(launch.block),
                launch.dynamic_shared_bytes,
                arguments.join(", ")
            )
        }
        Operation::Memset {
            destination,
            value,
            bytes,
            ..
        } => format!("memset {} {value} {bytes}", place_text(destination)),
        Operation::Copy {
            destination,
            source,
            bytes,
            ..
        } => format!(
            "copy {} {} {bytes}",
            place_text(destination),
            place_text(source)
        ),
        Operation::Upload {
            destination, data, ..
        } => format!("upload {} {data:?}", place_text(destination)),
        Operation::UploadSymbol {
            symbol,
            offset_bytes,
            data,
            ..
        } => format!("symbol {symbol}+{offset_bytes} {data:?}"),
        Operation::CopyToSymbol {
            symbol,
            offset_bytes,
            source,
            bytes,
            ..
        } => format!(
            "symbol {symbol}+{offset_bytes} {} {bytes}",
            place_text(source)
        ),
    }
}

fn argument_text(argument: &LaunchArgument) -> String {
    match argument {
        LaunchArgument::Pointer(place) => place_text(place),
        LaunchArgument::Value(bytes) => match bytes.as_slice() {
            &[a, b, c, d] => i32::from_le_bytes([a, b, c, d]).to_string(),
            other => format!("{other:?}"),
        },
        LaunchArgument::Record { bytes, pointers } => {
            let pointers = pointers.iter();
            let pointers = pointers.map(|(at, place)| format!("{} at {at}", place_text(place)));
            format!("{bytes:?} with {}", pointers.collect::<Vec<_>>().join(", "))
        }
        LaunchArgument::TensorMap(map) => {
            format!("map {} {:?}", place_text(&map.base), map.dimensions)
        }
    }
}

fn place_text(place: &Place) -> String {
    let buffer = match place.buffer {
        Buffer::Parameter(index) => format!("p{index}"),
        Buffer::Scratch(number) => format!("s{number}"),
        Buffer::Symbol(index) => format!("v{index}"),
        Buffer::Null => "null".to_owned(),
    };
    match place.offset_bytes {
        0 => buffer,
        offset => format!("{buffer}{offset:+}"),
    }
}

/// Checks a body of `solve` for N = 100. Lines of the body count from 1.
#[track_caller]
pub fn refuses(body: &str, kind: &str, line: u32, column: u32, message: &str) {
    let (found_kind, found_line, found_column, found_message, _) = failure_of(body, 100);
    assert_eq!(
        (
            found_kind.as_str(),
            found_line + 1 - BODY_LINE,
            found_column,
            found_message.as_str()
        ),
        (kind, line, column, message)
    );
}
