//! Arguments of a call, and the parameters that they become.

use super::Interpreter;
use super::declare::is_constant;
use super::destructors::{is_constructor, moved};
use super::lvalues::{changes, is_fixed, reference_to_a_copy};
use super::places::Access;
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
    /// `std::move` of its place.
    pub(super) moved: bool,
}

impl Given<'_> {
    pub(super) fn value(value: Value, at: At) -> Self {
        Self {
            at,
            value: Some(value),
            place: None,
            list: None,
            moved: false,
        }
    }

    pub(super) fn place(place: HostRef, ty: Type, at: At) -> Self {
        Self {
            at,
            value: None,
            place: Some((place, ty)),
            list: None,
            moved: false,
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
        self.all_given_from(functions, 0, arguments)
    }

    /// The same for the arguments after some others.
    pub(super) fn all_given_from(
        &mut self,
        functions: &[usize],
        first: usize,
        arguments: &'p [Expr],
    ) -> Fallible<Vec<Given<'p>>> {
        let arguments = self.expanded(arguments)?;
        let mut given = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let position = first + position;
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
        if by_reference && let Some((place, ty)) = self.referred(argument, false)? {
            let value = match &ty {
                // Not copied to be looked at.
                Type::Vector(_) | Type::StdArray(..) => Some(Value::Row(ty.clone(), Vec::new())),
                Type::Array(..) => Some(self.loaded(place.clone(), &ty, "this array", at)?),
                _ => self.memory.load(&place, at)?,
            };
            self.spend(value.as_ref().map_or(0, Value::weight), at)?;
            return Ok(Given {
                at,
                value,
                place: Some((place, ty)),
                list: None,
                moved: moved(argument).is_some(),
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
            moved: false,
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
        let ty = self.static_type(source);
        if !ty.is_some_and(|ty| ty.is_copied_by_function()) || !self.has_place(source) {
            return Ok(None);
        }
        let (place, ty) = self.place(source, Access::Read)?;
        let value = self.memory.load(&place, argument.at)?;
        self.spend(value.as_ref().map_or(0, Value::weight), argument.at)?;
        Ok(Some(Given {
            value,
            moved: moved(argument).is_some(),
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
        let instance = self.instance_of(&bound.all, around);
        let constant = match function.is_const {
            true => Some(self.seen_as_constant(around, at)?),
            false => None,
        };
        let around = constant.as_ref().unwrap_or(around);
        let frame = || {
            let mut frame = Frame::within(bound.bindings.clone(), around.clone());
            frame.instance.clone_from(&instance);
            frame
        };
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
                interpreter.returned_place = None;
                let result = interpreter.run_function_body(function, at);
                let returned = interpreter.returning.pop();
                if !returned.is_some_and(|returned| returned.by_reference) {
                    interpreter.returned_place = None;
                }
                let mark = interpreter.frames.last().map_or(0, |frame| frame.owned);
                interpreter.ended(mark, result)
            })
        })
    }

    /// What tells the instances of a template from each other.
    fn instance_of(&self, arguments: &[TemplateValue], around: &Surroundings) -> String {
        let class = around.class.as_ref().map_or("", |class| &class.name);
        match arguments {
            [] => class.to_owned(),
            arguments => format!("{class}{arguments:?}"),
        }
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
            self.bind(&parameter.name, binding.seen_as(is_constant(&parameter.ty)));
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
        let changes = changes(&parameter.ty) && !parameter.rvalue;
        if let Some((place, place_type)) = given.place.clone().filter(|_| by_reference) {
            if let Some(binding) = self.bound_to(ty.as_ref(), &place, &place_type) {
                return Ok(binding);
            }
            // An array that is taken by its address.
            if changes && !matches!(place_type, Type::Array(..)) {
                return Err(reference_to_a_copy(at));
            }
        } else if changes && !given.value.as_ref().is_some_and(is_fixed) {
            return Err(reference_to_a_copy(at));
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

/// `auto`, `auto*`, `const auto&`.
pub(super) fn mentions_auto(ty: &TypeSyntax) -> bool {
    match &ty.kind {
        TypeKind::Auto => true,
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) => mentions_auto(inner),
        _ => false,
    }
}
