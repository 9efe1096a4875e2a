//! Lambdas as values: what they have captured, and their call.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interpreter;
use super::overloads::takes_count;
use super::parameters::Given;
use super::scope::{Binding, Surroundings};
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Capture, CaptureKind, Lambda};
use crate::types::Type;

/// A function with what it has captured.
#[derive(Debug)]
pub(super) struct Closure {
    /// Index among the file's functions.
    pub(super) function: usize,
    /// Captured by value: a variable of each call.
    copies: Vec<(String, Value, Type)>,
    around: Surroundings,
}

impl PartialEq for Closure {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl<'p> Interpreter<'p> {
    pub(super) fn lambda(&mut self, lambda: &'p Lambda, at: At) -> Fallible<Value> {
        let Some(function) = self.tables.lambda(lambda.function) else {
            return Err(Fault::unsupported(
                at,
                "this lambda",
                "write a helper function",
            ));
        };
        let mut copies = Vec::new();
        let mut members: HashMap<String, Binding> = HashMap::new();
        let around = self.surroundings();
        if lambda.this || lambda.default.is_some() {
            self.spend(around.members.len() as u64, at)?;
            members.clone_from(&around.members);
        }
        for name in &lambda.names {
            self.spend(1, at)?;
            let named = lambda.captures.iter().any(|capture| capture.name == *name);
            if named {
                continue;
            }
            match (self.find_local(name).cloned(), lambda.default) {
                // What the object holds is reached through `this`.
                (Some(Binding::Variable(..)), Some(CaptureKind::Copy))
                    if around.members.contains_key(name) && !self.is_variable(name) => {}
                (Some(Binding::Variable(..)), Some(kind)) => {
                    self.capture(name, kind, at, &mut copies, &mut members)?;
                }
                (Some(binding @ Binding::Template(_)), _) => {
                    members.insert(name.clone(), binding);
                }
                // Constants need no capture.
                (Some(Binding::Variable(..)), None) => {
                    let kind = CaptureKind::Copy;
                    self.capture(name, kind, at, &mut copies, &mut members)?;
                }
                _ => {}
            }
        }
        for capture in &lambda.captures {
            self.explicit_capture(capture, &mut copies, &mut members)?;
        }
        Ok(Value::Closure(Rc::new(Closure {
            function,
            copies,
            around: Surroundings {
                members: Rc::new(members),
                class: around.class,
            },
        })))
    }

    /// A host function as a value.
    pub(super) fn function_value(function: usize) -> Value {
        Value::Closure(Rc::new(Closure {
            function,
            copies: Vec::new(),
            around: Surroundings::default(),
        }))
    }

    fn explicit_capture(
        &mut self,
        capture: &'p Capture,
        copies: &mut Vec<(String, Value, Type)>,
        members: &mut HashMap<String, Binding>,
    ) -> Fallible<()> {
        let (name, at) = (&capture.name, capture.at);
        match &capture.value {
            Some(value) if capture.kind == CaptureKind::Reference => {
                let (place, ty) = self.place(value, super::places::Access::Read)?;
                members.insert(name.clone(), Binding::Variable(place, ty));
                Ok(())
            }
            Some(value) => {
                let value = self.evaluate(value)?;
                let ty = value.ty();
                if ty.has_destructor() {
                    return Err(super::destructors::copy(&ty, at));
                }
                copies.push((name.clone(), value, ty));
                Ok(())
            }
            None => self.capture(name, capture.kind, at, copies, members),
        }
    }

    fn capture(
        &mut self,
        name: &str,
        kind: CaptureKind,
        at: At,
        copies: &mut Vec<(String, Value, Type)>,
        members: &mut HashMap<String, Binding>,
    ) -> Fallible<()> {
        let Some(binding) = self.find_local(name).cloned() else {
            return Err(super::expressions::unknown_name(name, at));
        };
        let Binding::Variable(place, ty) = &binding else {
            members.insert(name.to_owned(), binding);
            return Ok(());
        };
        // An array keeps its own life; a copy of all of it is rarely meant.
        if kind == CaptureKind::Reference || matches!(ty, Type::Array(..)) {
            members.insert(name.to_owned(), binding);
            return Ok(());
        }
        if ty.has_destructor() {
            return Err(super::destructors::copy(ty, at));
        }
        // What has no value yet is not used before it has one.
        if let Some(value) = self.memory.load(place, at)? {
            self.spend(value.weight(), at)?;
            copies.push((name.to_owned(), value, ty.clone()));
        }
        Ok(())
    }

    /// Whether a name is a local variable rather than a field of the object.
    fn is_variable(&self, name: &str) -> bool {
        let frame = self.frames.last();
        frame.is_some_and(|frame| frame.has_variable(name))
    }

    pub(super) fn call_closure(
        &mut self,
        closure: &Rc<Closure>,
        explicit: &[TemplateValue],
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        let function = self.tables.function(closure.function);
        if !takes_count(function, given.len()) {
            let message = format!(
                "`{}` takes {} arguments; {} are passed",
                function.path,
                function.parameters.len(),
                given.len()
            );
            return Err(Fault::unsupported(
                at,
                message,
                "pass as many arguments as it has parameters",
            ));
        }
        let mut around = closure.around.clone();
        if closure.copies.is_empty() {
            return self.invoke(function, explicit, given, &around, at);
        }
        let mark = self.memory.mark();
        self.spend(around.members.len() as u64, at)?;
        let mut members = HashMap::clone(&around.members);
        for (name, value, ty) in &closure.copies {
            self.spend(value.weight(), at)?;
            let binding = self.new_variable(ty.clone(), Some(value.clone()), at)?;
            members.insert(name.clone(), binding);
        }
        around.members = Rc::new(members);
        let result = self.invoke(function, explicit, given, &around, at);
        self.memory.release(mark);
        result
    }
}
