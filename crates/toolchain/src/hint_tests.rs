//! The compiler's messages and what is said to them.

use domain::{Severity, Stage};

use super::*;

const SOURCE: &str = "\
__global__ void k(float* a, int rows) {
    int row = threadIdx.x
    // a comment

    a[row] = 1;
    curandState s; cudaMalloc(0, 0); cudaSucces;
}
";

fn hint_at(message: &str, place: Option<(u32, u32)>) -> Option<String> {
    let mut diagnostic = Diagnostic {
        stage: Stage::Compile,
        severity: Severity::Error,
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
        message: message.to_owned(),
        hint: None,
    };
    Hints::new(SOURCE).give(&mut diagnostic, false);
    diagnostic.hint
}

fn hint(message: &str) -> String {
    hint_at(message, None).unwrap_or_default()
}

fn undefined(name: &str) -> String {
    hint(&format!("identifier \"{name}\" is undefined"))
}

#[test]
fn headers_that_are_not_there() {
    let missing = |name| hint(&format!("cannot open source file \"{name}\""));
    assert!(missing("/etc/passwd").contains("toolchain"));
    assert!(missing("torch/extension.h").contains("PyTorch"));
    assert!(missing("utils.h").contains("one file"));
    assert!(missing("../include/utils.h").contains("one file"));
}

#[test]
fn undefined_names() {
    let cases = [
        ("__half", "#include <cuda_fp16.h>"),
        ("__float2half", "#include <cuda_fp16.h>"),
        ("FLT_MAX", "#include <cfloat>"),
        ("__nv_bfloat162", "#include <cuda_bf16.h>"),
        ("threadidx", "did you mean `threadIdx`?"),
        ("__syncthread", "did you mean `__syncthreads`?"),
        ("sqrtff", "did you mean `sqrtf`?"),
        ("floatt", "did you mean `float`?"),
        ("rowss", "did you mean `rows`?"),
        (
            "__shfl_down",
            "use `__shfl_down_sync`, whose first argument is the mask of lanes: 0xffffffff for all",
        ),
        (
            "cudaMalloc",
            "`cudaMalloc` is a host function: call it in `solve`, not in device code",
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(undefined(name), expected, "{name}");
    }
    for name in ["curandState", "curand_init"] {
        assert!(
            undefined(name).starts_with("#include <curand_kernel.h>"),
            "{name}"
        );
    }
    assert!(undefined("cublasSgemm").starts_with("host libraries"));
    // No function at all, and no near name.
    let at = |name: &str, line| {
        let message = format!("identifier \"{name}\" is undefined");
        hint_at(&message, Some((line, 5))).unwrap()
    };
    // `cudaSucces` is no call, and a line below does not count.
    assert!(at("cudaSucces", 6).starts_with("declare `cudaSucces`"));
    assert!(at("customName", 5).starts_with("declare `customName`"));
    assert!(at("row", 5).starts_with("is `row` declared in another block"));
}

#[test]
fn a_header_that_is_included_is_not_recommended() {
    let mut diagnostic = Diagnostic {
        stage: Stage::Compile,
        severity: Severity::Error,
        line: None,
        column: None,
        message: "identifier \"__hadd\" is undefined".to_owned(),
        hint: None,
    };
    Hints::new("#include <cuda_fp16.h>\n").give(&mut diagnostic, false);
    assert!(
        diagnostic
            .hint
            .is_none_or(|hint| !hint.contains("#include"))
    );
}

#[test]
fn a_missing_semicolon_is_where_the_statement_ends() {
    let expected = "expected a \";\"";
    assert_eq!(
        hint_at(expected, Some((5, 5))).unwrap(),
        "a `;` is missing at the end of line 2"
    );
    assert_eq!(
        hint_at(expected, Some((5, 12))).unwrap(),
        "a `;` is missing before this place"
    );
    assert_eq!(hint_at(expected, None), None);
    assert_eq!(hint_at(expected, Some((99, 1))), None);
}

#[test]
fn what_follows_another_error_is_not_taken_at_its_word() {
    let follower = |message: &str| {
        let mut diagnostic = Diagnostic {
            stage: Stage::Compile,
            severity: Severity::Error,
            line: Some(5),
            column: Some(12),
            message: message.to_owned(),
            hint: None,
        };
        Hints::new(SOURCE).give(&mut diagnostic, true);
        diagnostic.hint
    };
    assert_eq!(follower("expected a \";\""), None);
    assert_eq!(follower("identifier \"a\" is undefined"), None);
    assert!(follower("identifier \"__half\" is undefined").is_some());
}

#[test]
fn members_and_arguments() {
    assert_eq!(
        hint("class \"uint3\" has no member \"X\""),
        "did you mean `.x`?"
    );
    assert_eq!(
        hint("class \"float2\" has no member \"r\""),
        "its members are x, y"
    );
    assert_eq!(hint("class \"Tile\" has no member \"r\""), "");
    let passed = |given, wanted| {
        hint(&format!(
            "argument of type \"{given}\" is incompatible with parameter of type \"{wanted}\""
        ))
    };
    assert!(passed("const float *", "float *").contains("declare the parameter `const`"));
    assert_eq!(passed("int *", "float *"), "");
}
