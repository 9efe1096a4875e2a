//! Pointer arithmetic, comparison and truth.

use std::rc::Rc;

use super::Interpreter;
use super::value::{HostRef, Part, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::plan::{Buffer, Place};
use crate::source::text::At;
use crate::syntax::ast::BinaryOp;
use crate::types::{Pointee, Scalar};

impl Interpreter<'_> {
    /// Whether a value counts as true.
    pub(super) fn truth(&mut self, value: &Value, at: At) -> Fallible<bool> {
        match value {
            Value::Integer(_, value) => Ok(*value != 0),
            Value::Floating(_, value) => Ok(*value != 0.0),
            Value::Pointer(_, target) => Ok(!target.is_null()),
            Value::Kernel(_)
            | Value::Text(_)
            | Value::Closure(_)
            | Value::Driver(_)
            | Value::Output => Ok(true),
            other => {
                let message = format!("a value of type `{}` is used as a condition", other.ty());
                Err(Fault::unsupported(at, message, "compare it with something"))
            }
        }
    }

    /// `left op right` where at least one is no scalar.
    pub(super) fn pointer_binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        at: At,
    ) -> Fallible<Value> {
        match (op, left, right) {
            (BinaryOp::Add, Value::Pointer(pointee, target), Value::Integer(_, count))
            | (BinaryOp::Add, Value::Integer(_, count), Value::Pointer(pointee, target)) => {
                self.advanced(pointee, target, *count, at)
            }
            (BinaryOp::Subtract, Value::Pointer(pointee, target), Value::Integer(_, count)) => {
                self.advanced(pointee, target, -*count, at)
            }
            (BinaryOp::Subtract, Value::Pointer(pointee, a), Value::Pointer(_, b)) => {
                let (bytes, unit) = distance(pointee, a, b, at)?;
                let (units, unit) = match a {
                    Target::Host(place) => self.in_bytes(pointee, place, bytes, at)?,
                    _ => (bytes, unit),
                };
                Ok(Value::Integer(Scalar::Long, units / unit.max(1)))
            }
            _ if op.is_comparison() => compared(op, left, right, at),
            _ => {
                let message = format!(
                    "`{}` between `{}` and `{}` is not in the host subset",
                    op.symbol(),
                    left.ty(),
                    right.ty()
                );
                Err(Fault::unsupported(
                    at,
                    message,
                    "convert both to numbers first",
                ))
            }
        }
    }
}

impl Interpreter<'_> {
    /// A pointer moved by some elements of what it points to.
    fn advanced(
        &mut self,
        pointee: &Rc<Pointee>,
        target: &Target,
        count: i128,
        at: At,
    ) -> Fallible<Value> {
        let Target::Host(place) = target else {
            return moved(pointee, target, count, at);
        };
        let element = self.element_bytes(pointee, place, at)?;
        let step = pointee.ty.size_bytes().map_or(element, i128::from);
        let bytes = count.saturating_mul(step);
        if bytes % element.max(1) != 0 {
            let message = "a host pointer points into the middle of an element";
            return Err(Fault::unsupported(
                at,
                message,
                "move it by whole elements of its array",
            ));
        }
        moved(pointee, target, bytes / element.max(1), at)
    }

    /// The size of what a host place holds; that of the pointer's type where only that is known.
    fn element_bytes(&mut self, pointee: &Pointee, place: &HostRef, at: At) -> Fallible<i128> {
        let held = self.memory.type_at(place, at)?.size_bytes();
        Ok(held.or(pointee.ty.size_bytes()).unwrap_or(1).into())
    }

    /// A distance in elements of a host array as one in bytes, and the bytes of one step of the pointer.
    fn in_bytes(
        &mut self,
        pointee: &Pointee,
        place: &HostRef,
        elements: i128,
        at: At,
    ) -> Fallible<(i128, i128)> {
        let element = self.element_bytes(pointee, place, at)?;
        let step = pointee.ty.size_bytes().map_or(element, i128::from);
        Ok((elements.saturating_mul(element), step))
    }
}

/// Bytes of one step of a pointer.
fn unit(pointee: &Pointee, at: At) -> Fallible<i128> {
    match pointee.ty.size_bytes() {
        Some(size) => Ok(size.into()),
        None => Err(Fault::unsupported(
            at,
            format!("arithmetic on a pointer to `{}`", pointee.ty),
            "cast it to a pointer to a type of known size, as in `(char*)p`",
        )),
    }
}

fn moved(pointee: &Rc<Pointee>, target: &Target, count: i128, at: At) -> Fallible<Value> {
    let outside = || Fault::host(at, format!("a pointer is moved by {count} elements"));
    let target = match target {
        Target::Device(place) => {
            let bytes = count.checked_mul(unit(pointee, at)?).ok_or_else(outside)?;
            let offset = i128::from(place.offset_bytes) + bytes;
            Target::Device(Place {
                buffer: place.buffer,
                offset_bytes: i64::try_from(offset).map_err(|_| outside())?,
            })
        }
        Target::Host(place) if place.fields.is_empty() => {
            unit(pointee, at)?;
            let index = i128::from(place.index) + count;
            Target::Host(HostRef {
                index: i64::try_from(index).map_err(|_| outside())?,
                ..place.clone()
            })
        }
        Target::Host(place) if matches!(place.fields.last(), Some(Part::Element(_))) => {
            unit(pointee, at)?;
            let mut place = place.clone();
            if let Some(Part::Element(index)) = place.fields.last_mut() {
                let moved = *index as i128 + count;
                *index = usize::try_from(moved).map_err(|_| outside())?;
            }
            Target::Host(place)
        }
        Target::Host(_) | Target::Symbol(_) if count == 0 => target.clone(),
        Target::Host(_) | Target::Symbol(_) => {
            return Err(Fault::unsupported(
                at,
                "arithmetic on this pointer is not in the host subset",
                "point into an array",
            ));
        }
    };
    Ok(Value::Pointer(Rc::clone(pointee), target))
}

/// The distance in bytes (device) or elements (host), and the size of one step in that unit.
fn distance(pointee: &Pointee, a: &Target, b: &Target, at: At) -> Fallible<(i128, i128)> {
    match (a, b) {
        (Target::Device(a), Target::Device(b)) if a.buffer == b.buffer => {
            let bytes = i128::from(a.offset_bytes) - i128::from(b.offset_bytes);
            Ok((bytes, unit(pointee, at)?))
        }
        (Target::Host(a), Target::Host(b)) if a.object == b.object => {
            let different = || {
                Fault::host(
                    at,
                    "two pointers into different arrays of one variable are subtracted",
                )
            };
            match (a.fields.split_last(), b.fields.split_last()) {
                (None, None) => Ok((i128::from(a.index) - i128::from(b.index), 1)),
                (
                    Some((&Part::Element(first), parents)),
                    Some((&Part::Element(second), others)),
                ) if parents == others && a.index == b.index => {
                    Ok((first as i128 - second as i128, 1))
                }
                _ if a == b => Ok((0, 1)),
                _ => Err(different()),
            }
        }
        _ => Err(Fault::host(
            at,
            "two pointers into different allocations are subtracted",
        )),
    }
}

fn compared(op: BinaryOp, left: &Value, right: &Value, at: At) -> Fallible<Value> {
    let equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
    let equal = match (left, right) {
        (Value::Pointer(pointee, a), Value::Pointer(_, b)) => {
            if !equality {
                let (bytes, _) = distance(pointee, a, b, at)?;
                let holds = match op {
                    BinaryOp::Less => bytes < 0,
                    BinaryOp::LessEqual => bytes <= 0,
                    BinaryOp::Greater => bytes > 0,
                    _ => bytes >= 0,
                };
                return Ok(Value::boolean(holds));
            }
            first_byte(a) == first_byte(b)
        }
        (Value::Pointer(_, target), Value::Integer(_, 0))
        | (Value::Integer(_, 0), Value::Pointer(_, target)) => target.is_null(),
        (Value::Kernel(a), Value::Kernel(b)) => a == b,
        (
            Value::Handle | Value::Graph(_) | Value::Kernel(_) | Value::Text(_) | Value::Driver(_),
            Value::Pointer(_, target),
        )
        | (
            Value::Pointer(_, target),
            Value::Handle | Value::Graph(_) | Value::Kernel(_) | Value::Text(_) | Value::Driver(_),
        ) if target.is_null() => false,
        _ => {
            let message = format!(
                "`{}` between `{}` and `{}` is not in the host subset",
                op.symbol(),
                left.ty(),
                right.ty()
            );
            return Err(Fault::unsupported(
                at,
                message,
                "compare numbers, or pointers of one type",
            ));
        }
    };
    if !equality {
        return Err(Fault::host(
            at,
            "a pointer is compared with the null pointer",
        ));
    }
    Ok(Value::boolean(equal == (op == BinaryOp::Equal)))
}

/// The outermost object that begins where a pointer points: a struct's first field is where the struct is.
fn first_byte(target: &Target) -> Target {
    let mut target = target.clone();
    if let Target::Host(place) = &mut target {
        while matches!(place.fields.last(), Some(Part::Field(0) | Part::Element(0))) {
            place.fields.pop();
        }
    }
    target
}

/// An address to stand for a place where code asks for its bits, as alignment tests do: buffers
/// start at multiples of 256.
pub(super) fn stand_in_address(place: Place) -> i128 {
    let base = match place.buffer {
        Buffer::Null => 0,
        Buffer::Parameter(index) => 0x7000_0000_0000 + (i128::from(index) << 36),
        Buffer::Symbol(index) => 0x5000_0000_0000 + (i128::from(index) << 28),
        Buffer::Scratch(number) => 0x6000_0000_0000 + (i128::from(number) << 28),
    };
    base + i128::from(place.offset_bytes)
}
