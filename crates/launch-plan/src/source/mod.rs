//! From the submitted text to the text that the parser sees: positions, tokens, macros, `#if`.
//!
//! Invariant: every byte of the preprocessed text maps back to an offset in the submitted one.

mod condition;
mod directives;
pub(crate) mod grammar_gaps;
pub(crate) mod lex;
mod macros;
mod nesting;
pub(crate) mod preprocess;
pub(crate) mod text;
mod token;
