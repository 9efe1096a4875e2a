//! Operators that a class or the file writes itself: calls in another form.

use super::Interpreter;
use super::overloads::takes_count;
use super::scope::Surroundings;
use super::value::Value;
use crate::failure::Fallible;
use crate::syntax::ast::{Expr, ExprKind, Space, UnaryOp};
use crate::types::Type;

/// The functions that an operator may mean, and its operands.
pub(super) struct MeantOperator<'p> {
    pub(super) functions: Vec<usize>,
    name: String,
    left: &'p Expr,
    rest: &'p [Expr],
    /// Whether they are methods of the left operand.
    is_method: bool,
    /// `x++`, whose function has a parameter that says so.
    postfix: bool,
}

impl<'p> Interpreter<'p> {
    /// What an expression with an operator calls; `None` where the language itself has the operator.
    pub(super) fn meant_operator(&mut self, expr: &'p Expr) -> Option<MeantOperator<'p>> {
        if !self.tables.has_operators() {
            return None;
        }
        let (_, left, rest) = operands(expr)?;
        let left = self.static_type(left);
        let right = match (&left, rest) {
            (Some(Type::Record(_)), _) | (_, []) => None,
            (_, [right, ..]) => self.static_type(right),
        };
        self.operator_for(expr, left.as_ref(), right.as_ref())
    }

    /// The same for operands whose types are known. Each operand is looked at once, as a sum of many terms has
    /// as many within each other.
    fn operator_for(
        &self,
        expr: &'p Expr,
        ty: Option<&Type>,
        right: Option<&Type>,
    ) -> Option<MeantOperator<'p>> {
        let (symbol, left, rest) = operands(expr)?;
        let is_record = |ty: Option<&Type>| matches!(ty, Some(Type::Record(_)));
        if !self.tables.has_operators() || (!is_record(ty) && !is_record(right)) {
            return None;
        }
        let postfix = matches!(&expr.kind, ExprKind::Step { prefix: false, .. });
        let name = format!("operator{symbol}");
        let count = rest.len() + usize::from(postfix);
        let meant = |functions, is_method| MeantOperator {
            functions,
            name: name.clone(),
            left,
            rest,
            is_method,
            postfix,
        };
        if let Some(Type::Record(record)) = ty
            && record.holder.is_none()
        {
            let mut methods = self.methods_of(record, &name);
            methods.retain(|&index| takes_count(self.tables.function(index), count));
            if !methods.is_empty() {
                return Some(meant(methods, true));
            }
        }
        let mut functions = self.tables.functions_named(&name);
        functions.retain(|&index| {
            let function = self.tables.function(index);
            takes_count(function, count + 1)
                && matches!(function.space, Space::Host | Space::Both)
                && function.body.is_some()
        });
        (!functions.is_empty()).then(|| meant(functions, false))
    }

    /// Calls it: its value, or the place that it returned.
    pub(super) fn operator_call(&mut self, expr: &'p Expr) -> Fallible<Option<Value>> {
        let Some(mut meant) = self.meant_operator(expr) else {
            return Ok(None);
        };
        let at = expr.at;
        let mut given = Vec::new();
        let around = if meant.is_method {
            let (place, ty) = self.object_place(meant.left)?;
            let Type::Record(record) = &ty else {
                return Ok(None);
            };
            meant.functions = self.for_object(meant.functions, &place, &meant.name, at)?;
            let (place, record) = self.owner_of_method(&place, record, &meant.name);
            self.around_object(&place, &record, at)?
        } else {
            let left = std::slice::from_ref(meant.left);
            given = self.all_given(&meant.functions, left)?;
            Surroundings::default()
        };
        let before = given.len();
        given.extend(self.all_given_from(&meant.functions, before, meant.rest)?);
        if meant.postfix {
            given.push(super::parameters::Given::value(Value::int(0), at));
        }
        self.call_chosen(&meant.functions, &meant.name, &[], given, &around, at)
            .map(Some)
    }

    /// The type of what it returns; `None` where the language itself has the operator.
    pub(super) fn type_of_operator(
        &mut self,
        expr: &'p Expr,
        left: Option<&Type>,
        right: Option<&Type>,
    ) -> Option<Option<Type>> {
        let meant = self.operator_for(expr, left, right)?;
        let owner = left.filter(|_| meant.is_method);
        Some(self.returned_type(&meant.functions, owner))
    }
}

/// The spelling of an operator, its first operand and the others.
fn operands(expr: &Expr) -> Option<(String, &Expr, &[Expr])> {
    let one = |expr| std::slice::from_ref::<Expr>(expr);
    Some(match &expr.kind {
        ExprKind::Binary(op, left, right) => (op.symbol().to_owned(), left, one(right)),
        ExprKind::Assign(Some(op), left, right) => (format!("{}=", op.symbol()), left, one(right)),
        ExprKind::Index(left, index) => ("[]".to_owned(), left, one(index)),
        ExprKind::Dereference(operand) => ("*".to_owned(), operand, &[]),
        ExprKind::Unary(op, operand) => {
            let symbol = match op {
                UnaryOp::Plus => "+",
                UnaryOp::Minus => "-",
                UnaryOp::Not => "!",
                UnaryOp::Complement => "~",
            };
            (symbol.to_owned(), operand, &[])
        }
        ExprKind::Step {
            increment, operand, ..
        } => {
            let symbol = if *increment { "++" } else { "--" };
            (symbol.to_owned(), operand, &[])
        }
        _ => return None,
    })
}
