//! Runs the parser within a budget, so that hostile text cannot stall the judge.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::failure::{Fallible, Fault};

/// Calls of the parser's progress report; one is made about every hundred operations.
const MAX_PROGRESS_REPORTS: u32 = 100_000;

/// The syntax tree of preprocessed text. Errors are nodes of the tree.
pub(crate) fn parse(text: &str) -> Fallible<Tree> {
    let too_long = || {
        Fault::new(
            domain::VerdictKind::CompileLimit,
            0,
            "the file takes too long to parse",
        )
        .hint("shorten it, or remove generated code")
    };
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_cuda::LANGUAGE.into())
        .expect("the grammar is built for this version of the parser");
    let mut reports = 0_u32;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_PROGRESS_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser
        .parse_with_options(&mut read, None, Some(options))
        .ok_or_else(too_long)
}
