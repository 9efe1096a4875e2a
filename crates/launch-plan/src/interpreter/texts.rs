//! `std::string`, as far as messages and names need it: a text that is made, joined and compared.

use super::Interpreter;
use super::methods::no_method;
use super::value::{HostRef, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Expr};
use crate::types::{Scalar, Type};

/// Bytes of one text that host code joins.
const MAX_TEXT: usize = 4096;

impl<'p> Interpreter<'p> {
    pub(super) fn text_method(
        &mut self,
        place: &HostRef,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let value = self.loaded(place.clone(), &Type::Text, "this text", at)?;
        let Value::Text(text) = &value else {
            return Err(no_method(&value.ty(), name, at));
        };
        match (name, arguments) {
            ("c_str" | "data" | "str", []) => Ok(value),
            ("size" | "length", []) => Ok(Value::Integer(Scalar::ULong, text.len() as i128)),
            ("empty", []) => Ok(Value::boolean(text.is_empty())),
            _ => Err(no_method(&Type::Text, name, at)),
        }
    }

    /// Texts joined or compared; `None` where `op` does neither.
    pub(super) fn text_binary(
        &mut self,
        op: BinaryOp,
        left: &str,
        right: &str,
        at: At,
    ) -> Option<Fallible<Value>> {
        if let Err(fault) = self.spend(left.len().min(right.len()) as u64 / 16, at) {
            return Some(Err(fault));
        }
        let holds = match op {
            BinaryOp::Add => return Some(self.joined(left, right, at)),
            BinaryOp::Equal => left == right,
            BinaryOp::NotEqual => left != right,
            BinaryOp::Less => left < right,
            BinaryOp::Greater => left > right,
            BinaryOp::LessEqual => left <= right,
            BinaryOp::GreaterEqual => left >= right,
            _ => return None,
        };
        Some(Ok(Value::boolean(holds)))
    }

    fn joined(&mut self, left: &str, right: &str, at: At) -> Fallible<Value> {
        let length = left.len() + right.len();
        if length > MAX_TEXT {
            return Err(Fault::fuel(
                at,
                format!("a text of {length} characters in host code; the limit is {MAX_TEXT}"),
            ));
        }
        self.spend(1 + length as u64 / 16, at)?;
        Ok(Value::Text(format!("{left}{right}").into()))
    }
}

/// `std::to_string`
pub(super) fn to_string(value: &Value) -> Option<Value> {
    Some(Value::Text(match value {
        Value::Integer(_, value) => value.to_string().into(),
        Value::Floating(_, value) if value.is_finite() => format!("{value:.6}").into(),
        _ => return None,
    }))
}
