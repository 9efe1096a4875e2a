//! What a constructor does before its body: each field gets its value, in the order of the class.

use std::rc::Rc;

use super::Interpreter;
use super::overloads::takes_count;
use super::parameters::Given;
use super::scope::{Binding, Surroundings};
use super::value::{HostRef, Part, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::Initial;
use crate::types::{Record, Type};

impl<'p> Interpreter<'p> {
    pub(super) fn constructors_of(&self, record: &Record) -> Vec<usize> {
        match self.class_name(record) {
            Some(name) => self.methods_of_class(record, name),
            None => Vec::new(),
        }
    }

    /// An object made by one of its class's constructors.
    pub(super) fn construct_object(
        &mut self,
        record: &Rc<Record>,
        constructors: &[usize],
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        let mark = self.memory.mark();
        let made = self.constructed(record, constructors, given, at);
        self.memory.release(mark);
        made
    }

    fn constructed(
        &mut self,
        record: &Rc<Record>,
        constructors: &[usize],
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        let by_default = given.is_empty() && self.has_default_constructor(record, constructors);
        if by_default || record.overlapping {
            let blank = self.blank_object(record, Vec::new(), at)?;
            if by_default {
                // What `= default` leaves unset is zero where the object is made with `()` or `{}`.
                return Ok(blank);
            }
            let (place, _) = self.temporary(blank, at)?;
            return self.run_constructor(&place, record, constructors, given, at);
        }
        // The constructor gives each field its value.
        let blank = Value::Record(Rc::clone(record), vec![None; record.fields.len()]);
        let (place, _) = self.temporary(blank, at)?;
        self.run_constructor(&place, record, constructors, given, at)
    }

    /// Whether `S() = default;` makes an object without arguments.
    pub(super) fn has_default_constructor(&self, record: &Record, constructors: &[usize]) -> bool {
        let class = self.class_of(&record.name);
        let written = class.is_some_and(|class| {
            let syntax = self.tables.record(class.syntax);
            syntax.default_constructor
        });
        let fits = |&index: &usize| takes_count(self.tables.function(index), 0);
        written && !constructors.iter().any(fits)
    }

    fn run_constructor(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        constructors: &[usize],
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        let around = self.around_object(place, record, at)?;
        self.call_chosen(constructors, &record.name, &[], given, &around, at)?;
        let object = self.memory.load(place, at)?;
        object.ok_or_else(|| Fault::host(at, "an object has no value"))
    }

    /// `: field(value), ...`, with the constructor's parameters in sight. Fields that are not named there
    /// have their defaults.
    pub(super) fn run_initialisers(
        &mut self,
        initialisers: &'p [(String, Initial)],
        at: At,
    ) -> Fallible<()> {
        let around = self.surroundings();
        let Some((place, record)) = this_object(&around) else {
            return Ok(());
        };
        let class = self.class_name(&record);
        if let [(name, initial)] = initialisers
            && Some(name.as_str()) == class
        {
            // Another constructor makes the whole.
            let whole = Type::Record(Rc::clone(&record));
            return self.store_initial(&place, &whole, initial, at);
        }
        let base = self
            .base_of(&record)
            .and_then(|base| self.class_name(&base));
        for (index, field) in record.fields.iter().enumerate() {
            let part = place.part(Part::Field(index));
            let name = match index {
                0 => base.unwrap_or(&field.name),
                _ => &field.name,
            };
            let given = initialisers.iter().find(|(given, _)| plain(given) == name);
            if let Some((_, initial)) = given.filter(|_| !name.is_empty()) {
                self.store_initial(&part, &field.ty, initial, at)?;
                continue;
            }
            if record.overlapping {
                continue; // has its defaults already
            }
            if let Some(value) = self.default_of_field(&place, &record, index, at)? {
                self.memory.store(&part, value, at)?;
            }
        }
        for (name, initial) in initialisers {
            if record.field(name).is_some() || base == Some(plain(name)) {
                continue;
            }
            // Within an unnamed struct or union.
            let Some(Binding::Variable(place, ty)) = around.members.get(name) else {
                return Err(Fault::unsupported(
                    at,
                    format!("a constructor sets `{name}`, which is no field of its class"),
                    "set the fields one by one",
                ));
            };
            self.store_initial(place, ty, initial, at)?;
        }
        Ok(())
    }

    fn store_initial(
        &mut self,
        place: &HostRef,
        ty: &Type,
        initial: &'p Initial,
        at: At,
    ) -> Fallible<()> {
        let value = match initial {
            Initial::None => return Ok(()),
            Initial::Value(value) => self.initialised(ty, value)?,
            Initial::Arguments(values) => self.construct(ty, values, false, at)?,
            Initial::List(values) => self.construct(ty, values, true, at)?,
        };
        self.memory.store(place, value, at)
    }
}

/// The name of a base class without its namespace and template arguments.
fn plain(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name).trim();
    name.rsplit("::").next().unwrap_or(name)
}

/// The object that a method is called on.
pub(super) fn this_object(around: &Surroundings) -> Option<(HostRef, Rc<Record>)> {
    let Some(Binding::Template(TemplateValue::Value(this))) = around.members.get("this") else {
        return None;
    };
    match this {
        Value::Pointer(pointee, Target::Host(place)) => match &pointee.ty {
            Type::Record(record) => Some((place.clone(), Rc::clone(record))),
            _ => None,
        },
        _ => None,
    }
}
