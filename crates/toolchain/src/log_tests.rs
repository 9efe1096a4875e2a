//! Logs in NVRTC's manner, and what must come of them.

use super::*;

fn parse(log: &str) -> Vec<Diagnostic> {
    let reader = Reader {
        headers: Path::new("/opt/toolchain/headers"),
        hints: &Hints::new(""),
        ptx: None,
    };
    read(log, &reader)
}

fn places(log: &str) -> Vec<(Option<u32>, Option<u32>, String)> {
    parse(log)
        .into_iter()
        .map(|d| (d.line, d.column, d.message))
        .collect()
}

#[test]
fn the_caret_gives_the_column_in_bytes() {
    let log = "\
submission.cu(3): error: identifier \"foo\" is undefined
  \tif (i < n) {\ta[0] = foo(3);
  \t            \t       ^

1 error detected in the compilation of \"submission.cu\".
";
    assert_eq!(
        places(log),
        [(Some(3), Some(22), "identifier \"foo\" is undefined".into())]
    );
    assert_eq!(&"\tif (i < n) {\ta[0] = foo(3);"[21..24], "foo");
}

#[test]
fn codes_go_and_continuations_are_joined() {
    let log = "\
submission.cu(1): warning #186-D: pointless comparison of unsigned integer with zero
  u >= 0
      ^

Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"

submission.cu(9): error: more than one instance of overloaded function \"sqrt\" matches the argument list:
            function \"sqrt(float)\" (declared implicitly)
            function \"sqrt(double)\" (declared implicitly)
            argument types are: (int)
                    b[0] = sqrt(a[0]);
                           ^
";
    let diagnostics = parse(log);
    assert_eq!(diagnostics.len(), 2);
    assert_eq!(diagnostics[0].severity, Severity::Warning);
    assert_eq!(
        diagnostics[0].message,
        "pointless comparison of unsigned integer with zero"
    );
    assert_eq!(diagnostics[1].column, Some(26));
    assert!(
        diagnostics[1].message.ends_with(
            "argument list: function \"sqrt(float)\" (declared implicitly); \
             function \"sqrt(double)\" (declared implicitly); argument types are: (int)"
        ),
        "{}",
        diagnostics[1].message
    );
}

#[test]
fn nothing_of_a_foreign_file_gets_out() {
    let log = "\
/etc/hostname(1): error: this declaration has no storage class or type specifier
  secret-host-name
  ^

/etc/passwd(2): error: identifier \"root\" is undefined
  root:x:0:0
  ^
/etc/passwd(2): note #3326-D: \"root\" looks strange
submission.cu(4): catastrophic error: cannot open source file \"/etc/shadow\"
  #include \"/etc/shadow\"
                        ^
";
    let diagnostics = parse(log);
    let text = format!("{diagnostics:?}");
    for leak in ["secret", "root", "hostname", "passwd"] {
        assert!(!text.contains(leak), "{leak} in {text}");
    }
    assert_eq!(diagnostics.len(), 2, "equal messages are one: {text}");
    assert_eq!(
        (diagnostics[1].line, diagnostics[1].column),
        (Some(4), Some(23))
    );
}

#[test]
fn a_file_that_is_closed_looks_like_one_that_is_missing() {
    let log = |reason: &str| {
        format!(
            "submission.cu(1): catastrophic error: cannot open source file \"/etc/x\"{reason}\n  #include \"/etc/x\"\n                   ^\n"
        )
    };
    assert_eq!(parse(&log(": Permission denied")), parse(&log("")));
}

#[test]
fn errors_in_headers_name_the_header_and_the_instantiation() {
    let log = "\
/opt/toolchain/headers/cccl/cub/block/block_reduce.cuh(88): error: static assertion failed with \"bad\"
    static_assert(N > 0, \"bad\");
    ^
          detected during:
            instantiation of class \"cub::BlockReduce<T, N> [with T=float, N=0]\" at line 12 of submission.cu

/opt/toolchain/headers/cuda_fp16.h(7): warning #1-D: something of ours
  x
  ^
/opt/toolchain/headers/cuda_fp16.h(8): note #2-D: and more of it
  x
  ^
";
    assert_eq!(
        places(log),
        [(
            Some(12),
            None,
            "in <cub/block/block_reduce.cuh>: static assertion failed with \"bad\"".into()
        )]
    );
}

#[test]
fn the_assemblers_words_lose_their_mangled_names() {
    let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90a'
ptxas application ptx input, line 23; error   : Not a name of any known instruction: 'foo'
 ptxas error   : Entry function '_Z6stridePi' uses too much shared data (0x61a80 bytes, 0x38c00 max)
ptxas fatal   : Unresolved extern function '_ZN4math1fEv'
ptxas fatal   : Ptx assembly aborted due to errors
";
    let messages: Vec<String> = parse(log).into_iter().map(|d| d.message).collect();
    assert_eq!(
        messages,
        [
            "assembler: Not a name of any known instruction: 'foo'",
            "assembler: Entry function 'stride' uses too much shared data (0x61a80 bytes, 0x38c00 max)",
            "assembler: Unresolved extern function 'math::f'",
        ]
    );
}

#[test]
fn instantiations_that_fail_are_told_without_a_place() {
    let log = "\
__nv_name_map(3): error: identifier \"nope\" is undefined
  #pragma nv_mangled_name nope<3>
                          ^
";
    assert_eq!(
        places(log),
        [(
            None,
            None,
            "in a kernel that the host function launches: identifier \"nope\" is undefined".into()
        )]
    );
}

#[test]
fn an_end_of_source_and_its_note_are_kept() {
    let log = "\
At end of source: error: expected a \"}\"
submission.cu(1): note #3196-D: to match this \"{\"
  __global__ void k(){ /* 
                     ^
";
    let diagnostics = parse(log);
    assert_eq!(
        diagnostics[0].message,
        "at the end of the source: expected a \"}\""
    );
    assert_eq!(diagnostics[1].severity, Severity::Note);
    assert_eq!(
        (diagnostics[1].line, diagnostics[1].column),
        (Some(1), Some(20))
    );
}

#[test]
fn floods_are_capped_and_errors_come_through() {
    use std::fmt::Write;
    let mut log = String::new();
    for line in 0..200 {
        writeln!(log, "submission.cu({line}): warning #1-D: w{line}").unwrap();
    }
    for line in 0..20 {
        writeln!(log, "submission.cu({line}): error: {}", "e".repeat(5000)).unwrap();
    }
    let diagnostics = parse(&log);
    assert_eq!(diagnostics.len(), 50);
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    assert_eq!(errors.count(), 20);
    assert!(diagnostics.iter().all(|d| d.message.len() < 1100));
}

#[test]
fn the_assembler_speaks_of_lines_of_the_submission() {
    let ptx = "\
.visible .entry _Z1kPf(
)
{
\t.loc\t1 3 0
\tret;
\t.loc\t1 4 2
\tfoo.f32;
}
\t.file\t1 \"submission.cu\"
";
    let log = "\
ptxas application ptx input, line 7; error   : Not a name of any known instruction: 'foo'
ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x61a80 bytes, 0x38c00 max)
";
    let reader = Reader {
        headers: Path::new("/opt/toolchain/headers"),
        hints: &Hints::new(""),
        ptx: Some(&Listing::of_ptx(ptx)),
    };
    let diagnostics = read(log, &reader);
    let lines: Vec<_> = diagnostics.iter().map(|d| d.line).collect();
    assert_eq!(lines, [Some(4), Some(3)]);
    assert!(diagnostics.iter().all(|d| d.hint.is_some()));
}

#[test]
fn what_follows_from_an_error_is_left_out() {
    let messages = |log: &str| -> Vec<String> {
        let kept = parse(log).into_iter();
        kept.map(|d| format!("{}: {}", d.line.unwrap_or(0), d.message))
            .collect()
    };
    let log = "\
submission.cu(2): warning #177-D: variable \"i\" was declared but never referenced
submission.cu(3): error: namespace \"std\" has no member \"vector\"
submission.cu(3): error: type name is not allowed
submission.cu(3): error: identifier \"v\" is undefined
submission.cu(4): error: expected a statement
submission.cu(6): error: identifier \"half\" is undefined
submission.cu(7): error: identifier \"__float2half\" is undefined
submission.cu(8): error: identifier \"m\" is undefined
submission.cu(9): error: identifier \"m\" is undefined
submission.cu(9): warning #186-D: pointless comparison of unsigned integer with zero
__nv_name_map(2): error: Name expression cannot form address of a non-__global__ function. Input name expression was: \"k\"
";
    assert_eq!(
        messages(log),
        [
            "3: namespace \"std\" has no member \"vector\"",
            "6: identifier \"half\" is undefined",
            "8: identifier \"m\" is undefined",
            "9: pointless comparison of unsigned integer with zero",
        ]
    );
    // By themselves they are all there is.
    for alone in [
        "submission.cu(3): error: type name is not allowed\n",
        "submission.cu(3): error: expected a statement\n",
        "submission.cu(3): warning #177-D: variable \"i\" was declared but never referenced\n",
        "__nv_name_map(2): error: identifier \"nope\" is undefined\n",
    ] {
        assert_eq!(messages(alone).len(), 1, "{alone}");
    }
    // Two names on a line are two mistakes.
    let two = "submission.cu(3): error: identifier \"a1\" is undefined\nsubmission.cu(3): error: identifier \"b1\" is undefined\n";
    assert_eq!(messages(two).len(), 2);
}

#[test]
fn places_in_headers_are_left_out_of_messages() {
    let log = "\
submission.cu(4): error: more than one operator \"+\" matches these operands:
            function \"operator+(const __half &, const __half &)\" (declared at line 5013 of cuda_fp16.h)
            function \"operator+(V, V)\" (declared at line 2)
submission.cu(4): note #3328-D: built-in operator+(<pointer to object>, <ptrdiff_t>) does not match
submission.cu(2): note #3322-D: number of parameters does not match
";
    let diagnostics = parse(log);
    assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
    let message = &diagnostics[0].message;
    assert!(!message.contains("cuda_fp16.h"), "{message}");
    assert!(message.ends_with("(declared at line 2)"), "{message}");
}
