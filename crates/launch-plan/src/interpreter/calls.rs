//! Calls: functions of the file, the standard library, the CUDA runtime.

use super::convert::{library_call, unknown_type};
use super::places::{Access, is_place};
use super::scope::{Binding, Frame};
use super::value::{HostRef, Target, TemplateValue, Value};
use super::{Interpreter, math};
use crate::failure::{Fallible, Fault};
use crate::plan::{Argument, Buffer, Place};
use crate::source::text::At;
use crate::syntax::ast::{Body, Expr, ExprKind, Function, Name, Space, TypeKind};
use crate::types::{Scalar, Type};

/// An argument as the caller has it.
struct Given {
    value: Option<Value>,
    place: Option<(HostRef, Type)>,
}

impl<'p> Interpreter<'p> {
    /// Calls the entry function with one shape's arguments.
    pub(super) fn run_entry(
        &mut self,
        entry: &'p Function,
        arguments: &[Argument],
    ) -> Fallible<()> {
        if entry.parameters.len() != arguments.len() {
            return Err(Fault::signature(
                Some(entry.at),
                format!(
                    "the entry takes {} parameters; {} arguments are passed",
                    entry.parameters.len(),
                    arguments.len()
                ),
            ));
        }
        self.framed(Frame::new([].into()), |interpreter| {
            for (index, (parameter, argument)) in entry.parameters.iter().zip(arguments).enumerate()
            {
                let ty = interpreter.resolve(&parameter.ty)?;
                let value = interpreter.entry_argument(index, *argument);
                let value = interpreter.entry_value(&value, &ty, &parameter.name, parameter.at)?;
                let binding = interpreter.new_variable(ty, Some(value), parameter.at)?;
                interpreter.bind(&parameter.name, binding);
                interpreter.parameter_names.push(parameter.name.clone());
            }
            interpreter.returning.push(None);
            interpreter.run_function_body(entry, entry.at)?;
            Ok(())
        })
    }

    fn entry_argument(&mut self, index: usize, argument: Argument) -> Value {
        let bytes = match argument {
            Argument::Buffer { bytes } => bytes,
            _ => 0,
        };
        self.parameter_bytes.push(bytes);
        match argument {
            Argument::Buffer { .. } => {
                let place = Place {
                    buffer: Buffer::Parameter(u32::try_from(index).unwrap_or(u32::MAX)),
                    offset_bytes: 0,
                };
                Value::pointer(Type::Void, false, Target::Device(place))
            }
            Argument::Int(value) => Value::Integer(Scalar::LongLong, value.into()),
            Argument::Float(value) => Value::Floating(Scalar::Double, value),
        }
    }

    /// An argument in the type that the submission declares, which must hold it.
    fn entry_value(&mut self, value: &Value, ty: &Type, name: &str, at: At) -> Fallible<Value> {
        let converted = self.convert(value.clone(), ty, at)?;
        if let (Value::Integer(_, wanted), Value::Integer(_, got)) = (value, &converted)
            && wanted != got
        {
            let message = format!("`{name}` is {wanted}, which does not fit `{ty}`");
            return Err(Fault::host(at, message).hint("declare it as int or wider"));
        }
        Ok(converted)
    }

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

    fn library_function(
        &mut self,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let plain = name.plain();
        if let Some(fault) = refused_call(plain, &name.path, at) {
            return Err(fault);
        }
        if plain == "swap" {
            return self.swap(arguments, at);
        }
        if matches!(plain, "assert" | "static_assert") {
            return self.assertion(arguments, at);
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
        // std::max<int>(a, b)
        if let Some(written) = &name.arguments
            && let Some(TemplateValue::Type(ty)) = self.template_values(written)?.first()
        {
            for value in &mut values {
                *value = self.convert(value.clone(), ty, at)?;
            }
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
            return Err(Fault::unsupported(at, "this use of `swap`", ""));
        };
        let (a, a_type) = self.place(a, Access::Write)?;
        let (b, b_type) = self.place(b, Access::Write)?;
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

    fn run_function_body(&mut self, function: &'p Function, at: At) -> Fallible<Value> {
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

/// Calls that host code may not make, told apart so that the message fits.
fn refused_call(plain: &str, path: &str, at: At) -> Option<Box<Fault>> {
    const OUTPUT: [&str; 18] = [
        "printf", "fprintf", "puts", "putchar", "fputs", "fflush", "perror", "fopen", "fclose",
        "fread", "fwrite", "scanf", "sprintf", "snprintf", "getline", "open", "write", "read",
    ];
    const SYSTEM: [&str; 14] = [
        "system", "exit", "abort", "fork", "execve", "execl", "popen", "getenv", "mmap", "signal",
        "dlopen", "syscall", "kill", "_exit",
    ];
    if OUTPUT.contains(&plain) {
        return Some(Fault::unsupported(
            at,
            format!("host input and output (`{path}`) is not in the host subset"),
            "remove it; `printf` in a kernel is shown in practice runs",
        ));
    }
    if SYSTEM.contains(&plain) {
        return Some(Fault::unsupported(
            at,
            format!("the system call `{path}` in host code is not in the host subset"),
            "host code may compute, allocate device memory and launch kernels",
        ));
    }
    if matches!(plain, "rand" | "srand" | "time" | "clock" | "random_device") {
        return Some(Fault::unsupported(
            at,
            format!("`{path}` in host code gives another value at each run"),
            "a plan must be the same each time; use constants",
        ));
    }
    let library = [
        "cublas", "cudnn", "cusparse", "curand", "cufft", "thrust::", "cub::", "torch::",
    ];
    if library.iter().any(|prefix| path.starts_with(prefix)) {
        return Some(library_call(path, at));
    }
    let first = path.split("::").nth(1).unwrap_or(plain);
    matches!(
        first,
        "thread" | "async" | "vector" | "string" | "sort" | "this_thread"
    )
    .then(|| unknown_type(&format!("std::{first}"), at))
}
