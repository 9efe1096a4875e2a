//! Declarations of local variables.

use std::rc::Rc;

use super::Interpreter;
use super::lvalues::{changes, is_fixed, reference_to_a_copy};
use super::resolve::refusal;
use super::scope::Binding;
use super::value::{HostRef, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Initial, Storage, TypeKind, TypeSyntax, Variable};
use crate::types::Type;

impl<'p> Interpreter<'p> {
    pub(super) fn declare(&mut self, variable: &'p Variable) -> Fallible<()> {
        let at = variable.at;
        match variable.storage {
            Storage::Automatic | Storage::Constant => {}
            Storage::Static => {
                let binding = self.static_variable(variable)?;
                self.bind(&variable.name, binding);
                return Ok(());
            }
            Storage::Device | Storage::Elsewhere => {
                let message = format!("`{}` is declared for the device", variable.name);
                let hint = "declare `__device__` and `__constant__` variables at file scope, and `__shared__` \
                            ones in a kernel";
                return Err(Fault::unsupported(at, message, hint));
            }
        }
        if self.is_declared_here(&variable.name) {
            let message = format!(
                "\"{}\" has already been declared in the current scope",
                variable.name
            );
            return Err(Fault::syntax(at, message));
        }
        // A lambda may call itself by the name of the `std::function` that holds it.
        if let (TypeKind::Named(name), Initial::Value(value)) =
            (&variable.ty.kind, &variable.initial)
            && name.plain() == "function"
        {
            let ty = self.resolve(&variable.ty)?;
            let place = self.memory.local(ty.clone(), 1, at)?;
            self.bind(&variable.name, Binding::Variable(place.clone(), ty.clone()));
            let value = self.initialised(&ty, value)?;
            return self.memory.store(&place, value, at);
        }
        let mark = self.owned.len();
        let binding = self.variable(variable)?;
        self.end_temporaries(mark, &binding)?;
        let constant = variable.storage == Storage::Constant || is_constant(&variable.ty);
        self.bind(&variable.name, binding.seen_as(constant));
        Ok(())
    }

    pub(super) fn declare_alias(&mut self, name: &str, ty: &'p TypeSyntax) -> Fallible<()> {
        let ty = self.resolve_value_type(ty)?;
        self.bind(name, Binding::Template(TemplateValue::Type(ty)));
        Ok(())
    }

    /// A struct of the running function.
    pub(super) fn declare_record(&mut self, name: &str, path: &str, at: At) -> Fallible<()> {
        let versions = self.tables.records_named(path);
        let ty = self.class_type(&versions, None, at)?;
        self.bind(name, Binding::Template(TemplateValue::Type(ty)));
        Ok(())
    }

    /// A new variable with its first value.
    pub(super) fn variable(&mut self, variable: &'p Variable) -> Fallible<Binding> {
        let at = variable.at;
        let initial = match &variable.initial {
            Initial::Value(value) => Some(value),
            Initial::Arguments(values) | Initial::List(values) => match values.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            Initial::None => None,
        };
        match (&variable.ty.kind, initial) {
            (TypeKind::Reference(inner), Some(initial)) => {
                return self.reference(&variable.ty, inner, initial);
            }
            (TypeKind::Array(element, length), _) => {
                return self.array(variable, element, length.as_deref());
            }
            (TypeKind::Unsupported(reason), _) => return Err(refusal(at, reason)),
            _ => {}
        }
        if is_auto(&variable.ty) {
            let Some(initial) = initial else {
                return Err(Fault::unsupported(
                    at,
                    "`auto` without one value",
                    "write the type out",
                ));
            };
            let value = match self.taken(initial)? {
                Some(object) => object,
                None => self.evaluate(initial)?,
            };
            let ty = value.ty();
            return self.new_variable(ty, Some(value), at);
        }
        if let Some(name) = self.undeduced(&variable.ty)
            && let Some(value) = self.deduced_variable(name, &variable.initial, at)
        {
            let value = value?;
            return self.new_variable(value.ty(), Some(value), at);
        }
        let ty = self.resolve(&variable.ty)?;
        let value = match &variable.initial {
            Initial::None => self.unset_value(&ty, at)?,
            Initial::Value(value) => Some(self.initialised(&ty, value)?),
            Initial::Arguments(values) => Some(self.construct(&ty, values, false, at)?),
            Initial::List(values) => Some(self.construct(&ty, values, true, at)?),
        };
        if value.is_none()
            && let Type::Named(name) = &ty
        {
            return Err(self.opaque_type(name, at));
        }
        self.new_variable(ty, value, at)
    }

    pub(super) fn new_variable(
        &mut self,
        ty: Type,
        value: Option<Value>,
        at: At,
    ) -> Fallible<Binding> {
        let place = self.memory.local(ty.clone(), 1, at)?;
        if let Some(value) = value {
            self.memory.store(&place, value, at)?;
        }
        self.own(&place, &ty, at);
        Ok(Binding::Variable(place, ty))
    }

    /// `T& r = initial;`: another name for a place, or a name for a value.
    pub(super) fn reference(
        &mut self,
        reference: &'p TypeSyntax,
        inner: &'p TypeSyntax,
        initial: &'p Expr,
    ) -> Fallible<Binding> {
        let at = initial.at;
        let wanted = if is_auto(inner) {
            None
        } else {
            Some(self.resolve(inner)?)
        };
        let changes = changes(reference);
        let value = match self.referred(initial, changes)? {
            Some((place, ty)) => match self.bound_to(wanted.as_ref(), &place, &ty) {
                Some(binding) => return Ok(binding),
                None if changes => return Err(reference_to_a_copy(at)),
                None => self.loaded(place, &ty, "this value", at)?,
            },
            None => self.evaluate(initial)?,
        };
        if changes && !is_fixed(&value) {
            return Err(reference_to_a_copy(at));
        }
        let value = match &wanted {
            Some(wanted) => self.convert(value, wanted, at)?,
            None => value,
        };
        self.new_variable(value.ty(), Some(value), at)
    }

    fn array(
        &mut self,
        variable: &'p Variable,
        element: &'p TypeSyntax,
        length: Option<&'p Expr>,
    ) -> Fallible<Binding> {
        let at = variable.at;
        let element = self.resolve(element)?;
        let values: Option<&'p [Expr]> = match &variable.initial {
            Initial::None => None,
            Initial::Arguments(values) | Initial::List(values) => Some(values),
            Initial::Value(value) => match &value.kind {
                ExprKind::List(values) => Some(values),
                _ => {
                    return Err(Fault::unsupported(
                        at,
                        "this initial value of an array",
                        "list its elements in braces",
                    ));
                }
            },
        };
        let length = match length {
            Some(length) => {
                let at = length.at;
                let value = self.evaluate(length)?;
                self.count_of(&value, at)?
            }
            None => match values {
                Some(values) => self.expanded(values)?.len() as u64,
                None => 0,
            },
        };
        let place = self.memory.local(element.clone(), length, at)?;
        self.first_values(&place, &element, length, values, at)?;
        let ty = Type::Array(Rc::new(element), length);
        self.own(&place, &ty, at);
        Ok(Binding::Variable(place, ty))
    }

    /// What the elements of a new array have: the given values and zeros after them, or what they have without.
    pub(super) fn first_values(
        &mut self,
        first: &HostRef,
        element: &Type,
        length: u64,
        values: Option<&'p [Expr]>,
        at: At,
    ) -> Fallible<()> {
        self.spend_in_bulk(length, at)?;
        match values {
            Some(values) => self.fill(first, element, length, values, at),
            None => self.unset_elements(first, element, length, at),
        }
    }

    /// Gives structs, and arrays within the array, what they have without a value.
    fn unset_elements(
        &mut self,
        first: &HostRef,
        element: &Type,
        length: u64,
        at: At,
    ) -> Fallible<()> {
        if matches!(element, Type::Scalar(_) | Type::Pointer(_)) {
            return Ok(());
        }
        let mut place = first.clone();
        for _ in 0..length {
            if let Some(value) = self.unset_value(element, at)? {
                self.memory.store(&place, value, at)?;
            }
            place.index += 1;
        }
        Ok(())
    }

    /// Stores the given values and zeros after them.
    fn fill(
        &mut self,
        first: &HostRef,
        element: &Type,
        length: u64,
        values: &'p [Expr],
        at: At,
    ) -> Fallible<()> {
        if values.len() as u64 > length {
            let message = format!("{} values for an array of {length}", values.len());
            return Err(Fault::unsupported(at, message, "leave some out"));
        }
        let values = self.expanded(values)?;
        let mut place = first.clone();
        for value in values {
            let value = self.initialised(element, value)?;
            self.memory.store(&place, value, at)?;
            place.index += 1;
        }
        for _ in values.len() as u64..length {
            let zero = self.zero(element, at)?;
            self.memory.store(&place, zero, at)?;
            place.index += 1;
        }
        Ok(())
    }

    /// `new T`, `new T(a, b)`, `new T[length]` or `new T[length]()`.
    pub(super) fn new_object(
        &mut self,
        ty: &'p TypeSyntax,
        length: Option<&'p Expr>,
        initial: &'p Initial,
        at: At,
    ) -> Fallible<Value> {
        let ty = self.resolve(ty)?;
        if ty.size_bytes().is_none() {
            return Err(self.opaque_type(&ty.to_string(), at));
        }
        let count = match length {
            None => 1,
            Some(length) => {
                let value = self.evaluate(length)?;
                self.count_of(&value, length.at)?
            }
        };
        let place = self.memory.allocate(ty.clone(), count, at)?;
        match initial {
            Initial::Arguments(values) | Initial::List(values) if length.is_some() => {
                self.first_values(&place, &ty, count, Some(values), at)?;
            }
            Initial::Arguments(values) | Initial::List(values) => {
                let braces = values.is_empty() || matches!(initial, Initial::List(_));
                let value = self.construct(&ty, values, braces, at)?;
                self.memory.store(&place, value, at)?;
            }
            Initial::None | Initial::Value(_) => {
                self.first_values(&place, &ty, count, None, at)?;
            }
        }
        Ok(Value::pointer(ty, false, Target::Host(place)))
    }

    /// `delete p` and `free(p)`.
    pub(super) fn free_host(&mut self, value: &Value, at: At) -> Fallible<()> {
        match value {
            Value::Pointer(_, target) if target.is_null() => Ok(()),
            Value::Pointer(_, Target::Host(place)) => self.memory.free(&place.clone(), at),
            _ => Err(Fault::host(at, "device memory is freed as host memory")
                .hint("use cudaFree for what cudaMalloc gave")),
        }
    }
}

/// `const int n`, `int* const p` and `const T& r`, but not `const int* p`, whose `const` is of what it points to.
pub(super) fn is_constant(ty: &TypeSyntax) -> bool {
    match &ty.kind {
        TypeKind::Reference(inner) => inner.constant,
        _ => ty.constant,
    }
}

/// `auto` and `auto*`.
fn is_auto(ty: &TypeSyntax) -> bool {
    match &ty.kind {
        TypeKind::Auto => true,
        TypeKind::Pointer(inner) => is_auto(inner),
        _ => false,
    }
}
