//! What tests of the language share: the value of an expression, seen through a launch.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

use super::{failure_of, plan_of, text};

/// What the host function passes to `show<<<1, 1>>>(value)` after some statements. `before` stands at file
/// scope.
pub fn value_in(before: &str, statements: &str, expression: &str) -> String {
    let source = format!(
        "__global__ void show(long long x) {{}}\n{before}\n\
         void solve(const float* A, const float* B, float* C, int N) {{\n\
         {statements}\nshow<<<1, 1>>>({expression});\n}}\n"
    );
    let plan = match plan_of(&source, 100) {
        Ok(plan) => text(&plan),
        Err(failure) => panic!("{failure}\n{:?}\n{source}", failure.diagnostics),
    };
    let bytes = plan
        .split_once("([")
        .and_then(|(_, rest)| rest.split_once("])"))
        .unwrap_or_else(|| panic!("{plan}"))
        .0;
    let bytes: Vec<u8> = bytes.split(", ").map(|b| b.parse().unwrap()).collect();
    i64::from_le_bytes(bytes.try_into().unwrap()).to_string()
}

pub fn value(statements: &str, expression: &str) -> String {
    value_in("", statements, expression)
}

/// Kind and message of the failure of a body; every refusal has a hint.
pub fn refusal(body: &str) -> String {
    let (kind, _, _, message, hint) = failure_of(body, 100);
    assert!(
        kind != "unsupported_construct" || !hint.is_empty(),
        "no hint: {message}"
    );
    format!("{kind}: {message}")
}
