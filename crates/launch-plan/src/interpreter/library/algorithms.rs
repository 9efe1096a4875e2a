//! `<algorithm>` and `<numeric>` on host arrays. Every element costs a step.

use super::super::Interpreter;
use super::super::deduction::make_pair;
use super::super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::BinaryOp;
use crate::types::Scalar;

impl Interpreter<'_> {
    /// An algorithm over `[first, last)`; `None` where `name` is none.
    pub(super) fn algorithm(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        use Value::Pointer;
        Some(match (name, values) {
            ("make_pair", [first, second]) => make_pair(first, second, at),
            ("distance", [first @ Pointer(..), last @ Pointer(..)]) => {
                self.binary(BinaryOp::Subtract, last, first, at)
            }
            ("next", [first @ Pointer(..)]) => {
                self.binary(BinaryOp::Add, first, &Value::int(1), at)
            }
            ("prev", [first @ Pointer(..)]) => {
                self.binary(BinaryOp::Subtract, first, &Value::int(1), at)
            }
            ("next", [first @ Pointer(..), count]) => self.binary(BinaryOp::Add, first, count, at),
            ("prev", [first @ Pointer(..), count]) => {
                self.binary(BinaryOp::Subtract, first, count, at)
            }
            ("clamp", [value, low, high]) => self.clamp(value, low, high, at),
            ("gcd" | "lcm" | "__gcd", [Value::Integer(a, first), Value::Integer(b, second)]) => {
                let scalar = super::super::arithmetic::common(*a, *b);
                common_divisor(name != "lcm", scalar, *first, *second, at)
            }
            ("fill_n" | "generate_n", [first @ Pointer(..), count, value]) => {
                self.fill_n(name, first, count, value, at)
            }
            ("copy_n", [first @ Pointer(..), count, out]) => self
                .binary(BinaryOp::Add, first, count, at)
                .and_then(|last| self.copy(first, &last, out, None, at)),
            (_, [first @ Pointer(..), last @ Pointer(..), rest @ ..]) => {
                return self.over_range(name, first, last, rest, at);
            }
            _ => return None,
        })
    }

    fn over_range(
        &mut self,
        name: &str,
        first: &Value,
        last: &Value,
        rest: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        let rest = match self.held_function(name, rest, at) {
            Ok(rest) => rest,
            Err(fault) => return Some(Err(fault)),
        };
        Some(match (name, rest.as_slice()) {
            ("fill", [value]) => self.each(first, last, at, |_, _| Ok(value.clone())),
            ("iota", [value]) => self.iota(first, last, value, at),
            ("accumulate" | "reduce", _) => self.accumulate(first, last, &rest, at),
            ("min_element" | "max_element", _) => {
                self.extreme_element(name == "max_element", first, last, rest.first(), at)
            }
            ("sort" | "stable_sort", _) => self.sort(first, last, rest.first(), at),
            ("reverse", []) => self.reverse(first, last, at),
            ("copy", [out]) => self.copy(first, last, out, None, at),
            ("transform", [out, function]) => self.copy(first, last, out, Some(function), at),
            ("generate", [function]) => self.each(first, last, at, |interpreter, _| {
                interpreter.apply(function, &[], at)
            }),
            ("count" | "find", [value]) => self.matching(name, first, last, value, true, at),
            ("count_if" | "find_if" | "any_of" | "all_of" | "none_of", [function]) => {
                self.matching(name, first, last, function, false, at)
            }
            ("for_each", [function]) => self.apply_to_each(first, last, function, at),
            _ => return None,
        })
    }

    /// The same arguments, but a function object, which may change as it is called, has a place.
    fn held_function(&mut self, name: &str, rest: &[Value], at: At) -> Fallible<Vec<Value>> {
        let mut held = rest.to_vec();
        if !matches!(name, "fill" | "iota" | "count" | "find")
            && let Some(last) = held.last_mut()
            && let Value::Record(record, _) = &last
            && !self.operators_of(record).is_empty()
        {
            let (place, ty) = self.temporary(last.clone(), at)?;
            *last = Value::pointer(ty, false, Target::Host(place));
        }
        Ok(held)
    }

    fn each(
        &mut self,
        first: &Value,
        last: &Value,
        at: At,
        mut value: impl FnMut(&mut Self, usize) -> Fallible<Value>,
    ) -> Fallible<Value> {
        let (_, count) = self.span(first, last, at)?;
        let mut values = Vec::new();
        for index in 0..count {
            self.spend(1, at)?;
            let value = value(self, index)?;
            self.spend(value.weight(), at)?;
            values.push(value);
        }
        self.set_values(first, values, at)?;
        Ok(Value::Void)
    }

    fn fill_n(
        &mut self,
        name: &str,
        first: &Value,
        count: &Value,
        value: &Value,
        at: At,
    ) -> Fallible<Value> {
        let last = self.binary(BinaryOp::Add, first, count, at)?;
        self.each(first, &last, at, |interpreter, _| {
            if name == "fill_n" {
                Ok(value.clone())
            } else {
                interpreter.apply(value, &[], at)
            }
        })?;
        Ok(last)
    }

    fn iota(&mut self, first: &Value, last: &Value, start: &Value, at: At) -> Fallible<Value> {
        let mut next = start.clone();
        let ty = start.ty();
        self.each(first, last, at, |interpreter, index| {
            if index > 0 {
                let sum = interpreter.binary(BinaryOp::Add, &next, &Value::int(1), at)?;
                next = interpreter.convert(sum, &ty, at)?;
            }
            Ok(next.clone())
        })
    }

    /// The sum has the type of its first value, as in C++.
    fn accumulate(
        &mut self,
        first: &Value,
        last: &Value,
        rest: &[Value],
        at: At,
    ) -> Fallible<Value> {
        let values = self.values_between(first, last, at)?;
        let mut sum = match (rest.first(), values.first()) {
            (Some(initial), _) => initial.clone(),
            (None, Some(value)) => self.zero(&value.ty(), at)?,
            (None, None) => Value::int(0),
        };
        let ty = sum.ty();
        for value in &values {
            self.spend(1, at)?;
            let next = match rest.get(1) {
                None => self.binary(BinaryOp::Add, &sum, value, at)?,
                Some(function) => self.apply(function, &[sum, value.clone()], at)?,
            };
            sum = self.convert(next, &ty, at)?;
        }
        Ok(sum)
    }

    fn extreme_element(
        &mut self,
        largest: bool,
        first: &Value,
        last: &Value,
        comparison: Option<&Value>,
        at: At,
    ) -> Fallible<Value> {
        let values = self.values_between(first, last, at)?;
        let mut best = 0;
        for index in 1..values.len() {
            let (candidate, best_value) = (&values[index], &values[best]);
            let better = if largest {
                self.is_less(best_value, candidate, comparison, at)?
            } else {
                self.is_less(candidate, best_value, comparison, at)?
            };
            if better {
                best = index;
            }
        }
        let offset = Value::Integer(Scalar::Long, best as i128);
        self.binary(BinaryOp::Add, first, &offset, at)
    }

    fn sort(
        &mut self,
        first: &Value,
        last: &Value,
        comparison: Option<&Value>,
        at: At,
    ) -> Fallible<Value> {
        let values = self.values_between(first, last, at)?;
        let sorted = self.sorted(values, comparison, at)?;
        self.set_values(first, sorted, at)?;
        Ok(Value::Void)
    }

    fn reverse(&mut self, first: &Value, last: &Value, at: At) -> Fallible<Value> {
        let mut values = self.values_between(first, last, at)?;
        values.reverse();
        self.set_values(first, values, at)?;
        Ok(Value::Void)
    }

    /// `std::copy` and `std::transform`: the end of what was written.
    fn copy(
        &mut self,
        first: &Value,
        last: &Value,
        out: &Value,
        function: Option<&Value>,
        at: At,
    ) -> Fallible<Value> {
        let mut values = self.values_between(first, last, at)?;
        if let Some(function) = function {
            for value in &mut values {
                *value = self.apply(function, &[std::mem::replace(value, Value::Void)], at)?;
            }
        }
        let count = Value::Integer(Scalar::Long, values.len() as i128);
        self.set_values(out, values, at)?;
        self.binary(BinaryOp::Add, out, &count, at)
    }

    /// What asks of each element whether it equals a value, or whether a function holds for it.
    fn matching(
        &mut self,
        name: &str,
        first: &Value,
        last: &Value,
        wanted: &Value,
        by_value: bool,
        at: At,
    ) -> Fallible<Value> {
        let values = self.values_between(first, last, at)?;
        let (mut count, mut found) = (0_i128, None);
        for (index, value) in values.iter().enumerate() {
            self.spend(1, at)?;
            let holds = if by_value {
                self.binary(BinaryOp::Equal, value, wanted, at)?
            } else {
                self.apply(wanted, std::slice::from_ref(value), at)?
            };
            if self.truth(&holds, at)? {
                count += 1;
                found.get_or_insert(index);
            }
        }
        let total = values.len() as i128;
        match name {
            "count" | "count_if" => Ok(Value::Integer(Scalar::Long, count)),
            "any_of" => Ok(Value::boolean(count > 0)),
            "all_of" => Ok(Value::boolean(count == total)),
            "none_of" => Ok(Value::boolean(count == 0)),
            _ => {
                let index = found.map_or(total, |index| index as i128);
                let offset = Value::Integer(Scalar::Long, index);
                self.binary(BinaryOp::Add, first, &offset, at)
            }
        }
    }

    /// `std::for_each`: the function may take the element by reference.
    fn apply_to_each(
        &mut self,
        first: &Value,
        last: &Value,
        function: &Value,
        at: At,
    ) -> Fallible<Value> {
        let (_, count) = self.span(first, last, at)?;
        for index in 0..count {
            self.spend(1, at)?;
            let offset = Value::Integer(Scalar::Long, index as i128);
            let pointer = self.binary(BinaryOp::Add, first, &offset, at)?;
            let access = super::super::places::Access::Read;
            let (place, ty) = self.pointed_place(&pointer, access, at)?;
            let value = self.memory.load(&place, at)?;
            let given = super::super::parameters::Given {
                at,
                value,
                place: Some((place, ty)),
                list: None,
                moved: false,
            };
            let mark = self.memory.mark();
            let result = self.call_with(function, vec![given], at);
            self.returned_place = None;
            self.memory.release(mark);
            result?;
        }
        match function {
            Value::Pointer(_, Target::Host(place)) => {
                let object = self.memory.load(place, at)?;
                Ok(object.unwrap_or(Value::Void))
            }
            _ => Ok(function.clone()),
        }
    }

    fn clamp(&mut self, value: &Value, low: &Value, high: &Value, at: At) -> Fallible<Value> {
        let below = self.is_less(value, low, None, at)?;
        let above = self.is_less(high, value, None, at)?;
        let chosen = if below {
            low
        } else if above {
            high
        } else {
            value
        };
        self.convert(chosen.clone(), &value.ty(), at)
    }
}

fn common_divisor(
    divisor: bool,
    scalar: Scalar,
    first: i128,
    second: i128,
    at: At,
) -> Fallible<Value> {
    let (mut a, mut b) = (first.abs(), second.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let result = match (divisor, a) {
        (true, _) => a,
        (false, 0) => 0,
        (false, _) => first.abs() / a * second.abs(),
    };
    if result > scalar.range().1 {
        let message = format!("the result {result} does not fit `{}`", scalar.name());
        return Err(Fault::host(at, message));
    }
    Ok(Value::Integer(scalar, result))
}
