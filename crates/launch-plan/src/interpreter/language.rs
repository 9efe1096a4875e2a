//! What the interpreter remembers of the file's types and packs.

use super::classes::Classes;
use super::packs::{Expanded, Expansions};

#[derive(Debug)]
pub(super) struct Language<'p> {
    pub(super) classes: Classes,
    pub(super) expanded: Expanded<'p>,
    /// Whether it was said already that nothing is printed.
    pub(super) has_warned_of_output: bool,
    /// Whether a class with a destructor, or a constructor that copies, was met.
    pub(super) has_destructors: bool,
    /// Whether a `std::unique_ptr` or `std::optional` was met.
    pub(super) has_holders: bool,
}

impl<'p> Language<'p> {
    pub(super) fn new(expansions: &'p Expansions) -> Self {
        Self {
            classes: Classes::default(),
            expanded: Expanded::new(expansions),
            has_warned_of_output: false,
            has_destructors: false,
            has_holders: false,
        }
    }
}
