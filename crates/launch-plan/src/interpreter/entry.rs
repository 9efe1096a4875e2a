//! The call of the entry function.

use super::Interpreter;
use super::scope::Frame;
use super::statements::Returning;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::plan::{Argument, Buffer, Place};
use crate::source::text::At;
use crate::syntax::ast::{Function, TypeKind};
use crate::types::{Scalar, Type};

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
            let is_void = matches!(entry.returns.kind, TypeKind::Void);
            interpreter.returning.push(Returning {
                ty: is_void.then_some(Type::Void),
                by_reference: false,
            });
            let result = interpreter.run_function_body(entry, entry.at);
            interpreter.ended(0, result).map(|_| ())
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
}
