//! Launches that are calls of the runtime: `cudaLaunchKernel`, `cudaLaunchCooperativeKernel`,
//! `cudaLaunchKernelEx` and `cudaLaunchKernelExC`.

use super::{Configuration, Launched};
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{HostRef, Target, Value};
use crate::source::text::At;
use crate::syntax::ast::{Expr, TypeKind};
use crate::types::Type;

impl<'p> Interpreter<'p> {
    /// A launch by its function's name; `None` for other names.
    pub(in crate::interpreter) fn launch_call(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, arguments) {
            ("cudaLaunchKernel", [kernel, grid, block, values, rest @ ..]) => {
                self.launch_with_array(kernel, [grid, block], values, rest, false, at)
            }
            ("cudaLaunchCooperativeKernel", [kernel, grid, block, values, rest @ ..]) => {
                self.launch_with_array(kernel, [grid, block], values, rest, true, at)
            }
            ("cudaLaunchKernelEx", [configuration, kernel, values @ ..]) => {
                self.launch_configured(configuration, kernel, values, at)
            }
            ("cudaLaunchKernelExC", [configuration, kernel, values]) => {
                self.launch_configured_with_array(configuration, kernel, values, at)
            }
            _ => return None,
        })
    }

    /// `cudaLaunchKernel(kernel, grid, block, arguments, shared, stream)`.
    fn launch_with_array(
        &mut self,
        kernel: &'p Expr,
        [grid, block]: [&'p Expr; 2],
        arguments: &'p Expr,
        rest: &'p [Expr],
        cooperative: bool,
        at: At,
    ) -> Fallible<Value> {
        let launched = self.launched_value(kernel)?;
        let grid = self.extents(grid)?;
        let block = self.extents(block)?;
        let array = self.evaluate(arguments)?;
        let mut shared_bytes = 0;
        if let Some(shared) = rest.first() {
            let value = self.evaluate(shared)?;
            shared_bytes = self.count_of(&value, shared.at)?;
        }
        if let Some(stream) = rest.get(1) {
            self.evaluate(stream)?;
        }
        let configuration = Configuration {
            grid,
            block,
            shared_bytes,
            cluster: None,
            cooperative,
        };
        self.issue_from_array(configuration, &launched, &array, at)
    }

    /// `cudaLaunchKernelEx(&configuration, kernel, arguments...)`.
    fn launch_configured(
        &mut self,
        configuration: &'p Expr,
        kernel: &'p Expr,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let given = self.evaluate(configuration)?;
        let configuration = self.configuration(&given, configuration.at)?;
        let launched = self.launched_value(kernel)?;
        let (instance, arguments) = self.launch_arguments(&launched, arguments, at)?;
        self.issue(configuration, instance, arguments, at)?;
        Ok(Value::SUCCESS)
    }

    /// `cudaLaunchKernelExC(&configuration, kernel, arguments)`.
    fn launch_configured_with_array(
        &mut self,
        configuration: &'p Expr,
        kernel: &'p Expr,
        arguments: &'p Expr,
        at: At,
    ) -> Fallible<Value> {
        let given = self.evaluate(configuration)?;
        let configuration = self.configuration(&given, configuration.at)?;
        let launched = self.launched_value(kernel)?;
        let array = self.evaluate(arguments)?;
        self.issue_from_array(configuration, &launched, &array, at)
    }

    fn launched_value(&mut self, kernel: &'p Expr) -> Fallible<Launched> {
        let value = self.evaluate(kernel)?;
        launched_of(value, kernel.at)
    }

    pub(super) fn issue_from_array(
        &mut self,
        configuration: Configuration,
        launched: &Launched,
        array: &Value,
        at: At,
    ) -> Fallible<Value> {
        let values = self.pointed_arguments(launched, array, at)?;
        let (instance, arguments) = self.launch_values(launched, values, &[], at)?;
        self.issue(configuration, instance, arguments, at)?;
        Ok(Value::SUCCESS)
    }

    /// The values behind `void* arguments[] = {&a, &b}`. The runtime copies bytes, so each variable
    /// must have its parameter's layout.
    fn pointed_arguments(
        &mut self,
        launched: &Launched,
        array: &Value,
        at: At,
    ) -> Fallible<Vec<Value>> {
        let [kernel] = launched.functions[..] else {
            return Err(Fault::launch(at, "no kernel is launched"));
        };
        let function = self.tables.function(kernel);
        let count = function.parameters.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        if function.parameters.iter().any(|parameter| parameter.pack) {
            return Err(Fault::unsupported(
                at,
                format!(
                    "`{}` takes a parameter pack, of which an array tells no types",
                    function.path
                ),
                "launch it with <<<...>>> or cudaLaunchKernelEx, which are given the arguments themselves",
            ));
        }
        let Value::Pointer(_, Target::Host(first)) = array else {
            return Err(Fault::launch(
                at,
                format!(
                    "`{}` takes {count} arguments; the launch passes no array of them",
                    function.path
                ),
            )
            .hint("pass the addresses of variables: `void* arguments[] = {&a, &b};`"));
        };
        let mut values = Vec::new();
        for position in 0..count {
            self.spend(1, at)?;
            let place = HostRef {
                index: first.index.saturating_add(position as i64),
                ..first.clone()
            };
            let value = match self.memory.load(&place, at)? {
                Some(Value::Pointer(_, Target::Host(variable))) => {
                    self.memory.load(&variable, at)?
                }
                Some(Value::Pointer(_, Target::Device(_))) => {
                    return Err(Fault::launch(
                        at,
                        format!(
                            "argument {} of `{}` is passed as a device pointer itself",
                            position + 1,
                            function.path
                        ),
                    )
                    .hint("the array holds the addresses of the arguments: write `&pointer`"));
                }
                _ => None,
            };
            let Some(value) = value else {
                let message = format!(
                    "argument {} of `{}` has no value where the launch reads it",
                    position + 1,
                    function.path
                );
                return Err(Fault::launch(at, message));
            };
            self.check_pointed(kernel, position, &value, at)?;
            values.push(value);
        }
        Ok(values)
    }

    /// A fault where the bytes of a variable mean something else to the kernel.
    fn check_pointed(
        &mut self,
        kernel: usize,
        position: usize,
        value: &Value,
        at: At,
    ) -> Fallible<()> {
        let function = self.tables.function(kernel);
        let Some(parameter) = function.parameters.get(position) else {
            return Ok(());
        };
        // What templates make of it is not known before they are bound.
        if function.template.is_some() || matches!(parameter.ty.kind, TypeKind::Auto) {
            return Ok(());
        }
        let wanted = self.resolve(&parameter.ty)?;
        let given = value.ty();
        if let (Type::Scalar(wanted), Type::Scalar(given)) = (&wanted, &given)
            && wanted.size_bytes() == given.size_bytes()
            && wanted.is_integer() == given.is_integer()
        {
            return Ok(());
        }
        if matches!((&wanted, &given), (Type::Scalar(_), Type::Scalar(_))) && wanted != given {
            let message = format!(
                "argument {} of `{}` is read as `{wanted}`, but its address is that of a `{given}`",
                position + 1,
                function.path
            );
            return Err(Fault::launch(at, message)
                .hint("the runtime copies bytes: give the variable the parameter's type"));
        }
        Ok(())
    }
}

pub(super) fn launched_of(kernel: Value, at: At) -> Fallible<Launched> {
    match kernel {
        Value::Kernel(kernel) => Ok(Launched {
            functions: vec![kernel.function],
            explicit: kernel.arguments.unwrap_or_default(),
        }),
        other => Err(
            Fault::launch(at, format!("a value of type `{}` is launched", other.ty()))
                .hint("pass a __global__ function of this file, as in `(void*)kernel`"),
        ),
    }
}
