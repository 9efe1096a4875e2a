//! The host's own memory: local variables and what `new` and `malloc` give.
//!
//! Invariant: an [`ObjectId`] whose object is gone is found out, never followed.

mod bytes;
mod guesses;

use super::overlay;
use super::value::{HostRef, ObjectId, Part, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::Type;

/// Elements of all host objects together.
pub(super) const MAX_ELEMENTS: u64 = 1 << 20;

#[derive(Debug)]
struct Object {
    serial: u64,
    /// `None` for raw memory that no pointer type has named yet.
    element: Option<Type>,
    bytes: u64,
    /// Whether raw memory is full of zeros, as `calloc` gives it.
    zeroed: bool,
    elements: Vec<Option<Value>>,
    /// Scalars that it counts for.
    weight: u64,
    /// Elements whose values are guesses: copied from a device that has not run. Empty where there are none.
    unknown: Vec<bool>,
    alive: bool,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    stack: Vec<Object>,
    heap: Vec<Object>,
    next_serial: u64,
    elements: u64,
    first_use_of_unknown: Option<At>,
}

/// How high the stack stood.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackMark(usize);

impl StackMark {
    /// Whether a local variable was made since.
    pub(super) fn is_below(self, place: &HostRef) -> bool {
        !place.object.heap && place.object.slot >= self.0
    }
}

impl Default for StackMark {
    fn default() -> Self {
        Self(usize::MAX)
    }
}

impl Memory {
    pub(super) fn mark(&self) -> StackMark {
        StackMark(self.stack.len())
    }

    /// Ends the life of every local variable made since `mark`.
    pub(super) fn release(&mut self, mark: StackMark) {
        for object in self.stack.drain(mark.0.min(self.stack.len())..) {
            self.elements -= object.weight;
        }
    }

    /// A local variable of `count` elements, none of them set.
    pub(super) fn local(&mut self, element: Type, count: u64, at: At) -> Fallible<HostRef> {
        let object = self.object(Some(element), count, 0, at)?;
        self.stack.push(object);
        Ok(first(false, self.stack.len() - 1, self.next_serial))
    }

    /// Moves a local variable to where it lives on; for constants at file scope.
    pub(super) fn keep(&mut self, reference: &HostRef, at: At) -> Fallible<HostRef> {
        let object = self.alive(reference, at)?;
        let element = object.element.clone();
        let elements = std::mem::take(&mut object.elements);
        let weight = std::mem::take(&mut object.weight);
        let unknown = std::mem::take(&mut object.unknown);
        self.next_serial += 1;
        self.heap.push(Object {
            serial: self.next_serial,
            element,
            bytes: 0,
            zeroed: false,
            elements,
            weight,
            unknown,
            alive: true,
        });
        Ok(first(true, self.heap.len() - 1, self.next_serial))
    }

    /// `new T[count]`.
    pub(super) fn allocate(&mut self, element: Type, count: u64, at: At) -> Fallible<HostRef> {
        let object = self.object(Some(element), count, 0, at)?;
        self.heap.push(object);
        Ok(first(true, self.heap.len() - 1, self.next_serial))
    }

    /// `malloc(bytes)`.
    pub(super) fn allocate_raw(&mut self, bytes: u64, at: At) -> Fallible<HostRef> {
        let object = self.object(None, 0, bytes, at)?;
        self.heap.push(object);
        Ok(first(true, self.heap.len() - 1, self.next_serial))
    }

    /// Says of raw memory that it is full of zeros.
    pub(super) fn zero_raw(&mut self, reference: &HostRef, at: At) -> Fallible<()> {
        self.alive(reference, at)?.zeroed = true;
        Ok(())
    }

    fn object(
        &mut self,
        element: Option<Type>,
        count: u64,
        bytes: u64,
        at: At,
    ) -> Fallible<Object> {
        let weight = weight_of(element.as_ref(), count);
        let elements = self.grow(count, weight, at)?;
        self.next_serial += 1;
        Ok(Object {
            serial: self.next_serial,
            element,
            bytes,
            zeroed: false,
            elements,
            weight,
            unknown: Vec::new(),
            alive: true,
        })
    }

    fn grow(&mut self, count: u64, weight: u64, at: At) -> Fallible<Vec<Option<Value>>> {
        let total = self.elements.saturating_add(weight);
        if total > MAX_ELEMENTS {
            return Err(Fault::fuel(
                at,
                format!("host memory of {total} elements in all; the limit is {MAX_ELEMENTS}"),
            )
            .hint("keep bulk data in device memory and work on it with kernels"));
        }
        self.elements = total;
        Ok(vec![None; usize::try_from(count).unwrap_or(0)])
    }

    /// Gives raw memory its element type, at the first cast. No effect later.
    pub(super) fn give_type(
        &mut self,
        reference: &HostRef,
        element: &Type,
        at: At,
    ) -> Fallible<()> {
        let object = self.alive(reference, at)?;
        let size = element.size_bytes().unwrap_or(0);
        if object.element.is_some() || size == 0 {
            return Ok(());
        }
        let count = object.bytes / size;
        let weight = weight_of(Some(element), count);
        let mut elements = self.grow(count, weight, at)?;
        let object = self.alive(reference, at)?;
        object.weight = weight;
        if object.zeroed {
            elements.fill(Value::zero_bits(element));
        }
        object.element = Some(element.clone());
        object.elements = elements;
        Ok(())
    }

    pub(super) fn free(&mut self, reference: &HostRef, at: At) -> Fallible<()> {
        if !reference.object.heap || reference.index != 0 || !reference.fields.is_empty() {
            return Err(Fault::host(
                at,
                "host memory is freed that was not allocated with new or malloc",
            ));
        }
        let object = self.alive(reference, at)?;
        object.alive = false;
        object.elements = Vec::new();
        let freed = std::mem::take(&mut object.weight);
        self.elements -= freed;
        Ok(())
    }

    /// The value at a place, if one was stored.
    pub(super) fn load(&mut self, reference: &HostRef, at: At) -> Fallible<Option<Value>> {
        let value = self.slot(reference, at)?.clone();
        let index = usize::try_from(reference.index).unwrap_or(usize::MAX);
        if self.alive(reference, at)?.unknown.get(index) == Some(&true) {
            self.use_unknown(at);
        }
        Ok(value)
    }

    pub(super) fn store(&mut self, reference: &HostRef, value: Value, at: At) -> Fallible<()> {
        *self.slot(reference, at)? = Some(value);
        if !reference.fields.is_empty() {
            let mut whole = reference.clone();
            whole.fields.clear();
            overlay::settle(self.slot(&whole, at)?, &reference.fields);
        }
        // A struct with one new field keeps the others.
        if reference.fields.is_empty() {
            let index = usize::try_from(reference.index).unwrap_or(usize::MAX);
            if let Some(unknown) = self.alive(reference, at)?.unknown.get_mut(index) {
                *unknown = false;
            }
        }
        Ok(())
    }

    /// The declared type at a place.
    pub(super) fn type_at(&mut self, reference: &HostRef, at: At) -> Fallible<Type> {
        let object = self.alive(reference, at)?;
        let mut ty = object.element.clone().unwrap_or(Type::Void);
        for &part in &reference.fields {
            ty = match (part, &ty) {
                (Part::Field(field), Type::Record(record)) => record
                    .fields
                    .get(field)
                    .map_or(Type::Void, |f| f.ty.clone()),
                (
                    Part::Element(_),
                    Type::Array(element, _) | Type::StdArray(element, _) | Type::Vector(element),
                ) => Type::clone(element),
                _ => Type::Void,
            };
        }
        Ok(ty)
    }

    /// The values from a place on, for use: at most as many as the object still has.
    pub(super) fn run(
        &mut self,
        reference: &HostRef,
        at: At,
    ) -> Fallible<(Type, &mut [Option<Value>])> {
        let start = usize::try_from(reference.index).unwrap_or(usize::MAX);
        let unknown = &self.alive(reference, at)?.unknown;
        if unknown.iter().skip(start).any(|&unknown| unknown) {
            self.use_unknown(at);
        }
        self.run_unseen(reference, at)
    }

    /// The same for copies that look at no value; who copies guesses says so of the copy.
    pub(super) fn run_unseen(
        &mut self,
        reference: &HostRef,
        at: At,
    ) -> Fallible<(Type, &mut [Option<Value>])> {
        let ty = self.type_at(reference, at)?;
        self.outside_unions(reference, at)?;
        if let Some((&Part::Element(start), parents)) = reference.fields.split_last() {
            let row = HostRef {
                fields: parents.to_vec(),
                ..reference.clone()
            };
            let values = self.row_unseen(&row, at)?;
            let start = start.min(values.len());
            return Ok((ty, &mut values[start..]));
        }
        if !reference.fields.is_empty() {
            return Ok((ty, std::slice::from_mut(self.slot(reference, at)?)));
        }
        let object = self.alive(reference, at)?;
        let start = usize::try_from(reference.index)
            .ok()
            .filter(|&start| start <= object.elements.len())
            .ok_or_else(|| Fault::host(at, "a host pointer lies outside its array"))?;
        Ok((ty, &mut object.elements[start..]))
    }

    fn slot(&mut self, reference: &HostRef, at: At) -> Fallible<&mut Option<Value>> {
        let object = self.alive(reference, at)?;
        let count = object.elements.len();
        let index = usize::try_from(reference.index).unwrap_or(usize::MAX);
        let Some(mut slot) = object.elements.get_mut(index) else {
            let message = format!(
                "element {} of a host array of {count} is accessed",
                reference.index
            );
            return Err(Fault::host(at, message));
        };
        for &part in &reference.fields {
            slot = part_of(slot, part, at)?;
        }
        Ok(slot)
    }

    /// The elements of the container, or array within a value, at a place, for any use.
    pub(super) fn row(&mut self, reference: &HostRef, at: At) -> Fallible<&mut Vec<Option<Value>>> {
        let index = usize::try_from(reference.index).unwrap_or(usize::MAX);
        if self.alive(reference, at)?.unknown.get(index) == Some(&true) {
            self.use_unknown(at);
        }
        self.row_unseen(reference, at)
    }

    fn row_unseen(&mut self, reference: &HostRef, at: At) -> Fallible<&mut Vec<Option<Value>>> {
        match self.slot(reference, at)? {
            Some(Value::Row(_, values)) => Ok(values),
            _ => Err(Fault::host(at, "a container is used before it has a value")),
        }
    }

    fn alive(&mut self, reference: &HostRef, at: At) -> Fallible<&mut Object> {
        let id = reference.object;
        let pool = if id.heap {
            &mut self.heap
        } else {
            &mut self.stack
        };
        pool.get_mut(id.slot)
            .filter(|object| object.serial == id.serial && object.alive)
            .ok_or_else(|| Fault::host(at, "a host pointer outlives what it points to"))
    }
}

fn part_of(whole: &mut Option<Value>, part: Part, at: At) -> Fallible<&mut Option<Value>> {
    let unset = || Fault::host(at, "a struct is used before it has a value");
    match (part, whole) {
        (Part::Field(field), Some(Value::Record(_, fields))) => {
            fields.get_mut(field).ok_or_else(unset)
        }
        (Part::Element(index), Some(Value::Row(ty, values))) => {
            let count = values.len();
            values.get_mut(index).ok_or_else(|| {
                let message = format!("element {index} of a `{ty}` of {count} is accessed");
                Fault::host(at, message)
            })
        }
        _ => Err(unset()),
    }
}

fn weight_of(element: Option<&Type>, count: u64) -> u64 {
    let scalars = element.map_or(1, Type::scalars).max(1);
    scalars.saturating_mul(count)
}

fn first(heap: bool, slot: usize, serial: u64) -> HostRef {
    HostRef {
        object: ObjectId { heap, slot, serial },
        index: 0,
        fields: Vec::new(),
        constant: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_to_a_dead_local_is_found_out() {
        let mut memory = Memory::default();
        let mark = memory.mark();
        let old = memory.local(Type::INT, 1, 0).unwrap();
        memory.store(&old, Value::int(3), 0).unwrap();
        assert_eq!(memory.load(&old, 0).unwrap(), Some(Value::int(3)));
        memory.release(mark);
        memory.local(Type::INT, 1, 0).unwrap();
        assert!(memory.load(&old, 7).is_err());
    }

    #[test]
    fn arrays_are_bounded_and_start_unset() {
        let mut memory = Memory::default();
        let mut place = memory.allocate(Type::INT, 2, 0).unwrap();
        assert_eq!(memory.load(&place, 0).unwrap(), None);
        place.index = 2;
        assert!(memory.store(&place, Value::int(1), 0).is_err());
        assert!(memory.allocate(Type::INT, MAX_ELEMENTS, 0).is_err());
        place.index = 0;
        memory.free(&place, 0).unwrap();
        assert!(memory.free(&place, 0).is_err());
        assert!(memory.allocate(Type::INT, MAX_ELEMENTS, 0).is_ok());
    }
}
