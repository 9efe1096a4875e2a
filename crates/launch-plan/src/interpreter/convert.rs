//! Conversions between types, and values made from arguments.

use std::rc::Rc;

use super::Interpreter;
use super::arithmetic;
use super::pointers::stand_in_address;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::{Record, Scalar, Type};

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
            (Type::Pointer(pointee), Value::Pointer(_, target)) => {
                if let Target::Host(place) = &target {
                    self.memory.give_type(place, &pointee.ty, at)?;
                }
                Ok(Value::Pointer(Rc::clone(pointee), target))
            }
            (Type::Pointer(pointee), Value::Integer(_, 0)) => {
                Ok(Value::Pointer(Rc::clone(pointee), Target::NULL))
            }
            (Type::Pointer(_), value @ (Value::Text(_) | Value::Kernel(_) | Value::Driver(_))) => {
                Ok(value)
            }
            (Type::Kernel, value @ (Value::Kernel(_) | Value::Driver(_))) => Ok(value),
            (Type::TensorMap, value @ Value::TensorMap(_)) => Ok(value),
            (Type::Text, value @ Value::Text(_)) => Ok(value),
            (Type::Handle, Value::Handle | Value::Integer(_, 0)) => Ok(Value::Handle),
            (Type::Handle | Type::Kernel, Value::Pointer(_, target)) if target.is_null() => {
                Ok(Value::Handle)
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
        let value = Value::Record(Rc::clone(given), fields);
        Err(no_conversion(&value, &Type::Record(Rc::clone(wanted)), at))
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
            _ => self.convert(value, ty, at),
        }
    }

    /// The value of `T x = expr;`.
    pub(super) fn initialised(&mut self, ty: &Type, expr: &'p Expr) -> Fallible<Value> {
        if let ExprKind::List(values) = &expr.kind {
            return self.deeper(expr.at, |interpreter| {
                interpreter.construct(ty, values, expr.at)
            });
        }
        let value = self.evaluate(expr)?;
        self.convert(value, ty, expr.at)
    }

    /// `T(arguments)` or `T{arguments}`.
    pub(super) fn construct(
        &mut self,
        ty: &Type,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        match (ty, arguments) {
            (Type::Record(record), arguments) => self.construct_record(record, arguments, at),
            (Type::Named(name), _) => Err(unknown_type(name, at)),
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
                Err(Fault::unsupported(at, message, ""))
            }
        }
    }

    fn construct_record(
        &mut self,
        record: &Rc<Record>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
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
        if arguments.len() > record.fields.len() {
            let message = format!(
                "`{}` has {} fields and is made from {} values",
                record.name,
                record.fields.len(),
                arguments.len()
            );
            return Err(Fault::unsupported(at, message, ""));
        }
        let mut values = Vec::new();
        for (field, argument) in record.fields.iter().zip(arguments) {
            values.push(self.initialised(&field.ty, argument)?);
        }
        self.with_fields(record, values, at)
    }

    /// The first fields as given, the rest as C++ fills them.
    fn with_fields(&mut self, record: &Rc<Record>, values: Vec<Value>, at: At) -> Fallible<Value> {
        let unset = self.unset_value(&Type::Record(Rc::clone(record)), at)?;
        let Some(Value::Record(_, mut fields)) = unset else {
            return Err(unknown_type(&record.name, at));
        };
        let given = values.len();
        for (slot, value) in fields.iter_mut().zip(values) {
            *slot = Some(value);
        }
        for (slot, field) in fields.iter_mut().zip(&record.fields).skip(given) {
            if slot.is_none() {
                *slot = Some(self.zero(&field.ty, at)?);
            }
        }
        Ok(Value::Record(Rc::clone(record), fields))
    }

    /// The value of `T()`.
    pub(super) fn zero(&mut self, ty: &Type, at: At) -> Fallible<Value> {
        match ty {
            Type::Scalar(_) | Type::Pointer(_) | Type::Handle => {
                self.convert(Value::int(0), ty, at)
            }
            Type::Record(record) => self.with_fields(record, Vec::new(), at),
            Type::Void => Ok(Value::Void),
            Type::TensorMap => Ok(Value::TensorMap(None)),
            other => Err(unknown_type(&other.to_string(), at)),
        }
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
    Fault::unsupported(at, message, "")
}

/// A type that the host cannot make values of.
pub(super) fn unknown_type(name: &str, at: At) -> Box<Fault> {
    let plain = name.trim_start_matches("std::");
    let base = plain.split('<').next().unwrap_or(plain);
    let container = [
        "vector",
        "array",
        "string",
        "map",
        "unordered_map",
        "pair",
        "tuple",
        "queue",
    ];
    if container.contains(&base) {
        return Fault::unsupported(
            at,
            format!("the container `{name}` in host code is not in the host subset"),
            "use plain variables or a fixed array; bulk data belongs in device memory",
        );
    }
    if name.starts_with("thrust::") || name.starts_with("cub::") || name.starts_with("cublas") {
        return library_call(name, at);
    }
    if ["thread", "async", "future", "mutex"].contains(&base) {
        return Fault::unsupported(
            at,
            format!("host threads (`{name}`) are not in the host subset"),
            "the plan has one stream; remove them",
        );
    }
    Fault::unsupported(
        at,
        format!("values of type `{name}` are not in the host subset"),
        "scalars, pointers, dim3, CUDA's vector types and plain structs are",
    )
}

/// A library that runs kernels of its own.
pub(super) fn library_call(name: &str, at: At) -> Box<Fault> {
    let library = if name.contains("cublas") {
        "cuBLAS"
    } else if name.contains("thrust") {
        "Thrust"
    } else if name.contains("cub::") {
        "CUB's device-wide algorithms"
    } else if name.contains("cudnn") {
        "cuDNN"
    } else {
        "this library"
    };
    Fault::unsupported(
        at,
        format!("`{name}` is a host call into {library}, which is not in the host subset"),
        "write the kernel yourself; CUB's block and warp primitives work inside kernels",
    )
}
