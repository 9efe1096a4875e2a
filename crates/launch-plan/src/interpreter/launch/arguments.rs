//! A launch's arguments, in the types of the kernel's parameters.

use std::rc::Rc;

use super::{Instance, Launched};
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::overloads::Passed;
use crate::interpreter::scope::Frame;
use crate::interpreter::value::{Target, Value};
use crate::plan::LaunchArgument;
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function, Parameter, TypeKind};
use crate::types::{Pointee, Scalar, Type};

/// A parameter of a kernel, in one of its launches.
struct Taken<'k> {
    kernel: &'k str,
    position: usize,
    ty: Type,
    /// Whether its argument stands in the launch itself and both types are written out, so that a lost `const`
    /// is one.
    is_written: bool,
}

impl Taken<'_> {
    fn mismatch(&self, given: &Type, at: At) -> Box<Fault> {
        let message = format!(
            "argument {} of `{}` is a `{given}` where `{}` is expected",
            self.position + 1,
            self.kernel,
            self.ty
        );
        Fault::launch(at, message)
    }

    /// A fault for a pointer that C++ does not turn into the wanted one.
    fn check_pointer(&self, wanted: &Pointee, given: &Rc<Pointee>, at: At) -> Fallible<()> {
        let given_type = || Type::Pointer(Rc::clone(given));
        if !pointers_agree(&wanted.ty, &given.ty) {
            return Err(self.mismatch(&given_type(), at));
        }
        let loses_const = given.constant && !wanted.constant;
        if self.is_written && loses_const && wanted.ty == given.ty {
            let way_out = "let the kernel take it as `const`, or cast the `const` away";
            return Err(self.mismatch(&given_type(), at).hint(way_out));
        }
        Ok(())
    }
}

impl<'p> Interpreter<'p> {
    /// The instance and its arguments in its parameters' types.
    pub(super) fn launch_arguments(
        &mut self,
        launched: &Launched,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<(Instance, Vec<LaunchArgument>)> {
        if let [only] = launched.functions[..] {
            self.check_count(only, arguments.len(), at)?;
        }
        let mut passed = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            passed.push(Passed {
                value: match argument.kind {
                    ExprKind::List(_) => None,
                    _ if self.is_taken_by_reference(launched, position) => {
                        Some(self.address_of(argument, argument.at)?)
                    }
                    _ => Some(match self.cast_for_kernel(launched, position, argument)? {
                        Some(value) => value,
                        None => self.evaluate(argument)?,
                    }),
                },
                place: false,
            });
        }
        let function = self.chosen_kernel(launched, &passed, at)?;
        let values = passed.into_iter().map(|p| p.value).collect();
        self.bound_arguments(function, launched, values, arguments, at)
    }

    /// As [`Self::launch_arguments`], from values that are there already.
    pub(super) fn launch_values(
        &mut self,
        launched: &Launched,
        values: Vec<Value>,
        written: &'p [Expr],
        at: At,
    ) -> Fallible<(Instance, Vec<LaunchArgument>)> {
        let [only] = launched.functions[..] else {
            return Err(Fault::launch(at, "no kernel is launched"));
        };
        self.check_count(only, values.len(), at)?;
        let function = self.tables.function(only);
        let values = values.into_iter().map(Some).collect();
        self.bound_arguments(function, launched, values, written, at)
    }

    /// An object whose class converts it to what the kernel takes.
    fn cast_for_kernel(
        &mut self,
        launched: &Launched,
        position: usize,
        argument: &'p Expr,
    ) -> Fallible<Option<Value>> {
        let [only] = launched.functions[..] else {
            return Ok(None);
        };
        let function = self.tables.function(only);
        let parameter = function.parameters.get(position);
        match parameter.map(|parameter| &parameter.ty) {
            Some(ty) if function.template.is_none() && self.tables.has_operators() => {
                let ty = self.resolve(ty)?;
                self.cast_by_class(argument, &ty)
            }
            _ => Ok(None),
        }
    }

    /// A kernel's reference is the address of what the host names, which is not read there.
    fn is_taken_by_reference(&self, launched: &Launched, position: usize) -> bool {
        let [only] = launched.functions[..] else {
            return false;
        };
        let function = self.tables.function(only);
        let parameter = function.parameters.get(position);
        function.template.is_none()
            && parameter
                .is_some_and(|parameter| matches!(parameter.ty.kind, TypeKind::Reference(_)))
    }

    fn bound_arguments(
        &mut self,
        function: &'p Function,
        launched: &Launched,
        mut values: Vec<Option<Value>>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<(Instance, Vec<LaunchArgument>)> {
        let types: Vec<Option<Type>> = types_of(&values);
        let bound = self.bind_templates(function, &launched.explicit, &types, at)?;
        let instance = self.instance(function, &bound, at)?;
        let frame = Frame::new(bound.bindings);
        let converted = self.framed(frame, |interpreter| -> Fallible<_> {
            let mut converted = Vec::new();
            for (first, parameter) in function.parameters.iter().enumerate() {
                // The elements of a pack are the last arguments.
                let last = if parameter.pack {
                    values.len()
                } else {
                    first + 1
                };
                for position in first..last {
                    let value = values.get_mut(position).and_then(Option::take);
                    let given = (position, arguments.get(position), value);
                    let element = parameter.pack.then_some(position - first);
                    let before = interpreter.set_element(element);
                    let argument = interpreter.launch_argument(function, parameter, given, at);
                    interpreter.set_element(before);
                    converted.push(argument?);
                }
            }
            Ok(converted)
        })?;
        Ok((instance, converted))
    }

    fn launch_argument(
        &mut self,
        function: &'p Function,
        parameter: &'p Parameter,
        (position, argument, value): (usize, Option<&'p Expr>, Option<Value>),
        at: At,
    ) -> Fallible<LaunchArgument> {
        let at = argument.map_or(at, |argument| argument.at);
        let ty = match &parameter.ty.kind {
            TypeKind::Reference(to) if function.template.is_none() => {
                Type::pointer_to(self.resolve(to)?, to.constant)
            }
            TypeKind::Reference(_) => {
                let message = format!("the kernel template `{}` takes a reference", function.path);
                return Err(Fault::launch(at, message).hint("pass a pointer, or the value itself"));
            }
            _ => self.resolve(&parameter.ty)?,
        };
        let value = match (value, argument.or(parameter.default.as_ref())) {
            (Some(value), _) => value,
            (None, Some(initial)) => self.initialised(&ty, initial)?,
            (None, None) => return Err(Fault::launch(at, "an argument is missing")),
        };
        if let (Some(argument), Type::Scalar(scalar), Value::Integer(..) | Value::Floating(..)) =
            (argument, &ty, &value)
        {
            self.warn_of_cut_literal(argument, *scalar);
        }
        let taken = Taken {
            kernel: &function.path,
            position,
            ty,
            // Named types may be const of themselves, which is not told of them.
            is_written: argument.is_some()
                && function.template.is_none()
                && !self.tables.has_aliases(),
        };
        self.taken_argument(&taken, value, at)
    }

    /// A value as the kernel takes it.
    fn taken_argument(
        &mut self,
        taken: &Taken<'_>,
        value: Value,
        at: At,
    ) -> Fallible<LaunchArgument> {
        let (ty, position, kernel) = (&taken.ty, taken.position, taken.kernel);
        let mismatch = |given: &Type| taken.mismatch(given, at);
        match (ty, value) {
            (Type::Pointer(wanted), Value::Pointer(given, target)) => {
                if !target.is_null() {
                    taken.check_pointer(wanted, &given, at)?;
                }
                self.pointer_argument(target, position, kernel, at)
            }
            (Type::Pointer(_), Value::Integer(_, 0)) => {
                self.pointer_argument(Target::NULL, position, kernel, at)
            }
            (Type::Pointer(_), Value::TensorMap(_)) => Err(mismatch(&Type::TensorMap)
                .hint("take the map by value: `const __grid_constant__ CUtensorMap map`")),
            (Type::Pointer(_), other) => Err(mismatch(&other.ty())),
            (Type::Scalar(_) | Type::Record(_), Value::Pointer(pointee, _)) => {
                Err(mismatch(&Type::Pointer(pointee)))
            }
            (Type::Scalar(scalar), value @ (Value::Integer(..) | Value::Floating(..))) => {
                let value = self.convert(value, &Type::Scalar(*scalar), at)?;
                self.value_argument(&value, ty, at)
            }
            (Type::Record(_), value @ Value::Record(..)) => {
                let value = self.convert(value, ty, at)?;
                self.record_argument(&value, ty, position, kernel, at)
            }
            (Type::TensorMap, Value::TensorMap(Some(map))) => {
                self.check_alive(map.base, at)?;
                Ok(LaunchArgument::TensorMap(Box::new(map.as_ref().clone())))
            }
            (Type::TensorMap, Value::TensorMap(None)) => Err(Fault::launch(
                at,
                format!(
                    "argument {} of `{}` is a tensor map that was never encoded",
                    position + 1,
                    kernel
                ),
            )
            .hint("call cuTensorMapEncodeTiled first")),
            (Type::Named(name), _) => Err(Fault::unsupported(
                at,
                format!(
                    "the type `{name}` of parameter {} of `{}` is not known to the host \
                     interpreter",
                    position + 1,
                    kernel
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
            .hint(
                "its name is no device pointer on the host: let the kernel name it, or pass what \
                 cudaGetSymbolAddress gives",
            )),
        }
    }

    /// A struct by value. The addresses in it are known when its buffers are.
    fn record_argument(
        &mut self,
        value: &Value,
        ty: &Type,
        position: usize,
        kernel: &str,
        at: At,
    ) -> Fallible<LaunchArgument> {
        let Some((bytes, targets)) = value.to_bytes_and_pointers() else {
            return self.value_argument(value, ty, at);
        };
        if targets.is_empty() {
            return Ok(LaunchArgument::Value(bytes));
        }
        let mut pointers = Vec::new();
        for (offset, target) in targets {
            if let LaunchArgument::Pointer(place) =
                self.pointer_argument(target, position, kernel, at)?
            {
                pointers.push((offset, place));
            }
        }
        Ok(LaunchArgument::Record { bytes, pointers })
    }

    fn value_argument(&mut self, value: &Value, ty: &Type, at: At) -> Fallible<LaunchArgument> {
        match value.to_bytes() {
            Some(bytes) => Ok(LaunchArgument::Value(bytes)),
            None => Err(Fault::unsupported(
                at,
                format!("a value of type `{ty}` is passed to a kernel"),
                "give each field a value; a kernel takes scalars, pointers and structs of them",
            )),
        }
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
