//! Types of expressions that are not evaluated, as far as they are plain to see.

use std::collections::HashMap;

use super::destructors::moved;
use super::overloads::takes_count;
use super::scope::{Binding, Frame, Surroundings};
use super::value::TemplateValue;
use super::{Interpreter, arithmetic, constants};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, Space, TemplateArgument, UnaryOp};
use crate::types::{Holder, Scalar, Type};

impl<'p> Interpreter<'p> {
    /// The type of an expression that is not evaluated, where it is plain to see.
    pub(super) fn static_type(&mut self, expr: &'p Expr) -> Option<Type> {
        self.deeper(
            expr.at,
            |interpreter| Ok(interpreter.static_type_kind(expr)),
        )
        .ok()?
    }

    fn static_type_kind(&mut self, expr: &'p Expr) -> Option<Type> {
        match &expr.kind {
            ExprKind::Integer(_, scalar) | ExprKind::Float(_, scalar) => {
                Some(Type::Scalar(*scalar))
            }
            ExprKind::Name(name) => match self.find_local(&name.path) {
                Some(Binding::Variable(_, ty)) => Some(ty.clone()),
                Some(Binding::Template(TemplateValue::Value(value))) => Some(value.ty()),
                Some(Binding::Template(TemplateValue::Type(ty))) => Some(ty.clone()),
                Some(_) => None,
                None if self.names_type(name) => self.named_type(name, expr.at).ok(),
                None => {
                    if let Some(Binding::Variable(_, ty)) =
                        self.static_member(name, expr.at).ok()?
                    {
                        return Some(ty);
                    }
                    if constants::freeing(name.plain()).is_some() {
                        return Some(Type::Kernel);
                    }
                    let (_, variable) = self.tables.global(&name.path)?;
                    self.resolve(&variable.ty).ok()
                }
            },
            ExprKind::PackElement(index, inner) => {
                self.in_element(*index, |interpreter| interpreter.static_type(inner))
            }
            ExprKind::PackSize(_) => Some(Type::SIZE),
            ExprKind::AddressOf(operand) => match self.static_type(operand)? {
                Type::Kernel => Some(Type::Kernel),
                _ => None,
            },
            ExprKind::Call(callee, arguments) => self.static_type_of_call(expr, callee, arguments),
            ExprKind::Dereference(operand) | ExprKind::Index(operand, _) => {
                let ty = self.static_type(operand);
                match self.type_of_operator(expr, ty.as_ref(), None) {
                    Some(returned) => returned,
                    None => pointee(&ty?),
                }
            }
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => {
                let ty = self.type_of_object(object, *through_pointer)?;
                let Type::Record(record) = ty else {
                    return None;
                };
                Some(record.path_to(&name.path)?.1.clone())
            }
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) | ExprKind::ConstructList(ty, _) => {
                self.resolve(ty).ok()
            }
            ExprKind::SizeOfType(_) | ExprKind::SizeOfValue(_) | ExprKind::AlignOf(_) => {
                Some(Type::SIZE)
            }
            ExprKind::And(..) | ExprKind::Or(..) => Some(Type::BOOL),
            ExprKind::Unary(op, operand) => {
                let ty = self.static_type(operand);
                match self.type_of_operator(expr, ty.as_ref(), None) {
                    Some(returned) => returned,
                    None if *op == UnaryOp::Not => Some(Type::BOOL),
                    None => Some(Type::Scalar(arithmetic::promoted(scalar_of(&ty?)?))),
                }
            }
            ExprKind::Binary(op, left, right) => self.type_of_binary(expr, *op, left, right),
            ExprKind::Conditional(_, yes, no) => {
                match (self.static_type(yes)?, self.static_type(no)?) {
                    (Type::Scalar(yes), Type::Scalar(no)) if yes != no => {
                        Some(Type::Scalar(arithmetic::common(yes, no)))
                    }
                    (ty, _) => Some(ty),
                }
            }
            ExprKind::Assign(_, target, _) => self.static_type(target),
            ExprKind::Step { operand, .. } => self.static_type(operand),
            ExprKind::Comma(_, right) => self.static_type(right),
            _ => None,
        }
    }

    fn type_of_binary(
        &mut self,
        expr: &'p Expr,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
    ) -> Option<Type> {
        if op.is_comparison() && !self.tables.has_operators() {
            return Some(Type::BOOL);
        }
        let (left, right) = (self.static_type(left), self.static_type(right));
        if let Some(returned) = self.type_of_operator(expr, left.as_ref(), right.as_ref()) {
            return returned;
        }
        if op.is_comparison() {
            return Some(Type::BOOL);
        }
        let (left, right) = (scalar_of(&left?)?, scalar_of(&right?)?);
        let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        Some(Type::Scalar(if shift {
            arithmetic::promoted(left)
        } else {
            arithmetic::common(left, right)
        }))
    }

    /// The type of what stands before a dot or an arrow; behind the arrow, of what it points to.
    pub(super) fn type_of_object(
        &mut self,
        object: &'p Expr,
        through_pointer: bool,
    ) -> Option<Type> {
        let ty = self.static_type(object)?;
        if !through_pointer {
            return Some(ty);
        }
        if let Type::Record(record) = &ty
            && record.holder.is_none()
        {
            let arrows = self.methods_of(record, "operator->");
            return pointee(&self.returned_type(&arrows, Some(&ty))?);
        }
        pointee(&ty)
    }

    fn static_type_of_call(
        &mut self,
        expr: &'p Expr,
        callee: &'p Expr,
        arguments: &'p [Expr],
    ) -> Option<Type> {
        if let Some(of) = moved(expr) {
            return self.static_type(of);
        }
        match &callee.kind {
            ExprKind::Name(name) if self.names_type(name) => self.named_type(name, callee.at).ok(),
            ExprKind::Name(name) => self.type_of_named_call(name, arguments),
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => match (
                self.type_of_object(object, *through_pointer)?,
                name.path.as_str(),
            ) {
                (Type::Record(record), method) if record.holder.is_some() => {
                    Self::type_of_holder_method(&record, method)
                }
                (ty @ Type::Record(_), method) => {
                    let Type::Record(record) = &ty else {
                        return None;
                    };
                    let mut methods = self.methods_of(record, method);
                    methods
                        .retain(|&index| takes_count(self.tables.function(index), arguments.len()));
                    self.returned_type(&methods, Some(&ty))
                }
                (Type::Vector(_) | Type::StdArray(..), "size") => Some(Type::SIZE),
                (Type::Vector(_) | Type::StdArray(..), "empty") => Some(Type::BOOL),
                (
                    Type::Vector(element) | Type::StdArray(element, _),
                    "front" | "back" | "at" | "emplace_back",
                ) => Some(Type::clone(&element)),
                (Type::Vector(element) | Type::StdArray(element, _), "data" | "begin" | "end") => {
                    Some(Type::pointer_to(Type::clone(&element), false))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn type_of_named_call(&mut self, name: &'p Name, arguments: &'p [Expr]) -> Option<Type> {
        match self.find_local(&name.path).cloned() {
            Some(Binding::Variable(_, Type::Closure(function))) => {
                return self.returned_type(&[function], None);
            }
            Some(Binding::Variable(_, ty @ Type::Record(_))) => {
                let Type::Record(record) = &ty else {
                    return None;
                };
                let calls = self.operators_of(record);
                return self.returned_type(&calls, Some(&ty));
            }
            Some(_) => return None,
            None => {}
        }
        let functions = self.functions_meant(name, arguments.len());
        if !functions.is_empty() {
            let class = self.surroundings().class;
            let owner = class.and_then(|class| self.language.classes.type_of(&class.name));
            return self.returned_type(&functions, owner.as_ref());
        }
        match (name.plain(), name.arguments.as_deref()) {
            ("min" | "max" | "clamp", Some([TemplateArgument::Type(ty)])) => self.resolve(ty).ok(),
            ("min" | "max" | "clamp", None) => {
                let first = self.static_type(arguments.first()?)?;
                let mut scalar = scalar_of(&first)?;
                for argument in &arguments[1..] {
                    let next = scalar_of(&self.static_type(argument)?)?;
                    if next != scalar {
                        scalar = arithmetic::common(scalar, next);
                    }
                }
                Some(Type::Scalar(scalar))
            }
            ("get", Some(_)) => {
                let [only] = arguments else { return None };
                let written = name.arguments.as_deref()?;
                let index = self.template_values(written).ok()?;
                let [TemplateValue::Value(super::value::Value::Integer(_, index))] = index[..]
                else {
                    return None;
                };
                match self.static_type(only)? {
                    Type::Record(record) => {
                        let field = record.fields.get(usize::try_from(index).ok()?)?;
                        Some(field.ty.clone())
                    }
                    Type::StdArray(element, _) => Some(Type::clone(&element)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The functions of the file that a call may mean, as far as a name tells.
    pub(super) fn functions_meant(&mut self, name: &'p Name, count: usize) -> Vec<usize> {
        let takes = |interpreter: &Self, index: usize| {
            let function = interpreter.tables.function(index);
            takes_count(function, count) && matches!(function.space, Space::Host | Space::Both)
        };
        if name.split().is_none()
            && let Some(class) = self.surroundings().class
            && let Some(Type::Record(record)) = self.language.classes.type_of(&class.name)
        {
            let mut methods = self.methods_of(&record, &name.path);
            if !methods.is_empty() {
                methods.retain(|&index| takes(self, index));
                return methods;
            }
        }
        let mut functions = self.tables.functions_named(&name.path);
        functions.retain(|&index| takes(self, index));
        functions
    }

    /// What functions return, where all of them return the same and that is written out. `owner` is the class
    /// whose methods they are.
    pub(super) fn returned_type(
        &mut self,
        functions: &[usize],
        owner: Option<&Type>,
    ) -> Option<Type> {
        let class = match owner {
            Some(Type::Record(record)) => self.class_of(&record.name),
            _ => None,
        };
        let tables = self.tables;
        let mut found: Option<Type> = None;
        for &index in functions {
            let function = tables.function(index);
            if function.template.is_some() || super::parameters::mentions_auto(&function.returns) {
                return None;
            }
            let around = Surroundings {
                class: class.clone(),
                ..Surroundings::default()
            };
            let frame = Frame::within(HashMap::new(), around);
            let ty = self.framed(frame, |interpreter| interpreter.resolve(&function.returns));
            let ty = ty.ok()?;
            if found.as_ref().is_some_and(|found| *found != ty) {
                return None;
            }
            found = Some(ty);
        }
        found
    }
}

fn scalar_of(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(*scalar),
        _ => None,
    }
}

fn pointee(ty: &Type) -> Option<Type> {
    match ty {
        Type::Pointer(pointee) => Some(pointee.ty.clone()),
        Type::Array(element, _) | Type::StdArray(element, _) | Type::Vector(element) => {
            Some(Type::clone(element))
        }
        Type::Record(record) => match record.holder? {
            Holder::Unique => pointee(&record.fields.first()?.ty),
            Holder::Optional => Some(record.fields.first()?.ty.clone()),
        },
        _ => None,
    }
}
