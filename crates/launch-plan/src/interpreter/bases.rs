//! Base classes: the first field of an object, without a name, is the object of its base class. One without
//! fields has no object.

use std::rc::Rc;

use super::Interpreter;
use super::value::{HostRef, Part, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::Expr;
use crate::types::{Record, Type};

impl Interpreter<'_> {
    pub(super) fn base_of(&self, record: &Record) -> Option<Rc<Record>> {
        self.class_of(&record.name)?.base.clone()
    }

    /// The place of the base class's object within one.
    fn base_place(place: &HostRef, base: &Record) -> HostRef {
        match base.fields.is_empty() {
            true => place.clone(), // takes no room
            false => place.part(Part::Field(0)),
        }
    }

    /// The place of the object of class `to` within one of a class derived from it. `None` where that is
    /// not what the types are.
    pub(super) fn as_base(&self, place: &HostRef, from: &Type, to: &Type) -> Option<HostRef> {
        let (Type::Record(from), Type::Record(to)) = (from, to) else {
            return None;
        };
        let mut place = place.clone();
        let mut record = self.base_of(from)?;
        loop {
            place = Self::base_place(&place, &record);
            if record.name == to.name {
                return Some(place);
            }
            record = self.base_of(&record)?;
        }
    }

    /// The object of class `to` whose base class's object is at a place.
    pub(super) fn as_derived(
        &mut self,
        place: &HostRef,
        from: &Type,
        to: &Type,
    ) -> Option<HostRef> {
        let mut around = place.clone();
        loop {
            let ty = self.memory.type_at(&around, 0).ok()?;
            if ty == *to {
                let base = self.as_base(&around, &ty, from)?;
                return (base == *place).then_some(around);
            }
            if around.fields.pop() != Some(Part::Field(0)) {
                return None;
            }
        }
    }

    /// Whether a class is derived from another.
    pub(super) fn derives(&self, from: &Record, to: &Record) -> bool {
        let mut base = self.base_of(from);
        while let Some(record) = base {
            if record.name == to.name {
                return true;
            }
            base = self.base_of(&record);
        }
        false
    }

    /// Whether constructors of the base class make objects of this one.
    pub(super) fn inherits_constructors(&self, record: &Record) -> bool {
        let class = self.class_of(&record.name);
        class.is_some_and(|class| self.tables.record(class.syntax).inherits_constructors)
    }

    /// The part of an object whose class has a method itself.
    pub(super) fn owner_of_method(
        &self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &str,
    ) -> (HostRef, Rc<Record>) {
        let (mut place, mut record) = (place.clone(), Rc::clone(record));
        while self.methods_of_class(&record, name).is_empty() {
            let Some(base) = self.base_of(&record) else {
                break;
            };
            place = Self::base_place(&place, &base);
            record = base;
        }
        (place, record)
    }
}

impl<'p> Interpreter<'p> {
    /// An object whose base class's constructor takes the arguments; its own fields have their defaults.
    pub(super) fn construct_by_base(
        &mut self,
        record: &Rc<Record>,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let own = Type::Record(Rc::clone(record));
        if let [only] = arguments
            && self.static_type(only).as_ref() == Some(&own)
        {
            return self.initialised(&own, only);
        }
        let Some(base) = self.base_of(record) else {
            let message = format!("`{own}` takes constructors of a base class that it has not");
            return Err(Fault::unsupported(
                at,
                message,
                "write its constructors out",
            ));
        };
        let has_room = !base.fields.is_empty();
        let base = self.construct(&Type::Record(base), arguments, false, at)?;
        let given = if has_room { vec![base] } else { Vec::new() };
        self.blank_object(record, given, at)
    }

    /// `object.Base::method`: the part of an object that a qualified name means, and the method's own name.
    pub(super) fn qualified_method(
        &self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &'p str,
    ) -> Option<(HostRef, Rc<Record>, &'p str)> {
        let (owner, member) = name.rsplit_once("::")?;
        let owner = owner.split('<').next().unwrap_or(owner);
        let owner = owner.rsplit("::").next().unwrap_or(owner);
        let (mut place, mut record) = (place.clone(), Rc::clone(record));
        while self.class_name(&record) != Some(owner) {
            let base = self.base_of(&record)?;
            place = Self::base_place(&place, &base);
            record = base;
        }
        Some((place, record, member))
    }
}
