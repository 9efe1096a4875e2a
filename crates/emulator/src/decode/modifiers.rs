//! The dotted parts of an opcode, taken one by one so that none is overlooked.

use crate::LoadError;
use crate::numerics::Rounding;
use crate::syntax::{Statement, Type};

pub(crate) struct Modifiers<'a> {
    base: &'a str,
    rest: Vec<&'a str>,
    statement: &'a Statement,
}

impl<'a> Modifiers<'a> {
    pub(super) fn new(statement: &'a Statement) -> Self {
        let mut parts = statement.opcode.split('.');
        let base = parts.next().unwrap_or_default();
        Self {
            base,
            rest: parts.collect(),
            statement,
        }
    }

    pub(super) fn base(&self) -> &'a str {
        self.base
    }

    /// Takes a modifier if it is there.
    pub(super) fn take(&mut self, name: &str) -> bool {
        match self.rest.iter().position(|&part| part == name) {
            Some(at) => {
                self.rest.remove(at);
                true
            }
            None => false,
        }
    }

    /// Takes all of those that are there; they change nothing here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.rest.retain(|part| !names.contains(part));
    }

    /// Takes the first of `choices` that is there.
    pub(super) fn take_one<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        choices
            .iter()
            .find(|(name, _)| self.take(name))
            .map(|&(_, value)| value)
    }

    /// Whether a part is the next one.
    pub(super) fn starts_with(&self, name: &str) -> bool {
        self.rest.first().is_some_and(|&part| part == name)
    }

    /// Takes the next part, in order.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        (!self.rest.is_empty()).then(|| self.rest.remove(0))
    }

    /// Takes the last part.
    pub(super) fn last(&mut self) -> Option<&'a str> {
        self.rest.pop()
    }

    /// Whether a modifier is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.rest.contains(&name)
    }

    /// How many parts are left.
    pub(super) fn count(&self) -> usize {
        self.rest.len()
    }

    /// Takes the last part, which must be a type.
    pub(super) fn last_type(&mut self) -> Result<Type, LoadError> {
        let ty = self.rest.last().and_then(|part| Type::parse(part));
        self.rest.pop();
        ty.ok_or_else(|| self.unsupported())
    }

    /// Takes `.rn`, `.rz`, `.rm` or `.rp`.
    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        self.take_one(&[
            ("rn", Rounding::Nearest),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
        ])
    }

    /// Takes `.rni`, `.rzi`, `.rmi` or `.rpi`.
    pub(super) fn integral_rounding(&mut self) -> Option<Rounding> {
        self.take_one(&[
            ("rni", Rounding::Nearest),
            ("rzi", Rounding::Zero),
            ("rmi", Rounding::Down),
            ("rpi", Rounding::Up),
        ])
    }

    /// Fails if a part was not taken.
    pub(super) fn finish(&self) -> Result<(), LoadError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.unsupported())
        }
    }

    pub(super) fn unsupported(&self) -> LoadError {
        LoadError::Unsupported {
            opcode: self.statement.opcode.clone(),
            line: self.statement.line,
            ptx_line: self.statement.ptx_line,
        }
    }
}
