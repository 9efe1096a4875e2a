//! Arguments of a call, and the parameters that they become.

use super::Interpreter;
use super::destructors::{is_constructor, moved};
use super::places::{Access, is_place};
use super::scope::{Binding, Frame, Surroundings, element_name};
use super::statements::Returning;
use super::value::{HostRef, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Body, Expr, ExprKind, Function, Parameter, TypeKind, TypeSyntax};
use crate::types::Type;

/// An argument as the caller has it.
#[derive(Clone)]
pub(super) struct Given<'p> {
    pub(super) at: At,
    /// `None` for what has no value yet. Of a vector that has a place, its type alone counts.
    pub(super) value: Option<Value>,
    pub(super) place: Option<(HostRef, Type)>,
    /// A braced list, which takes the parameter's type.
    pub(super) list: Option<&'p Expr>,
}

impl Given<'_> {
    pub(super) fn value(value: Value, at: At) -> Self {
        Self {
            at,
            value: Some(value),
            place: None,
            list: None,
        }
    }

    pub(super) fn place(place: HostRef, ty: Type, at: At) -> Self {
        Self {
            at,
            value: None,
            place: Some((place, ty)),
            list: None,
        }
    }

    fn ty(&self) -> Option<Type> {
        match (&self.place, &self.value) {
            (_, Some(value)) => Some(value.ty()),
            (Some((_, ty)), None) => Some(ty.clone()),
            _ => None,
        }
    }
}

impl<'p> Interpreter<'p> {
    /// The arguments of a call that may mean any of some functions.
    pub(super) fn all_given(
        &mut self,
        functions: &[usize],
        arguments: &'p [Expr],
    ) -> Fallible<Vec<Given<'p>>> {
        let arguments = self.expanded(arguments)?;
        let mut given = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let by_reference = functions
                .iter()
                .any(|&index| takes_reference(self.tables.function(index), position));
            given.push(self.given(by_reference, argument)?);
        }
        Ok(given)
    }

    fn given(&mut self, by_reference: bool, argument: &'p Expr) -> Fallible<Given<'p>> {
        let at = argument.at;
        if self.language.has_destructors
            && let Some(given) = self.given_object(by_reference, argument)?
        {
            return Ok(given);
        }
        let local = match &argument.kind {
            ExprKind::Name(name) => self.find_local(&name.path).is_some(),
            _ => is_place(argument),
        };
        if by_reference
            && local
            && let Ok((place, ty)) = self.place(argument, Access::Read)
            && !matches!(ty, Type::Array(..))
        {
            let value = match &ty {
                // Not copied to be looked at.
                Type::Vector(_) => Some(Value::Row(ty.clone(), Vec::new())),
                _ => self.memory.load(&place, at)?,
            };
            return Ok(Given {
                at,
                value,
                place: Some((place, ty)),
                list: None,
            });
        }
        // A list takes the parameter's type, which is not known yet.
        let (value, list) = match argument.kind {
            ExprKind::List(_) => (None, Some(argument)),
            _ => (Some(self.evaluate(argument)?), None),
        };
        Ok(Given {
            at,
            value,
            place: None,
            list,
        })
    }

    /// An argument that is an object with a destructor and has a place, `std::move`d or not.
    fn given_object(
        &mut self,
        by_reference: bool,
        argument: &'p Expr,
    ) -> Fallible<Option<Given<'p>>> {
        let source = moved(argument).unwrap_or(argument);
        if !by_reference {
            let object = self.taken(argument)?;
            return Ok(object.map(|object| Given::value(object, argument.at)));
        }
        if !is_place(source)
            || !self
                .static_type(source)
                .is_some_and(|ty| ty.has_destructor())
        {
            return Ok(None);
        }
        let (place, ty) = self.place(source, Access::Read)?;
        let value = self.memory.load(&place, argument.at)?;
        Ok(Some(Given {
            value,
            ..Given::place(place, ty, argument.at)
        }))
    }

    /// Runs a function of the file.
    pub(super) fn invoke(
        &mut self,
        function: &'p Function,
        explicit: &[TemplateValue],
        given: Vec<Given<'p>>,
        around: &Surroundings,
        at: At,
    ) -> Fallible<Value> {
        let types: Vec<Option<Type>> = given.iter().map(Given::ty).collect();
        let bound = self.bind_templates(function, explicit, &types, at)?;
        let frame = || Frame::within(bound.bindings.clone(), around.clone());
        let given = self.given_lists(function, given, &frame)?;
        self.deeper(at, |interpreter| {
            interpreter.framed(frame(), |interpreter| {
                interpreter.bind_parameters(function, given, at)?;
                let returns = match function.returns.kind {
                    TypeKind::Auto => None,
                    _ if mentions_auto(&function.returns) => None,
                    _ => Some(interpreter.resolve(&function.returns)?),
                };
                interpreter.returning.push(Returning {
                    ty: returns,
                    by_reference: matches!(function.returns.kind, TypeKind::Reference(_)),
                });
                let result = interpreter.run_function_body(function, at);
                interpreter.returning.pop();
                let mark = interpreter.frames.last().map_or(0, |frame| frame.owned);
                interpreter.ended(mark, result)
            })
        })
    }

    /// Lists become values where the caller's names are in sight.
    fn given_lists(
        &mut self,
        function: &'p Function,
        mut given: Vec<Given<'p>>,
        frame: &dyn Fn() -> Frame,
    ) -> Fallible<Vec<Given<'p>>> {
        for (parameter, given) in function.parameters.iter().zip(&mut given) {
            if let Some(list) = given.list.take() {
                let ty = self.framed(frame(), |interpreter| interpreter.resolve(&parameter.ty))?;
                given.value = Some(self.initialised(&ty, list)?);
            }
        }
        Ok(given)
    }

    fn bind_parameters(
        &mut self,
        function: &'p Function,
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<()> {
        let mut given = given.into_iter();
        for parameter in &function.parameters {
            if parameter.pack {
                let rest: Vec<Given<'p>> = given.by_ref().collect();
                self.bind(&parameter.name, Binding::Pack(rest.len()));
                for (index, given) in rest.into_iter().enumerate() {
                    let binding = self.parameter_of_pack(parameter, index, given)?;
                    self.bind(&element_name(&parameter.name, index), binding);
                }
                continue;
            }
            let binding = match given.next() {
                Some(given) => self.parameter(parameter, given)?,
                None => {
                    let ty = self.resolve(&parameter.ty)?;
                    let Some(initial) = &parameter.default else {
                        let message =
                            format!("`{}` is called without `{}`", function.path, parameter.name);
                        return Err(Fault::unsupported(at, message, "pass every argument"));
                    };
                    let value = self.initialised(&ty, initial)?;
                    self.new_variable(ty, Some(value), at)?
                }
            };
            if let Binding::Variable(place, _) = &binding
                && parameter.ty.constant
                && !matches!(parameter.ty.kind, TypeKind::Reference(_))
            {
                self.memory.seal(place, at)?;
            }
            self.bind(&parameter.name, binding);
        }
        Ok(())
    }

    /// One element of `Ts... ts`, whose type is the pack's element of the same place.
    fn parameter_of_pack(
        &mut self,
        parameter: &'p Parameter,
        index: usize,
        given: Given<'p>,
    ) -> Fallible<Binding> {
        let before = self.set_element(Some(index));
        let binding = self.parameter(parameter, given);
        self.set_element(before);
        binding
    }

    fn parameter(&mut self, parameter: &'p Parameter, given: Given<'p>) -> Fallible<Binding> {
        let at = given.at;
        let by_reference = matches!(parameter.ty.kind, TypeKind::Reference(_));
        let ty = if mentions_auto(&parameter.ty) {
            None
        } else {
            Some(self.resolve(&parameter.ty)?)
        };
        if let Some((place, place_type)) = given.place.clone().filter(|_| by_reference) {
            if let Some(ty) = &ty
                && let Some(base) = self.as_base(&place, &place_type, ty)
            {
                return Ok(Binding::Variable(base, ty.clone()));
            }
            let same = match &ty {
                None => true,
                Some(ty) => *ty == place_type || is_pointer(ty),
            };
            if same {
                return Ok(Binding::Variable(place, place_type));
            }
        }
        let value = self.given_value(given, &parameter.name)?;
        let ty = ty.unwrap_or_else(|| value.ty());
        let value = self.convert(value, &ty, at)?;
        self.new_variable(ty, Some(value), at)
    }

    /// The value of an argument.
    pub(super) fn given_value(&mut self, given: Given<'p>, name: &str) -> Fallible<Value> {
        let at = given.at;
        match given.place {
            Some((place, ty)) => self.loaded(place, &ty, name, at),
            None => given.value.ok_or_else(|| {
                Fault::unsupported(
                    at,
                    "a brace list in this place is not in the host subset",
                    "name the type before the braces",
                )
            }),
        }
    }

    pub(super) fn run_function_body(&mut self, function: &'p Function, at: At) -> Fallible<Value> {
        if is_constructor(function) {
            self.run_initialisers(&function.initialisers, at)?;
        }
        match &function.body {
            Some(Body::Statements(statements)) => self.run_body(statements, at),
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
    let last = function.parameters.last().filter(|last| last.pack);
    let parameter = function.parameters.get(position).or(last);
    parameter.is_some_and(|parameter| matches!(parameter.ty.kind, TypeKind::Reference(_)))
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_))
}

/// `auto`, `auto*`, `const auto&`.
pub(super) fn mentions_auto(ty: &TypeSyntax) -> bool {
    match &ty.kind {
        TypeKind::Auto => true,
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) => mentions_auto(inner),
        _ => false,
    }
}
