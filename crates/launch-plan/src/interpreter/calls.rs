//! Calls of the file's own functions, and who else a call may be for.

use super::Interpreter;
use super::overloads::{Choice, Passed, takes_count};
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
        let functions = self.functions_for(name, arguments.len(), at)?;
        if !functions.is_empty() {
            return self.call_function(&functions, name, arguments, at);
        }
        if let Some(function) = self.driver_pointer(name) {
            let mut values = Vec::new();
            for argument in arguments {
                values.push(self.evaluate(argument)?);
            }
            return self.driver_function(function, &values, at);
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

    /// The functions of the file that a call may mean, by name and number of arguments.
    fn functions_for(&self, name: &Name, count: usize, at: At) -> Fallible<Vec<usize>> {
        let candidates = self.tables.functions_named(&name.path);
        let callable = |&index: &usize| {
            let function = self.tables.function(index);
            takes_count(function, count)
                && matches!(function.space, Space::Host | Space::Both)
                && function.body.is_some()
        };
        let hosts: Vec<usize> = candidates.iter().copied().filter(callable).collect();
        if !hosts.is_empty() {
            return Ok(hosts);
        }
        let Some(&other) = candidates.first() else {
            return Ok(hosts);
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
        functions: &[usize],
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let explicit = match &name.arguments {
            Some(written) => self.template_values(written)?,
            None => Vec::new(),
        };
        let mut given = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let by_reference = functions
                .iter()
                .any(|&index| takes_reference(self.tables.function(index), position));
            given.push(self.given(by_reference, argument)?);
        }
        let function = match functions {
            [only] => self.tables.function(*only),
            several => {
                let function = self.chosen_function(several, name, &explicit, &given, at)?;
                self.pass_by_value(function, arguments, &mut given)?;
                function
            }
        };
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

    /// The overload that the arguments mean.
    fn chosen_function(
        &mut self,
        functions: &[usize],
        name: &Name,
        explicit: &[TemplateValue],
        given: &[Given],
        at: At,
    ) -> Fallible<&'p Function> {
        let passed: Vec<Passed> = given
            .iter()
            .map(|given| Passed {
                value: given.value.clone(),
                place: given.place.is_some(),
            })
            .collect();
        let what = match self.choose(functions, explicit, &passed, at)? {
            Choice::One(index) => return Ok(self.tables.function(index)),
            Choice::Ambiguous => "is ambiguous: several functions of that name fit",
            Choice::NoneFits => "fits none of the functions of that name",
        };
        Err(Fault::unsupported(
            at,
            format!("the call of `{}` {what}", name.path),
            "give each function a name of its own",
        ))
    }

    /// What another overload would have taken by reference, this one takes by value.
    fn pass_by_value(
        &mut self,
        function: &Function,
        arguments: &'p [Expr],
        given: &mut [Given],
    ) -> Fallible<()> {
        for (position, (given, argument)) in given.iter_mut().zip(arguments).enumerate() {
            if given.place.is_some() && !takes_reference(function, position) {
                *given = self.given(false, argument)?;
            }
        }
        Ok(())
    }

    fn given(&mut self, by_reference: bool, argument: &'p Expr) -> Fallible<Given> {
        let local = match &argument.kind {
            ExprKind::Name(name) => self.find_local(&name.path).is_some(),
            _ => is_place(argument),
        };
        if by_reference
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

fn takes_reference(function: &Function, position: usize) -> bool {
    function
        .parameters
        .get(position)
        .is_some_and(|parameter| matches!(parameter.ty.kind, TypeKind::Reference(_)))
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_))
}
