//! Sorting and searching with a comparison that may fail, because it is the submission's own.

use std::rc::Rc;

use super::super::Interpreter;
use super::super::parameters::Given;
use super::super::value::Value;
use crate::failure::Fallible;
use crate::source::text::At;
use crate::syntax::ast::BinaryOp;

impl Interpreter<'_> {
    /// Whether `a` comes before `b`.
    pub(super) fn is_less(
        &mut self,
        a: &Value,
        b: &Value,
        comparison: Option<&Value>,
        at: At,
    ) -> Fallible<bool> {
        self.spend(1, at)?;
        let holds = match comparison {
            None => self.binary(BinaryOp::Less, a, b, at)?,
            Some(comparison) => self.apply(comparison, &[a.clone(), b.clone()], at)?,
        };
        self.truth(&holds, at)
    }

    /// Calls a value with values.
    pub(super) fn apply(&mut self, function: &Value, values: &[Value], at: At) -> Fallible<Value> {
        let given = values.iter().map(|value| Given::value(value.clone(), at));
        let mark = self.memory.mark();
        let result = self.call_with(function, given.collect(), at);
        let result = result.and_then(|value| self.value_returned(value, at));
        self.memory.release(mark);
        result
    }

    /// Merge sort, which is stable and asks no more than it must.
    pub(super) fn sorted(
        &mut self,
        values: Vec<Value>,
        comparison: Option<&Value>,
        at: At,
    ) -> Fallible<Vec<Value>> {
        let mut runs: Vec<Rc<[Value]>> =
            values.into_iter().map(|value| Rc::from([value])).collect();
        while runs.len() > 1 {
            let mut merged = Vec::new();
            for pair in runs.chunks(2) {
                merged.push(match pair {
                    [a, b] => self.merged(a, b, comparison, at)?,
                    rest => Rc::clone(&rest[0]),
                });
            }
            runs = merged;
        }
        Ok(runs.pop().map_or_else(Vec::new, |run| run.to_vec()))
    }

    fn merged(
        &mut self,
        a: &[Value],
        b: &[Value],
        comparison: Option<&Value>,
        at: At,
    ) -> Fallible<Rc<[Value]>> {
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
            let next = if self.is_less(second, first, comparison, at)? {
                b.next()
            } else {
                a.next()
            };
            merged.extend(next.cloned());
        }
        merged.extend(a.chain(b).cloned());
        Ok(merged.into())
    }
}
