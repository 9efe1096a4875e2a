//! Calls: who is meant.

use super::Interpreter;
use super::overloads::{Choice, Passed, takes_count};
use super::parameters::Given;
use super::resolve::refusal;
use super::scope::{Binding, Surroundings};
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function, Name, Space};
use crate::types::Type;

impl<'p> Interpreter<'p> {
    pub(super) fn call(
        &mut self,
        callee: &'p Expr,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let name = match &callee.kind {
            ExprKind::Name(name) => name,
            ExprKind::Field {
                object,
                name,
                through_pointer,
            } => return self.method_call(object, name, *through_pointer, arguments, at),
            ExprKind::Unsupported(reason) => return Err(refusal(callee.at, reason)),
            _ => {
                let value = self.evaluate(callee)?;
                return self.call_value(&value, arguments, at);
            }
        };
        if name.arguments.is_none()
            && let Some(Binding::Variable(place, ty)) = self.find_local(&name.path)
        {
            let (place, ty) = (place.clone(), ty.clone());
            return self.call_variable(place, &ty, &name.path, arguments, at);
        }
        if self.names_type(name) {
            let ty = self.named_type(name, at)?;
            return self.construct(&ty, arguments, false, at);
        }
        if let Some((methods, around)) = self.named_methods(name, at)? {
            return self.call_among(&methods, name, arguments, &around, at);
        }
        let expanded = self.expanded(arguments)?;
        let functions = self.functions_for(name, expanded.len(), at)?;
        if !functions.is_empty() {
            let around = Surroundings::default();
            return self.call_among(&functions, name, arguments, &around, at);
        }
        if let Some(value) = self.global_callable(name, at)? {
            return self.call_value(&value, arguments, at);
        }
        if name.plain() != "calloc"
            && let Some(result) = self.runtime_call(name.plain(), expanded, at)
        {
            return result;
        }
        self.library_function(name, expanded, at)
    }

    /// A variable at file scope that holds a lambda.
    fn global_callable(&mut self, name: &'p Name, at: At) -> Fallible<Option<Value>> {
        if self.tables.global(&name.path).is_none() {
            return Ok(None);
        }
        let value = self.global_value(&name.path, at)?;
        Ok(value.filter(|value| matches!(value, Value::Closure(_) | Value::Record(..))))
    }

    fn call_variable(
        &mut self,
        place: super::value::HostRef,
        ty: &Type,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        if let Type::Record(record) = ty {
            let methods = self.operators_of(record);
            let given = self.all_given(&methods, arguments)?;
            return self.call_object(&place, record, given, at);
        }
        let value = self.loaded(place, ty, name, at)?;
        self.call_value(&value, arguments, at)
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
                "pass as many arguments as it has parameters",
            ),
        })
    }

    /// Calls the one of some functions that the arguments mean.
    pub(super) fn call_among(
        &mut self,
        functions: &[usize],
        name: &'p Name,
        arguments: &'p [Expr],
        around: &Surroundings,
        at: At,
    ) -> Fallible<Value> {
        let explicit = match &name.arguments {
            Some(written) => self.template_values(written)?,
            None => Vec::new(),
        };
        let given = self.all_given(functions, arguments)?;
        self.call_chosen(functions, &name.path, &explicit, given, around, at)
    }

    pub(super) fn call_chosen(
        &mut self,
        functions: &[usize],
        name: &str,
        explicit: &[TemplateValue],
        given: Vec<Given<'p>>,
        around: &Surroundings,
        at: At,
    ) -> Fallible<Value> {
        let function = match functions {
            [only] => {
                let function = self.tables.function(*only);
                if !takes_count(function, given.len()) {
                    let message = format!(
                        "`{name}` is called with {} arguments, which fits none",
                        given.len()
                    );
                    return Err(Fault::unsupported(
                        at,
                        message,
                        "pass as many arguments as it has parameters",
                    ));
                }
                function
            }
            several => self.chosen_function(several, name, explicit, &given, around, at)?,
        };
        self.invoke(function, explicit, given, around, at)
    }

    /// The overload that the arguments mean.
    fn chosen_function(
        &mut self,
        functions: &[usize],
        name: &str,
        explicit: &[TemplateValue],
        given: &[Given<'p>],
        around: &Surroundings,
        at: At,
    ) -> Fallible<&'p Function> {
        let passed: Vec<Passed> = given
            .iter()
            .map(|given| Passed {
                value: given.value.clone(),
                place: given.place.is_some() && !given.moved,
            })
            .collect();
        let what = match self.choose_within(functions, explicit, &passed, around, at)? {
            Choice::One(index) => return Ok(self.tables.function(index)),
            Choice::Ambiguous => "is ambiguous: several functions of that name fit",
            Choice::NoneFits => "fits none of the functions of that name",
        };
        Err(Fault::unsupported(
            at,
            format!("the call of `{name}` {what}"),
            "give each function a name of its own",
        ))
    }
}
