//! Names that are visible while a function runs.

use std::collections::HashMap;

use super::Interpreter;
use super::memory::StackMark;
use super::value::{HostRef, TemplateValue};
use crate::types::Type;

/// What a local name means.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A variable of the given declared type.
    Variable(HostRef, Type),
    /// A template parameter or alias.
    Template(TemplateValue),
}

/// One call: its template parameters and its nested blocks.
#[derive(Debug, Default)]
pub(super) struct Frame {
    scopes: Vec<HashMap<String, Binding>>,
}

impl Frame {
    pub(super) fn new(bindings: HashMap<String, Binding>) -> Self {
        Self {
            scopes: vec![bindings],
        }
    }

    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }
}

impl<'p> Interpreter<'p> {
    pub(super) fn find_local(&self, name: &str) -> Option<&Binding> {
        self.frames.last().and_then(|frame| frame.find(name))
    }

    /// Whether the innermost block has the name itself.
    pub(super) fn is_declared_here(&self, name: &str) -> bool {
        let block = self.frames.last().and_then(|frame| frame.scopes.last());
        block.is_some_and(|block| block.contains_key(name))
    }

    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bind(name, binding);
        }
    }

    /// Runs `inner` in a block of its own, whose variables end with it.
    pub(super) fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.open_scope();
        let result = inner(self);
        self.close_scope(mark);
        result
    }

    fn open_scope(&mut self) -> StackMark {
        if let Some(frame) = self.frames.last_mut() {
            frame.scopes.push(HashMap::new());
        }
        self.memory.mark()
    }

    fn close_scope(&mut self, mark: StackMark) {
        if let Some(frame) = self.frames.last_mut() {
            frame.scopes.pop();
        }
        self.memory.release(mark);
    }

    /// Runs `inner` in a call of its own.
    pub(super) fn framed<T>(&mut self, frame: Frame, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.memory.mark();
        self.frames.push(frame);
        let result = inner(self);
        self.frames.pop();
        self.memory.release(mark);
        result
    }
}
