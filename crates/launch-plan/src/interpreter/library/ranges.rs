//! Ranges of host elements: where they begin and end, their values, parts of containers.

use super::super::Interpreter;
use super::super::value::{HostRef, Part, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Expr, Name};
use crate::types::{Scalar, Type};

impl<'p> Interpreter<'p> {
    /// `std::get<0>(x)`, `std::begin(x)`, `std::end(x)`, `std::size(x)`: the argument is a container.
    pub(super) fn about_container(
        &mut self,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        let [only] = arguments else { return None };
        match (name.plain(), &name.arguments) {
            ("begin" | "cbegin" | "end" | "cend" | "size" | "data", None) => {
                Some(self.ends(name.plain(), only, at))
            }
            ("get", Some(written)) => Some(self.template_values(written).and_then(|index| {
                let (place, ty) = self.object_place(only)?;
                let (part, ty) = self.got_place(&place, &ty, &index, at)?;
                self.loaded(part, &ty, "this part", at)
            })),
            _ => None,
        }
    }

    /// The place of `std::get<index>(x)`.
    pub(in super::super) fn got_place(
        &self,
        place: &HostRef,
        ty: &Type,
        index: &[TemplateValue],
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        let wrong = || {
            let message = format!("this `std::get` of a `{ty}`");
            Fault::unsupported(at, message, "name the field")
        };
        let [TemplateValue::Value(Value::Integer(_, index))] = index else {
            return Err(wrong());
        };
        let index = usize::try_from(*index).map_err(|_| wrong())?;
        match ty {
            Type::Record(record) => {
                let field = record.fields.get(index).ok_or_else(wrong)?;
                Ok((place.part(Part::Field(index)), field.ty.clone()))
            }
            Type::StdArray(element, _) => {
                Ok((place.part(Part::Element(index)), Type::clone(element)))
            }
            _ => Err(wrong()),
        }
    }

    fn ends(&mut self, name: &str, container: &'p Expr, at: At) -> Fallible<Value> {
        let (place, ty) = self.object_place(container)?;
        match &ty {
            Type::Vector(_) | Type::StdArray(..) => {
                self.container_method(&place, &ty, name, &[], at)
            }
            Type::Array(_, length) => {
                let count = Value::Integer(Scalar::ULong, (*length).into());
                if name == "size" {
                    return Ok(count);
                }
                let first = self.loaded(place, &ty, "this array", at)?;
                match name {
                    "end" | "cend" => self.binary(BinaryOp::Add, &first, &count, at),
                    _ => Ok(first),
                }
            }
            _ => {
                let message = format!("`std::{name}` of a value of type `{ty}`");
                Err(Fault::unsupported(at, message, "use an array or a vector"))
            }
        }
    }

    /// The place of the first element, and how many there are.
    pub(super) fn span(
        &mut self,
        first: &Value,
        last: &Value,
        at: At,
    ) -> Fallible<(HostRef, usize)> {
        let (Value::Pointer(_, Target::Host(place)), Value::Pointer(_, Target::Host(_))) =
            (first, last)
        else {
            return Err(Fault::unsupported(
                at,
                "host code works on device memory: the range points to the device",
                "do it in a kernel",
            ));
        };
        let distance = self.binary(BinaryOp::Subtract, last, first, at)?;
        let count = match distance {
            Value::Integer(_, count) => usize::try_from(count).ok(),
            _ => None,
        };
        let Some(count) = count else {
            return Err(Fault::host(at, "the end of a range lies before its start"));
        };
        self.spend_in_bulk(count as u64, at)?;
        let (_, values) = self.memory.run(place, at)?;
        if count > values.len() {
            let message = format!(
                "a range of {count} elements of which {} exist",
                values.len()
            );
            return Err(Fault::host(at, message));
        }
        Ok((place.clone(), count))
    }

    /// The values of a range, each of which must have been set.
    pub(in super::super) fn values_between(
        &mut self,
        first: &Value,
        last: &Value,
        at: At,
    ) -> Fallible<Vec<Value>> {
        let (place, count) = self.span(first, last, at)?;
        let (_, values) = self.memory.run(&place, at)?;
        let values: Option<Vec<Value>> = values.iter().take(count).cloned().collect();
        let values =
            values.ok_or_else(|| Fault::host(at, "an element is read before it has a value"))?;
        self.spend_in_bulk(values.iter().map(Value::weight).sum(), at)?;
        Ok(values)
    }

    /// Sets elements from a place on.
    pub(super) fn set_values(&mut self, first: &Value, values: Vec<Value>, at: At) -> Fallible<()> {
        let Value::Pointer(_, Target::Host(place)) = first else {
            return Err(Fault::unsupported(
                at,
                "host code writes device memory: the range points to the device",
                "do it in a kernel",
            ));
        };
        let ty = self.memory.type_at(place, at)?;
        let mut converted = Vec::new();
        for value in values {
            self.spend(1, at)?;
            converted.push(self.convert(value, &ty, at)?);
        }
        let (_, slots) = self.memory.run(place, at)?;
        if converted.len() > slots.len() {
            let message = format!(
                "{} elements are written where {} exist",
                converted.len(),
                slots.len()
            );
            return Err(Fault::host(at, message)
                .hint("resize the vector first; back_inserter is not in the host subset"));
        }
        for (slot, value) in slots.iter_mut().zip(converted) {
            *slot = Some(value);
        }
        Ok(())
    }
}
