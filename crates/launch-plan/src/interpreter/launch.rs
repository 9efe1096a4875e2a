//! Kernel launches: which instance, with what configuration and arguments.

use std::rc::Rc;

use super::overloads::{Choice, Passed, takes_count};
use super::scope::Frame;
use super::templates::Bound;
use super::value::{KernelRef, Target, TemplateValue, Value};
use super::{Interpreter, MAX_LAUNCHES};
use crate::failure::{Fallible, Fault};
use crate::plan::{KernelInstance, Launch, LaunchArgument, Operation};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function, LaunchExpr, TypeKind};
use crate::types::{Record, Scalar, Type};

/// The kernels that a launch may mean, with the template arguments written there.
struct Launched {
    functions: Vec<usize>,
    explicit: Vec<TemplateValue>,
}

/// A kernel with all its template arguments.
pub(super) struct Instance {
    /// What NVRTC is asked for: defaults are left out.
    pub(super) name: String,
    /// With defaults, so that one instance has one text.
    pub(super) identity: String,
}

impl<'p> Interpreter<'p> {
    pub(super) fn launch(&mut self, launch: &'p LaunchExpr, at: At) -> Fallible<Value> {
        let launched = self.launched(&launch.callee, at)?;
        let configuration = &launch.configuration;
        let (Some(grid), Some(block)) = (configuration.first(), configuration.get(1)) else {
            return Err(Fault::launch(
                at,
                "a launch needs a grid and a block: <<<grid, block>>>",
            ));
        };
        let grid = self.extents(grid)?;
        let block = self.extents(block)?;
        let shared = match configuration.get(2) {
            Some(shared) => {
                let value = self.evaluate(shared)?;
                self.count_of(&value, shared.at)?
            }
            None => 0,
        };
        if let Some(stream) = configuration.get(3) {
            self.evaluate(stream)?;
        }
        let arguments = self.expanded(&launch.arguments)?;
        let (instance, arguments) = self.launch_arguments(&launched, arguments, at)?;
        self.check_extents(grid, block, at)?;
        self.check_shared(&instance, shared, at)?;
        self.launches += 1;
        if self.launches > MAX_LAUNCHES {
            let message = format!("the plan has more than {MAX_LAUNCHES} kernel launches");
            return Err(Fault::fuel(at, message).hint("let one kernel do more work"));
        }
        let (line, column) = self.source.position(at);
        let launch = Launch {
            kernel: KernelInstance(instance.name),
            grid,
            block,
            dynamic_shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX),
            arguments,
            line,
            column,
        };
        self.emit(Operation::Launch(launch), at)?;
        Ok(Value::Void)
    }

    fn launched(&mut self, callee: &'p Expr, at: At) -> Fallible<Launched> {
        if let ExprKind::Name(name) = &callee.kind {
            let local = name.arguments.is_none() && self.find_local(&name.path).is_some();
            if !local {
                let functions = self.kernels_called(&name.path);
                if !functions.is_empty() {
                    let explicit = match &name.arguments {
                        Some(arguments) => self.template_values(arguments)?,
                        None => Vec::new(),
                    };
                    return Ok(Launched {
                        functions,
                        explicit,
                    });
                }
                let message = if self.tables.functions_named(&name.path).is_empty() {
                    format!(
                        "`{}` is launched, and no kernel of that name is in the file",
                        name.path
                    )
                } else {
                    format!(
                        "`{}` is launched, and is not a __global__ function",
                        name.path
                    )
                };
                return Err(Fault::launch(at, message));
            }
        }
        match self.evaluate(callee)? {
            Value::Kernel(kernel) => Ok(Launched {
                functions: vec![kernel.function],
                explicit: kernel.arguments.unwrap_or_default(),
            }),
            other => {
                let message = format!("a value of type `{}` is launched", other.ty());
                Err(Fault::launch(at, message))
            }
        }
    }

    /// A grid or block: a dim3, or a number for its x.
    fn extents(&mut self, expr: &'p Expr) -> Fallible<[u32; 3]> {
        let dim3 = Record::builtin("dim3").expect("dim3 is built in");
        let ty = Type::Record(Rc::new(dim3));
        let value = self.initialised(&ty, expr)?;
        let Value::Record(_, fields) = value else {
            return Err(Fault::launch(
                expr.at,
                "a grid or block is a dim3 or a number",
            ));
        };
        let mut extents = [1; 3];
        for (extent, field) in extents.iter_mut().zip(fields) {
            if let Some(Value::Integer(_, value)) = field {
                *extent = u32::try_from(value).unwrap_or(u32::MAX);
            }
        }
        Ok(extents)
    }

    /// The instance and its arguments in its parameters' types.
    fn launch_arguments(
        &mut self,
        launched: &Launched,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<(Instance, Vec<LaunchArgument>)> {
        if let [only] = launched.functions[..] {
            self.check_count(only, arguments.len(), at)?;
        }
        let mut passed = Vec::new();
        for argument in arguments {
            passed.push(Passed {
                value: match argument.kind {
                    ExprKind::List(_) => None,
                    _ => Some(self.evaluate(argument)?),
                },
                place: false,
            });
        }
        let function = self.chosen_kernel(launched, &passed, at)?;
        let mut values: Vec<Option<Value>> = passed.into_iter().map(|p| p.value).collect();
        let types: Vec<Option<Type>> = types_of(&values);
        let bound = self.bind_templates(function, &launched.explicit, &types, at)?;
        let instance = self.instance(function, &bound, at)?;
        let frame = Frame::new(bound.bindings);
        let converted = self.framed(frame, |interpreter| -> Fallible<_> {
            let mut converted = Vec::new();
            for position in 0..function.parameters.len() {
                let value = values.get_mut(position).and_then(Option::take);
                let argument = arguments.get(position);
                converted
                    .push(interpreter.launch_argument(function, position, argument, value, at)?);
            }
            Ok(converted)
        })?;
        Ok((instance, converted))
    }

    fn check_count(&self, kernel: usize, count: usize, at: At) -> Fallible<()> {
        let function = self.tables.function(kernel);
        if function.variadic {
            return Err(Fault::unsupported(
                at,
                format!("the kernel `{}` takes a parameter pack", function.path),
                "write its parameters out",
            ));
        }
        if !takes_count(function, count) {
            let message = format!(
                "the kernel `{}` takes {} arguments; the launch passes {count}",
                function.path,
                function.parameters.len(),
            );
            return Err(Fault::launch(at, message));
        }
        Ok(())
    }

    /// The overload that the arguments mean.
    fn chosen_kernel(
        &mut self,
        launched: &Launched,
        passed: &[Passed],
        at: At,
    ) -> Fallible<&'p Function> {
        let functions = &launched.functions;
        if let [only] = functions[..] {
            return Ok(self.tables.function(only));
        }
        let name = functions
            .first()
            .map_or("", |&first| self.tables.function(first).path.as_str());
        match self.choose(functions, &launched.explicit, passed, at)? {
            Choice::One(index) => {
                self.check_count(index, passed.len(), at)?;
                Ok(self.tables.function(index))
            }
            Choice::NoneFits => {
                let count = functions.len();
                let message =
                    format!("none of the {count} kernels called `{name}` takes these arguments");
                Err(Fault::launch(at, message))
            }
            Choice::Ambiguous => Err(Fault::unsupported(
                at,
                format!("the launch of `{name}` is ambiguous: several kernels of that name fit"),
                "give each kernel a name of its own",
            )),
        }
    }

    fn instance(&mut self, function: &'p Function, bound: &Bound, at: At) -> Fallible<Instance> {
        let mut parts = Vec::new();
        for value in &bound.all {
            parts.push(self.rendered(value, at)?);
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
        Ok(Instance {
            name: named(&parts[..bound.written.len()]),
            identity: named(&parts),
        })
    }

    /// The pointer type that tells an overloaded kernel from the others of its name.
    fn overload_cast(&mut self, function: &'p Function, bound: &Bound) -> Fallible<Option<String>> {
        if self.kernels_called(&function.path).len() < 2 {
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
    pub(super) fn instance_without_call(
        &mut self,
        kernel: &KernelRef,
        at: At,
    ) -> Fallible<Instance> {
        let function = self.tables.function(kernel.function);
        let explicit = kernel.arguments.as_deref().unwrap_or_default();
        let bound = self.bind_templates(function, explicit, &[], at)?;
        self.instance(function, &bound, at)
    }

    fn launch_argument(
        &mut self,
        function: &'p Function,
        position: usize,
        argument: Option<&'p Expr>,
        value: Option<Value>,
        at: At,
    ) -> Fallible<LaunchArgument> {
        let parameter = &function.parameters[position];
        let at = argument.map_or(at, |argument| argument.at);
        if matches!(parameter.ty.kind, TypeKind::Reference(_)) {
            return Err(Fault::launch(
                at,
                format!("the kernel `{}` takes a reference", function.path),
            )
            .hint("kernel parameters are passed by value"));
        }
        let ty = self.resolve(&parameter.ty)?;
        let value = match (value, argument.or(parameter.default.as_ref())) {
            (Some(value), _) => value,
            (None, Some(initial)) => self.initialised(&ty, initial)?,
            (None, None) => return Err(Fault::launch(at, "an argument is missing")),
        };
        let mismatch = |given: &Type| {
            let message = format!(
                "argument {} of `{}` is a `{given}` where `{ty}` is expected",
                position + 1,
                function.path
            );
            Fault::launch(at, message)
        };
        match (&ty, value) {
            (Type::Pointer(wanted), Value::Pointer(given, target)) => {
                let given_type = Type::Pointer(Rc::clone(&given));
                if !target.is_null() && !pointers_agree(&wanted.ty, &given.ty) {
                    return Err(mismatch(&given_type));
                }
                self.pointer_argument(target, position, &function.path, at)
            }
            (Type::Pointer(_), Value::Integer(_, 0)) => {
                self.pointer_argument(Target::NULL, position, &function.path, at)
            }
            (Type::Pointer(_), other) => Err(mismatch(&other.ty())),
            (Type::Scalar(_) | Type::Record(_), Value::Pointer(pointee, _)) => {
                Err(mismatch(&Type::Pointer(pointee)))
            }
            (Type::Scalar(scalar), value @ (Value::Integer(..) | Value::Floating(..))) => {
                let value = self.convert(value, &Type::Scalar(*scalar), at)?;
                self.value_argument(&value, &ty, at)
            }
            (Type::Record(_), value @ Value::Record(..)) => {
                let value = self.convert(value, &ty, at)?;
                self.value_argument(&value, &ty, at)
            }
            (Type::Named(name), _) => Err(Fault::unsupported(
                at,
                format!(
                    "the type `{name}` of parameter {} of `{}` is not known to the host \
                     interpreter",
                    position + 1,
                    function.path
                ),
                "pass scalars, pointers or plain structs",
            )),
            (_, value) => Err(mismatch(&value.ty())),
        }
    }

    fn pointer_argument(
        &mut self,
        target: Target,
        position: usize,
        kernel: &str,
        at: At,
    ) -> Fallible<LaunchArgument> {
        match target {
            Target::Device(place) => {
                self.check_alive(place, at)?;
                Ok(LaunchArgument::Pointer(place))
            }
            Target::Host(_) => Err(Fault::launch(
                at,
                format!(
                    "argument {} of `{kernel}` points to host memory",
                    position + 1
                ),
            )
            .hint("allocate device memory with cudaMalloc and copy the values there")),
            Target::Symbol(name) => Err(Fault::launch(
                at,
                format!(
                    "argument {} of `{kernel}` is the device variable `{name}`",
                    position + 1
                ),
            )
            .hint("kernels can name it themselves; there is no need to pass it")),
        }
    }

    fn value_argument(&mut self, value: &Value, ty: &Type, at: At) -> Fallible<LaunchArgument> {
        match value.to_bytes() {
            Some(bytes) => Ok(LaunchArgument::Value(bytes)),
            None => Err(Fault::unsupported(
                at,
                format!("a value of type `{ty}` is passed to a kernel"),
                "pass scalars, pointers or plain structs whose fields all have values",
            )),
        }
    }

    fn check_extents(&self, grid: [u32; 3], block: [u32; 3], at: At) -> Fallible<()> {
        let limits = self.limits;
        for (what, extents, most) in [
            ("grid", grid, limits.max_grid),
            ("block", block, limits.max_block),
        ] {
            for (axis, (extent, most)) in ["x", "y", "z"].iter().zip(extents.iter().zip(most)) {
                if *extent == 0 {
                    return Err(Fault::launch(at, format!("{what}.{axis} is 0"))
                        .hint("an extent must be at least 1"));
                }
                if *extent > most {
                    return Err(Fault::launch(
                        at,
                        format!("{what}.{axis} is {extent}; the limit is {most}"),
                    ));
                }
            }
        }
        let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
        if threads > limits.max_threads_per_block.into() {
            let [x, y, z] = block;
            let message = format!(
                "a block of {x} x {y} x {z} has {threads} threads; the limit is {}",
                limits.max_threads_per_block
            );
            return Err(Fault::launch(at, message));
        }
        Ok(())
    }

    fn check_shared(&self, instance: &Instance, shared: u64, at: At) -> Fallible<()> {
        let plain = u64::from(self.limits.shared_memory_per_block_bytes);
        let optin = u64::from(self.limits.shared_memory_per_block_optin_bytes);
        let allowed = self
            .dynamic_shared_limits
            .get(&instance.identity)
            .copied()
            .unwrap_or(0)
            .max(plain);
        if shared <= allowed {
            return Ok(());
        }
        let message = format!("dynamic shared memory is {shared} bytes; the limit is {allowed}");
        let fault = Fault::launch(at, message);
        Err(if shared <= optin {
            fault.hint(
                "raise it with cudaFuncSetAttribute(kernel, \
                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
            )
        } else {
            fault.hint(format!("this device has at most {optin} bytes for a block"))
        })
    }
}

fn types_of(values: &[Option<Value>]) -> Vec<Option<Type>> {
    values
        .iter()
        .map(|value| value.as_ref().map(Value::ty))
        .collect()
}

/// Whether C++ (or the same bytes under another name) lets one pointer stand for the other.
fn pointers_agree(wanted: &Type, given: &Type) -> bool {
    match (wanted, given) {
        (Type::Void | Type::Named(_), _) | (_, Type::Named(_)) => true,
        (Type::Scalar(a), Type::Scalar(b)) => a.same_layout(*b) || unsigned_char(*a, *b),
        (Type::Record(a), Type::Record(b)) => a.name == b.name,
        (Type::Pointer(a), Type::Pointer(b)) => pointers_agree(&a.ty, &b.ty),
        (a, b) => a == b,
    }
}

/// `char` and `signed char` name the same bytes; headers differ in which they use for int8_t.
fn unsigned_char(a: Scalar, b: Scalar) -> bool {
    matches!(
        (a, b),
        (Scalar::Char, Scalar::SignedChar) | (Scalar::SignedChar, Scalar::Char)
    )
}
