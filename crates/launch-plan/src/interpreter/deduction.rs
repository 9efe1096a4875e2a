//! Templates of the standard library whose arguments follow from what they are made of: `std::tuple t{1, 2.0f}`.

use std::rc::Rc;

use super::Interpreter;
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Initial, Name, TypeKind, TypeSyntax};
use crate::types::{Record, Type};

impl<'p> Interpreter<'p> {
    /// The template of the standard library that a type names without its arguments.
    pub(super) fn undeduced(&self, ty: &'p TypeSyntax) -> Option<&'p Name> {
        match &ty.kind {
            TypeKind::Named(name) if is_deducible(name) && !self.names_type(name) => Some(name),
            _ => None,
        }
    }

    /// The value of `std::tuple name initial;`; `None` where there is nothing to deduce from.
    pub(super) fn deduced_variable(
        &mut self,
        name: &'p Name,
        initial: &'p Initial,
        at: At,
    ) -> Option<Fallible<Value>> {
        match initial {
            Initial::None => None,
            Initial::Value(value) => match &value.kind {
                ExprKind::List(values) => Some(self.deduced(name, values, true, at)),
                _ => Some(self.deduced(name, std::slice::from_ref(value), true, at)),
            },
            Initial::Arguments(values) => Some(self.deduced(name, values, false, at)),
            Initial::List(values) => Some(self.deduced(name, values, true, at)),
        }
    }

    /// `std::tuple(arguments)`, or `std::tuple{arguments}` with braces.
    pub(super) fn deduced(
        &mut self,
        name: &'p Name,
        arguments: &'p [Expr],
        braces: bool,
        at: At,
    ) -> Fallible<Value> {
        let mut values = Vec::new();
        for argument in self.expanded(arguments)? {
            values.push(self.evaluate(argument)?);
        }
        let plain = name.plain();
        // Made of another of its kind, it is a copy.
        let start = format!("std::{plain}<");
        if let [only] = values.as_slice()
            && only.ty().to_string().starts_with(&start)
        {
            return Ok(values.remove(0));
        }
        let elements = match (plain, values.as_slice()) {
            ("tuple", _) => return made_tuple(values, at),
            ("pair", [first, second]) => return make_pair(first, second, at),
            ("optional", [value]) => return self.made_optional(value.clone(), at),
            ("vector", [count, value]) if !braces => {
                let count = self.count_of(count, at)?;
                self.spend_in_bulk(count.saturating_mul(1 + value.weight()), at)?;
                self.check_length(count, at)?;
                vec![value.clone(); usize::try_from(count).unwrap_or(0)]
            }
            ("vector", [_, ..]) if braces => values,
            ("array", [_, ..]) => values,
            _ => {
                let message = format!("`{}` made from these values", name.path);
                return Err(Fault::unsupported(
                    at,
                    message,
                    "write its template arguments",
                ));
            }
        };
        let element = elements.first().map_or(Type::Void, Value::ty);
        self.check_element(&element, at)?;
        let mut row = Vec::new();
        for value in elements {
            row.push(Some(self.convert(value, &element, at)?));
        }
        let element = Rc::new(element);
        let ty = match plain {
            "array" => Type::StdArray(element, row.len() as u64),
            _ => Type::Vector(element),
        };
        Ok(Value::Row(ty, row))
    }
}

pub(super) fn is_deducible(name: &Name) -> bool {
    let is_standard = name.path.starts_with("std::") || !name.path.contains("::");
    let template = matches!(
        name.plain(),
        "vector" | "array" | "pair" | "tuple" | "optional"
    );
    is_standard && template && name.arguments.is_none()
}

/// `std::make_tuple(values)`
pub(super) fn made_tuple(values: Vec<Value>, at: At) -> Fallible<Value> {
    let types: Vec<Type> = values.iter().map(Value::ty).collect();
    let tuple = match types.iter().any(Type::has_destructor) {
        true => None,
        false => Record::tuple(types),
    };
    match tuple {
        Some(tuple) => {
            let values = values.into_iter().map(Some).collect();
            Ok(Value::Record(tuple.into(), values))
        }
        None => Err(Fault::unsupported(
            at,
            "a tuple of these values is not in the host subset",
            "put numbers, pointers and plain structs into it",
        )),
    }
}

/// `std::make_pair(first, second)`
pub(super) fn make_pair(first: &Value, second: &Value, at: At) -> Fallible<Value> {
    let Some(pair) = Record::pair(first.ty(), second.ty()) else {
        return Err(Fault::unsupported(
            at,
            "a pair of these values",
            "use a plain struct",
        ));
    };
    let fields = vec![Some(first.clone()), Some(second.clone())];
    Ok(Value::Record(pair.into(), fields))
}
