//! Comparisons of what is made of parts: pairs, tuples, containers and optionals.

use std::cmp::Ordering;

use super::Interpreter;
use super::arithmetic::compares;
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::BinaryOp;
use crate::types::Type;

impl Interpreter<'_> {
    /// `left op right`; `None` where that is no comparison of such values.
    pub(super) fn compared_records(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        at: At,
    ) -> Option<Fallible<Value>> {
        if !op.is_comparison() {
            return None;
        }
        let (a, b) = (Self::compared_holder(left), Self::compared_holder(right));
        if a.is_some() || b.is_some() {
            let of = |holder: Option<Option<Value>>, value: &Value| {
                holder.unwrap_or_else(|| Some(value.clone()))
            };
            return Some(match (of(a, left), of(b, right)) {
                (Some(a), Some(b)) => self.binary(op, &a, &b, at),
                // An empty one is less than every other.
                (a, b) => Ok(Value::boolean(compares(op, a.is_some().cmp(&b.is_some())))),
            });
        }
        let (a, b) = (parts(left)?, parts(right)?);
        Some(self.compared_parts(op, a, b, at).map(Value::boolean))
    }

    /// One part after the other, up to the first difference.
    fn compared_parts(
        &mut self,
        op: BinaryOp,
        left: &[Option<Value>],
        right: &[Option<Value>],
        at: At,
    ) -> Fallible<bool> {
        let is_equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        if is_equality && left.len() != right.len() {
            return Ok(op == BinaryOp::NotEqual);
        }
        for (a, b) in left.iter().zip(right) {
            self.spend(1, at)?;
            let (Some(a), Some(b)) = (a, b) else {
                return Err(Fault::host(at, "a part is compared before it has a value"));
            };
            if is_equality {
                let equal = self.binary(BinaryOp::Equal, a, b, at)?;
                if !self.truth(&equal, at)? {
                    return Ok(op == BinaryOp::NotEqual);
                }
            } else if self.is_before(a, b, at)? {
                return Ok(compares(op, Ordering::Less));
            } else if self.is_before(b, a, at)? {
                return Ok(compares(op, Ordering::Greater));
            }
        }
        Ok(compares(op, left.len().cmp(&right.len())))
    }

    fn is_before(&mut self, a: &Value, b: &Value, at: At) -> Fallible<bool> {
        let less = self.binary(BinaryOp::Less, a, b, at)?;
        self.truth(&less, at)
    }
}

/// What a value is compared by.
fn parts(value: &Value) -> Option<&[Option<Value>]> {
    match value {
        Value::Record(record, fields)
            if record.name.starts_with("std::pair<") || record.name.starts_with("std::tuple<") =>
        {
            Some(fields)
        }
        Value::Row(Type::Vector(_) | Type::StdArray(..), values) => Some(values),
        _ => None,
    }
}
