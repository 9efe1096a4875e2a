//! From preprocessed text to the tree that the interpreter walks.
//!
//! What the subset does not have becomes an `Unsupported` node, so that it is refused only where
//! it would run.

mod aliases;
pub(crate) mod ast;
mod declarations;
mod declarators;
mod expressions;
pub(crate) mod items;
mod lambdas;
pub(crate) mod literal;
pub(crate) mod lower;
mod members;
mod operators;
pub(crate) mod parse;
mod records;
mod statements;
mod templates;
