//! Which kernel a launch means.

use super::Launched;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::overloads::{Choice, Passed, takes_count};
use crate::interpreter::value::Value;
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function};

impl<'p> Interpreter<'p> {
    pub(super) fn launched(&mut self, callee: &'p Expr, at: At) -> Fallible<Launched> {
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

    pub(super) fn check_count(&self, kernel: usize, count: usize, at: At) -> Fallible<()> {
        let function = self.tables.function(kernel);
        if function.variadic && !function.parameters.last().is_some_and(|last| last.pack) {
            return Err(Fault::unsupported(
                at,
                format!(
                    "the kernel `{}` takes C's variable arguments",
                    function.path
                ),
                "write its parameters out, or take a parameter pack",
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
    pub(super) fn chosen_kernel(
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
}
