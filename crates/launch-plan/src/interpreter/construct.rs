//! Values made from what stands in parentheses or braces, and those made of nothing.

use std::rc::Rc;

use super::Interpreter;
use super::overlay;
use super::overloads::takes_count;
use super::unknown_types::unknown_type;
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::{Record, Type};

impl<'p> Interpreter<'p> {
    /// `T(arguments)`, or `T{arguments}` with braces.
    pub(super) fn construct(
        &mut self,
        ty: &Type,
        arguments: &'p [Expr],
        braces: bool,
        at: At,
    ) -> Fallible<Value> {
        match (ty, arguments) {
            (Type::Record(record), arguments) => self.construct_record(record, arguments, at),
            (Type::Vector(_) | Type::StdArray(..) | Type::Array(..), arguments) => {
                self.construct_container(ty, arguments, braces, at)
            }
            (Type::Named(name), _) => Err(self.opaque_type(name, at)),
            (_, []) => self.zero(ty, at),
            (_, [only]) => match &only.kind {
                ExprKind::List(_) => self.initialised(ty, only),
                _ => {
                    let value = self.evaluate(only)?;
                    self.cast(value, ty, at)
                }
            },
            _ => {
                let message = format!("`{ty}` made from {} values", arguments.len());
                Err(Fault::unsupported(at, message, "pass one value"))
            }
        }
    }

    fn construct_record(
        &mut self,
        record: &Rc<Record>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let arguments = self.expanded(arguments)?;
        if record.holder.is_some() {
            return self.construct_holder(record, arguments, at);
        }
        let constructors = self.constructors_of(record);
        let takes = |&index: &usize| takes_count(self.tables.function(index), arguments.len());
        let own = constructors.is_empty() || constructors.iter().any(takes);
        if arguments.is_empty() && self.has_default_constructor(record, &constructors) {
            return self.with_fields(record, Vec::new(), at);
        }
        if !own && self.inherits_constructors(record) {
            return self.construct_by_base(record, arguments, at);
        }
        if !constructors.is_empty() {
            let is_copied = record.has_destructor || record.has_copy_constructor;
            if let ([only], true) = (arguments, is_copied)
                && let Some(object) = self.taken(only)?
                && matches!(&object, Value::Record(made, _) if made.name == record.name)
            {
                return Ok(object);
            }
            let mut given = self.all_given(&constructors, arguments)?;
            // A copy.
            if let [only] = given.as_slice()
                && let Some(Value::Record(given_record, _)) = &only.value
                && given_record.name == record.name
            {
                let only = given.remove(0);
                return self.given_value(only, "an object");
            }
            return self.construct_object(record, &constructors, given, at);
        }
        if !arguments.is_empty() && self.inherits_constructors(record) {
            return self.construct_by_base(record, arguments, at);
        }
        if let Some(Expr {
            kind: ExprKind::Designated(..),
            ..
        }) = arguments.first()
        {
            return self.with_designated(record, arguments, at);
        }
        if let [only] = arguments
            && !matches!(only.kind, ExprKind::List(_))
        {
            let value = self.evaluate(only)?;
            if matches!(value, Value::Record(..)) {
                return self.convert(value, &Type::Record(Rc::clone(record)), at);
            }
            let first = record.fields.first().map(|field| field.ty.clone());
            let first = self.convert(value, &first.unwrap_or(Type::Void), only.at)?;
            return self.with_fields(record, vec![first], at);
        }
        if arguments.len() > record.fields.len() || (record.overlapping && arguments.len() > 1) {
            let message = format!(
                "`{}` has {} fields and is made from {} values",
                record.name,
                record.fields.len(),
                arguments.len()
            );
            return Err(Fault::unsupported(at, message, "leave some out"));
        }
        let mut values = Vec::new();
        for (field, argument) in record.fields.iter().zip(arguments) {
            let is_union = field.anonymous().is_some_and(|inner| inner.overlapping);
            values.push(match argument.kind {
                ExprKind::List(_) => self.initialised(&field.ty, argument)?,
                // A value of an unnamed union's first field may stand without braces of its own.
                _ if is_union => {
                    self.construct(&field.ty, std::slice::from_ref(argument), true, at)?
                }
                _ => self.initialised(&field.ty, argument)?,
            });
        }
        self.with_fields(record, values, at)
    }

    /// `{.x = 1, .y = 2}`: the fields that are named as given, the rest as C++ fills them.
    fn with_designated(
        &mut self,
        record: &Rc<Record>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let blank = self.with_fields(record, Vec::new(), at)?;
        let (object, _) = self.temporary(blank, at)?;
        for argument in arguments {
            let ExprKind::Designated(name, value) = &argument.kind else {
                let message = "values with names and without in one list";
                return Err(Fault::syntax(argument.at, message).hint("name every field"));
            };
            let Some((path, ty)) = record.path_to(name) else {
                let message = format!(
                    "`{}` has no field `{name}`",
                    Type::Record(Rc::clone(record))
                );
                return Err(Fault::syntax(argument.at, message).hint("name a field of the struct"));
            };
            let value = self.initialised(ty, value)?;
            self.memory
                .store(&object.within(&path), value, argument.at)?;
        }
        let whole = self.memory.load(&object, at)?;
        whole.ok_or_else(|| unknown_type(&record.name, at))
    }

    /// The first fields as given, the rest as C++ fills them.
    fn with_fields(&mut self, record: &Rc<Record>, values: Vec<Value>, at: At) -> Fallible<Value> {
        let given = values.len();
        if record.overlapping && given > 0 {
            let first = values.into_iter().next();
            return Ok(overlay::union_of(record, first));
        }
        let Value::Record(_, mut fields) = self.blank_object(record, values, at)? else {
            return Err(unknown_type(&record.name, at));
        };
        let mut defaults =
            (0..record.fields.len()).map(|index| self.default_expression(record, index));
        if record.overlapping && defaults.any(|default| default.is_some()) {
            return Ok(Value::Record(Rc::clone(record), fields)); // one has its default
        }
        for (slot, field) in fields.iter_mut().zip(&record.fields).skip(given) {
            *slot = Some(self.completed(slot.take(), &field.ty, at)?);
        }
        Ok(Value::Record(Rc::clone(record), fields))
    }

    /// A value in which what nobody has set is zero.
    fn completed(&mut self, value: Option<Value>, ty: &Type, at: At) -> Fallible<Value> {
        match value {
            None => self.zero(ty, at),
            Some(Value::Record(record, mut fields)) => {
                for (slot, field) in fields.iter_mut().zip(&record.fields) {
                    *slot = Some(self.completed(slot.take(), &field.ty, at)?);
                }
                Ok(Value::Record(record, fields))
            }
            Some(Value::Row(ty, mut values)) => {
                if let Type::Array(element, _) | Type::StdArray(element, _) = &ty {
                    for slot in &mut values {
                        *slot = Some(self.completed(slot.take(), element, at)?);
                    }
                }
                Ok(Value::Row(ty, values))
            }
            Some(value) => Ok(value),
        }
    }

    /// The value of `T()`.
    pub(super) fn zero(&mut self, ty: &Type, at: At) -> Fallible<Value> {
        match ty {
            Type::Scalar(_) | Type::Pointer(_) | Type::Handle => {
                self.convert(Value::int(0), ty, at)
            }
            Type::Record(record) => {
                let constructors = self.constructors_of(record);
                if constructors.is_empty() || self.has_default_constructor(record, &constructors) {
                    return self.with_fields(record, Vec::new(), at);
                }
                self.construct_object(record, &constructors, Vec::new(), at)
            }
            Type::Vector(_) => Ok(Value::Row(ty.clone(), Vec::new())),
            Type::StdArray(..) | Type::Array(..) => self.construct_container(ty, &[], true, at),
            Type::Void => Ok(Value::Void),
            Type::Text => Ok(Value::Text("".into())),
            Type::TensorMap => Ok(Value::TensorMap(None)),
            other => Err(unknown_type(&other.to_string(), at)),
        }
    }
}
