//! `std::optional`: a value, and whether there is one.

use std::rc::Rc;

use super::Interpreter;
use super::holders::no_method_of;
use super::places::Access;
use super::value::{HostRef, Part, Value};
use crate::failure::Fallible;
use crate::source::text::At;
use crate::syntax::ast::Expr;
use crate::types::Record;

impl<'p> Interpreter<'p> {
    pub(super) fn optional_method(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let held = &record.fields[0].ty;
        match (name, arguments) {
            ("has_value", []) => self.holds(place, record, at).map(Value::boolean),
            ("value", []) => {
                let (place, ty) = self.held_place(place, record, Access::Read, at)?;
                self.loaded(place, &ty, "this value", at)
            }
            ("value_or", [other]) => {
                let other = self.initialised(held, other)?;
                if !self.holds(place, record, at)? {
                    return Ok(other);
                }
                self.loaded(place.part(Part::Field(0)), held, "this value", at)
            }
            ("reset", []) => {
                let empty = self.empty_holder(record, at)?;
                self.memory.store(place, empty, at)?;
                Ok(Value::Void)
            }
            ("emplace", arguments) => {
                let value = self.construct(held, arguments, false, at)?;
                let fields = vec![Some(value.clone()), Some(Value::boolean(true))];
                let whole = Value::Record(Rc::clone(record), fields);
                self.memory.store(place, whole, at)?;
                Ok(value)
            }
            _ => Err(no_method_of(record, name, at)),
        }
    }

    pub(super) fn made_optional(&mut self, value: Value, at: At) -> Fallible<Value> {
        let ty = value.ty();
        self.check_element(&ty, at)?;
        self.language.has_holders = true;
        match Record::optional(ty) {
            Some(record) => {
                let fields = vec![Some(value), Some(Value::boolean(true))];
                Ok(Value::Record(Rc::new(record), fields))
            }
            None => Err(super::unknown_types::unknown_type("std::optional", at)),
        }
    }
}
