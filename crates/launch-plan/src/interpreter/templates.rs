//! Template arguments: what is written, what follows from the arguments of a call, defaults.

use std::collections::HashMap;

use super::Interpreter;
use super::scope::{Binding, Frame};
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{
    Function, TemplateArgument, TemplateParameter, TemplateParameterKind, TypeKind, TypeSyntax,
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

impl<'p> Interpreter<'p> {
    /// The meaning of a written argument list.
    pub(super) fn template_values(
        &mut self,
        arguments: &'p [TemplateArgument],
    ) -> Fallible<Vec<TemplateValue>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(match argument {
                TemplateArgument::Type(ty) => TemplateValue::Type(self.resolve(ty)?),
                TemplateArgument::Value(expr) => TemplateValue::Value(self.evaluate(expr)?),
                TemplateArgument::TypeOrValue(ty, expr) => self.type_or_value(ty, expr)?,
            });
        }
        Ok(values)
    }

    fn type_or_value(
        &mut self,
        ty: &'p TypeSyntax,
        expr: &'p crate::syntax::ast::Expr,
    ) -> Fallible<TemplateValue> {
        let TypeKind::Named(name) = &ty.kind else {
            return Ok(TemplateValue::Type(self.resolve(ty)?));
        };
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
            TemplateValue::Type(ty) => Ok(ty.to_string()),
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
        if explicit.len() > parameters.len() {
            let message = format!(
                "`{}` has {} template parameters; {} arguments are given",
                function.path,
                parameters.len(),
                explicit.len()
            );
            return Err(Fault::launch(at, message));
        }
        let mut values: Vec<Option<TemplateValue>> = vec![None; parameters.len()];
        for (slot, value) in values.iter_mut().zip(explicit) {
            *slot = Some(value.clone());
        }
        for (parameter, ty) in function.parameters.iter().zip(argument_types) {
            if let Some(ty) = ty {
                deduce(&parameter.ty, ty, parameters, &mut values);
            }
        }
        self.bind_values(function, parameters, values, at)
    }

    fn bind_values(
        &mut self,
        function: &'p Function,
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
                let message = format!(
                    "the template parameter `{}` of `{}` is not given and does not follow from \
                     the arguments",
                    parameter.name, function.path
                );
                return Err(Fault::launch(at, message));
            };
            if index < given {
                bound.written.push(value.clone());
            }
            bound.all.push(value.clone());
            bound
                .bindings
                .insert(parameter.name.clone(), Binding::Template(value));
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
                "a template parameter pack is not in the host subset",
                "write a template with a fixed number of parameters",
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

/// Matches a parameter's type with an argument's and fills in what it tells.
fn deduce(
    pattern: &TypeSyntax,
    ty: &Type,
    parameters: &[TemplateParameter],
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
        (TypeKind::Pointer(inner), Type::Pointer(pointee)) => {
            // `T*` from `const float*` makes T a `const float`.
            if pointee.constant && !inner.constant {
                let constant = Type::Named(format!("const {}", pointee.ty));
                deduce(inner, &constant, parameters, values);
            } else {
                deduce(inner, &pointee.ty, parameters, values);
            }
        }
        (TypeKind::Reference(inner), ty) => deduce(inner, ty, parameters, values),
        _ => {}
    }
}
