//! `std::vector`, `std::array`, and arrays within structs and arrays: values made of elements.

use super::Interpreter;
use super::memory::MAX_ELEMENTS;
use super::value::{HostRef, Part, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::{Scalar, Type};

impl<'p> Interpreter<'p> {
    /// A container made from what stands in its parentheses or braces.
    pub(super) fn construct_container(
        &mut self,
        ty: &Type,
        arguments: &'p [Expr],
        braces: bool,
        at: At,
    ) -> Fallible<Value> {
        if let [only] = arguments {
            match &only.kind {
                // `= {{1, 2}}` and `({1, 2})`
                ExprKind::List(values) if !braces || matches!(ty, Type::StdArray(..)) => {
                    return self.deeper(only.at, |interpreter| {
                        interpreter.construct_container(ty, values, true, at)
                    });
                }
                ExprKind::List(_) => {}
                _ if self.static_type(only).as_ref() == Some(ty) => {
                    let value = self.evaluate(only)?;
                    return self.convert(value, ty, at);
                }
                _ => {}
            }
        }
        match ty {
            Type::Vector(element) if !braces => self.sized_vector(ty, element, arguments, at),
            Type::Vector(element) => {
                let mut values = Vec::new();
                for argument in self.expanded(arguments)? {
                    // A vector made of another with the same type was seen above.
                    values.push(Some(self.initialised(element, argument)?));
                }
                self.checked_row(ty, values, at)
            }
            Type::StdArray(element, length) | Type::Array(element, length) => {
                let arguments = self.expanded(arguments)?;
                if arguments.len() as u64 > *length {
                    let message = format!("{} values for a `{ty}`", arguments.len());
                    return Err(Fault::unsupported(
                        at,
                        message,
                        "give it that many elements",
                    ));
                }
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(Some(self.initialised(element, argument)?));
                }
                let rest = length - values.len() as u64;
                self.check_length(*length, at)?;
                self.grow(&mut values, element, rest, at)?;
                self.checked_row(ty, values, at)
            }
            _ => Err(super::unknown_types::unknown_type(&ty.to_string(), at)),
        }
    }

    /// `(n)`, `(n, value)`, `(first, last)` or another container.
    fn sized_vector(
        &mut self,
        ty: &Type,
        element: &Type,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let mut given = Vec::new();
        for argument in arguments {
            given.push(match &argument.kind {
                ExprKind::List(_) => self.initialised(element, argument)?,
                _ => self.evaluate(argument)?,
            });
        }
        let mut values = Vec::new();
        match given.as_slice() {
            [] => {}
            [Value::Row(..)] => return self.convert(given[0].clone(), ty, at),
            [first @ Value::Pointer(..), last @ Value::Pointer(..)] => {
                for value in self.values_between(first, last, at)? {
                    values.push(Some(self.convert(value, element, at)?));
                }
            }
            [count] => {
                let count = self.count_of(count, at)?;
                self.check_length(count, at)?;
                self.grow(&mut values, element, count, at)?;
            }
            [count, value] => {
                let count = self.count_of(count, at)?;
                self.check_length(count, at)?;
                self.spend_in_bulk(count.saturating_mul(1 + value.weight()), at)?;
                let value = self.convert(value.clone(), element, at)?;
                values = vec![Some(value); usize::try_from(count).unwrap_or(0)];
            }
            _ => {
                let message = format!("a `{ty}` made from {} values", given.len());
                return Err(Fault::unsupported(at, message, "put them in braces"));
            }
        }
        self.checked_row(ty, values, at)
    }

    fn checked_row(&mut self, ty: &Type, values: Vec<Option<Value>>, at: At) -> Fallible<Value> {
        self.check_length(values.len() as u64, at)?;
        Ok(Value::Row(ty.clone(), values))
    }

    /// An array whose elements nobody has set.
    pub(super) fn unset_row(&mut self, ty: &Type, at: At) -> Fallible<Option<Value>> {
        let (element, length) = match ty {
            Type::Vector(_) => return Ok(Some(Value::Row(ty.clone(), Vec::new()))),
            Type::StdArray(element, length) | Type::Array(element, length) => (element, *length),
            _ => return Ok(None),
        };
        self.check_length(ty.scalars(), at)?;
        self.spend_in_bulk(length, at)?;
        let mut values = Vec::new();
        for _ in 0..length {
            values.push(self.unset_value(element, at)?);
        }
        Ok(Some(Value::Row(ty.clone(), values)))
    }

    /// Adds elements as C++ makes them without a value.
    fn grow(
        &mut self,
        values: &mut Vec<Option<Value>>,
        element: &Type,
        count: u64,
        at: At,
    ) -> Fallible<()> {
        self.spend_in_bulk(count, at)?;
        if let Type::Scalar(_) | Type::Pointer(_) = element {
            let zero = self.zero(element, at)?;
            let length = values.len() + usize::try_from(count).unwrap_or(0);
            values.resize(length, Some(zero));
            return Ok(());
        }
        for _ in 0..count {
            values.push(Some(self.zero(element, at)?));
        }
        Ok(())
    }

    pub(super) fn check_length(&self, length: u64, at: At) -> Fallible<()> {
        if length <= MAX_ELEMENTS {
            return Ok(());
        }
        let message =
            format!("host memory of {length} elements in all; the limit is {MAX_ELEMENTS}");
        Err(Fault::fuel(at, message)
            .hint("keep bulk data in device memory and work on it with kernels"))
    }

    /// A pointer to an element of the container at a place.
    pub(super) fn element_pointer(place: &HostRef, element: &Type, index: usize) -> Value {
        let target = Target::Host(place.part(Part::Element(index)));
        Value::pointer(element.clone(), false, target)
    }

    /// `place.name(arguments)`.
    pub(super) fn container_method(
        &mut self,
        place: &HostRef,
        ty: &Type,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let (Type::Vector(element) | Type::StdArray(element, _)) = ty else {
            return Err(super::unknown_types::unknown_type(&ty.to_string(), at));
        };
        let length = self.memory.row(place, at)?.len();
        let size = |value: usize| Value::Integer(Scalar::ULong, value as i128);
        match (name, arguments) {
            ("size" | "capacity" | "max_size", []) => Ok(size(length)),
            ("empty", []) => Ok(Value::boolean(length == 0)),
            ("data" | "begin" | "cbegin", []) => Ok(Self::element_pointer(place, element, 0)),
            ("end" | "cend", []) => Ok(Self::element_pointer(place, element, length)),
            ("front" | "back" | "at", _) => {
                let (place, ty) = self.element_place(place, ty, name, arguments, at)?;
                self.loaded(place, &ty, "this element", at)
            }
            ("fill", [value]) if matches!(ty, Type::StdArray(..)) => {
                let value = self.initialised(element, value)?;
                self.spend_in_bulk((1 + value.weight()).saturating_mul(length as u64), at)?;
                self.memory.row(place, at)?.fill(Some(value));
                Ok(Value::Void)
            }
            _ if matches!(ty, Type::Vector(_)) => {
                self.vector_method(place, ty, element, name, arguments, at)
            }
            _ => Err(no_method(ty, name, at)),
        }
    }

    /// The place of `v.front()`, `v.back()` and `v.at(i)`.
    pub(super) fn element_place(
        &mut self,
        place: &HostRef,
        ty: &Type,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        let (Type::Vector(element) | Type::StdArray(element, _)) = ty else {
            return Err(no_method(ty, name, at));
        };
        let length = self.memory.row(place, at)?.len();
        let index = match (name, arguments) {
            ("front", []) => 0,
            ("back", []) if length > 0 => length - 1,
            ("back", []) => {
                return Err(Fault::host(at, format!("`back()` of an empty `{ty}`")));
            }
            ("at" | "operator[]", [index]) => {
                let value = self.evaluate(index)?;
                usize::try_from(self.count_of(&value, index.at)?).unwrap_or(usize::MAX)
            }
            _ => return Err(no_method(ty, name, at)),
        };
        Ok((place.part(Part::Element(index)), Type::clone(element)))
    }

    /// What only vectors can do.
    fn vector_method(
        &mut self,
        place: &HostRef,
        ty: &Type,
        element: &Type,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        match (name, arguments) {
            ("push_back", [value]) => {
                let value = self.initialised(element, value)?;
                self.push(place, value, at)?;
            }
            ("emplace_back", arguments) => {
                let value = self.construct(element, arguments, false, at)?;
                self.push(place, value, at)?;
                let length = self.memory.row(place, at)?.len();
                let last = place.part(Part::Element(length - 1));
                return self.loaded(last, element, "this element", at);
            }
            ("pop_back", []) => {
                if self.memory.row(place, at)?.pop().is_none() {
                    return Err(Fault::host(at, format!("`pop_back()` of an empty `{ty}`")));
                }
            }
            ("clear", []) => self.memory.row(place, at)?.clear(),
            ("reserve" | "shrink_to_fit", _) => {
                for argument in arguments {
                    let count = self.evaluate(argument)?;
                    let count = self.count_of(&count, at)?;
                    self.check_length(count, at)?;
                }
            }
            ("resize", [count, value @ ..]) => {
                let count_value = self.evaluate(count)?;
                let count = self.count_of(&count_value, at)?;
                self.check_length(count, at)?;
                let value = match value.first() {
                    Some(value) => Some(self.initialised(element, value)?),
                    None => None,
                };
                self.resize(place, element, count, value, at)?;
            }
            ("assign", arguments) => {
                let made = match arguments {
                    [list] if matches!(list.kind, ExprKind::List(_)) => {
                        self.initialised(ty, list)?
                    }
                    _ => self.construct_container(ty, arguments, false, at)?,
                };
                self.memory.store(place, made, at)?;
            }
            ("swap", [other]) => {
                let (other, other_type) = self.object_place(other)?;
                if other_type != *ty {
                    return Err(no_method(ty, name, at));
                }
                let mine = std::mem::take(self.memory.row(place, at)?);
                let theirs = std::mem::replace(self.memory.row(&other, at)?, mine);
                *self.memory.row(place, at)? = theirs;
            }
            ("erase" | "insert", arguments) => {
                return self.splice(place, element, name == "erase", arguments, at);
            }
            _ => return Err(no_method(ty, name, at)),
        }
        Ok(Value::Void)
    }

    fn push(&mut self, place: &HostRef, value: Value, at: At) -> Fallible<()> {
        let length = self.memory.row(place, at)?.len() as u64;
        self.check_length(length + 1, at)?;
        self.memory.row(place, at)?.push(Some(value));
        Ok(())
    }

    fn resize(
        &mut self,
        place: &HostRef,
        element: &Type,
        count: u64,
        value: Option<Value>,
        at: At,
    ) -> Fallible<()> {
        let count = usize::try_from(count).unwrap_or(0);
        let length = self.memory.row(place, at)?.len();
        let more = count.saturating_sub(length) as u64;
        match value {
            Some(value) => {
                self.spend_in_bulk((1 + value.weight()).saturating_mul(more), at)?;
                self.memory.row(place, at)?.resize(count, Some(value));
            }
            None => {
                let mut new = Vec::new();
                self.grow(&mut new, element, more, at)?;
                let row = self.memory.row(place, at)?;
                row.truncate(count);
                row.extend(new);
            }
        }
        Ok(())
    }

    /// `v.erase(position)`, `v.erase(first, last)`, `v.insert(position, value)` and
    /// `v.insert(position, first, last)`.
    fn splice(
        &mut self,
        place: &HostRef,
        element: &Type,
        erase: bool,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let [position, rest @ ..] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of a vector",
                "pass a position",
            ));
        };
        let start = self.index_within(place, position)?;
        let (end, new) = match (erase, rest) {
            (true, []) => (start + 1, Vec::new()),
            (true, [last]) => (self.index_within(place, last)?, Vec::new()),
            (false, [value]) => (start, vec![Some(self.initialised(element, value)?)]),
            (false, [first, last]) => {
                let (first, last) = (self.evaluate(first)?, self.evaluate(last)?);
                let values = self.values_between(&first, &last, at)?;
                (start, values.into_iter().map(Some).collect())
            }
            _ => return Err(Fault::unsupported(at, "this use of a vector", "use a loop")),
        };
        let length = self.memory.row(place, at)?.len();
        if start > end || end > length {
            let message = format!("elements {start} to {end} of a vector of {length}");
            return Err(Fault::host(at, message));
        }
        self.check_length((length + new.len()) as u64, at)?;
        self.spend((length - start) as u64, at)?;
        self.memory.row(place, at)?.splice(start..end, new);
        Ok(Self::element_pointer(place, element, start))
    }

    fn index_within(&mut self, place: &HostRef, position: &'p Expr) -> Fallible<usize> {
        let value = self.evaluate(position)?;
        if let Value::Pointer(_, Target::Host(reference)) = &value
            && let Some((&Part::Element(index), parents)) = reference.fields.split_last()
            && reference.object == place.object
            && reference.index == place.index
            && parents == place.fields
        {
            return Ok(index);
        }
        Err(Fault::host(
            position.at,
            "the position lies in another container",
        ))
    }
}

fn no_method(ty: &Type, name: &str, at: At) -> Box<Fault> {
    let message = format!("`.{name}()` of a `{ty}` is not in the host subset");
    Fault::unsupported(
        at,
        message,
        "use size, data, [], push_back, resize and loops",
    )
}
