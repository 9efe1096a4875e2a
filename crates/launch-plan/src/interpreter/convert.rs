//! Conversions between types, and values made from arguments.

use std::rc::Rc;

use super::Interpreter;
use super::arithmetic;
use super::parameters::Given;
use super::pointers::stand_in_address;
use super::unknown_types::unknown_type;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Layout};
use crate::types::{Pointee, Record, Scalar, Type};

/// What is said of a literal that loses its fraction: message and hint.
pub(crate) fn cut_off(literal: &str, value: f64, ty: &str) -> (String, String) {
    let message = format!(
        "`{literal}` becomes {} here, as `{ty}` holds whole numbers",
        value.trunc()
    );
    let hint = "make the type `float`, or write the whole number that is meant".to_owned();
    (message, hint)
}

impl<'p> Interpreter<'p> {
    /// `value` as C++ converts it to `ty` without being told.
    pub(super) fn convert(&mut self, value: Value, ty: &Type, at: At) -> Fallible<Value> {
        match (ty, value) {
            (
                Type::Scalar(Scalar::Bool),
                value @ (Value::Pointer(..) | Value::Kernel(_) | Value::Driver(_)),
            ) => self.truth(&value, at).map(Value::boolean),
            (Type::Scalar(scalar), value) => match arithmetic::convert(&value, *scalar, at) {
                Some(converted) => converted,
                None => Err(no_conversion(&value, ty, at)),
            },
            // A `const` that is lost here is not refused, as nvcc would: names of types (`typedef const
            // float cf`, a template's `T`) and `auto` do not keep it, and what is right must pass.
            (Type::Pointer(wanted), Value::Pointer(_, target)) => {
                self.cast_pointer(wanted, target, false, at)
            }
            (Type::Pointer(pointee), Value::Integer(_, 0)) => {
                Ok(Value::Pointer(Rc::clone(pointee), Target::NULL))
            }
            (Type::Pointer(_), value @ (Value::Text(_) | Value::Kernel(_) | Value::Driver(_))) => {
                Ok(value)
            }
            (
                Type::Kernel | Type::Function | Type::Closure(_),
                value @ (Value::Kernel(_) | Value::Closure(_)),
            ) => Ok(value),
            (Type::Kernel | Type::Function, value @ Value::Driver(_)) => Ok(value),
            (Type::TensorMap, value @ Value::TensorMap(_)) => Ok(value),
            (Type::Output, Value::Output) => Ok(Value::Output),
            (Type::Vector(_) | Type::StdArray(..) | Type::Array(..), Value::Row(given, values))
                if given == *ty =>
            {
                Ok(Value::Row(given, values))
            }
            (Type::Text, value @ Value::Text(_)) => Ok(value),
            (Type::Handle, Value::Handle | Value::Integer(_, 0)) => Ok(Value::Handle),
            (Type::Handle, value @ Value::Graph(_)) => Ok(value),
            (Type::Handle | Type::Kernel, Value::Pointer(_, target)) if target.is_null() => {
                Ok(Value::Handle)
            }
            (Type::Record(wanted), value) if wanted.holder.is_some() => {
                match self.converted_to_holder(wanted, &value, at) {
                    Some(converted) => converted,
                    None if value.ty() == *ty => Ok(value),
                    None => Err(no_conversion(&value, ty, at)),
                }
            }
            (Type::Record(wanted), Value::Record(given, fields)) => {
                self.convert_record(wanted, &given, fields, at)
            }
            (Type::Record(record), value @ (Value::Integer(..) | Value::Floating(..)))
                if record.name == "dim3" =>
            {
                let x = self.convert(value, &Type::Scalar(Scalar::UInt), at)?;
                Ok(dim3(record, x))
            }
            (Type::Void, _) => Ok(Value::Void),
            (Type::Record(record), value) if !self.constructors_of(record).is_empty() => {
                let constructors = self.constructors_of(record);
                let given = vec![Given::value(value, at)];
                self.construct_object(record, &constructors, given, at)
            }
            (ty, value) => Err(no_conversion(&value, ty, at)),
        }
    }

    fn convert_record(
        &mut self,
        wanted: &Rc<Record>,
        given: &Rc<Record>,
        fields: Vec<Option<Value>>,
        at: At,
    ) -> Fallible<Value> {
        let threes = ["dim3", "uint3"];
        let same = wanted.name == given.name;
        let three = threes.contains(&wanted.name.as_str()) && threes.contains(&given.name.as_str());
        if same || three {
            return Ok(Value::Record(Rc::clone(wanted), fields));
        }
        if let Some(base) = self.base_of(given)
            && !given.has_destructor
            && let Some(Some(Value::Record(record, fields))) = fields.first()
            && record.name == base.name
        {
            return self.convert_record(wanted, record, fields.clone(), at);
        }
        let both = |start: &str| wanted.name.starts_with(start) && given.name.starts_with(start);
        let same_length = wanted.fields.len() == given.fields.len();
        if (both("std::pair<") || both("std::tuple<")) && same_length {
            let mut converted = Vec::new();
            for (field, value) in wanted.fields.iter().zip(fields) {
                converted.push(match value {
                    Some(value) => Some(self.convert(value, &field.ty, at)?),
                    None => None,
                });
            }
            return Ok(Value::Record(Rc::clone(wanted), converted));
        }
        let value = Value::Record(Rc::clone(given), fields);
        Err(no_conversion(&value, &Type::Record(Rc::clone(wanted)), at))
    }

    /// A pointer as one of another type; raw memory takes the type that it is used as first.
    fn cast_pointer(
        &mut self,
        to: &Rc<Pointee>,
        mut target: Target,
        is_told: bool,
        at: At,
    ) -> Fallible<Value> {
        if let Target::Host(place) = &mut target {
            // A cast may take the `const` away.
            place.constant &= !is_told || to.constant;
        }
        if let Target::Host(place) = &target {
            self.memory.give_type(place, &to.ty, at)?;
            if let Ok(ty) = self.memory.type_at(place, at) {
                let other = self.as_base(place, &ty, &to.ty);
                let other = other.or_else(|| self.as_derived(place, &ty, &to.ty));
                if let Some(place) = other {
                    return Ok(Value::Pointer(Rc::clone(to), Target::Host(place)));
                }
            }
        }
        Ok(Value::Pointer(Rc::clone(to), target))
    }

    /// `(T)value`.
    pub(super) fn cast(&mut self, value: Value, ty: &Type, at: At) -> Fallible<Value> {
        match (&value, ty) {
            (Value::Pointer(_, Target::Device(place)), Type::Scalar(scalar))
                if scalar.is_integer() && *scalar != Scalar::Bool =>
            {
                let address = stand_in_address(*place);
                Ok(Value::Integer(*scalar, scalar.wrap(address)))
            }
            (Value::Integer(_, number), Type::Pointer(_)) if *number != 0 => {
                Err(Fault::unsupported(
                    at,
                    "a number is turned into a pointer",
                    "keep addresses in pointers; add offsets to them",
                ))
            }
            (Value::Pointer(_, target), Type::Pointer(pointee)) => {
                self.cast_pointer(pointee, target.clone(), true, at)
            }
            _ => self.convert(value, ty, at),
        }
    }

    /// The value of `T x = expr;`.
    pub(super) fn initialised(&mut self, ty: &Type, expr: &'p Expr) -> Fallible<Value> {
        if let ExprKind::List(values) = &expr.kind {
            return self.deeper(expr.at, |interpreter| {
                interpreter.construct(ty, values, true, expr.at)
            });
        }
        if let Some(value) = self.cast_by_class(expr, ty)? {
            return Ok(value);
        }
        let value = match self.taken(expr)? {
            Some(object) => object,
            None => self.evaluate(expr)?,
        };
        self.convert(value, ty, expr.at)
    }

    /// Says that a literal with a fraction, where an integer is taken, loses it.
    pub(super) fn warn_of_cut_literal(&mut self, expr: &Expr, scalar: Scalar) {
        if !scalar.is_integer() || scalar == Scalar::Bool {
            return;
        }
        if let ExprKind::Float(value, of) = expr.kind
            && value.fract() != 0.0
        {
            let suffix = if of == Scalar::Float { "f" } else { "" };
            let (message, hint) = cut_off(
                &format!("{value}{suffix}"),
                value,
                &Type::Scalar(scalar).to_string(),
            );
            self.warn(expr.at, &message, &hint);
        }
    }
}

impl Interpreter<'_> {
    /// A type that the host cannot make values of, with the reason where the file's own class gives it.
    pub(super) fn opaque_type(&self, name: &str, at: At) -> Box<Fault> {
        let plain = name.split('<').next().unwrap_or(name);
        for index in self.tables.records_named(plain) {
            if let Layout::Opaque(reason) = &self.tables.record(index).layout {
                return Fault::unsupported(
                    at,
                    format!("`{plain}` in host code is not in the host subset: {reason}"),
                    "use a plain struct: fields, constructors and methods",
                );
            }
        }
        for index in self.tables.records_named(plain) {
            if self.tables.record(index).base.is_some() {
                return Fault::unsupported(
                    at,
                    format!(
                        "`{plain}` in host code is not in the host subset: its base class has no fields, ends in padding or is none that the host can make"
                    ),
                    "put the base class's fields and methods into it",
                );
            }
        }
        unknown_type(name, at)
    }
}

fn dim3(record: &Rc<Record>, x: Value) -> Value {
    let one = || Some(Value::Integer(Scalar::UInt, 1));
    Value::Record(Rc::clone(record), vec![Some(x), one(), one()])
}

fn no_conversion(value: &Value, ty: &Type, at: At) -> Box<Fault> {
    let message = format!(
        "a value of type `{}` does not convert to `{ty}`",
        value.ty()
    );
    Fault::unsupported(at, message, "cast it, or change the type of one")
}
