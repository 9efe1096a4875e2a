//! Objects with destructors: who destroys them, and how they get from one place to another.
//!
//! Invariant: such an object is in one place, or on its way to one, and is destroyed there once.
//! What would make a second one of it is a constructor of its class, or refused.

use super::Interpreter;
use super::parameters::Given;
use super::places::Access;
use super::scope::Binding;
use super::value::{HostRef, Part, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind, Function, TypeKind};
use crate::types::{Record, Type};

/// An object that ends with its block, and where it was made.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    /// `None` where it went on to somewhere else.
    place: Option<HostRef>,
    ty: Type,
    at: At,
}

impl<'p> Interpreter<'p> {
    /// Says that the object at a place ends with the block being run.
    pub(super) fn own(&mut self, place: &HostRef, ty: &Type, at: At) {
        if ty.has_destructor() {
            self.owned.push(Owned {
                place: Some(place.clone()),
                ty: ty.clone(),
                at,
            });
        }
    }

    /// Ends the objects made since there were `mark` of them, the last one first.
    pub(super) fn ended<T>(&mut self, mark: usize, result: Fallible<T>) -> Fallible<T> {
        if result.is_err() {
            self.owned.truncate(mark);
            return result;
        }
        while self.owned.len() > mark {
            if let Some(last) = self.owned.pop()
                && let Some(place) = last.place
            {
                self.destroy(&place, &last.ty, last.at)?;
            }
        }
        result
    }

    /// Ends the temporaries of a declaration, but not the variable, which was made last.
    pub(super) fn end_temporaries(&mut self, mark: usize, variable: &Binding) -> Fallible<()> {
        let Binding::Variable(place, _) = variable else {
            return self.ended(mark, Ok(()));
        };
        let kept = self.owned.pop_if(|last| last.place.as_ref() == Some(place));
        self.ended(mark, Ok(()))?;
        self.owned.extend(kept);
        Ok(())
    }

    pub(super) fn destroy(&mut self, place: &HostRef, ty: &Type, at: At) -> Fallible<()> {
        if !ty.has_destructor() {
            return Ok(());
        }
        self.spend(1, at)?;
        // What the function being left returns is not the destructor's.
        let returned = self.returned_place.take();
        let ended = self.destroy_parts(place, ty, at);
        self.returned_place = returned;
        ended
    }

    fn destroy_parts(&mut self, place: &HostRef, ty: &Type, at: At) -> Fallible<()> {
        match ty {
            Type::Record(record) if ty.is_unique() => self.end_unique(place, record, at)?,
            Type::Record(record) => {
                if let Some(destructor) = self.destructor_of(record) {
                    let function = self.tables.function(destructor);
                    let around = self.around_object(place, record, at)?;
                    self.invoke(function, &[], Vec::new(), &around, at)?;
                }
                for (index, field) in record.fields.iter().enumerate().rev() {
                    self.destroy(&place.part(Part::Field(index)), &field.ty, at)?;
                }
            }
            Type::Array(element, count) => {
                let within = self.memory.type_at(place, at)? == *ty;
                for index in (0..usize::try_from(*count).unwrap_or(0)).rev() {
                    let mut place = place.clone();
                    if within {
                        place = place.part(Part::Element(index));
                    } else {
                        place.index += i64::try_from(index).unwrap_or(i64::MAX);
                    }
                    self.destroy(&place, element, at)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn destructor_of(&self, record: &Record) -> Option<usize> {
        let name = format!("~{}", self.class_name(record)?);
        self.methods_of_class(record, &name).first().copied()
    }

    /// `delete p` of such objects; their memory is freed later.
    pub(super) fn destroy_pointed(&mut self, pointer: &Value, at: At) -> Fallible<()> {
        let Value::Pointer(_, Target::Host(place)) = pointer else {
            return Ok(());
        };
        if !self.memory.type_at(place, at)?.has_destructor() {
            return Ok(());
        }
        let (ty, values) = self.memory.run(place, at)?;
        let count = values.len();
        for index in (0..count).rev() {
            let mut place = place.clone();
            place.index += i64::try_from(index).unwrap_or(i64::MAX);
            self.destroy(&place, &ty, at)?;
        }
        Ok(())
    }

    /// A place for a value, until its statement ends.
    pub(super) fn owned_temporary(&mut self, value: Value, at: At) -> Fallible<(HostRef, Type)> {
        let (place, ty) = self.temporary(value, at)?;
        self.own(&place, &ty, at);
        Ok((place, ty))
    }

    /// The object that a local variable becomes where it is returned: the variable is it, and does not end.
    pub(super) fn returned_object(&mut self, expr: &'p Expr) -> Fallible<Option<Value>> {
        let ExprKind::Name(name) = &expr.kind else {
            return Ok(None);
        };
        let Some(Binding::Variable(place, ty)) = self.find_local(&name.path).cloned() else {
            return Ok(None);
        };
        if !ty.has_destructor() {
            return Ok(None);
        }
        let first = self.frames.last().map_or(0, |frame| frame.owned);
        let mut own = self.owned.iter_mut().skip(first);
        match own.rfind(|owned| owned.place.as_ref() == Some(&place)) {
            Some(owned) => {
                owned.place = None;
                self.memory.load(&place, expr.at)
            }
            None => Ok(None),
        }
    }

    /// The new object made from one that has a place, or from `std::move` of it. `None` where `expr` is
    /// something else.
    pub(super) fn taken(&mut self, expr: &'p Expr) -> Fallible<Option<Value>> {
        if !self.language.has_destructors {
            return Ok(None);
        }
        let source = moved(expr).unwrap_or(expr);
        let Some(ty) = self.static_type(source).filter(Type::is_copied_by_function) else {
            return Ok(None);
        };
        if !self.has_place(source) {
            return Ok(None);
        }
        let at = expr.at;
        let Type::Record(record) = &ty else {
            return match ty.has_destructor() {
                true => Err(copy(&ty, at)),
                false => Ok(None),
            };
        };
        let (place, _) = self.place(source, Access::Read)?;
        let constructors = self.constructors_of(record);
        let is_move = moved(expr).is_some();
        let Some(chosen) = self.taking(&constructors, record, is_move) else {
            // A field has a constructor that copies it; the compiler's own calls that.
            if !record.has_destructor {
                return Err(copied_field(&ty, at));
            }
            return match is_move && self.moves_by_fields(record) {
                true => self.moved_out(&place, record, at),
                false => Err(copy(&ty, at)),
            };
        };
        let given = vec![Given::place(place, ty.clone(), at)];
        self.construct_object(record, &[chosen], given, at)
            .map(Some)
    }

    /// Whether a field, or the base class, has an `operator=` of its own.
    fn assigns_a_part(&self, record: &Record) -> bool {
        record.fields.iter().any(|field| match &field.ty {
            Type::Record(inner) => {
                !self.methods_of_class(inner, "operator=").is_empty() || self.assigns_a_part(inner)
            }
            _ => false,
        })
    }

    /// Whether what the compiler makes of a move is one of each field: nothing in the class says otherwise.
    fn moves_by_fields(&self, record: &Record) -> bool {
        if record.holder.is_some() {
            return true;
        }
        let methods = self.constructors_of(record);
        self.destructor_of(record).is_none()
            && self.taking(&methods, record, true).is_none()
            && self.methods_of(record, "operator=").is_empty()
            && record.fields.iter().all(|field| match &field.ty {
                Type::Record(inner) => !inner.has_destructor || self.moves_by_fields(inner),
                ty => !ty.has_destructor(),
            })
    }

    /// Of constructors or assignments, the one that takes another object of the class.
    pub(super) fn taking(
        &self,
        functions: &[usize],
        record: &Record,
        is_move: bool,
    ) -> Option<usize> {
        let name = self.class_name(record)?;
        let takes = |index: usize, rvalue: bool| {
            let [parameter, rest @ ..] = self.tables.function(index).parameters.as_slice() else {
                return false;
            };
            let TypeKind::Reference(inner) = &parameter.ty.kind else {
                return false;
            };
            let TypeKind::Named(named) = &inner.kind else {
                return false;
            };
            let last = named.path.rsplit("::").next();
            last == Some(name)
                && parameter.rvalue == rvalue
                && (rvalue || inner.constant)
                && rest.iter().all(|other| other.default.is_some())
        };
        let of = |rvalue| functions.iter().copied().find(|&f| takes(f, rvalue));
        of(is_move).filter(|_| is_move).or_else(|| of(false))
    }

    /// `object = value` where the class says what that does. `None` where its fields are copied.
    pub(super) fn assigned_object(
        &mut self,
        place: &HostRef,
        record: &std::rc::Rc<Record>,
        value: &'p Expr,
        at: At,
    ) -> Fallible<Option<Value>> {
        let methods = self.methods_of_class(record, "operator=");
        if methods.is_empty() {
            let ty = Type::Record(std::rc::Rc::clone(record));
            if !record.has_destructor {
                if self.tables.has_assignments() && self.assigns_a_part(record) {
                    return Err(assigned_part(&ty, at));
                }
                return Ok(None);
            }
            if !self.moves_by_fields(record) {
                return Err(copy(&ty, at));
            }
            let value = self.initialised(&ty, value)?;
            self.assign_fields(place, record, value, at)?;
            return Ok(Some(Value::Void));
        }
        let around = self.around_object(place, record, at)?;
        let source = moved(value).unwrap_or(value);
        let own = Type::Record(std::rc::Rc::clone(record));
        let same = self.static_type(source).as_ref() == Some(&own);
        let temporary = moved(value).is_some() || !self.has_place(source);
        if same && let Some(chosen) = self.taking(&methods, record, temporary) {
            let given = if self.has_place(source) {
                let (place, ty) = self.place(source, Access::Read)?;
                Given::place(place, ty, at)
            } else {
                Given::value(self.evaluate(source)?, at)
            };
            let result = self.call_chosen(&[chosen], "operator=", &[], vec![given], &around, at);
            return result.map(Some);
        }
        let given = self.all_given(&methods, std::slice::from_ref(value))?;
        self.call_chosen(&methods, "operator=", &[], given, &around, at)
            .map(Some)
    }
}

/// What `std::move(x)` is of.
pub(super) fn moved(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call(callee, arguments) = &expr.kind else {
        return None;
    };
    match (&callee.kind, arguments.as_slice()) {
        (ExprKind::Name(name), [only]) if matches!(name.plain(), "move" | "forward") => Some(only),
        _ => None,
    }
}

/// Whether a method makes objects of its class.
pub(super) fn is_constructor(function: &Function) -> bool {
    let mut parts = function.path.rsplit("::");
    let (Some(name), Some(class)) = (parts.next(), parts.next()) else {
        return false;
    };
    class.split('@').next() == Some(name)
}

fn assigned_part(ty: &Type, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("this assigns a `{ty}`, a part of which has an operator= of its own"),
        "write operator= for the whole, or assign its fields one by one",
    )
}

fn copied_field(ty: &Type, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("this copies a `{ty}`, a field of which has a constructor for that"),
        "write such a constructor for the whole, or pass it by reference",
    )
}

pub(super) fn copy(ty: &Type, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!(
            "this makes a second `{ty}`, which has a destructor, without a constructor or operator= of the class"
        ),
        "pass it by reference, or std::move it where its class has a move constructor",
    )
}
