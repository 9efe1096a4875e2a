//! Calls of the file's own functions, and who else a call may be for.

use super::Interpreter;
use super::places::{Access, is_place};
use super::resolve::refusal;
use super::scope::{Binding, Frame};
use super::value::{HostRef, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Body, Expr, ExprKind, Function, Name, Space, TypeKind};
use crate::types::Type;

/// An argument as the caller has it.
struct Given {
    value: Option<Value>,
    place: Option<(HostRef, Type)>,
}

impl<'p> Interpreter<'p> {
    pub(super) fn call(
        &mut self,
        callee: &'p Expr,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let name = match &callee.kind {
            ExprKind::Name(name) => name,
            ExprKind::Field { name, .. } => {
                return Err(Fault::unsupported(
                    at,
                    format!("the method call `.{name}()` in host code is not in the host subset"),
                    "use plain variables and functions",
                ));
            }
            ExprKind::Unsupported(reason) => return Err(refusal(callee.at, reason)),
            _ => {
                return Err(Fault::unsupported(
                    at,
                    "a call through an expression is not in the host subset",
                    "call the function by its name",
                ));
            }
        };
        if self.names_type(name) {
            let ty = self.resolve_name(name, at)?;
            return self.construct(&ty, arguments, at);
        }
        if let Some(function) = self.function_for(name, arguments.len(), at)? {
            return self.call_function(function, name, arguments, at);
        }
        if let Some(result) = self.runtime_call(name.plain(), arguments, at) {
            return result;
        }
        self.library_function(name, arguments, at)
    }

    fn resolve_name(&mut self, name: &'p Name, at: At) -> Fallible<Type> {
        if let Some(Binding::Template(TemplateValue::Type(ty))) = self.find_local(&name.path) {
            return Ok(ty.clone());
        }
        self.named_type(name, at)
    }

    /// The function of the file that a call means, by name and number of arguments.
    fn function_for(&self, name: &Name, count: usize, at: At) -> Fallible<Option<usize>> {
        let candidates = self.tables.functions_named(&name.path);
        let accepts = |&index: &usize| {
            let function = self.tables.function(index);
            let required = function
                .parameters
                .iter()
                .take_while(|parameter| parameter.default.is_none())
                .count();
            (required..=function.parameters.len()).contains(&count)
        };
        let fitting: Vec<usize> = candidates.iter().copied().filter(accepts).collect();
        let host = fitting.iter().copied().find(|&index| {
            let function = self.tables.function(index);
            matches!(function.space, Space::Host | Space::Both) && function.body.is_some()
        });
        if host.is_some() {
            return Ok(host);
        }
        let Some(&other) = candidates.first() else {
            return Ok(None);
        };
        let function = self.tables.function(other);
        Err(match function.space {
            Space::Kernel => Fault::unsupported(
                at,
                format!(
                    "the kernel `{}` is called without <<<grid, block>>>",
                    name.path
                ),
                "launch it: `kernel<<<grid, block>>>(...)`",
            ),
            Space::Device => Fault::unsupported(
                at,
                format!("host code calls the __device__ function `{}`", name.path),
                "mark it `__host__ __device__`",
            ),
            _ if function.body.is_none() => Fault::unsupported(
                at,
                format!("`{}` is declared and not defined in this file", name.path),
                "define it in this file",
            ),
            _ => Fault::unsupported(
                at,
                format!(
                    "`{}` is called with {count} arguments, which fits none",
                    name.path
                ),
                "",
            ),
        })
    }

    fn call_function(
        &mut self,
        index: usize,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let function = self.tables.function(index);
        let explicit = match &name.arguments {
            Some(written) => self.template_values(written)?,
            None => Vec::new(),
        };
        let mut given = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            given.push(self.given(function, position, argument)?);
        }
        let types: Vec<Option<Type>> = given
            .iter()
            .map(|given| match (&given.place, &given.value) {
                (_, Some(value)) => Some(value.ty()),
                (Some((_, ty)), None) => Some(ty.clone()),
                _ => None,
            })
            .collect();
        let bound = self.bind_templates(function, &explicit, &types, at)?;
        self.deeper(at, |interpreter| {
            interpreter.framed(Frame::new(bound.bindings), |interpreter| {
                interpreter.bind_parameters(function, arguments, given)?;
                let returns = match function.returns.kind {
                    TypeKind::Auto => None,
                    _ => Some(interpreter.resolve(&function.returns)?),
                };
                interpreter.returning.push(returns);
                let result = interpreter.run_function_body(function, at);
                interpreter.returning.pop();
                result
            })
        })
    }

    fn given(
        &mut self,
        function: &'p Function,
        position: usize,
        argument: &'p Expr,
    ) -> Fallible<Given> {
        let reference =
            function
                .parameters
                .get(position)
                .and_then(|parameter| match &parameter.ty.kind {
                    TypeKind::Reference(inner) => Some(inner),
                    _ => None,
                });
        let local = match &argument.kind {
            ExprKind::Name(name) => self.find_local(&name.path).is_some(),
            _ => is_place(argument),
        };
        if reference.is_some()
            && local
            && let Ok((place, ty)) = self.place(argument, Access::Read)
        {
            if let Type::Array(..) = ty {
            } else {
                let value = self.memory.load(&place, argument.at)?;
                return Ok(Given {
                    value,
                    place: Some((place, ty)),
                });
            }
        }
        // A list takes the parameter's type, which is not known yet.
        let value = match argument.kind {
            ExprKind::List(_) => None,
            _ => Some(self.evaluate(argument)?),
        };
        Ok(Given { value, place: None })
    }

    fn bind_parameters(
        &mut self,
        function: &'p Function,
        arguments: &'p [Expr],
        given: Vec<Given>,
    ) -> Fallible<()> {
        let mut given = given.into_iter();
        for (position, parameter) in function.parameters.iter().enumerate() {
            let at = arguments.get(position).map_or(parameter.at, |a| a.at);
            let ty = match parameter.ty.kind {
                TypeKind::Auto => None,
                _ => Some(self.resolve(&parameter.ty)?),
            };
            let binding = match given.next() {
                Some(Given {
                    place: Some((place, place_type)),
                    value,
                }) => match (&ty, value) {
                    (Some(ty), Some(value)) if *ty != place_type && !is_pointer(ty) => {
                        let value = self.convert(value, ty, at)?;
                        self.new_variable(ty.clone(), Some(value), at)?
                    }
                    _ => Binding::Variable(place, place_type),
                },
                Some(Given {
                    value: Some(value), ..
                }) => {
                    let ty = ty.unwrap_or_else(|| value.ty());
                    let value = self.convert(value, &ty, at)?;
                    self.new_variable(ty, Some(value), at)?
                }
                _ => {
                    let initial = arguments.get(position).or(parameter.default.as_ref());
                    let (Some(initial), Some(ty)) = (initial, ty) else {
                        return Err(Fault::unsupported(at, "this argument", ""));
                    };
                    let value = self.initialised(&ty, initial)?;
                    self.new_variable(ty, Some(value), at)?
                }
            };
            self.bind(&parameter.name, binding);
        }
        Ok(())
    }

    pub(super) fn run_function_body(&mut self, function: &'p Function, at: At) -> Fallible<Value> {
        match &function.body {
            Some(Body::Statements(statements)) => {
                let value = self.run_body(statements, at)?;
                if value == Value::Void && !matches!(function.returns.kind, TypeKind::Void) {
                    // Flowing off the end is undefined only where the value is used.
                    return Ok(Value::Void);
                }
                Ok(value)
            }
            Some(Body::SyntaxError(at, message)) => Err(Fault::syntax(*at, message.clone())),
            None => Err(Fault::unsupported(
                at,
                format!(
                    "`{}` is declared and not defined in this file",
                    function.path
                ),
                "define it in this file",
            )),
        }
    }
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_))
}
