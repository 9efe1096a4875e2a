//! Calls into the standard library, and those that host code may not make.

mod algorithms;
mod limits;
mod memory;
mod output;
mod ranges;
mod refused;
mod sorting;

pub(super) use self::output::output_stream;
pub(super) use self::refused::clock_type;
use self::refused::{is_thrust_alone, is_thrust_too, policy, refused_call};
use super::deduction::is_deducible;
use super::places::Access;
use super::unknown_types::library_call;
use super::value::{Target, TemplateValue, Value};
use super::{Interpreter, math};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Name};

impl<'p> Interpreter<'p> {
    pub(super) fn library_function(
        &mut self,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let plain = name.plain();
        let is_bare = !name.path.contains("::") && self.tables.opens("thrust");
        let policy = arguments.first().and_then(policy);
        let is_called = policy.is_some_and(|policy| self.find_local(policy).is_none());
        if is_bare && (is_thrust_alone(plain) || is_called) {
            return Err(library_call(&format!("thrust::{plain}"), at));
        }
        if let Some(fault) = refused_call(plain, &name.path, at) {
            return Err(fault);
        }
        if let Some(made) = self.make_holder(name, arguments, at) {
            return made;
        }
        if let Some(value) = self.numeric_limit(name, at)? {
            return Ok(value);
        }
        if is_deducible(name) {
            return self.deduced(name, arguments, false, at);
        }
        if plain == "swap" {
            return self.swap(arguments, at);
        }
        if matches!(plain, "assert" | "static_assert") {
            return self.assertion(arguments, at);
        }
        if let Some(result) = self.about_container(name, arguments, at) {
            return result;
        }
        let mut values = Vec::new();
        for argument in arguments {
            match &argument.kind {
                // std::max({a, b, c})
                ExprKind::List(items) if arguments.len() == 1 => {
                    for item in items {
                        values.push(self.evaluate(item)?);
                    }
                }
                _ => values.push(self.evaluate(argument)?),
            }
        }
        if is_bare
            && is_thrust_too(plain)
            && matches!(values.first(), Some(Value::Pointer(_, Target::Device(_))))
        {
            return Err(library_call(&format!("thrust::{plain}"), at));
        }
        if self.is_output(plain, at) {
            return Ok(Value::int(0));
        }
        if let Some(result) = self.memory_function(plain, &values, at) {
            return result;
        }
        if let Some(result) = self.algorithm(plain, &values, at) {
            return result;
        }
        // std::max<int>(a, b)
        if let Some(written) = &name.arguments
            && let Some(TemplateValue::Type(ty)) = self.template_values(written)?.first()
        {
            for value in &mut values {
                *value = self.convert(value.clone(), ty, at)?;
            }
        }
        if let ("to_string", [only]) = (plain, values.as_slice())
            && let Some(text) = super::texts::to_string(only)
        {
            return Ok(text);
        }
        if plain == "make_tuple" {
            return super::deduction::made_tuple(values, at);
        }
        if let Some(made) = self.make_vector(plain, &values, at) {
            return made;
        }
        math::call(plain, &values, at)
            .unwrap_or_else(|| Err(super::expressions::unknown_name(&name.path, at)))
    }

    /// `make_float4(...)` and its like.
    fn make_vector(&mut self, name: &str, values: &[Value], at: At) -> Option<Fallible<Value>> {
        let record = crate::types::Record::builtin(name.strip_prefix("make_")?)?;
        if values.len() != record.fields.len() {
            return None;
        }
        let mut fields = Vec::new();
        for (field, value) in record.fields.iter().zip(values) {
            match self.convert(value.clone(), &field.ty, at) {
                Ok(value) => fields.push(Some(value)),
                Err(fault) => return Some(Err(fault)),
            }
        }
        Some(Ok(Value::Record(record.into(), fields)))
    }

    fn swap(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [a, b] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of `swap`",
                "swap two variables",
            ));
        };
        let (a, a_type) = self.place(a, Access::Write)?;
        let (b, b_type) = self.place(b, Access::Write)?;
        // Three moves come to that.
        if a_type == b_type && a_type.has_destructor() {
            self.exchange(&a, &b, at)?;
            return Ok(Value::Void);
        }
        let first = self.loaded(a.clone(), &a_type, "a swapped variable", at)?;
        let second = self.loaded(b.clone(), &b_type, "a swapped variable", at)?;
        let (first, second) = (
            self.convert(first, &b_type, at)?,
            self.convert(second, &a_type, at)?,
        );
        self.memory.store(&a, second, at)?;
        self.memory.store(&b, first, at)?;
        Ok(Value::Void)
    }

    fn assertion(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let Some(condition) = arguments.first() else {
            return Ok(Value::Void);
        };
        if self.condition(condition)? {
            return Ok(Value::Void);
        }
        Err(Fault::host(at, "an assertion in host code fails"))
    }
}
