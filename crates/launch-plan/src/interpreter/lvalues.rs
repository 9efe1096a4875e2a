//! Which expressions name a place, and what references to places become.
//!
//! Invariant: a reference through which a variable could be changed is another name for its place, or refused.

use super::Interpreter;
use super::destructors::moved;
use super::places::Access;
use super::scope::Binding;
use super::value::{HostRef, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function, Name, Storage, TypeKind, TypeSyntax};
use crate::types::{Holder, Type};

impl<'p> Interpreter<'p> {
    /// Whether an expression names a place. Looks at types alone: nothing is run.
    pub(super) fn has_place(&mut self, expr: &'p Expr) -> bool {
        let inner = self.deeper(expr.at, |interpreter| Ok(interpreter.has_place_kind(expr)));
        inner.unwrap_or(false)
    }

    fn has_place_kind(&mut self, expr: &'p Expr) -> bool {
        if let Some(meant) = self.meant_operator(expr) {
            return self.return_references(&meant.functions);
        }
        match &expr.kind {
            ExprKind::Name(name) => self.name_has_place(name, expr.at),
            ExprKind::Dereference(_)
            | ExprKind::Index(..)
            | ExprKind::Assign(..)
            | ExprKind::Step { prefix: true, .. } => true,
            ExprKind::Field {
                object,
                through_pointer,
                ..
            } => *through_pointer || self.has_place(object),
            ExprKind::PackElement(index, inner) => {
                self.in_element(*index, |interpreter| interpreter.has_place(inner))
            }
            ExprKind::Comma(_, right) => self.has_place(right),
            ExprKind::Conditional(_, yes, no) => {
                self.has_place(yes)
                    && self.has_place(no)
                    && self
                        .static_type(yes)
                        .is_some_and(|ty| self.static_type(no) == Some(ty))
            }
            ExprKind::Call(callee, arguments) => match moved(expr) {
                Some(of) => self.has_place(of),
                None => self.call_has_place(callee, arguments),
            },
            _ => false,
        }
    }

    fn name_has_place(&mut self, name: &'p Name, at: At) -> bool {
        if let Some(binding) = self.find_local(&name.path) {
            return matches!(binding, Binding::Variable(..));
        }
        if let Ok(Some(binding)) = self.static_member(name, at) {
            return matches!(binding, Binding::Variable(..));
        }
        let global = self.tables.global(&name.path);
        global.is_some_and(|(_, variable)| {
            !matches!(variable.storage, Storage::Device | Storage::Elsewhere)
        })
    }

    fn call_has_place(&mut self, callee: &'p Expr, arguments: &'p [Expr]) -> bool {
        match &callee.kind {
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => {
                let Some(ty) = self.type_of_object(object, *through_pointer) else {
                    return false;
                };
                match ty {
                    Type::Vector(_) | Type::StdArray(..) => {
                        is_element(&name.path) && (*through_pointer || self.has_place(object))
                    }
                    Type::Record(record) if record.holder.is_some() => {
                        record.holder == Some(Holder::Optional)
                            && matches!(name.path.as_str(), "value" | "emplace")
                            && (*through_pointer || self.has_place(object))
                    }
                    Type::Record(record) => {
                        let methods = self.methods_of(&record, &name.path);
                        self.return_references(&methods)
                    }
                    _ => false,
                }
            }
            ExprKind::Name(name) => {
                if let ("get", Some(_), [only]) = (name.plain(), &name.arguments, arguments) {
                    return self.has_place(only);
                }
                let functions = match self.find_local(&name.path) {
                    Some(Binding::Variable(_, Type::Record(record))) => self.operators_of(record),
                    Some(Binding::Variable(_, Type::Closure(function))) => vec![*function],
                    _ => self.functions_meant(name, arguments.len()),
                };
                self.return_references(&functions)
            }
            _ => false,
        }
    }

    fn return_references(&self, functions: &[usize]) -> bool {
        let mut functions = functions.iter().map(|&index| self.tables.function(index));
        functions.any(returns_reference)
    }

    /// The place of a call, which [`Self::has_place`] said that it has.
    pub(super) fn place_of_call(
        &mut self,
        expr: &'p Expr,
        callee: &'p Expr,
        arguments: &'p [Expr],
        access: Access,
    ) -> Fallible<(HostRef, Type)> {
        let at = expr.at;
        if let Some(of) = moved(expr) {
            return self.place(of, access);
        }
        match &callee.kind {
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => {
                let (place, ty) = self.place_of_object(object, *through_pointer, at)?;
                match &ty {
                    Type::Vector(element) if name.path == "emplace_back" => {
                        self.container_method(&place, &ty, &name.path, arguments, at)?;
                        self.element_place(&place, &ty, "back", &[], at)
                            .map(|(place, _)| (place, Type::clone(element)))
                    }
                    Type::Vector(_) | Type::StdArray(..) => {
                        self.element_place(&place, &ty, &name.path, arguments, at)
                    }
                    Type::Record(record) if record.holder.is_some() => {
                        if name.path == "emplace" {
                            self.holder_method(&place, record, &name.path, arguments, at)?;
                        }
                        self.held_place(&place, record, access, at)
                    }
                    _ => {
                        let value = self.method_of(&place, &ty, name, arguments, at)?;
                        self.place_returned(value, at)
                    }
                }
            }
            ExprKind::Name(name) if name.plain() == "get" && name.arguments.is_some() => {
                let [only] = arguments else {
                    return Err(super::places::no_place(at));
                };
                let written = name.arguments.as_deref().unwrap_or_default();
                let index = self.template_values(written)?;
                let (place, ty) = self.object_place(only)?;
                self.got_place(&place, &ty, &index, at)
            }
            _ => {
                let value = self.call(callee, arguments, at)?;
                self.place_returned(value, at)
            }
        }
    }

    /// The place that the function that was just called returned, or one for its value.
    pub(super) fn place_returned(&mut self, value: Value, at: At) -> Fallible<(HostRef, Type)> {
        match self.returned_place.take() {
            Some(found) => Ok(found),
            None if value == Value::Void => Err(super::places::no_place(at)),
            None => self.owned_temporary(value, at),
        }
    }

    /// The value of a call: that of the place, where one was returned.
    pub(super) fn value_returned(&mut self, value: Value, at: At) -> Fallible<Value> {
        match self.returned_place.take() {
            Some((place, ty)) => self.loaded(place, &ty, "what a function returns", at),
            None => Ok(value),
        }
    }

    /// Evaluates for what it does alone.
    pub(super) fn run_for_effect(&mut self, expr: &'p Expr) -> Fallible<()> {
        let at = expr.at;
        if let Some(value) = self.operator_call(expr)? {
            return self.dropped(value, at);
        }
        let value = match &expr.kind {
            ExprKind::Call(callee, arguments) => {
                self.deeper(at, |interpreter| interpreter.call(callee, arguments, at))?
            }
            ExprKind::Assign(..) => self.deeper(at, |interpreter| interpreter.modify(expr))?,
            ExprKind::Cast(ty, operand) if matches!(ty.kind, TypeKind::Void) => {
                return self.run_for_effect(operand);
            }
            ExprKind::Comma(left, right) => {
                self.run_for_effect(left)?;
                return self.run_for_effect(right);
            }
            _ => self.evaluate(expr)?,
        };
        self.dropped(value, at)
    }

    /// A value that nobody takes ends with its statement.
    fn dropped(&mut self, value: Value, at: At) -> Fallible<()> {
        if self.returned_place.take().is_none()
            && matches!(&value, Value::Record(record, _) if record.has_destructor)
        {
            self.owned_temporary(value, at)?;
        }
        Ok(())
    }

    /// The object before a dot or an arrow.
    pub(super) fn place_of_object(
        &mut self,
        object: &'p Expr,
        through_pointer: bool,
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        match through_pointer {
            true => self.pointed_by(object, Access::Read, at),
            false => self.object_place(object),
        }
    }

    /// Where an object is; what has no place gets one.
    pub(super) fn object_place(&mut self, object: &'p Expr) -> Fallible<(HostRef, Type)> {
        if self.has_place(object) {
            return self.place(object, Access::Read);
        }
        let value = self.evaluate(object)?;
        self.owned_temporary(value, object.at)
    }

    /// The place that a reference is to; `None` where the expression has none. A file's own variable may be
    /// changed through it, which is said.
    pub(super) fn referred(
        &mut self,
        expr: &'p Expr,
        changes: bool,
    ) -> Fallible<Option<(HostRef, Type)>> {
        if !self.has_place(expr) {
            return Ok(None);
        }
        if changes
            && let ExprKind::Name(name) = &expr.kind
            && self.find_local(&name.path).is_none()
            && let Some((_, variable)) = self.tables.global(&name.path)
            && matches!(variable.storage, Storage::Static | Storage::Automatic)
        {
            self.warn_of_state(variable);
        }
        self.place(expr, Access::Read).map(Some)
    }

    /// Another name for a place, as a reference to `wanted` (any type, for `auto&`). `None` where the place is
    /// of another type.
    pub(super) fn bound_to(
        &self,
        wanted: Option<&Type>,
        place: &HostRef,
        ty: &Type,
    ) -> Option<Binding> {
        let Some(wanted) = wanted else {
            return Some(Binding::Variable(place.clone(), ty.clone()));
        };
        if let Some(base) = self.as_base(place, ty, wanted) {
            return Some(Binding::Variable(base, wanted.clone()));
        }
        same_variable(wanted, ty).then(|| Binding::Variable(place.clone(), ty.clone()))
    }
}

/// What is said where a reference would be to a copy.
pub(super) fn reference_to_a_copy(at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        "a reference that can change its variable is bound to a value that is none",
        "name a variable of the reference's own type, or take a value or a `const` reference",
    )
}

/// Whether a reference may change what it is to, and cannot be to a temporary.
pub(super) fn changes(reference: &TypeSyntax) -> bool {
    match &reference.kind {
        TypeKind::Reference(inner) => !reference.rvalue && !inner.constant,
        _ => false,
    }
}

/// Values that are the same everywhere: a reference to a copy of one is as good.
pub(super) fn is_fixed(value: &Value) -> bool {
    matches!(
        value,
        Value::Kernel(_) | Value::Closure(_) | Value::Driver(_) | Value::Output | Value::Handle
    )
}

fn returns_reference(function: &Function) -> bool {
    matches!(function.returns.kind, TypeKind::Reference(_))
}

/// Methods of containers that give an element.
fn is_element(name: &str) -> bool {
    matches!(
        name,
        "front" | "back" | "at" | "operator[]" | "emplace_back"
    )
}

/// Whether a reference of type `wanted` can be another name for a variable of type `ty`.
fn same_variable(wanted: &Type, ty: &Type) -> bool {
    match (wanted, ty) {
        (Type::Pointer(a), Type::Pointer(b)) => same_variable(&a.ty, &b.ty),
        // `size_t` and `uint64_t` are one type to the host's compiler and two to NVRTC.
        (Type::Scalar(a), Type::Scalar(b)) if a.is_integer() && b.is_integer() => {
            a == b || (a.size_bytes() == 8 && b.size_bytes() == 8 && a.is_signed() == b.is_signed())
        }
        (a, b) => a == b,
    }
}
