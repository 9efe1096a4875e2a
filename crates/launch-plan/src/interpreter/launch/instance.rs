//! The name of a kernel with all its template arguments.

use domain::VerdictKind;

use super::Instance;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::math::is_library_function;
use crate::interpreter::scope::Frame;
use crate::interpreter::templates::Bound;
use crate::interpreter::value::{KernelRef, TemplateValue, Value};
use crate::source::text::At;
use crate::syntax::ast::{Function, TemplateParameter, TemplateParameterKind, TypeKind};

/// Bytes of a kernel's name; reports tell it.
const MAX_NAME_BYTES: usize = 1000;

impl<'p> Interpreter<'p> {
    pub(super) fn instance(
        &mut self,
        function: &'p Function,
        bound: &Bound,
        at: At,
    ) -> Fallible<Instance> {
        let mut parts = Vec::new();
        for (index, value) in bound.all.iter().enumerate() {
            let parameters = function.template.as_deref().unwrap_or_default();
            parts.push(
                match self.enumeration_of(parameters.get(index), value, bound) {
                    Some(name) => format!("static_cast<{name}>({})", self.rendered(value, at)?),
                    None => self.rendered(value, at)?,
                },
            );
        }
        let cast = self.overload_cast(function, bound)?;
        let named = |parts: &[String]| {
            let path = &function.path;
            let name = match function.template {
                Some(_) => format!("{path}<{}>", parts.join(", ")),
                None => path.clone(),
            };
            match &cast {
                Some(cast) => format!("static_cast<{cast}>({name})"),
                None => name,
            }
        };
        let identity = named(&parts);
        if identity.len() > MAX_NAME_BYTES {
            let message = format!(
                "the name of this kernel has {} bytes with its template arguments; the limit is \
                 {MAX_NAME_BYTES}",
                identity.len()
            );
            return Err(Fault::new(VerdictKind::CompileLimit, at, message)
                .hint("give it and its types shorter names"));
        }
        Ok(Instance {
            name: named(&parts[..bound.written.len()]),
            identity,
        })
    }

    /// The enumeration that a number stands for an enumerator of, with its namespaces.
    fn enumeration_of(
        &self,
        parameter: Option<&'p TemplateParameter>,
        value: &TemplateValue,
        bound: &Bound,
    ) -> Option<String> {
        let (Some(parameter), TemplateValue::Value(Value::Integer(..))) = (parameter, value) else {
            return None;
        };
        let TemplateParameterKind::Value { ty, .. } = &parameter.kind else {
            return None;
        };
        let TypeKind::Named(name) = &ty.kind else {
            return None;
        };
        let is_parameter = bound.bindings.contains_key(&name.path);
        let enumeration = self.tables.opaque_type(&name.path);
        enumeration.filter(|_| !is_parameter).map(str::to_owned)
    }

    /// The pointer type that tells an overloaded kernel from the others of its name.
    fn overload_cast(&mut self, function: &'p Function, bound: &Bound) -> Fallible<Option<String>> {
        let alone = self.kernels_called(&function.path).len() < 2;
        if alone && !(function.template.is_none() && is_library_function(&function.path)) {
            return Ok(None);
        }
        let frame = Frame::new(bound.bindings.clone());
        let types = self.framed(frame, |interpreter| -> Fallible<Vec<String>> {
            let parameters = function.parameters.iter();
            parameters
                .map(|parameter| Ok(interpreter.resolve(&parameter.ty)?.to_string()))
                .collect()
        })?;
        Ok(Some(format!("void (*)({})", types.join(", "))))
    }

    /// The instance of a kernel whose arguments are not known: `cudaFuncSetAttribute(k<4>, ...)`.
    pub(in crate::interpreter) fn instance_without_call(
        &mut self,
        kernel: &KernelRef,
        at: At,
    ) -> Fallible<Instance> {
        let function = self.tables.function(kernel.function);
        let explicit = kernel.arguments.as_deref().unwrap_or_default();
        let bound = self.bind_templates(function, explicit, &[], at)?;
        self.instance(function, &bound, at)
    }
}
