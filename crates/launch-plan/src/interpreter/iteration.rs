//! Range-based `for` and structured bindings: the parts of one value, one after the other.

use super::Interpreter;
use super::declare::is_constant;
use super::lvalues::{changes, reference_to_a_copy};
use super::parameters::mentions_auto;
use super::places::Access;
use super::scope::Binding;
use super::statements::Flow;
use super::value::{HostRef, Part, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Bindings, Element, Expr, ExprKind, ForEach, TypeKind, TypeSyntax};
use crate::types::Type;

/// Elements in a row.
struct Range {
    first: HostRef,
    /// Whether the elements are an object's own, rather than parts of a value.
    top: bool,
    element: Type,
    count: u64,
}

impl Range {
    fn place(&self, index: u64) -> HostRef {
        if self.top {
            let mut place = self.first.clone();
            place.index = place
                .index
                .saturating_add(i64::try_from(index).unwrap_or(i64::MAX));
            return place;
        }
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.first.part(Part::Element(index))
    }
}

impl<'p> Interpreter<'p> {
    pub(super) fn for_each(&mut self, each: &'p ForEach, at: At) -> Fallible<Flow> {
        self.scoped(|interpreter| {
            if let Some(first) = &each.first {
                interpreter.execute_one(first)?;
            }
            let range = interpreter.range(&each.range)?;
            for index in 0..range.count {
                interpreter.spend(1, at)?;
                let place = range.place(index);
                let flow = interpreter.scoped(|interpreter| {
                    interpreter.bind_element(&each.element, place, &range.element)?;
                    interpreter.execute_block(&each.body)
                })?;
                match flow {
                    Flow::Break => break,
                    Flow::Return(value) => return Ok(Flow::Return(value)),
                    Flow::Next | Flow::Continue => {}
                }
            }
            Ok(Flow::Next)
        })
    }

    fn range(&mut self, expr: &'p Expr) -> Fallible<Range> {
        if let ExprKind::List(values) = &expr.kind {
            return self.range_of_list(values, expr.at);
        }
        let (place, ty) = if self.has_place(expr) {
            self.place(expr, Access::Read)?
        } else {
            let value = self.evaluate(expr)?;
            self.temporary(value, expr.at)?
        };
        self.elements_at(place, &ty, expr.at)
    }

    fn elements_at(&mut self, place: HostRef, ty: &Type, at: At) -> Fallible<Range> {
        match ty {
            Type::Vector(element) | Type::StdArray(element, _) => Ok(Range {
                count: self.memory.row(&place, at)?.len() as u64,
                first: place,
                top: false,
                element: Type::clone(element),
            }),
            Type::Array(element, count) => {
                let top = self.memory.type_at(&place, at)? != *ty;
                Ok(Range {
                    first: place,
                    top,
                    element: Type::clone(element),
                    count: *count,
                })
            }
            _ => Err(Fault::unsupported(
                at,
                format!(
                    "a range-based `for` over a value of type `{ty}` is not in the host subset"
                ),
                "write a loop over an index",
            )),
        }
    }

    /// `for (int x : {1, 2, 3})`
    fn range_of_list(&mut self, values: &'p [Expr], at: At) -> Fallible<Range> {
        let mut elements = Vec::new();
        for value in self.expanded(values)? {
            elements.push(self.evaluate(value)?);
        }
        let element = elements.first().map_or(Type::Void, Value::ty);
        let mut row = Vec::new();
        for value in elements {
            row.push(Some(self.convert(value, &element, at)?));
        }
        let ty = Type::Vector(std::rc::Rc::new(element.clone()));
        let count = row.len() as u64;
        let (first, _) = self.temporary(Value::Row(ty, row), at)?;
        Ok(Range {
            first,
            top: false,
            element,
            count,
        })
    }

    fn bind_element(&mut self, element: &'p Element, place: HostRef, ty: &Type) -> Fallible<()> {
        match element {
            Element::Variable {
                at,
                name,
                ty: declared,
            } => {
                let binding = self.element_variable(declared, place, ty, *at)?;
                self.bind(name, binding.seen_as(is_constant(declared)));
                Ok(())
            }
            Element::Bindings {
                at,
                names,
                by_reference,
            } => {
                if *by_reference {
                    return self.bind_parts(names, &place, ty, *at);
                }
                let value = self.loaded(place, ty, "this element", *at)?;
                let (copy, ty) = self.temporary(value, *at)?;
                self.bind_parts(names, &copy, &ty, *at)
            }
        }
    }

    fn element_variable(
        &mut self,
        declared: &'p TypeSyntax,
        place: HostRef,
        ty: &Type,
        at: At,
    ) -> Fallible<Binding> {
        let wanted = if mentions_auto(declared) {
            None
        } else {
            Some(self.resolve(declared)?)
        };
        let is_reference = matches!(declared.kind, TypeKind::Reference(_));
        if is_reference && let Some(binding) = self.bound_to(wanted.as_ref(), &place, ty) {
            return Ok(binding);
        }
        if changes(declared) {
            return Err(reference_to_a_copy(at));
        }
        let value = self.loaded(place, ty, "this element", at)?;
        let wanted = wanted.unwrap_or_else(|| value.ty());
        let value = self.convert(value, &wanted, at)?;
        self.new_variable(wanted, Some(value), at)
    }

    /// `auto [a, b] = value;`
    pub(super) fn structured_binding(&mut self, bindings: &'p Bindings) -> Fallible<()> {
        let at = bindings.at;
        let is_place = self.has_place(&bindings.value);
        let is_array = matches!(self.static_type(&bindings.value), Some(Type::Array(..)));
        let (place, ty) = if is_place && bindings.by_reference {
            self.place(&bindings.value, Access::Read)?
        } else if is_place && is_array {
            let (place, ty) = self.place(&bindings.value, Access::Read)?;
            self.copied_array(place, &ty, at)?
        } else {
            let value = self.evaluate(&bindings.value)?;
            self.owned_temporary(value, at)?
        };
        self.bind_parts(&bindings.names, &place, &ty, at)
    }

    /// A copy of an array, which has no value as a whole.
    fn copied_array(&mut self, place: HostRef, ty: &Type, at: At) -> Fallible<(HostRef, Type)> {
        let range = self.elements_at(place, ty, at)?;
        self.spend(range.count, at)?;
        let mut values = Vec::new();
        for index in 0..range.count {
            values.push(self.memory.load(&range.place(index), at)?);
        }
        self.temporary(Value::Row(ty.clone(), values), at)
    }

    fn bind_parts(
        &mut self,
        names: &'p [String],
        place: &HostRef,
        ty: &Type,
        at: At,
    ) -> Fallible<()> {
        let parts: Vec<(HostRef, Type)> = match ty {
            Type::Record(record) => {
                let fields = record.fields.iter().enumerate();
                fields
                    .map(|(index, field)| (place.part(Part::Field(index)), field.ty.clone()))
                    .collect()
            }
            Type::StdArray(element, count) | Type::Array(element, count) => {
                let range = self.elements_at(place.clone(), ty, at)?;
                let shown = (*count).min(names.len() as u64 + 1);
                (0..shown)
                    .map(|index| (range.place(index), Type::clone(element)))
                    .collect()
            }
            _ => Vec::new(),
        };
        if parts.len() != names.len() {
            let message = format!("{} names for the parts of a `{ty}`", names.len());
            return Err(Fault::unsupported(
                at,
                message,
                "name each of its parts once",
            ));
        }
        for (name, (place, ty)) in names.iter().zip(parts) {
            self.bind(name, Binding::Variable(place, ty));
        }
        Ok(())
    }
}
