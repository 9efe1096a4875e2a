//! Executes statements.

use super::Interpreter;
use super::resolve::refusal;
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Case, Expr, ExprKind, Stmt, StmtKind};
use crate::types::Type;

/// Where execution goes after a statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// What a function being run returns.
#[derive(Clone, Debug)]
pub(super) struct Returning {
    /// `None` for `auto`.
    pub(super) ty: Option<Type>,
    pub(super) by_reference: bool,
}

impl<'p> Interpreter<'p> {
    pub(super) fn execute_all(&mut self, statements: &'p [Stmt]) -> Fallible<Flow> {
        for statement in statements {
            let flow = self.execute(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn execute_one(&mut self, statement: &'p Stmt) -> Fallible<()> {
        self.execute(statement).map(|_| ())
    }

    fn execute(&mut self, statement: &'p Stmt) -> Fallible<Flow> {
        self.deeper(statement.at, |interpreter| {
            interpreter.execute_kind(statement)
        })
    }

    fn execute_kind(&mut self, statement: &'p Stmt) -> Fallible<Flow> {
        match &statement.kind {
            StmtKind::Empty => Ok(Flow::Next),
            StmtKind::Block(statements) => {
                self.scoped(|interpreter| interpreter.execute_all(statements))
            }
            StmtKind::Sequence(statements) => self.execute_all(statements),
            StmtKind::Bindings(bindings) => {
                self.structured_binding(bindings)?;
                Ok(Flow::Next)
            }
            StmtKind::Record(name, path) => {
                self.declare_record(name, path, statement.at)?;
                Ok(Flow::Next)
            }
            StmtKind::ForEach(each) => self.for_each(each, statement.at),
            StmtKind::Expr(expr) => {
                self.run_full_expression(expr)?;
                Ok(Flow::Next)
            }
            StmtKind::Declare(variables) => {
                for variable in variables {
                    self.declare(variable)?;
                }
                Ok(Flow::Next)
            }
            StmtKind::Alias(name, ty) => {
                self.declare_alias(name, ty)?;
                Ok(Flow::Next)
            }
            StmtKind::If {
                first,
                condition,
                then,
                otherwise,
            } => self.scoped(|interpreter| {
                interpreter.execute_first(first.as_deref())?;
                if interpreter.condition(condition)? {
                    return interpreter.execute_block(then);
                }
                match otherwise {
                    Some(otherwise) => interpreter.execute_block(otherwise),
                    None => Ok(Flow::Next),
                }
            }),
            StmtKind::For {
                first,
                condition,
                step,
                body,
            } => self.scoped(|interpreter| {
                interpreter.execute_first(first.as_deref())?;
                interpreter.execute_loop(condition.as_deref(), step.as_deref(), body, statement.at)
            }),
            StmtKind::While(condition, body) => {
                self.execute_loop(Some(condition), None, body, statement.at)
            }
            StmtKind::DoWhile(body, condition) => match self.execute_block(body)? {
                Flow::Break => Ok(Flow::Next),
                Flow::Return(value) => Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {
                    self.execute_loop(Some(condition), None, body, statement.at)
                }
            },
            StmtKind::Switch(condition, cases) => {
                let mark = self.owned.len();
                let value = self.evaluate(condition);
                let value = self.ended(mark, value)?;
                self.scoped(|interpreter| interpreter.execute_switch(&value, cases))
            }
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Return(value) => {
                self.check_return(value.as_deref(), statement.at)?;
                Ok(Flow::Return(match value {
                    Some(value) => self.evaluate_returned(value)?,
                    None => Value::Void,
                }))
            }
            StmtKind::Unsupported(reason) => Err(refusal(statement.at, reason)),
        }
    }

    /// A compiler refuses a value where there is none to return, and the other way round.
    fn check_return(&self, value: Option<&Expr>, at: At) -> Fallible<()> {
        match (value, self.returning.last().map(|returning| &returning.ty)) {
            (Some(value), Some(Some(Type::Void))) if is_surely_a_value(value) => {
                let message = "return value type does not match the function type";
                Err(Fault::syntax(value.at, message)
                    .hint("a `void` function ends with `return;` alone"))
            }
            (None, Some(Some(ty))) if *ty != Type::Void => {
                let message = format!("`return;` in a function that returns `{ty}`");
                Err(Fault::syntax(at, message).hint("return a value of that type"))
            }
            _ => Ok(()),
        }
    }

    /// `return {a, b};` takes the function's type.
    fn evaluate_returned(&mut self, value: &'p Expr) -> Fallible<Value> {
        let Some(returning) = self.returning.last().cloned() else {
            return self.evaluate(value);
        };
        if returning.by_reference
            && let Some((place, ty)) = self.referred(value, false)?
        {
            let wanted = returning.ty.as_ref();
            let base = wanted.and_then(|wanted| Some((self.as_base(&place, &ty, wanted)?, wanted)));
            let (place, ty) = base.map_or((place, ty), |(place, wanted)| (place, wanted.clone()));
            let floor = self.frames.last().map(|frame| frame.floor);
            if floor.is_none_or(|floor| floor.is_below(&place)) {
                // Ends with the function.
                return self.loaded(place, &ty, "what is returned", value.at);
            }
            self.returned_place = Some((place, ty));
            return Ok(Value::Void);
        }
        if let Some(object) = self.returned_object(value)? {
            return Ok(object);
        }
        match returning.ty {
            Some(ty) => self.initialised(&ty, value),
            None => match self.taken(value)? {
                Some(object) => Ok(object),
                None => self.evaluate(value),
            },
        }
    }

    /// Runs an expression, with whose end its temporaries end.
    fn run_full_expression(&mut self, expr: &'p Expr) -> Fallible<()> {
        let mark = self.owned.len();
        let done = self.run_for_effect(expr);
        self.ended(mark, done)
    }

    fn execute_first(&mut self, first: Option<&'p Stmt>) -> Fallible<()> {
        if let Some(first) = first {
            self.execute(first)?;
        }
        Ok(())
    }

    /// A statement with a scope of its own, even without braces.
    pub(super) fn execute_block(&mut self, statement: &'p Stmt) -> Fallible<Flow> {
        self.scoped(|interpreter| interpreter.execute(statement))
    }

    fn execute_loop(
        &mut self,
        condition: Option<&'p Expr>,
        step: Option<&'p Expr>,
        body: &'p Stmt,
        at: At,
    ) -> Fallible<Flow> {
        loop {
            self.spend(1, at)?;
            if let Some(condition) = condition
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.execute_block(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.run_full_expression(step)?;
            }
        }
    }

    fn execute_switch(&mut self, value: &Value, cases: &'p [Case]) -> Fallible<Flow> {
        let mut chosen = None;
        for (index, case) in cases.iter().enumerate() {
            let Some(label) = &case.value else { continue };
            let at = label.at;
            let label = self.evaluate(label)?;
            let equal = self.binary(BinaryOp::Equal, value, &label, at)?;
            if self.truth(&equal, at)? {
                chosen = Some(index);
                break;
            }
        }
        let default = || cases.iter().position(|case| case.value.is_none());
        let Some(start) = chosen.or_else(default) else {
            return Ok(Flow::Next);
        };
        for case in &cases[start..] {
            match self.execute_all(&case.body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// The value of a function's body, in the type that it returns.
    pub(super) fn run_body(&mut self, statements: &'p [Stmt], at: At) -> Fallible<Value> {
        match self.execute_all(statements)? {
            Flow::Return(value) => Ok(value),
            Flow::Next => Ok(Value::Void),
            Flow::Break | Flow::Continue => {
                Err(Fault::syntax(at, "`break` or `continue` outside of a loop"))
            }
        }
    }
}

/// No call, which may return nothing itself.
fn is_surely_a_value(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Integer(..)
            | ExprKind::Float(..)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Name(_)
            | ExprKind::Binary(..)
            | ExprKind::Index(..)
    )
}
