//! Entry functions that do not fit their problem, and those that do.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{
    described, limits, parse, plan_of, scalar, tensor, vector_add, vector_add_arguments, with_body,
};
use domain::{Direction, ElementType, Signature};
use launch_plan::{Argument, Program};

#[test]
fn entries_that_do_not_fit() {
    let failure = |source: &str| described(&parse(source).unwrap_err());
    let expected = "void solve(const float* A, const float* B, float* C, int N)";
    assert_eq!(
        failure("__global__ void k() {}\nvoid main_loop() {}"),
        (
            "signature".into(),
            0,
            0,
            "the file defines no function `solve` (or `solution`)".into(),
            format!("expected: {expected}")
        )
    );
    assert_eq!(
        failure("\n extern \"C\" void solve(const float* A, float* C,\n   int N) {}"),
        (
            "signature".into(),
            2,
            18,
            "the parameters do not match the problem: `solve` takes 3 parameters, the problem \
             passes 4"
                .into(),
            format!("expected: {expected}; found: void solve(const float* A, float* C, int N)")
        )
    );
    let reason = |parameters: &str| {
        let source = format!("void solution({parameters}) {{}}");
        failure(&source)
            .3
            .replace("the parameters do not match the problem: ", "")
    };
    assert_eq!(
        reason("const float* A, const float* B, int* C, int N"),
        "parameter 3 (`C`) is `int*`, expected `float*`"
    );
    assert_eq!(
        reason("const float* A, const float* B, float* C, float N"),
        "parameter 4 (`N`) is `float`, expected `int` or another integer"
    );
    assert_eq!(
        reason("const float* A, const float* B, float* C, int* N"),
        "parameter 4 (`N`) is `int*`, expected `int` or another integer"
    );
    assert_eq!(
        reason("std::vector<float> A, const float* B, float* C, int N"),
        "parameter 1 (`A`) is `std::vector`, expected `float*`"
    );
    assert_eq!(
        failure("__global__ void solve(const float* a, const float* b, float* c, int n) {}").3,
        "`solve` is a kernel; the entry is a host function"
    );
    assert_eq!(
        failure("void solve(const float* a, const float* b, float* c, int n);").3,
        "`solve` is declared and not defined"
    );
}

#[test]
fn entries_that_fit_by_position() {
    for parameters in [
        "float* x, float* y, float* z, long long n",
        "const float *__restrict__ a, const float a2[], float *const c, size_t n",
        "Real* a, const Real* b, Real c[8], const unsigned& n",
        "const float* const a, float const* b, float* c, uint64_t",
    ] {
        let source = format!("using Real = float;\nvoid solution({parameters}) {{}}");
        let plan = plan_of(&source, 8);
        assert!(plan.is_ok(), "{parameters}: {plan:?}");
    }
    let narrow = "void solve(float* a, float* b, float* c, short n) {}";
    let (kind, _, _, message, _) = described(&plan_of(narrow, 70_000).unwrap_err());
    assert_eq!(
        (kind.as_str(), message.as_str()),
        ("host_fault", "`n` is 70000, which does not fit `short`")
    );
}

#[test]
fn element_types_of_tensors_must_agree() {
    let cases = [
        (ElementType::Bf16, "__nv_bfloat16*", true),
        (ElementType::Bf16, "const nv_bfloat16*", true),
        (ElementType::F16, "half*", true),
        (ElementType::F16, "float*", false),
        (ElementType::I64, "long long*", true),
        (ElementType::I64, "int64_t*", true),
        (ElementType::I32, "int*", true),
        (ElementType::I32, "unsigned int*", false),
        (ElementType::U8, "unsigned char*", true),
        (ElementType::U8, "uint8_t*", true),
        (ElementType::F64, "double*", true),
        (ElementType::F32, "double*", false),
        (ElementType::F32, "void*", false),
        (ElementType::F32, "float4*", false),
    ];
    for (element, spelling, fits) in cases {
        let signature = Signature(vec![
            tensor("x", element, Direction::Inout),
            scalar("eps", ElementType::F32),
        ]);
        let source = format!("void solve({spelling} x, float eps) {{}}");
        let parsed = Program::parse(&source, &signature);
        assert_eq!(parsed.is_ok(), fits, "{spelling}: {parsed:?}");
        if let Ok(program) = parsed {
            let arguments = [Argument::Buffer { bytes: 8 }, Argument::Float(1e-5)];
            assert!(program.plan(&arguments, &limits()).is_ok());
        }
    }
}

#[test]
fn a_wrong_number_of_arguments_is_told() {
    let program = Program::parse(&with_body(""), &vector_add()).unwrap();
    let failure = program
        .plan(&vector_add_arguments(3)[1..], &limits())
        .unwrap_err();
    assert_eq!(described(&failure).0, "signature");
}
