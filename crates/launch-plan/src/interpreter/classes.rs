//! Classes of the file: what their fields, constants and template arguments mean.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interpreter;
use super::scope::{Binding, Bindings, Frame, Surroundings};
use super::specialisations::Version;
use super::templates::TemplateOwner;
use super::value::{HostRef, Part, Target, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Layout, Member, Name, Storage, Variable};
use crate::types::{Record, Type};

/// Base classes of base classes; those without fields are no types within types.
const MAX_BASES: u32 = 64;
/// Scalars that one struct may hold in all.
const MAX_RECORD_SCALARS: u64 = 4096;

/// A class with its template arguments.
#[derive(Debug)]
pub(super) struct Class {
    /// Index among the file's records.
    pub(super) syntax: usize,
    /// With its template arguments.
    pub(super) name: String,
    /// Template arguments, types and constants.
    pub(super) statics: Bindings,
    /// The base class, where the host can make its objects.
    pub(super) base: Option<Rc<Record>>,
    /// Base classes of base classes.
    depth: u32,
}

/// The classes that were met, by the name of their record.
#[derive(Debug, Default)]
pub(super) struct Classes {
    met: HashMap<String, Rc<Class>>,
    types: HashMap<String, Type>,
    /// Of a class template's instances: the template, and its arguments.
    made_of: HashMap<String, (String, Vec<TemplateValue>)>,
    in_progress: Vec<String>,
}

impl Classes {
    /// The template that a class is made of, and its arguments.
    pub(super) fn made_of(&self, name: &str) -> Option<&(String, Vec<TemplateValue>)> {
        self.made_of.get(name)
    }

    pub(super) fn type_of(&self, name: &str) -> Option<Type> {
        self.types.get(name).cloned()
    }
}

impl<'p> Interpreter<'p> {
    /// The type of a class of the file. `versions` are a template and what it is specialised to.
    pub(super) fn class_type(
        &mut self,
        versions: &[usize],
        arguments: Option<&[TemplateValue]>,
        at: At,
    ) -> Fallible<Type> {
        let tables = self.tables;
        let primary = versions
            .iter()
            .copied()
            .find(|&index| tables.record(index).specialised.is_none());
        let Some(mut syntax) = primary.or(versions.first().copied()) else {
            return Err(super::unknown_types::unknown_type("this class", at));
        };
        let mut name = tables.record(syntax).path.clone();
        let mut bindings = HashMap::new();
        if let Some(parameters) = &tables.record(syntax).template {
            let values = arguments.unwrap_or_default();
            let owner = TemplateOwner::Class(&name);
            let bound = self.bind_arguments(owner, parameters, values, at)?;
            let version = self.version_for(versions, &bound.all)?;
            let mut parts = Vec::new();
            for value in &bound.all {
                parts.push(self.rendered(value, at)?);
            }
            let template = name;
            name = format!("{template}<{}>", parts.join(", "));
            let made_of = (template, bound.all.clone());
            self.language.classes.made_of.insert(name.clone(), made_of);
            match version {
                Version::Primary => bindings = bound.bindings,
                Version::Special(special, own) => {
                    syntax = special;
                    bindings = own;
                }
                // Known by its name alone.
                Version::Unknown => return Ok(Type::Named(name)),
            }
        }
        // A struct of a function may depend on the function's own template arguments.
        let is_local = name.contains('@');
        if let Some(known) = self.language.classes.types.get(&name).filter(|_| !is_local) {
            return Ok(known.clone());
        }
        let recursive = self.language.classes.in_progress.contains(&name);
        let Layout::Fields(_) = &tables.record(syntax).layout else {
            // Its constants can be read all the same.
            if !recursive {
                self.class_laid_out(syntax, &name, bindings, is_local, at)?;
            }
            return Ok(Type::Named(name));
        };
        if recursive {
            return Ok(Type::Named(name));
        }
        let ty = self.class_laid_out(syntax, &name, bindings, is_local, at)?;
        self.language.classes.types.insert(name, ty.clone());
        Ok(ty)
    }

    fn class_laid_out(
        &mut self,
        syntax: usize,
        name: &str,
        bindings: HashMap<String, Binding>,
        is_local: bool,
        at: At,
    ) -> Fallible<Type> {
        self.language.classes.in_progress.push(name.to_owned());
        let laid_out = if is_local {
            self.scoped(|interpreter| {
                for (name, binding) in bindings {
                    interpreter.bind(&name, binding);
                }
                interpreter.fields_of_class(syntax, name, HashMap::new(), at)
            })
        } else {
            let frame = Frame::new(bindings.clone());
            self.framed(frame, |interpreter| {
                interpreter.fields_of_class(syntax, name, bindings, at)
            })
        };
        self.language.classes.in_progress.pop();
        laid_out
    }

    fn fields_of_class(
        &mut self,
        syntax: usize,
        name: &str,
        mut statics: HashMap<String, Binding>,
        at: At,
    ) -> Fallible<Type> {
        let tables = self.tables;
        let record = tables.record(syntax);
        let base = match &record.base {
            Some(base) => self.resolve(base).ok(),
            None => None,
        };
        if let Some(base) = &base {
            let inherited = self.statics_of(base);
            self.spend(inherited.len() as u64, record.at)?;
            for (name, binding) in inherited {
                self.bind(&name, binding.clone());
                statics.insert(name, binding);
            }
        }
        let base = base.as_ref().and_then(possible_base);
        let class = base.as_ref().and_then(|base| self.class_of(&base.name));
        let depth = class.map_or(0, |class| class.depth + 1);
        let base = base.filter(|_| depth <= MAX_BASES);
        for member in &record.members {
            self.spend(1, record.at)?;
            let (member, binding) = match member {
                Member::Alias(alias, ty) => match self.resolve(ty) {
                    Ok(ty) => (alias, Binding::Template(TemplateValue::Type(ty))),
                    Err(_) => continue,
                },
                Member::Constant(constant) => match self.static_constant(constant) {
                    Ok(binding) => (&constant.name, binding),
                    // What cannot be computed is told where it is used.
                    Err(_) => continue,
                },
            };
            self.bind(member, binding.clone());
            statics.insert(member.clone(), binding);
        }
        let class = Class {
            syntax,
            name: name.to_owned(),
            statics: Rc::new(statics),
            base: base.clone(),
            depth,
        };
        self.language
            .classes
            .met
            .insert(name.to_owned(), Rc::new(class));
        let Layout::Fields(fields) = &record.layout else {
            return Ok(Type::Named(name.to_owned()));
        };
        if record.base.is_some() && base.is_none() {
            return Ok(Type::Named(name.to_owned()));
        }
        // One without fields takes no room.
        let without_room = usize::from(base.is_some_and(|base| base.fields.is_empty()));
        let is_union = record.is_union;
        let mut members = Vec::new();
        let mut scalars = 0_u64;
        for (field, ty, _) in fields.iter().skip(without_room) {
            self.spend(1, at)?;
            let ty = self.resolve(ty)?;
            scalars = scalars.saturating_add(ty.scalars());
            members.push((field.clone(), ty));
        }
        // Types of unknown size make the whole one of unknown size.
        let record = match is_union {
            true => Record::union(name, members),
            false => Record::new(name, members),
        };
        let record = record.filter(|_| scalars <= MAX_RECORD_SCALARS);
        let ends = self.tables.record(syntax).has_destructor;
        let record = record.map(|mut record| {
            let constructors = self.constructors_of(&record);
            record.has_copy_constructor |= [false, true]
                .iter()
                .any(|&is_move| self.taking(&constructors, &record, is_move).is_some());
            self.language.has_destructors |= record.has_copy_constructor;
            record
        });
        Ok(match record {
            Some(_) if ends && is_union => Type::Named(name.to_owned()),
            Some(mut record) if ends || record.has_destructor => {
                record.has_destructor = true;
                self.language.has_destructors = true;
                Type::Record(Rc::new(record))
            }
            Some(record) => Type::Record(Rc::new(record)),
            None => Type::Named(name.to_owned()),
        })
    }

    fn statics_of(&self, ty: &Type) -> HashMap<String, Binding> {
        let class = match ty {
            Type::Record(record) => self.class_of(&record.name),
            _ => None,
        };
        class.map_or_else(HashMap::new, |class| HashMap::clone(&class.statics))
    }

    fn static_constant(&mut self, constant: &'p Variable) -> Fallible<Binding> {
        if constant.storage != Storage::Constant {
            let message = format!(
                "the static member `{}` would keep its value from call to call",
                constant.name
            );
            return Err(Fault::unsupported(
                constant.at,
                message,
                "make it `static constexpr`",
            ));
        }
        self.kept_variable(constant)
    }

    /// A class template's own name within its text, where it means the class with its arguments.
    pub(super) fn class_around(&self, name: &str) -> Option<Type> {
        let class = self.frames.last()?.around.class.as_ref()?;
        let syntax = self.tables.record(class.syntax);
        let last = syntax.path.rsplit("::").next();
        if syntax.template.is_none() || last != Some(name) {
            return None;
        }
        self.language.classes.types.get(&class.name).cloned()
    }

    pub(super) fn class_of(&self, record: &str) -> Option<Rc<Class>> {
        self.language.classes.met.get(record).cloned()
    }

    /// The class before the last `::` of a name, and the part after it.
    pub(super) fn owner_of(
        &mut self,
        name: &'p Name,
        at: At,
    ) -> Fallible<Option<(Rc<Class>, &'p str)>> {
        let Some((owner, member)) = name.split() else {
            return Ok(None);
        };
        let ty = match &name.owner {
            Some(owner) => self.named_type(owner, at)?,
            None => match self.type_called(owner, at)? {
                Some(ty) => ty,
                None => return Ok(None),
            },
        };
        let class = match &ty {
            Type::Record(record) => self.class_of(&record.name),
            Type::Named(name) => self.class_of(name),
            _ => None,
        };
        Ok(class.map(|class| (class, member)))
    }

    /// The class type that a path without template arguments names here.
    fn type_called(&mut self, path: &str, at: At) -> Fallible<Option<Type>> {
        match self.find_local(path) {
            Some(Binding::Template(TemplateValue::Type(ty))) => return Ok(Some(ty.clone())),
            Some(_) => return Ok(None),
            None => {}
        }
        let tables = self.tables;
        if let Some(alias) = tables.alias(path) {
            return self.resolve(alias).map(Some);
        }
        let versions = tables.records_named(path);
        match versions.first() {
            Some(&first) if tables.record(first).template.is_none() => {
                self.class_type(&versions, None, at).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A constant, type or template argument of a class, given as `Class::name`.
    pub(super) fn static_member(&mut self, name: &'p Name, at: At) -> Fallible<Option<Binding>> {
        let Some((class, member)) = self.owner_of(name, at)? else {
            return Ok(None);
        };
        if let Some(binding) = class.statics.get(member) {
            return Ok(Some(binding.clone()));
        }
        // Told now why it could not be computed.
        let tables = self.tables;
        for candidate in &tables.record(class.syntax).members {
            if let Member::Constant(constant) = candidate
                && constant.name == member
            {
                let around = Surroundings {
                    class: Some(Rc::clone(&class)),
                    ..Surroundings::default()
                };
                let frame = Frame::within(HashMap::new(), around);
                return self
                    .framed(frame, |interpreter| interpreter.static_constant(constant))
                    .map(Some);
            }
        }
        Ok(None)
    }

    /// What a `const` method sees of its object.
    pub(super) fn seen_as_constant(
        &mut self,
        around: &Surroundings,
        at: At,
    ) -> Fallible<Surroundings> {
        self.spend(around.members.len() as u64, at)?;
        let mut members = HashMap::clone(&around.members);
        for (name, binding) in &mut members {
            match binding {
                Binding::Variable(place, _) => {
                    let class = around.class.as_ref();
                    place.constant |= !class.is_some_and(|class| self.is_mutable(class, name));
                }
                Binding::Template(TemplateValue::Value(Value::Pointer(_, Target::Host(place))))
                    if name == "this" =>
                {
                    place.constant = true;
                }
                _ => {}
            }
        }
        Ok(Surroundings {
            members: Rc::new(members),
            class: around.class.clone(),
        })
    }

    pub(super) fn is_mutable_field(&self, record: &Record, field: &str) -> bool {
        let class = self.class_of(&record.name);
        class.is_some_and(|class| self.is_mutable(&class, field))
    }

    /// Whether a field of a class, or of its base, may change within a `const` object.
    fn is_mutable(&self, class: &Class, field: &str) -> bool {
        let mutable = &self.tables.record(class.syntax).mutable;
        mutable.iter().any(|name| name == field)
            || class
                .base
                .as_ref()
                .is_some_and(|base| self.is_mutable_field(base, field))
    }

    /// What a method sees of the object at a place.
    pub(super) fn around_object(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        at: At,
    ) -> Fallible<Surroundings> {
        let mut members: HashMap<String, Binding> = HashMap::new();
        let mut around = vec![(place.clone(), Rc::clone(record))];
        while let Some((place, record)) = around.pop() {
            self.spend(record.fields.len() as u64, at)?;
            for (index, field) in record.fields.iter().enumerate() {
                let mut part = place.part(Part::Field(index));
                part.constant &= !self.is_mutable_field(&record, &field.name);
                if let Some(inner) = field.anonymous() {
                    around.push((part, Rc::clone(inner)));
                    continue;
                }
                let binding = Binding::Variable(part, field.ty.clone());
                members.entry(field.name.clone()).or_insert(binding);
            }
        }
        let ty = Type::Record(Rc::clone(record));
        let this = Value::pointer(ty, false, Target::Host(place.clone()));
        members.insert(
            "this".to_owned(),
            Binding::Template(TemplateValue::Value(this)),
        );
        Ok(Surroundings {
            members: Rc::new(members),
            class: self.class_of(&record.name),
        })
    }
}

/// The base class, where the host knows where the fields of a class derived from it lie: compilers put them into
/// the padding of some.
fn possible_base(ty: &Type) -> Option<Rc<Record>> {
    let Type::Record(record) = ty else {
        return None;
    };
    let last = record.fields.last();
    let end = last.and_then(|field| Some(field.offset_bytes + field.ty.size_bytes()?));
    let has_no_padding = record.fields.is_empty() || end == Some(record.size_bytes);
    (!record.overlapping && has_no_padding).then(|| Rc::clone(record))
}
