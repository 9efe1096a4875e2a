//! `std::unique_ptr` and `std::optional`: structs of the interpreter's own, whose first field is what they hold.

use std::rc::Rc;

use super::Interpreter;
use super::methods::no_method;
use super::places::Access;
use super::value::{HostRef, Part, TemplateValue, Value};
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
    pub(super) fn pointed(&mut self, written: &'p TemplateArgument) -> Fallible<(Type, bool)> {
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

pub(super) fn no_method_of(record: &Rc<Record>, name: &str, at: At) -> Box<Fault> {
    no_method(&Type::Record(Rc::clone(record)), name, at)
}
