//! PTX text to an untyped tree: names resolved to registers and labels, opcodes left as text.
//!
//! Invariant: nothing is skipped in silence. A directive that is not known is a [`LoadError`];
//! an opcode is judged later, when the kernel that holds it is decoded.
//!
//! [`LoadError`]: crate::LoadError

mod ast;
mod body;
mod lexer;
mod parser;

pub(crate) use ast::*;
pub(crate) use parser::parse;
