//! Base classes: the first field of an object, without a name, is the object of its base class.

use std::rc::Rc;

use super::Interpreter;
use super::value::{HostRef, Part, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::Expr;
use crate::types::{Record, Type};

impl Interpreter<'_> {
    pub(super) fn base_of(&self, record: &Record) -> Option<Rc<Record>> {
        let class = self.class_of(&record.name)?;
        self.tables.record(class.syntax).base.as_ref()?;
        record.fields.first()?.anonymous().cloned()
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
            place = place.part(Part::Field(0));
            if record.name == to.name {
                return Some(place);
            }
            record = self.base_of(&record)?;
        }
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
            place = place.part(Part::Field(0));
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
        let base = self.construct(&Type::Record(base), arguments, false, at)?;
        self.blank_object(record, vec![base], at)
    }
}
