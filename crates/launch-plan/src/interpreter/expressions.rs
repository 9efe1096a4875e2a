//! Evaluates expressions.

use super::Interpreter;
use super::assignments::tied;
use super::deduction::made_tuple;
use super::holders::nullopt;
use super::resolve::refusal;
use super::scope::Binding;
use super::value::{Part, Target, TemplateValue, Value};
use super::{arithmetic, constants};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, TypeSyntax, UnaryOp};
use crate::types::{Scalar, Type};

impl<'p> Interpreter<'p> {
    pub(super) fn evaluate(&mut self, expr: &'p Expr) -> Fallible<Value> {
        self.deeper(expr.at, |interpreter| interpreter.evaluate_kind(expr))
    }

    fn evaluate_kind(&mut self, expr: &'p Expr) -> Fallible<Value> {
        let at = expr.at;
        if let Some(value) = self.operator_call(expr)? {
            return self.value_returned(value, at);
        }
        match &expr.kind {
            ExprKind::Integer(value, scalar) => Ok(Value::Integer(*scalar, (*value).into())),
            ExprKind::Float(value, scalar) => Ok(Value::Floating(*scalar, *value)),
            ExprKind::Text(text) => {
                self.spend(text.len() as u64 / 16, at)?;
                Ok(Value::Text(text.as_ref().into()))
            }
            ExprKind::Null => Ok(Value::null()),
            ExprKind::Name(name) => self.name_value(name, at),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, at),
            ExprKind::Binary(op, left, right) => {
                let left = self.left_or_right(left)?;
                let right = self.left_or_right(right)?;
                self.binary(*op, &left, &right, at)
            }
            ExprKind::And(left, right) => {
                let holds = self.condition(left)? && self.condition(right)?;
                Ok(Value::boolean(holds))
            }
            ExprKind::Or(left, right) => {
                let holds = self.condition(left)? || self.condition(right)?;
                Ok(Value::boolean(holds))
            }
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no),
            ExprKind::Comma(left, right) => {
                self.run_for_effect(left)?;
                self.evaluate(right)
            }
            ExprKind::Step { .. } | ExprKind::Assign(..) => {
                let value = self.modify(expr)?;
                self.value_returned(value, at)
            }
            ExprKind::AddressOf(operand) => self.address_of(operand, at),
            ExprKind::Dereference(_) | ExprKind::Index(..) | ExprKind::Field { .. } => {
                self.read(expr)
            }
            ExprKind::Call(callee, arguments) => {
                let value = self.call(callee, arguments, at)?;
                self.value_returned(value, at)
            }
            ExprKind::Launch(launch) => self.launch(launch, at),
            ExprKind::Cast(ty, operand) => {
                let ty = self.resolve(ty)?;
                if ty == Type::BOOL {
                    return self.truth_of(operand).map(Value::boolean);
                }
                if let Some(value) = self.cast_by_class(operand, &ty)? {
                    return Ok(value);
                }
                let value = self.evaluate(operand)?;
                self.cast(value, &ty, at)
            }
            ExprKind::Construct(ty, arguments) => {
                let ty = self.resolve(ty)?;
                self.construct(&ty, arguments, false, at)
            }
            ExprKind::ConstructList(ty, values) => {
                if let Some(name) = self.undeduced(ty) {
                    return self.deduced(name, values, true, at);
                }
                let ty = self.resolve(ty)?;
                self.construct(&ty, values, true, at)
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda, at),
            ExprKind::Expand(_) => Err(Fault::unsupported(
                at,
                "a parameter pack in this place is not in the host subset",
                "expand it in the arguments of a call",
            )),
            ExprKind::Fold(fold) => self.fold(fold, at),
            ExprKind::PackSize(pack) => self.pack_size(pack, at),
            ExprKind::PackElement(index, inner) => {
                self.in_element(*index, |interpreter| interpreter.evaluate(inner))
            }
            ExprKind::List(_) | ExprKind::Designated(..) => Err(Fault::unsupported(
                at,
                "a brace list in this place is not in the host subset",
                "name the type before the braces",
            )),
            ExprKind::SizeOfType(ty) => self.size_of_type(ty),
            ExprKind::AlignOf(ty) => {
                let ty = self.resolve(ty)?;
                align_value(&ty, at)
            }
            ExprKind::SizeOfValue(operand) => self.size_of_value(operand, at),
            ExprKind::New(ty, length, initial) => {
                self.new_object(ty, length.as_deref(), initial, at)
            }
            ExprKind::Delete(operand) => {
                let value = self.evaluate(operand)?;
                self.destroy_pointed(&value, at)?;
                self.free_host(&value, at)?;
                Ok(Value::Void)
            }
            ExprKind::Unsupported(reason) => Err(refusal(at, reason)),
        }
    }

    /// A value that an operator works on.
    fn left_or_right(&mut self, expr: &'p Expr) -> Fallible<Value> {
        match tied(expr) {
            Some(parts) => {
                let values = parts.iter().map(|part| self.evaluate(part));
                made_tuple(values.collect::<Fallible<_>>()?, expr.at)
            }
            None => self.pointer_or_value(expr),
        }
    }

    /// The value as a condition.
    pub(super) fn condition(&mut self, expr: &'p Expr) -> Fallible<bool> {
        let mark = self.owned.len();
        let holds = self.truth_of(expr);
        self.ended(mark, holds)
    }

    fn truth_of(&mut self, expr: &'p Expr) -> Fallible<bool> {
        if let Some((place, record)) = self.holder_at(expr)? {
            return self.holds(&place, &record, expr.at);
        }
        if let Some(value) = self.cast_by_class(expr, &Type::BOOL)? {
            return self.truth(&value, expr.at);
        }
        let value = self.evaluate(expr)?;
        self.truth(&value, expr.at)
    }

    fn name_value(&mut self, name: &'p Name, at: At) -> Fallible<Value> {
        if name.arguments.is_none()
            && let Some(value) = self.variable_value(&name.path, at)?
        {
            return Ok(value);
        }
        if let Some(limit) = self.numeric_limit(name, at)? {
            return Ok(limit);
        }
        if let Some(binding) = self.static_member(name, at)? {
            return match binding {
                Binding::Variable(place, ty) => self.loaded(place, &ty, &name.path, at),
                Binding::Template(TemplateValue::Value(value)) => Ok(value),
                _ => Err(type_as_value(&name.path, at)),
            };
        }
        if let Some(kernel) = self.kernel_named(name, at)? {
            return Ok(Value::Kernel(kernel));
        }
        if let Some(function) = self.host_function_named(name) {
            return Ok(Self::function_value(function));
        }
        if let Some(value) = self.global_value(&name.path, at)? {
            return Ok(value);
        }
        if let Some(value) = built_in(name.plain()) {
            return Ok(value);
        }
        if self.names_type(name) {
            return Err(type_as_value(&name.path, at));
        }
        if let Some(stream) = super::library::output_stream(name.plain()) {
            return Ok(stream);
        }
        Err(unknown_name(&name.path, at))
    }

    fn variable_value(&mut self, name: &str, at: At) -> Fallible<Option<Value>> {
        Ok(match self.find_local(name) {
            Some(Binding::Variable(place, ty)) => {
                let (place, ty) = (place.clone(), ty.clone());
                Some(self.loaded(place, &ty, name, at)?)
            }
            Some(Binding::Template(TemplateValue::Value(value))) => Some(value.clone()),
            _ => None,
        })
    }

    /// The value of a variable; an array's is a pointer to its first element.
    pub(super) fn loaded(
        &mut self,
        place: super::value::HostRef,
        ty: &Type,
        name: &str,
        at: At,
    ) -> Fallible<Value> {
        if let Type::Array(element, _) = ty {
            // An array within a value has its elements within it too.
            let within = self.memory.type_at(&place, at)? == *ty;
            let first = if within {
                place.part(Part::Element(0))
            } else {
                place
            };
            let element = Type::clone(element);
            return Ok(Value::pointer(element, false, Target::Host(first)));
        }
        if ty.has_destructor() {
            return Err(super::destructors::copy(ty, at));
        }
        let value = self.memory.load(&place, at)?;
        let weight = value.as_ref().map_or(0, Value::weight);
        self.spend(weight, at)?;
        value.ok_or_else(|| Fault::host(at, format!("`{name}` is read before it has a value")))
    }

    fn unary(&mut self, op: UnaryOp, operand: &'p Expr, at: At) -> Fallible<Value> {
        if op == UnaryOp::Not {
            let holds = self.truth_of(operand)?;
            return Ok(Value::boolean(!holds));
        }
        let value = self.evaluate(operand)?;
        arithmetic::unary(op, &value, at).unwrap_or_else(|| {
            let message = format!("arithmetic on a value of type `{}`", value.ty());
            Err(Fault::unsupported(at, message, "compute with numbers"))
        })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        at: At,
    ) -> Fallible<Value> {
        if let Some(result) = arithmetic::binary(op, left, right, at) {
            return result;
        }
        if let Value::Record(record, _) = left {
            let method = format!("operator{}", op.symbol());
            if let Some(result) = self.operator(record, &method, left, right, at) {
                return result;
            }
        }
        if let (BinaryOp::ShiftLeft, Value::Output) = (op, left) {
            self.warn_of_output("std::cout", at);
            return Ok(Value::Output);
        }
        if let Some(result) = self.compared_records(op, left, right, at) {
            return result;
        }
        if let (Value::Text(left), Value::Text(right)) = (left, right)
            && let Some(result) = self.text_binary(op, left, right, at)
        {
            return result;
        }
        self.pointer_binary(op, left, right, at)
    }

    fn conditional(&mut self, condition: &'p Expr, yes: &'p Expr, no: &'p Expr) -> Fallible<Value> {
        let (chosen, other) = if self.condition(condition)? {
            (yes, no)
        } else {
            (no, yes)
        };
        let value = self.evaluate(chosen)?;
        // Both branches take their common type, although only one is evaluated.
        let (Type::Scalar(mine), Some(Type::Scalar(theirs))) =
            (value.ty(), self.static_type(other))
        else {
            return Ok(value);
        };
        if mine == theirs {
            return Ok(value);
        }
        let common = Type::Scalar(arithmetic::common(mine, theirs));
        self.convert(value, &common, chosen.at)
    }

    fn size_of_type(&mut self, ty: &'p TypeSyntax) -> Fallible<Value> {
        let at = ty.at;
        let resolved = self.resolve(ty)?;
        // `sizeof(x)` with a variable reads as a type.
        if let Type::Named(name) = &resolved {
            if let Some(Binding::Variable(_, ty)) = self.find_local(name) {
                let ty = ty.clone();
                return size_value(&ty, at);
            }
            if let Some((_, variable)) = self.tables.global(name) {
                let ty = self.resolve(&variable.ty)?;
                return size_value(&ty, at);
            }
        }
        size_value(&resolved, at)
    }

    fn size_of_value(&mut self, operand: &'p Expr, at: At) -> Fallible<Value> {
        match self.static_type(operand) {
            Some(ty) => size_value(&ty, at),
            None => Err(Fault::unsupported(
                at,
                "`sizeof` of this expression is not in the host subset",
                "name the type: `sizeof(float)`",
            )),
        }
    }

    /// A value as a count of bytes or elements.
    pub(super) fn count_of(&mut self, value: &Value, at: At) -> Fallible<u64> {
        match self.convert(value.clone(), &Type::Scalar(Scalar::ULong), at)? {
            Value::Integer(_, value) => Ok(u64::try_from(value).unwrap_or(u64::MAX)),
            _ => Err(Fault::unsupported(
                at,
                "a number is needed here",
                "pass an integer",
            )),
        }
    }
}

fn align_value(ty: &Type, at: At) -> Fallible<Value> {
    match ty.align_bytes() {
        Some(align) => Ok(Value::Integer(Scalar::ULong, align.into())),
        None => Err(Fault::unsupported(
            at,
            format!("the alignment of `{ty}` is not known to the host interpreter"),
            "write the number out",
        )),
    }
}

fn size_value(ty: &Type, at: At) -> Fallible<Value> {
    match ty.size_bytes() {
        Some(size) => Ok(Value::Integer(Scalar::ULong, size.into())),
        None => Err(Fault::unsupported(
            at,
            format!("the size of `{ty}` is not known to the host interpreter"),
            "write the number of bytes",
        )),
    }
}

fn built_in(name: &str) -> Option<Value> {
    let constant = constants::builtin(name);
    constant
        .or_else(|| nullopt(name))
        .or_else(|| constants::freeing(name))
}

fn type_as_value(name: &str, at: At) -> Box<Fault> {
    let message = format!("the type `{name}` stands where a value is needed");
    Fault::unsupported(at, message, "write a value of that type")
}

pub(super) fn unknown_name(name: &str, at: At) -> Box<Fault> {
    if is_device_only(name) {
        let message = format!("`{name}` exists only in device code");
        let way_out = match name.starts_with("__sync") {
            true => "call it in a kernel; the host waits with cudaDeviceSynchronize()",
            false => "move this into a kernel",
        };
        return Fault::unsupported(at, message, way_out);
    }
    if name.trim_start_matches("std::") == "cin" {
        return Fault::unsupported(
            at,
            format!("host input and output (`{name}`) is not in the host subset"),
            "the judge passes every input as an argument",
        );
    }
    Fault::unsupported(
        at,
        format!("`{name}` is not known to the host interpreter"),
        "is it declared in this file, before its use?",
    )
}

/// Variables and functions that the compiler has for device code alone.
fn is_device_only(name: &str) -> bool {
    const VARIABLES: [&str; 5] = ["blockIdx", "threadIdx", "blockDim", "gridDim", "warpSize"];
    const ATOMICS: [&str; 11] = [
        "Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor",
    ];
    const BEGINNINGS: [&str; 12] = [
        "__sync",
        "__shfl_",
        "__threadfence",
        "__ballot",
        "__any_sync",
        "__all_sync",
        "__activemask",
        "__match_",
        "__reduce_",
        "__ldg",
        "__ldc",
        "__nanosleep",
    ];
    // `atomicAdd`, and the same for a block or the whole system.
    let atomic = name.strip_prefix("atomic").is_some_and(|rest| {
        let scope = ["_block", "_system"]
            .iter()
            .find_map(|scope| rest.strip_suffix(scope));
        ATOMICS.contains(&scope.unwrap_or(rest))
    });
    VARIABLES.contains(&name) || atomic || BEGINNINGS.iter().any(|start| name.starts_with(start))
}
