//! `std::unique_ptr` and `std::optional`: structs of the interpreter's own, whose first field is what they hold.
//!
//! Invariant: what a `std::unique_ptr` points to has no other owner. A copy of one is refused, a move leaves the
//! null pointer behind, and where it ends its deleter runs once.

use std::rc::Rc;

use super::Interpreter;
use super::methods::no_method;
use super::parameters::Given;
use super::places::Access;
use super::value::{HostRef, Part, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Name, TemplateArgument, TypeKind};
use crate::types::{Holder, Record, Scalar, Type};

impl<'p> Interpreter<'p> {
    /// `std::unique_ptr<T>`, `<T[]>` or `<T, Deleter>`, and `std::optional<T>`.
    pub(super) fn holder_type(&mut self, name: &'p Name, at: At) -> Fallible<Option<Type>> {
        let Some([held, rest @ ..]) = name.arguments.as_deref() else {
            return Ok(None);
        };
        let record = match (name.plain(), rest) {
            ("unique_ptr", rest) => {
                let (element, is_array) = self.pointed(held)?;
                let deleter = match self.template_values(rest)?.as_slice() {
                    [] => None,
                    [TemplateValue::Type(deleter)] => Some(deleter.clone()),
                    _ => return Ok(None),
                };
                if let Type::Named(name) = &element {
                    return Err(self.opaque_type(name, at));
                }
                self.language.has_destructors = true;
                self.language.has_holders = true;
                Record::unique_ptr(element, is_array, deleter)
            }
            ("optional", []) => {
                let values = self.template_values(std::slice::from_ref(held))?;
                let [TemplateValue::Type(held)] = values.as_slice() else {
                    return Ok(None);
                };
                self.check_element(held, at)?;
                self.language.has_holders = true;
                Record::optional(held.clone())
            }
            _ => None,
        };
        Ok(record.map(|record| Type::Record(Rc::new(record))))
    }

    /// What a `std::unique_ptr` points to, and whether it is an array.
    fn pointed(&mut self, written: &'p TemplateArgument) -> Fallible<(Type, bool)> {
        if let TemplateArgument::Type(ty) = written
            && let TypeKind::Array(element, None) = &ty.kind
        {
            return Ok((self.resolve(element)?, true));
        }
        let values = self.template_values(std::slice::from_ref(written))?;
        Ok(match values.into_iter().next() {
            Some(TemplateValue::Type(ty)) => (ty, false),
            _ => (Type::Void, false),
        })
    }

    /// One that holds nothing.
    pub(super) fn empty_holder(&mut self, record: &Rc<Record>, at: At) -> Fallible<Value> {
        let mut fields = vec![None; record.fields.len()];
        match record.holder {
            Some(Holder::Unique) => {
                for (slot, field) in fields.iter_mut().zip(&record.fields) {
                    *slot = match &field.ty {
                        // A deleter that is a function comes with the pointer.
                        Type::Kernel | Type::Function | Type::Closure(_) => None,
                        ty => Some(self.zero(ty, at)?),
                    };
                }
            }
            _ => fields[1] = Some(Value::boolean(false)),
        }
        Ok(Value::Record(Rc::clone(record), fields))
    }

    /// `T(arguments)` of a holder.
    pub(super) fn construct_holder(
        &mut self,
        record: &Rc<Record>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let ty = Type::Record(Rc::clone(record));
        let (first, deleter) = match arguments {
            [] => return self.empty_holder(record, at),
            [only] => (only, None),
            [first, deleter] if record.fields.len() == 2 => (first, Some(deleter)),
            _ => {
                let message = format!("`{ty}` made from {} values", arguments.len());
                return Err(Fault::unsupported(at, message, "pass what it holds"));
            }
        };
        let value = match self.taken(first)? {
            Some(value) => value,
            None => self.evaluate(first)?,
        };
        let Value::Pointer(..) = &value else {
            return self.convert(value, &ty, at);
        };
        if record.holder != Some(Holder::Unique) {
            return self.convert(value, &ty, at);
        }
        let pointer = self.convert(value, &record.fields[0].ty, at)?;
        let mut made = self.empty_holder(record, at)?;
        if let Value::Record(_, fields) = &mut made {
            fields[0] = Some(pointer);
            if let Some(deleter) = deleter {
                let value = self.evaluate(deleter)?;
                fields[1] = Some(self.convert(value, &record.fields[1].ty, deleter.at)?);
            }
        }
        Ok(made)
    }

    /// What becomes a holder without being told: `nullptr`, `std::nullopt`, and the value of an optional.
    pub(super) fn converted_to_holder(
        &mut self,
        record: &Rc<Record>,
        value: &Value,
        at: At,
    ) -> Option<Fallible<Value>> {
        match (record.holder?, value) {
            (Holder::Unique, Value::Pointer(_, target)) if target.is_null() => {
                Some(self.empty_holder(record, at))
            }
            (Holder::Unique, _) => None,
            (Holder::Optional, Value::Record(given, _)) if given.name == record.name => None,
            (Holder::Optional, value) if is_nullopt(value) => Some(self.empty_holder(record, at)),
            (Holder::Optional, Value::Record(given, fields))
                if given.holder == Some(Holder::Optional) =>
            {
                match (&fields[0], held(fields)) {
                    (Some(inner), true) => self.converted_to_holder(record, &inner.clone(), at),
                    _ => Some(self.empty_holder(record, at)),
                }
            }
            (Holder::Optional, value) => {
                let inner = self.convert(value.clone(), &record.fields[0].ty, at);
                Some(inner.map(|inner| {
                    let fields = vec![Some(inner), Some(Value::boolean(true))];
                    Value::Record(Rc::clone(record), fields)
                }))
            }
        }
    }

    /// The holder that an expression names or makes; `None` where it is something else.
    pub(super) fn holder_at(&mut self, expr: &'p Expr) -> Fallible<Option<(HostRef, Rc<Record>)>> {
        // A call may be the first that has to do with one.
        if !self.language.has_holders && !matches!(expr.kind, ExprKind::Call(..)) {
            return Ok(None);
        }
        let Some(Type::Record(record)) = self.static_type(expr) else {
            return Ok(None);
        };
        if record.holder.is_none() {
            return Ok(None);
        }
        let (place, _) = self.object_place(expr)?;
        Ok(Some((place, record)))
    }

    /// The place that `*expr` names.
    pub(super) fn pointed_by(
        &mut self,
        expr: &'p Expr,
        access: Access,
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        if let Some((place, record)) = self.holder_at(expr)? {
            return self.held_place(&place, &record, access, at);
        }
        if self.tables.has_operators()
            && let Some(Type::Record(record)) = self.static_type(expr)
        {
            let pointer = self.arrow(&record, expr, at)?;
            return self.pointed_place(&pointer, access, at);
        }
        let value = self.evaluate(expr)?;
        match &value {
            Value::Record(record, _) if record.holder.is_some() => {
                let record = Rc::clone(record);
                let (place, _) = self.owned_temporary(value, at)?;
                self.held_place(&place, &record, access, at)
            }
            _ => self.pointed_place(&value, access, at),
        }
    }

    /// What a class's own `operator->` returns.
    fn arrow(&mut self, record: &Rc<Record>, expr: &'p Expr, at: At) -> Fallible<Value> {
        const NAME: &str = "operator->";
        let methods = self.methods_of(record, NAME);
        let (place, _) = self.object_place(expr)?;
        if methods.is_empty() {
            return Err(no_method_of(record, NAME, at));
        }
        let methods = self.for_object(methods, &place, NAME, at)?;
        let (place, record) = self.owner_of_method(&place, record, NAME);
        let around = self.around_object(&place, &record, at)?;
        let value = self.call_chosen(&methods, NAME, &[], Vec::new(), &around, at)?;
        self.value_returned(value, at)
    }

    /// The value of an expression; of a `std::unique_ptr`, its pointer.
    pub(super) fn pointer_or_value(&mut self, expr: &'p Expr) -> Fallible<Value> {
        match self.holder_at(expr)? {
            Some((place, record)) if record.holder == Some(Holder::Unique) => {
                self.held_pointer(&place, &record, expr.at)
            }
            _ => self.evaluate(expr),
        }
    }

    fn held_pointer(&mut self, place: &HostRef, record: &Record, at: At) -> Fallible<Value> {
        let ty = &record.fields[0].ty;
        self.loaded(place.part(Part::Field(0)), ty, "this pointer", at)
    }

    pub(super) fn held_place(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        access: Access,
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        if record.holder == Some(Holder::Unique) {
            let pointer = self.held_pointer(place, record, at)?;
            return self.pointed_place(&pointer, access, at);
        }
        if !self.holds(place, record, at)? {
            let message = format!(
                "the value of an empty `{}` is used",
                Type::Record(Rc::clone(record))
            );
            return Err(Fault::host(at, message));
        }
        Ok((place.part(Part::Field(0)), record.fields[0].ty.clone()))
    }

    /// Whether a holder counts as true.
    pub(super) fn holds(&mut self, place: &HostRef, record: &Record, at: At) -> Fallible<bool> {
        let field = match record.holder {
            Some(Holder::Unique) => 0,
            _ => 1,
        };
        let ty = &record.fields[field].ty;
        let value = self.loaded(place.part(Part::Field(field)), ty, "this value", at)?;
        self.truth(&value, at)
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

    /// `place.name(arguments)`.
    pub(super) fn holder_method(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        match record.holder {
            Some(Holder::Unique) => self.unique_method(place, record, name, arguments, at),
            _ => self.optional_method(place, record, name, arguments, at),
        }
    }

    fn unique_method(
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

    fn optional_method(
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

    /// The type of `holder.name()`.
    pub(super) fn type_of_holder_method(record: &Record, name: &str) -> Option<Type> {
        match (record.holder?, name) {
            (Holder::Unique, "get" | "release") | (Holder::Optional, "value" | "value_or") => {
                Some(record.fields[0].ty.clone())
            }
            (Holder::Optional, "has_value") => Some(Type::BOOL),
            _ => None,
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

    /// `std::make_unique<T>(arguments)` and `std::make_optional(value)`; `None` for other names.
    pub(super) fn make_holder(
        &mut self,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        match (name.plain(), name.arguments.as_deref()) {
            ("make_unique" | "make_unique_for_overwrite", Some([written])) => {
                let overwritten = name.plain() == "make_unique_for_overwrite";
                Some(self.make_unique(written, overwritten, arguments, at))
            }
            ("make_optional", None) => match arguments {
                [only] => {
                    let value = self.evaluate(only);
                    Some(value.and_then(|value| self.made_optional(value, at)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn make_unique(
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

    /// What stands in the place of a holder that is compared: the pointer or the value. `None` for an empty
    /// optional.
    pub(super) fn compared_holder(value: &Value) -> Option<Option<Value>> {
        let Value::Record(record, fields) = value else {
            return None;
        };
        match record.holder {
            Some(Holder::Optional) if held(fields) => Some(fields[0].clone()),
            Some(Holder::Optional) => Some(None),
            Some(Holder::Unique) => Some(fields.first()?.clone()),
            None if is_nullopt(value) => Some(None),
            None => None,
        }
    }
}

/// `std::nullopt`
pub(super) fn nullopt(name: &str) -> Option<Value> {
    if name != "nullopt" {
        return None;
    }
    let record = Record::new("std::nullopt_t", Vec::new())?;
    Some(Value::Record(Rc::new(record), Vec::new()))
}

fn is_nullopt(value: &Value) -> bool {
    matches!(value, Value::Record(record, _) if record.name == "std::nullopt_t")
}

/// Whether an optional with these fields holds something.
fn held(fields: &[Option<Value>]) -> bool {
    matches!(fields.get(1), Some(Some(Value::Integer(Scalar::Bool, 1))))
}

fn no_method_of(record: &Rc<Record>, name: &str, at: At) -> Box<Fault> {
    no_method(&Type::Record(Rc::clone(record)), name, at)
}
