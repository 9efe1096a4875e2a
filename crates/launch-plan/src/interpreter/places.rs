//! Expressions that name a place: what can be assigned to and pointed at.

use std::rc::Rc;

use super::Interpreter;
use super::scope::Binding;
use super::value::{HostRef, Part, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::plan::{Buffer, Place};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, Storage};
use crate::types::Type;

/// What host code wants at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl<'p> Interpreter<'p> {
    /// The value of `*p`, `a[i]`, `s.f`.
    pub(super) fn read(&mut self, expr: &'p Expr) -> Fallible<Value> {
        if let ExprKind::Field {
            object,
            name,
            through_pointer: false,
        } = &expr.kind
            && !self.has_place(object)
        {
            let value = self.evaluate(object)?;
            if value.ty().has_destructor() {
                self.owned_temporary(value.clone(), expr.at)?;
            }
            return field_of(value, &name.path, expr.at);
        }
        let (place, ty) = self.place(expr, Access::Read)?;
        self.loaded(place, &ty, described(expr), expr.at)
    }

    /// The host place that `expr` names, and its declared type.
    pub(super) fn place(&mut self, expr: &'p Expr, access: Access) -> Fallible<(HostRef, Type)> {
        let (place, ty) =
            self.deeper(expr.at, |interpreter| interpreter.place_kind(expr, access))?;
        if access == Access::Write && place.constant {
            return Err(constant(blamed(expr), expr.at));
        }
        Ok((place, ty))
    }

    fn place_kind(&mut self, expr: &'p Expr, access: Access) -> Fallible<(HostRef, Type)> {
        let at = expr.at;
        if let Some(value) = self.operator_call(expr)? {
            return self.place_returned(value, at);
        }
        match &expr.kind {
            ExprKind::Name(name) => self.named_place(name, access, at),
            ExprKind::Dereference(pointer) => self.pointed_by(pointer, access, at),
            ExprKind::Index(array, index) => {
                if let Some(Type::Vector(_) | Type::StdArray(..)) = self.static_type(array) {
                    let (place, ty) = self.object_place(array)?;
                    return self.indexed(&place, &ty, index);
                }
                let pointer = self.pointer_or_value(array)?;
                if let Value::Row(..) = pointer {
                    let (place, ty) = self.temporary(pointer, at)?;
                    return self.indexed(&place, &ty, index);
                }
                let index = self.evaluate(index)?;
                let pointer = self.binary(BinaryOp::Add, &pointer, &index, at)?;
                self.pointed_place(&pointer, access, at)
            }
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => {
                let (place, ty) = if *through_pointer {
                    self.pointed_by(object, access, at)?
                } else {
                    self.place(object, Access::Read)?
                };
                let Type::Record(record) = &ty else {
                    return Err(no_field(&ty, &name.path, at));
                };
                let name = &name.path;
                let found = record.path_to(name);
                let (path, field) = found.ok_or_else(|| no_field(&ty, name, at))?;
                let mut part = place.within(&path);
                part.constant &= !self.is_mutable_field(record, name);
                Ok((part, field.clone()))
            }
            ExprKind::Assign(_, target, _) => {
                self.modify(expr)?;
                if let Some(returned) = self.returned_place.take() {
                    return Ok(returned);
                }
                self.place(target, access)
            }
            ExprKind::Step {
                prefix: true,
                operand,
                ..
            } => {
                self.modify(expr)?;
                self.place(operand, access)
            }
            ExprKind::Comma(left, right) => {
                self.run_for_effect(left)?;
                self.place(right, access)
            }
            ExprKind::Conditional(condition, yes, no) => {
                let chosen = if self.condition(condition)? { yes } else { no };
                self.place(chosen, access)
            }
            ExprKind::Call(callee, arguments) => {
                self.place_of_call(expr, callee, arguments, access)
            }
            ExprKind::PackElement(index, inner) => {
                self.in_element(*index, |interpreter| interpreter.place(inner, access))
            }
            _ => Err(no_place(at)),
        }
    }

    /// `container[index]`
    fn indexed(
        &mut self,
        place: &HostRef,
        ty: &Type,
        index: &'p Expr,
    ) -> Fallible<(HostRef, Type)> {
        let value = self.evaluate(index)?;
        let position = usize::try_from(self.count_of(&value, index.at)?).unwrap_or(usize::MAX);
        match ty {
            Type::Vector(element) | Type::StdArray(element, _) => {
                Ok((place.part(Part::Element(position)), Type::clone(element)))
            }
            _ => Err(no_place(index.at)),
        }
    }

    fn named_place(&mut self, name: &'p Name, access: Access, at: At) -> Fallible<(HostRef, Type)> {
        if let Some(Binding::Variable(place, ty)) = self.find_local(&name.path) {
            let (place, ty) = (place.clone(), ty.clone());
            return Ok((place, ty));
        }
        if let Some(Binding::Variable(place, ty)) = self.static_member(name, at)? {
            if access == Access::Write {
                let message = format!("host code assigns to the constant `{}`", name.path);
                return Err(Fault::unsupported(at, message, "use a local variable"));
            }
            return Ok((place, ty));
        }
        let Some((_, variable)) = self.tables.global(&name.path) else {
            return Err(super::expressions::unknown_name(&name.path, at));
        };
        if variable.storage == Storage::Constant && access != Access::Write {
            return self.global_place(&name.path, at);
        }
        let message = match variable.storage {
            Storage::Static | Storage::Automatic => {
                if access != Access::Read {
                    self.warn_of_state(variable);
                }
                return self.global_place(&name.path, at);
            }
            Storage::Constant => format!("host code assigns to the constant `{}`", name.path),
            Storage::Device | Storage::Elsewhere => format!(
                "host code uses `{}`, which lives in device memory",
                name.path
            ),
        };
        Err(Fault::unsupported(at, message, "use a local variable"))
    }

    /// The host place that a pointer points to.
    pub(super) fn pointed_place(
        &mut self,
        pointer: &Value,
        access: Access,
        at: At,
    ) -> Fallible<(HostRef, Type)> {
        match pointer {
            Value::Pointer(pointee, Target::Host(place)) => {
                let ty = self.memory.type_at(place, at)?;
                let both_pointers =
                    matches!((&ty, &pointee.ty), (Type::Pointer(_), Type::Pointer(_)));
                // A base class without fields.
                if let Some(base) = self.as_base(place, &ty, &pointee.ty) {
                    return Ok((base.seen_as(pointee.constant), pointee.ty.clone()));
                }
                if ty != pointee.ty && !both_pointers {
                    let message =
                        format!("host memory of type `{ty}` is accessed as `{}`", pointee.ty);
                    return Err(Fault::unsupported(at, message, "use one type throughout"));
                }
                Ok((place.clone().seen_as(pointee.constant), ty))
            }
            Value::Pointer(_, Target::Device(place)) if place.buffer == Buffer::Null => {
                Err(Fault::host(at, "host code follows a null pointer"))
            }
            Value::Pointer(_, Target::Device(place)) => {
                let what = self.place_name(*place);
                if self.scratch.is_managed(*place) {
                    return Err(Fault::unsupported(
                        at,
                        format!("host code touches {what}, which kernels alone can use here"),
                        "fill and read managed memory in kernels, or use cudaMalloc and cudaMemcpy",
                    ));
                }
                Err(device_access(access, &what, at))
            }
            Value::Pointer(_, Target::Symbol(name)) => {
                Err(device_access(access, &format!("`{name}`"), at))
            }
            other => {
                let message = format!("a value of type `{}` is used as a pointer", other.ty());
                Err(Fault::unsupported(at, message, "use its name alone"))
            }
        }
    }

    /// `&operand`. Addresses of device elements are formed, not followed.
    pub(super) fn address_of(&mut self, operand: &'p Expr, at: At) -> Fallible<Value> {
        match &operand.kind {
            ExprKind::Index(array, index)
                if !matches!(
                    self.static_type(array),
                    Some(Type::Vector(_) | Type::StdArray(..))
                ) =>
            {
                let pointer = self.pointer_or_value(array)?;
                let index = self.evaluate(index)?;
                return self.binary(BinaryOp::Add, &pointer, &index, at);
            }
            ExprKind::Dereference(pointer) if self.holder_at(pointer)?.is_none() => {
                return self.evaluate(pointer);
            }
            ExprKind::Name(name) if self.find_local(&name.path).is_none() => {
                if let Some((_, variable)) = self.tables.global(&name.path)
                    && matches!(variable.storage, Storage::Static | Storage::Automatic)
                {
                    self.warn_of_state(variable); // what has its address may write to it
                }
                if let Some(kernel) = self.kernel_named(name, at)? {
                    return Ok(Value::Kernel(kernel));
                }
                if let Some(symbol) = self.symbol_named(&name.path)? {
                    return Ok(symbol);
                }
                if let Some(function) = super::constants::freeing(name.plain()) {
                    return Ok(function);
                }
            }
            _ => {}
        }
        let (place, ty) = self.place(operand, Access::Read)?;
        if let Type::Array(..) = ty {
            return self.loaded(place, &ty, "this array", at);
        }
        Ok(Value::pointer(ty, false, Target::Host(place)))
    }

    /// How to speak of a device address.
    pub(super) fn place_name(&self, place: Place) -> String {
        match place.buffer {
            Buffer::Null => "the null pointer".to_owned(),
            Buffer::Parameter(index) => match self.parameter_names.get(index as usize) {
                Some(name) => format!("`{name}`"),
                None => format!("parameter {index}"),
            },
            Buffer::Symbol(index) => match self.plan.symbols.get(index as usize) {
                Some(name) => format!("`{name}`"),
                None => "a device variable".to_owned(),
            },
            Buffer::Scratch(number) => self.scratch.name_of(number),
        }
    }
}

/// The variable whose `const` is in the way of writing a part of it.
fn blamed(expr: &Expr) -> &str {
    let mut whole = expr;
    while let ExprKind::Field {
        object,
        through_pointer: false,
        ..
    } = &whole.kind
    {
        whole = object;
    }
    described(whole)
}

/// In the compiler's sense; `what` is a name or "this element".
pub(super) fn constant(what: &str, at: At) -> Box<Fault> {
    let what = match what {
        "this element" | "this container" => what.to_owned(),
        name => format!("`{name}`"),
    };
    Fault::syntax(at, format!("{what} is const and cannot be assigned to"))
        .hint("leave `const` out where it is declared, or use another variable")
}

pub(super) fn described(expr: &Expr) -> &str {
    match &expr.kind {
        ExprKind::Name(name) => &name.path,
        ExprKind::Field { name, .. } => &name.path,
        _ => "this element",
    }
}

fn field_of(value: Value, name: &str, at: At) -> Fallible<Value> {
    let ty = value.ty();
    let Value::Record(record, fields) = value else {
        return Err(no_field(&ty, name, at));
    };
    let found = record.path_to(name);
    let (path, _) = found.ok_or_else(|| no_field(&ty, name, at))?;
    let whole = Value::Record(Rc::clone(&record), fields);
    whole
        .at_path(&path)
        .cloned()
        .ok_or_else(|| Fault::host(at, format!("`{name}` is read before it has a value")))
}

pub(super) fn no_place(at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        "host code takes the address of, or assigns to, something that is no variable",
        "store it in a variable first",
    )
}

fn no_field(ty: &Type, name: &str, at: At) -> Box<Fault> {
    let message = format!("`.{name}` of a value of type `{ty}` is not in the host subset");
    Fault::unsupported(
        at,
        message,
        "plain structs, dim3 and CUDA's vector types have fields",
    )
}

fn device_access(access: Access, what: &str, at: At) -> Box<Fault> {
    let message = match access {
        Access::Read => format!("host code reads device memory: {what} points to the device"),
        Access::Write => {
            format!("host code writes device memory: {what} points to the device")
        }
    };
    Fault::unsupported(
        at,
        message,
        "pointers in the signature are device pointers; read and write them in a kernel",
    )
}
