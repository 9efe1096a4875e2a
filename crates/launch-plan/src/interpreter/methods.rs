//! Methods, constructors and what else is called with a dot or an arrow.

use std::rc::Rc;

use super::Interpreter;
use super::constructors::this_object;
use super::parameters::Given;
use super::scope::Surroundings;
use super::value::{HostRef, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, Name};
use crate::types::{Record, Type};

impl<'p> Interpreter<'p> {
    /// `object.name(arguments)` or `object->name(arguments)`.
    pub(super) fn method_call(
        &mut self,
        object: &'p Expr,
        name: &'p Name,
        through_pointer: bool,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let (place, ty) = self.place_of_object(object, through_pointer, at)?;
        self.method_of(&place, &ty, name, arguments, at)
    }

    pub(super) fn method_of(
        &mut self,
        place: &HostRef,
        ty: &Type,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        if place.constant && changes_a_container(ty, &name.path) {
            return Err(super::places::constant("this container", at));
        }
        match ty {
            Type::Vector(_) | Type::StdArray(..) => {
                self.container_method(place, ty, &name.path, arguments, at)
            }
            Type::Text => self.text_method(place, &name.path, arguments, at),
            Type::Record(record) if record.holder.is_some() => {
                self.holder_method(place, record, &name.path, arguments, at)
            }
            Type::Record(record) => self.record_method(place, record, name, arguments, at),
            _ => Err(no_method(ty, &name.path, at)),
        }
    }

    /// A place for a value, until the block ends.
    pub(super) fn temporary(&mut self, value: Value, at: At) -> Fallible<(HostRef, Type)> {
        let ty = value.ty();
        let place = self.memory.local(ty.clone(), 1, at)?;
        self.memory.store(&place, value, at)?;
        Ok((place, ty))
    }

    fn record_method(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        name: &'p Name,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let qualified = self.qualified_method(place, record, &name.path);
        let (place, record, plain) = match &qualified {
            Some((place, record, plain)) => (place, record, *plain),
            None => (place, record, name.path.as_str()),
        };
        let methods = self.methods_of(record, plain);
        if methods.is_empty() {
            // A field that can be called.
            if let Some((path, ty)) = record.path_to(&name.path) {
                let value = self.loaded(place.within(&path), ty, &name.path, at)?;
                return self.call_value(&value, arguments, at);
            }
            let ty = Type::Record(Rc::clone(record));
            return Err(no_method(&ty, &name.path, at));
        }
        let methods = self.for_object(methods, place, plain, at)?;
        let (place, record) = self.owner_of_method(place, record, plain);
        let around = self.around_object(&place, &record, at)?;
        self.call_among(&methods, name, arguments, &around, at)
    }

    /// `object(arguments)`.
    pub(super) fn call_object(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        let methods = self.methods_of(record, "operator()");
        if methods.is_empty() {
            let ty = Type::Record(Rc::clone(record));
            return Err(no_method(&ty, "operator()", at));
        }
        let methods = self.for_object(methods, place, "operator()", at)?;
        let (place, record) = self.owner_of_method(place, record, "operator()");
        let around = self.around_object(&place, &record, at)?;
        self.call_chosen(&methods, "operator()", &[], given, &around, at)
    }

    /// Of a class's methods of one name, those that an object has: a `const` one has only those that say so, and
    /// others rather have the others.
    pub(super) fn for_object(
        &self,
        mut methods: Vec<usize>,
        place: &HostRef,
        name: &str,
        at: At,
    ) -> Fallible<Vec<usize>> {
        let tables = self.tables;
        if place.constant {
            methods.retain(|&index| {
                let function = tables.function(index);
                function.is_const || function.is_static
            });
            if methods.is_empty() {
                let message =
                    format!("`{name}` is called on a const object and is no const method");
                return Err(Fault::syntax(at, message).hint(format!(
                    "write `const` behind its parameters, `{name}(...) const`, or leave it out of the object"
                )));
            }
            return Ok(methods);
        }
        let all = methods.clone();
        methods.retain(|&index| {
            let function = tables.function(index);
            let has_twin = all.iter().any(|&other| {
                let other = tables.function(other);
                !other.is_const && other.parameters.len() == function.parameters.len()
            });
            !function.is_const || !has_twin
        });
        Ok(methods)
    }

    /// Its `operator()`.
    pub(super) fn operators_of(&self, record: &Record) -> Vec<usize> {
        self.methods_of(record, "operator()")
    }

    /// What a class is called within its own text.
    pub(super) fn class_name(&self, record: &Record) -> Option<&'p str> {
        let class = self.class_of(&record.name)?;
        let tables = self.tables;
        let path = &tables.record(class.syntax).methods;
        let last = path.rsplit("::").next().unwrap_or(path);
        last.split('@').next()
    }

    /// Methods of the class itself.
    pub(super) fn methods_of_class(&self, record: &Record, name: &str) -> Vec<usize> {
        let Some(class) = self.class_of(&record.name) else {
            return Vec::new();
        };
        let path = &self.tables.record(class.syntax).methods;
        self.tables.methods(path, name)
    }

    pub(super) fn methods_of(&self, record: &Record, name: &str) -> Vec<usize> {
        let methods = self.methods_of_class(record, name);
        if methods.is_empty()
            && let Some(base) = self.base_of(record)
        {
            return self.methods_of(&base, name);
        }
        methods
    }

    /// `left op right` where the class of `left` has such an operator.
    pub(super) fn operator(
        &mut self,
        record: &Record,
        method: &str,
        left: &Value,
        right: &Value,
        at: At,
    ) -> Option<Fallible<Value>> {
        let methods = self.methods_of(record, method);
        if methods.is_empty() {
            return None;
        }
        Some(self.run_operator(&methods, method, left, right, at))
    }

    fn run_operator(
        &mut self,
        methods: &[usize],
        method: &str,
        left: &Value,
        right: &Value,
        at: At,
    ) -> Fallible<Value> {
        let (place, ty) = self.temporary(left.clone(), at)?;
        let Type::Record(record) = &ty else {
            return Err(no_method(&ty, method, at));
        };
        let (place, record) = self.owner_of_method(&place, record, method);
        let around = self.around_object(&place, &record, at)?;
        let given = vec![Given::value(right.clone(), at)];
        self.call_chosen(methods, method, &[], given, &around, at)
    }

    /// Methods that a plain or qualified name means, and what they see.
    pub(super) fn named_methods(
        &mut self,
        name: &'p Name,
        at: At,
    ) -> Fallible<Option<(Vec<usize>, Surroundings)>> {
        if name.split().is_none() {
            let around = self.surroundings();
            let Some(class) = &around.class else {
                return Ok(None);
            };
            let path = &self.tables.record(class.syntax).methods;
            let methods = self.tables.methods(path, &name.path);
            let object = this_object(&around);
            if methods.is_empty()
                && let Some((place, record)) = object
            {
                let methods = self.methods_of(&record, &name.path);
                if methods.is_empty() {
                    return Ok(None);
                }
                let methods = self.for_object(methods, &place, &name.path, at)?;
                let (place, record) = self.owner_of_method(&place, &record, &name.path);
                return Ok(Some((methods, self.around_object(&place, &record, at)?)));
            }
            if methods.is_empty() {
                return Ok(None);
            }
            let methods = match this_object(&around) {
                Some((place, _)) => self.for_object(methods, &place, &name.path, at)?,
                None => methods,
            };
            return Ok(Some((methods, around)));
        }
        let Some((class, member)) = self.owner_of(name, at)? else {
            return Ok(None);
        };
        let own = self.surroundings();
        let named = self.language.classes.type_of(&class.name);
        if let (Some((place, this)), Some(Type::Record(record))) = (this_object(&own), &named)
            && own.class.as_ref().is_some_and(|own| own.name != class.name)
            && let Some(place) = self.as_base(
                &place,
                &Type::Record(this),
                &Type::Record(Rc::clone(record)),
            )
        {
            let methods = self.methods_of(record, member);
            if !methods.is_empty() {
                let methods = self.for_object(methods, &place, member, at)?;
                let (place, record) = self.owner_of_method(&place, record, member);
                return Ok(Some((methods, self.around_object(&place, &record, at)?)));
            }
        }
        let methods = self
            .tables
            .methods(&self.tables.record(class.syntax).methods, member);
        // A static method of its base class.
        if methods.is_empty()
            && let Some(Type::Record(record)) = &named
        {
            let methods = self.methods_of(record, member);
            let mut base = self.base_of(record);
            while let Some(record) = base {
                if !self.methods_of_class(&record, member).is_empty() {
                    let around = Surroundings {
                        class: self.class_of(&record.name),
                        ..Surroundings::default()
                    };
                    return Ok(Some((methods, around)));
                }
                base = self.base_of(&record);
            }
        }
        let is_static = |&index: &usize| self.tables.function(index).is_static;
        if methods.is_empty() {
            return Ok(None);
        }
        if !methods.iter().all(is_static) && self.surroundings().class.is_none() {
            return Err(Fault::unsupported(
                at,
                format!("the method `{}` is called without an object", name.path),
                "call it on an object, or make it static",
            ));
        }
        let around = match self.surroundings() {
            same if same
                .class
                .as_ref()
                .is_some_and(|own| own.syntax == class.syntax) =>
            {
                same
            }
            _ => Surroundings {
                class: Some(class),
                ..Surroundings::default()
            },
        };
        Ok(Some((methods, around)))
    }

    /// Calls a value: a lambda, a function that was looked up, or an object with `operator()`.
    pub(super) fn call_value(
        &mut self,
        value: &Value,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        if let Value::Driver(function) = value {
            let expanded = self.expanded(arguments)?;
            let values = expanded.iter().map(|argument| self.evaluate(argument));
            let values = values.collect::<Fallible<Vec<_>>>()?;
            return self.driver_function(*function, &values, at);
        }
        let functions = match value {
            Value::Closure(closure) => vec![closure.function],
            Value::Record(record, _) => self.methods_of(record, "operator()"),
            _ => Vec::new(),
        };
        let given = self.all_given(&functions, arguments)?;
        self.call_with(value, given, at)
    }

    /// The same with arguments that are evaluated already.
    pub(super) fn call_with(
        &mut self,
        value: &Value,
        given: Vec<Given<'p>>,
        at: At,
    ) -> Fallible<Value> {
        match value {
            Value::Closure(closure) => {
                let explicit: &[TemplateValue] = &[];
                self.call_closure(closure, explicit, given, at)
            }
            Value::Record(record, _) => {
                let (place, _) = self.temporary(value.clone(), at)?;
                self.call_object(&place, record, given, at)
            }
            // An algorithm's function object, which keeps what it changes.
            Value::Pointer(pointee, Target::Host(place)) if is_record(&pointee.ty) => {
                let Type::Record(record) = &pointee.ty else {
                    return Err(no_method(&pointee.ty, "operator()", at));
                };
                self.call_object(place, record, given, at)
            }
            Value::Driver(function) => {
                let values: Option<Vec<Value>> =
                    given.into_iter().map(|given| given.value).collect();
                self.driver_function(*function, &values.unwrap_or_default(), at)
            }
            Value::Kernel(_) => Err(Fault::unsupported(
                at,
                "a kernel is called without <<<grid, block>>>",
                "launch it: `kernel<<<grid, block>>>(...)`",
            )),
            other => {
                let message = format!("a value of type `{}` is called", other.ty());
                Err(Fault::unsupported(
                    at,
                    message,
                    "functions, lambdas and objects with operator() can be called",
                ))
            }
        }
    }
}

/// Whether a method of a container or holder is none that a `const` one has.
fn changes_a_container(ty: &Type, name: &str) -> bool {
    let methods: &[&str] = match ty {
        Type::Vector(_) | Type::StdArray(..) => &[
            "push_back",
            "emplace_back",
            "pop_back",
            "clear",
            "resize",
            "reserve",
            "assign",
            "swap",
            "erase",
            "insert",
            "fill",
        ],
        Type::Record(record) if record.holder.is_some() => &["reset", "release", "swap", "emplace"],
        _ => &[],
    };
    methods.contains(&name)
}

fn is_record(ty: &Type) -> bool {
    matches!(ty, Type::Record(_))
}

pub(super) fn no_method(ty: &Type, name: &str, at: At) -> Box<Fault> {
    let message = format!("`.{name}()` of a value of type `{ty}` is not in the host subset");
    Fault::unsupported(at, message, "use plain variables and functions")
}
