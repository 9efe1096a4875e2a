//! Names that are visible while a function runs.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interpreter;
use super::classes::Class;
use super::memory::StackMark;
use super::value::{HostRef, TemplateValue};
use crate::failure::Fallible;
use crate::types::Type;

/// What a local name means.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A variable of the given declared type.
    Variable(HostRef, Type),
    /// A template parameter or alias.
    Template(TemplateValue),
    /// A parameter pack; its elements have names of their own.
    Pack(usize),
}

impl Binding {
    /// The same for a variable that is `const`, where `constant` says so.
    pub(super) fn seen_as(self, constant: bool) -> Self {
        match self {
            Self::Variable(place, ty) => Self::Variable(place.seen_as(constant), ty),
            other => other,
        }
    }
}

/// Names with their meanings, shared by all who see them.
pub(super) type Bindings = Rc<HashMap<String, Binding>>;

/// What a method or lambda sees beyond its parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    /// Fields of the object, `this`, and what a lambda has captured by reference.
    pub(super) members: Bindings,
    pub(super) class: Option<Rc<Class>>,
}

/// One call: its template parameters and its nested blocks.
#[derive(Debug, Default)]
pub(super) struct Frame {
    scopes: Vec<HashMap<String, Binding>>,
    pub(super) around: Surroundings,
    /// Which element of every pack stands for it, within an expansion.
    pub(super) element: Option<usize>,
    /// How many objects wait for their end in the calls around this one.
    pub(super) owned: usize,
    /// Where its local variables start.
    pub(super) floor: StackMark,
    /// The template arguments and the class of the function, which its `static` variables belong to.
    pub(super) instance: String,
}

impl Frame {
    pub(super) fn new(bindings: HashMap<String, Binding>) -> Self {
        Self::within(bindings, Surroundings::default())
    }

    pub(super) fn within(bindings: HashMap<String, Binding>, around: Surroundings) -> Self {
        Self {
            scopes: vec![bindings],
            around,
            element: None,
            owned: 0,
            floor: StackMark::default(),
            instance: String::new(),
        }
    }

    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), binding);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Binding> {
        let found = self.find_whole(name);
        if let (Some(Binding::Pack(_)), Some(index)) = (found, self.element) {
            return self.find_whole(&element_name(name, index));
        }
        found
    }

    /// Whether a block of the function itself has the name.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
    }

    fn find_whole(&self, name: &str) -> Option<&Binding> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        local
            .or_else(|| self.around.members.get(name))
            .or_else(|| self.around.class.as_ref()?.statics.get(name))
    }
}

/// The name of one element of a pack.
pub(super) fn element_name(pack: &str, index: usize) -> String {
    format!("{pack}...{index}")
}

impl Interpreter<'_> {
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

    /// What the running function sees beyond its parameters.
    pub(super) fn surroundings(&self) -> Surroundings {
        let frame = self.frames.last();
        frame.map_or_else(Surroundings::default, |frame| frame.around.clone())
    }

    /// Runs `inner` in a block of its own, whose variables end with it.
    pub(super) fn scoped<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Fallible<T>,
    ) -> Fallible<T> {
        let owned = self.owned.len();
        let mark = self.open_scope();
        let result = inner(self);
        let result = self.ended(owned, result);
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

    /// Runs `inner` in a call of its own. Objects that end with it are the caller's care.
    pub(super) fn framed<T>(&mut self, mut frame: Frame, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.memory.mark();
        frame.owned = self.owned.len();
        frame.floor = mark;
        self.frames.push(frame);
        let result = inner(self);
        self.frames.pop();
        self.memory.release(mark);
        result
    }
}
