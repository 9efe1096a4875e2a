//! `std::unique_ptr`: who owns what it points to, and how that ends.
//!
//! Invariant: what one points to has no other owner. A copy of one is refused, a move leaves the null pointer
//! behind, and where it ends its deleter runs once.

use std::rc::Rc;

use super::Interpreter;
use super::holders::no_method_of;
use super::parameters::Given;
use super::value::{HostRef, Part, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, TemplateArgument};
use crate::types::{Holder, Record, Type};

impl<'p> Interpreter<'p> {
    pub(super) fn held_pointer(
        &mut self,
        place: &HostRef,
        record: &Record,
        at: At,
    ) -> Fallible<Value> {
        let ty = &record.fields[0].ty;
        self.loaded(place.part(Part::Field(0)), ty, "this pointer", at)
    }

    /// The value of an object that is moved from its place, field by field: each `std::unique_ptr` in it is null
    /// then.
    pub(super) fn moved_out(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        at: At,
    ) -> Fallible<Option<Value>> {
        let value = self.memory.load(place, at)?;
        self.leave_null(place, record, at)?;
        Ok(value)
    }

    fn leave_null(&mut self, place: &HostRef, record: &Rc<Record>, at: At) -> Fallible<()> {
        self.spend(1, at)?;
        if record.holder == Some(Holder::Unique) {
            let null = self.zero(&record.fields[0].ty, at)?;
            return self.memory.store(&place.part(Part::Field(0)), null, at);
        }
        for (index, field) in record.fields.iter().enumerate() {
            if let Type::Record(inner) = &field.ty
                && inner.has_destructor
            {
                self.leave_null(&place.part(Part::Field(index)), inner, at)?;
            }
        }
        Ok(())
    }

    /// Assigns an object that nobody else has, field by field.
    pub(super) fn assign_fields(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        value: Value,
        at: At,
    ) -> Fallible<()> {
        self.spend(1, at)?;
        if record.holder == Some(Holder::Unique) {
            return self.assign_unique(place, record, value, at);
        }
        let Value::Record(_, values) = value else {
            return Ok(());
        };
        for (index, (field, value)) in record.fields.iter().zip(values).enumerate() {
            let part = place.part(Part::Field(index));
            match (&field.ty, value) {
                (Type::Record(inner), Some(value)) if inner.has_destructor => {
                    self.assign_fields(&part, inner, value, at)?;
                }
                (_, Some(value)) => self.memory.store(&part, value, at)?,
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// Gives a `std::unique_ptr` another value; what it pointed to ends.
    fn assign_unique(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        value: Value,
        at: At,
    ) -> Fallible<()> {
        let old = self.memory.load(place, at)?;
        self.memory.store(place, value, at)?;
        match old {
            Some(old) => {
                let (old, _) = self.temporary(old, at)?;
                self.end_unique(&old, record, at)
            }
            None => Ok(()),
        }
    }

    /// Runs the deleter of a `std::unique_ptr` on what it points to.
    pub(super) fn end_unique(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        at: At,
    ) -> Fallible<()> {
        let Some(pointer) = self.memory.load(&place.part(Part::Field(0)), at)? else {
            return Ok(());
        };
        if !self.truth(&pointer, at)? {
            return Ok(());
        }
        let Some(deleter) = record.fields.get(1) else {
            self.destroy_pointed(&pointer, at)?;
            return self.free_host(&pointer, at);
        };
        let place = place.part(Part::Field(1));
        let given = vec![Given::value(pointer, at)];
        if let Type::Record(deleter) = &deleter.ty {
            self.call_object(&place, deleter, given, at)?;
            return Ok(());
        }
        let function = self.loaded(place, &deleter.ty, "a deleter", at)?;
        self.call_with(&function, given, at).map(|_| ())
    }

    pub(super) fn unique_method(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        match (name, arguments) {
            ("get", []) => self.held_pointer(place, record, at),
            ("release", []) => {
                let pointer = self.held_pointer(place, record, at)?;
                self.moved_out(place, record, at)?;
                Ok(pointer)
            }
            ("reset", [] | [_]) => {
                let ty = &record.fields[0].ty;
                let pointer = match arguments {
                    [new] => self.initialised(ty, new)?,
                    _ => self.zero(ty, at)?,
                };
                let mut new = self.memory.load(place, at)?;
                if let Some(Value::Record(_, fields)) = &mut new {
                    fields[0] = Some(pointer);
                }
                let new = new.ok_or_else(|| no_method_of(record, name, at))?;
                self.assign_unique(place, record, new, at)?;
                Ok(Value::Void)
            }
            ("swap", [other]) => {
                let (other, ty) = self.object_place(other)?;
                if ty != Type::Record(Rc::clone(record)) {
                    return Err(no_method_of(record, name, at));
                }
                self.exchange(place, &other, at)?;
                Ok(Value::Void)
            }
            ("get_deleter", []) if record.fields.len() == 2 => {
                let ty = &record.fields[1].ty;
                self.loaded(place.part(Part::Field(1)), ty, "a deleter", at)
            }
            _ => Err(no_method_of(record, name, at)),
        }
    }

    /// Exchanges the values of two variables of one type, without a constructor.
    pub(super) fn exchange(&mut self, a: &HostRef, b: &HostRef, at: At) -> Fallible<()> {
        let (first, second) = (self.memory.load(a, at)?, self.memory.load(b, at)?);
        if let (Some(first), Some(second)) = (first, second) {
            self.memory.store(a, second, at)?;
            self.memory.store(b, first, at)?;
        }
        Ok(())
    }

    pub(super) fn make_unique(
        &mut self,
        written: &'p TemplateArgument,
        overwritten: bool,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let (element, is_array) = self.pointed(written)?;
        if element.size_bytes().is_none() {
            return Err(self.opaque_type(&element.to_string(), at));
        }
        self.language.has_destructors = true;
        self.language.has_holders = true;
        let count = match (is_array, arguments) {
            (false, _) => 1,
            (true, [count]) => {
                let value = self.evaluate(count)?;
                self.count_of(&value, count.at)?
            }
            (true, _) => {
                let message = "`std::make_unique` of an array without its length";
                return Err(Fault::syntax(at, message).hint("pass the number of elements"));
            }
        };
        let place = if is_array {
            let place = self.memory.allocate(element.clone(), count, at)?;
            let initial = if overwritten { None } else { Some(&[][..]) };
            self.first_values(&place, &element, count, initial, at)?;
            place
        } else {
            let value = self.construct(&element, arguments, false, at)?;
            let place = self.memory.allocate(element.clone(), 1, at)?;
            self.memory.store(&place, value, at)?;
            place
        };
        let pointer = Value::pointer(element.clone(), false, Target::Host(place));
        let record = Record::unique_ptr(element, is_array, None);
        let record =
            record.ok_or_else(|| super::unknown_types::unknown_type("std::unique_ptr", at))?;
        Ok(Value::Record(Rc::new(record), vec![Some(pointer)]))
    }
}
