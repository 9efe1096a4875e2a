//! Base classes: the first field of an object, without a name, is the object of its base class.

use std::rc::Rc;

use super::Interpreter;
use super::value::{HostRef, Part};
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
