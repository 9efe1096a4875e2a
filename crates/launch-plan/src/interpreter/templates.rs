//! Template arguments: what is written, what follows from the arguments of a call, defaults.

use std::collections::HashMap;

use super::Interpreter;
use super::classes::Classes;
use super::scope::{Binding, Frame, element_name};
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{
    Expr, ExprKind, Function, Name, TemplateArgument, TemplateParameter, TemplateParameterKind,
    TypeKind, TypeSyntax,
};
use crate::types::{Scalar, Type};

/// A function's template parameters with their meaning in one call.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub(super) bindings: HashMap<String, Binding>,
    /// The arguments that must be written to name this instance; the rest are defaults.
    pub(super) written: Vec<TemplateValue>,
    /// All arguments in order, defaults too: what tells one instance from another.
    pub(super) all: Vec<TemplateValue>,
}

impl Bound {
    fn bind(&mut self, name: &str, value: TemplateValue) {
        let TemplateValue::Pack(values) = value else {
            self.bindings
                .insert(name.to_owned(), Binding::Template(value));
            return;
        };
        let length = Binding::Pack(values.len());
        self.bindings.insert(name.to_owned(), length);
        for (index, value) in values.into_iter().enumerate() {
            let binding = Binding::Template(value);
            self.bindings.insert(element_name(name, index), binding);
        }
    }
}

/// Whose template parameters are bound.
#[derive(Clone, Copy, Debug)]
pub(super) enum TemplateOwner<'a> {
    Function(&'a str),
    Class(&'a str),
}

impl<'a> TemplateOwner<'a> {
    fn path(self) -> &'a str {
        match self {
            Self::Function(path) | Self::Class(path) => path,
        }
    }

    fn fault(self, at: At, message: String) -> Box<Fault> {
        match self {
            Self::Function(_) => Fault::launch(at, message),
            Self::Class(_) => Fault::unsupported(at, message, "write every template argument out"),
        }
    }
}

impl<'p> Interpreter<'p> {
    /// The meaning of a written argument list.
    pub(super) fn template_values(
        &mut self,
        arguments: &'p [TemplateArgument],
    ) -> Fallible<Vec<TemplateValue>> {
        let mut values = Vec::new();
        for argument in arguments {
            if let TemplateArgument::Value(Expr {
                at,
                kind: ExprKind::Expand(expansion),
            }) = argument
            {
                values.extend(self.template_elements(expansion, *at)?);
                continue;
            }
            values.push(match argument {
                TemplateArgument::Type(ty) => TemplateValue::Type(self.resolve_value_type(ty)?),
                TemplateArgument::Value(expr) => TemplateValue::Value(self.evaluate(expr)?),
                TemplateArgument::TypeOrValue(ty, expr) => self.type_or_value(ty, expr)?,
            });
        }
        Ok(values)
    }

    fn type_or_value(&mut self, ty: &'p TypeSyntax, expr: &'p Expr) -> Fallible<TemplateValue> {
        if let ExprKind::Call(callee, _) = &expr.kind
            && let ExprKind::Name(name) = &callee.kind
            && !self.names_type(name)
        {
            return Ok(TemplateValue::Value(self.evaluate(expr)?));
        }
        let TypeKind::Named(name) = &ty.kind else {
            return Ok(TemplateValue::Type(self.resolve(ty)?));
        };
        match self.static_member(name, expr.at)? {
            Some(Binding::Template(value)) => return Ok(value),
            Some(_) => return Ok(TemplateValue::Value(self.evaluate(expr)?)),
            None => {}
        }
        let known = self.find_local(&name.path).is_some()
            || self.tables.global(&name.path).is_some()
            || super::constants::builtin(name.plain()).is_some();
        if known && !self.names_type(name) {
            return Ok(TemplateValue::Value(self.evaluate(expr)?));
        }
        // What only the device code knows keeps its spelling.
        Ok(TemplateValue::Type(self.resolve(ty)?))
    }

    /// C++ text for a template argument.
    pub(super) fn rendered(&mut self, value: &TemplateValue, at: At) -> Fallible<String> {
        match value {
            TemplateValue::Type(Type::Closure(_) | Type::Function) => Err(Fault::unsupported(
                at,
                "a lambda is passed to a kernel or class as its template argument",
                "host lambdas cannot run on the device; use a struct with operator()",
            )),
            TemplateValue::Type(ty) => Ok(ty.to_string()),
            TemplateValue::Pack(values) => {
                let mut parts = Vec::new();
                for value in values {
                    parts.push(self.rendered(value, at)?);
                }
                Ok(parts.join(", "))
            }
            TemplateValue::Value(Value::Integer(Scalar::Bool, value)) => {
                Ok(if *value == 0 { "false" } else { "true" }.to_owned())
            }
            TemplateValue::Value(Value::Integer(_, value)) => {
                let suffix = if *value > i64::MAX.into() { "ULL" } else { "" };
                Ok(format!("{value}{suffix}"))
            }
            TemplateValue::Value(other) => {
                let message = format!("a template argument of type `{}`", other.ty());
                Err(Fault::unsupported(
                    at,
                    message,
                    "use a type or an integer constant",
                ))
            }
        }
    }

    /// Binds every template parameter of `function` for a call with arguments of these types.
    pub(super) fn bind_templates(
        &mut self,
        function: &'p Function,
        explicit: &[TemplateValue],
        argument_types: &[Option<Type>],
        at: At,
    ) -> Fallible<Bound> {
        let Some(parameters) = &function.template else {
            if explicit.is_empty() {
                return Ok(Bound::default());
            }
            let message = format!("`{}` is no template and takes no `<...>`", function.path);
            return Err(Fault::launch(at, message));
        };
        let owner = TemplateOwner::Function(&function.path);
        let mut values = given_values(owner, parameters, explicit, at)?;
        for (position, parameter) in function.parameters.iter().enumerate() {
            if parameter.pack {
                let types = argument_types.get(position..).unwrap_or_default();
                deduce_pack(&parameter.ty, types, parameters, &mut values);
                break;
            }
            if let Some(Some(ty)) = argument_types.get(position) {
                let classes = &self.language.classes;
                deduce(&parameter.ty, ty, parameters, classes, &mut values);
            }
        }
        self.bind_values(owner, parameters, values, at)
    }

    /// The same for the written arguments of a class.
    pub(super) fn bind_arguments(
        &mut self,
        owner: TemplateOwner<'_>,
        parameters: &'p [TemplateParameter],
        explicit: &[TemplateValue],
        at: At,
    ) -> Fallible<Bound> {
        let values = given_values(owner, parameters, explicit, at)?;
        self.bind_values(owner, parameters, values, at)
    }

    fn bind_values(
        &mut self,
        owner: TemplateOwner<'_>,
        parameters: &'p [TemplateParameter],
        values: Vec<Option<TemplateValue>>,
        at: At,
    ) -> Fallible<Bound> {
        let given = values
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |i| i + 1);
        let mut bound = Bound::default();
        for (index, (parameter, value)) in parameters.iter().zip(values).enumerate() {
            let frame = Frame::new(bound.bindings.clone());
            let value = self.framed(frame, |interpreter| match value {
                Some(value) => interpreter.adapted(parameter, value, at).map(Some),
                None => interpreter.default_of(parameter),
            })?;
            let Some(value) = value else {
                return Err(owner.fault(
                    at,
                    format!(
                        "the template parameter `{}` of `{}` is not given and does not follow \
                         from the arguments",
                        parameter.name,
                        owner.path()
                    ),
                ));
            };
            if index < given {
                bound.written.push(value.clone());
            }
            bound.all.push(value.clone());
            bound.bind(&parameter.name, value);
        }
        Ok(bound)
    }

    /// A given argument in the parameter's own type.
    fn adapted(
        &mut self,
        parameter: &'p TemplateParameter,
        value: TemplateValue,
        at: At,
    ) -> Fallible<TemplateValue> {
        match (&parameter.kind, value) {
            (TemplateParameterKind::Value { ty, .. }, TemplateValue::Value(value)) => {
                if matches!(ty.kind, TypeKind::Auto) {
                    return Ok(TemplateValue::Value(value));
                }
                match self.resolve(ty)? {
                    // An enum or another type that the host knows by name alone.
                    Type::Named(_) => Ok(TemplateValue::Value(value)),
                    ty => self.convert(value, &ty, at).map(TemplateValue::Value),
                }
            }
            (TemplateParameterKind::Other, _) => Err(Fault::unsupported(
                at,
                "a template as the argument of a template is not in the host subset",
                "name the type itself",
            )),
            (_, value) => Ok(value),
        }
    }

    fn default_of(&mut self, parameter: &'p TemplateParameter) -> Fallible<Option<TemplateValue>> {
        Ok(match &parameter.kind {
            TemplateParameterKind::Type {
                default: Some(default),
            } => Some(TemplateValue::Type(self.resolve(default)?)),
            TemplateParameterKind::Value {
                ty,
                default: Some(default),
            } => {
                let value = TemplateValue::Value(self.evaluate(default)?);
                let at = ty.at;
                Some(self.adapted(parameter, value, at)?)
            }
            _ => None,
        })
    }
}

/// The written arguments, each for its parameter.
fn given_values(
    owner: TemplateOwner<'_>,
    parameters: &[TemplateParameter],
    explicit: &[TemplateValue],
    at: At,
) -> Fallible<Vec<Option<TemplateValue>>> {
    let mut values: Vec<Option<TemplateValue>> = vec![None; parameters.len()];
    let mut rest = explicit.iter();
    for (slot, parameter) in values.iter_mut().zip(parameters) {
        *slot = match parameter.kind {
            TemplateParameterKind::Pack => {
                Some(TemplateValue::Pack(rest.by_ref().cloned().collect()))
            }
            _ => rest.next().cloned(),
        };
    }
    if rest.next().is_some() {
        let message = format!(
            "`{}` has {} template parameters; {} arguments are given",
            owner.path(),
            parameters.len(),
            explicit.len()
        );
        return Err(owner.fault(at, message));
    }
    Ok(values)
}

/// What the arguments tell of `Ts` in `Ts... ts`, beyond what is written.
fn deduce_pack(
    pattern: &TypeSyntax,
    types: &[Option<Type>],
    parameters: &[TemplateParameter],
    values: &mut [Option<TemplateValue>],
) {
    let mut inner = pattern;
    while let TypeKind::Reference(next) | TypeKind::Pointer(next) = &inner.kind {
        inner = next;
    }
    let TypeKind::Named(name) = &inner.kind else {
        return;
    };
    let index = parameters.iter().position(|parameter| {
        parameter.name == name.path && matches!(parameter.kind, TemplateParameterKind::Pack)
    });
    let Some(Some(TemplateValue::Pack(pack))) = index.and_then(|index| values.get_mut(index))
    else {
        return;
    };
    for ty in types.iter().skip(pack.len()) {
        let ty = match (&pattern.kind, ty) {
            (TypeKind::Pointer(_), Some(Type::Pointer(pointee))) => pointee.ty.clone(),
            (_, Some(ty)) => ty.clone(),
            (_, None) => Type::Void,
        };
        pack.push(TemplateValue::Type(ty));
    }
}

/// Matches a parameter's type with an argument's and fills in what it tells.
fn deduce(
    pattern: &TypeSyntax,
    ty: &Type,
    parameters: &[TemplateParameter],
    classes: &Classes,
    values: &mut [Option<TemplateValue>],
) {
    match (&pattern.kind, ty) {
        (TypeKind::Named(name), ty) if name.arguments.is_none() => {
            let index = parameters.iter().position(|parameter| {
                parameter.name == name.path
                    && matches!(parameter.kind, TemplateParameterKind::Type { .. })
            });
            if let Some(slot) = index.and_then(|index| values.get_mut(index))
                && slot.is_none()
            {
                *slot = Some(TemplateValue::Type(ty.clone()));
            }
        }
        (TypeKind::Named(name), Type::Vector(element)) if name.plain() == "vector" => {
            let given = [TemplateValue::Type(Type::clone(element))];
            deduce_arguments(name, &given, parameters, classes, values);
        }
        (TypeKind::Named(name), Type::StdArray(element, length)) if name.plain() == "array" => {
            let length = Value::Integer(Scalar::ULong, (*length).into());
            let given = [
                TemplateValue::Type(Type::clone(element)),
                TemplateValue::Value(length),
            ];
            deduce_arguments(name, &given, parameters, classes, values);
        }
        (TypeKind::Named(name), Type::Record(record)) => {
            let parts = record.fields.iter();
            let parts = parts.map(|field| TemplateValue::Type(field.ty.clone()));
            if record.name.starts_with(&format!("std::{}<", name.plain()))
                && record.holder.is_none()
            {
                deduce_arguments(
                    name,
                    &parts.collect::<Vec<_>>(),
                    parameters,
                    classes,
                    values,
                );
            } else if let Some((template, given)) = classes.made_of(&record.name)
                && (*template == name.path || template.ends_with(&format!("::{}", name.path)))
            {
                deduce_arguments(name, given, parameters, classes, values);
            }
        }
        (TypeKind::Pointer(inner), Type::Pointer(pointee)) => {
            // `T*` from `const float*` makes T a `const float`.
            if pointee.constant && !inner.constant {
                let constant = Type::Named(format!("const {}", pointee.ty));
                deduce(inner, &constant, parameters, classes, values);
            } else {
                deduce(inner, &pointee.ty, parameters, classes, values);
            }
        }
        (TypeKind::Reference(inner), ty) => deduce(inner, ty, parameters, classes, values),
        _ => {}
    }
}

/// `T` and `N` of `std::array<T, N>`.
fn deduce_arguments(
    pattern: &Name,
    given: &[TemplateValue],
    parameters: &[TemplateParameter],
    classes: &Classes,
    values: &mut [Option<TemplateValue>],
) {
    for (argument, value) in pattern.arguments.iter().flatten().zip(given) {
        match (argument, value) {
            (
                TemplateArgument::Type(pattern) | TemplateArgument::TypeOrValue(pattern, _),
                TemplateValue::Type(ty),
            ) => deduce(pattern, ty, parameters, classes, values),
            (
                TemplateArgument::Value(pattern) | TemplateArgument::TypeOrValue(_, pattern),
                TemplateValue::Value(_),
            ) => {
                let ExprKind::Name(name) = &pattern.kind else {
                    continue;
                };
                let index = parameters.iter().position(|parameter| {
                    parameter.name == name.path
                        && matches!(parameter.kind, TemplateParameterKind::Value { .. })
                });
                if let Some(slot) = index.and_then(|index| values.get_mut(index))
                    && slot.is_none()
                {
                    *slot = Some(value.clone());
                }
            }
            _ => {}
        }
    }
}
