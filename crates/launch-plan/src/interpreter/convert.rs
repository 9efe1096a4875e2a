//! Conversions between types, and values made from arguments.

use std::rc::Rc;

use super::Interpreter;
use super::arithmetic;
use super::overlay;
use super::overloads::takes_count;
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
            place.constant &= !(is_told && !to.constant);
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
