//! Assignments, `++` and `--`.

use super::Interpreter;
use super::places::{Access, described};
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};
use crate::types::Type;

impl<'p> Interpreter<'p> {
    /// Assignments, `++` and `--`.
    pub(super) fn modify(&mut self, expr: &'p Expr) -> Fallible<Value> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Assign(None, target, value) => {
                if let Some(targets) = tied(target) {
                    return self.assign_tied(targets, value, at);
                }
                // What is assigned is computed before where it goes.
                let first = match (&target.kind, &value.kind) {
                    (ExprKind::Name(_), _) | (_, ExprKind::List(_)) => None,
                    _ => match self.static_type(target) {
                        Some(Type::Scalar(_) | Type::Pointer(_)) => Some(self.evaluate(value)?),
                        _ => None,
                    },
                };
                let (place, ty) = self.place(target, Access::Write)?;
                if let Type::Record(record) = &ty
                    && let Some(result) = self.assigned_object(&place, record, value, at)?
                {
                    return Ok(result);
                }
                let value = match first {
                    Some(first) => self.convert(first, &ty, value.at)?,
                    None => self.initialised(&ty, value)?,
                };
                self.memory.store(&place, value.clone(), at)?;
                Ok(value)
            }
            ExprKind::Assign(Some(op), target, value) => {
                let right = self.evaluate(value)?;
                let (_, new) = self.update(target, *op, &right, at)?;
                Ok(new)
            }
            ExprKind::Step {
                increment,
                prefix,
                operand,
            } => {
                let op = if *increment {
                    BinaryOp::Add
                } else {
                    BinaryOp::Subtract
                };
                let (old, new) = self.update(operand, op, &Value::int(1), at)?;
                Ok(if *prefix { new } else { old })
            }
            _ => Err(Fault::unsupported(
                at,
                "this assignment",
                "assign to a variable",
            )),
        }
    }

    /// `std::tie(a, b) = value`
    fn assign_tied(&mut self, targets: &'p [Expr], value: &'p Expr, at: At) -> Fallible<Value> {
        let value = self.evaluate(value)?;
        let ty = value.ty();
        let fields = match value {
            Value::Record(record, fields)
                if record.name.starts_with("std::") && fields.len() == targets.len() =>
            {
                fields
            }
            _ => {
                let message = format!("`std::tie` of {} variables and a `{ty}`", targets.len());
                return Err(Fault::unsupported(
                    at,
                    message,
                    "name a variable for each part of a std::tuple or std::pair",
                ));
            }
        };
        for (target, field) in targets.iter().zip(fields) {
            if matches!(&target.kind, ExprKind::Name(name) if name.plain() == "ignore") {
                continue;
            }
            let (place, ty) = self.place(target, Access::Write)?;
            let unset = || Fault::host(at, "a part of a tuple is read before it has a value");
            let value = self.convert(field.ok_or_else(unset)?, &ty, at)?;
            self.memory.store(&place, value, at)?;
        }
        Ok(Value::Void)
    }

    /// `target op= right`; the value before and after.
    fn update(
        &mut self,
        target: &'p Expr,
        op: BinaryOp,
        right: &Value,
        at: At,
    ) -> Fallible<(Value, Value)> {
        let (place, ty) = self.place(target, Access::Write)?;
        let name = described(target);
        let old = self.loaded(place.clone(), &ty, name, at)?;
        let result = self.binary(op, &old, right, at)?;
        let new = self.convert(result, &ty, at)?;
        self.memory.store(&place, new.clone(), at)?;
        Ok((old, new))
    }
}

/// The variables of `std::tie(a, b)`.
pub(super) fn tied(target: &Expr) -> Option<&[Expr]> {
    let ExprKind::Call(callee, arguments) = &target.kind else {
        return None;
    };
    match &callee.kind {
        ExprKind::Name(name) if name.path == "std::tie" || name.path == "tie" => Some(arguments),
        _ => None,
    }
}
