//! What a written type means.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interpreter;
use super::runtime::runtime_type;
use super::scope::{Binding, Frame};
use super::templates::TemplateOwner;
use super::value::{HostRef, Part, TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, Layout, Name, TypeKind, TypeSyntax, Unsupported};
use crate::types::{Record, Scalar, Type};

/// Pointers to pointers, vectors of vectors.
const MAX_TYPE_DEPTH: u32 = 64;
/// Bytes of a type's name: one that names another twice doubles, and so does all work on it.
const MAX_TYPE_NAME: usize = 4096;

impl<'p> Interpreter<'p> {
    /// The type that `syntax` names here. `auto` is for the caller to handle.
    pub(super) fn resolve(&mut self, syntax: &'p TypeSyntax) -> Fallible<Type> {
        let ty = self.deeper(syntax.at, |interpreter| interpreter.resolve_kind(syntax))?;
        if name_length(&ty) > MAX_TYPE_NAME {
            return Err(Fault::fuel(
                syntax.at,
                format!("a type whose name has more than {MAX_TYPE_NAME} characters"),
            ));
        }
        if ty.depth() > MAX_TYPE_DEPTH {
            return Err(Fault::fuel(
                syntax.at,
                format!("a type of more than {MAX_TYPE_DEPTH} types within types"),
            ));
        }
        Ok(ty)
    }

    /// The same where a reference would be no other name for a variable.
    pub(super) fn resolve_value_type(&mut self, syntax: &'p TypeSyntax) -> Fallible<Type> {
        if matches!(syntax.kind, TypeKind::Reference(_)) {
            return Err(Fault::unsupported(
                syntax.at,
                "a reference in this place is not in the host subset",
                "use the type itself, or a pointer",
            ));
        }
        self.resolve(syntax)
    }

    fn resolve_kind(&mut self, syntax: &'p TypeSyntax) -> Fallible<Type> {
        Ok(match &syntax.kind {
            TypeKind::Void => Type::Void,
            TypeKind::Scalar(scalar) => Type::Scalar(*scalar),
            TypeKind::Named(name) => self.named_type(name, syntax.at)?,
            TypeKind::Pointer(inner) => match &inner.kind {
                TypeKind::Function => Type::Kernel,
                _ => Type::pointer_to(self.resolve(inner)?, inner.constant),
            },
            TypeKind::Reference(inner) => self.resolve(inner)?,
            TypeKind::Array(element, length) => {
                let element = self.resolve(element)?;
                let Some(length) = length else {
                    return Err(Fault::unsupported(
                        syntax.at,
                        "an array without a length",
                        "write its length",
                    ));
                };
                let at = length.at;
                let value = self.evaluate(length)?;
                let length = self.count_of(&value, at)?;
                Type::Array(Rc::new(element), length)
            }
            TypeKind::Function => Type::Kernel,
            TypeKind::TypeOf(operand) => match self.static_type(operand) {
                Some(ty) => ty,
                None => {
                    return Err(Fault::unsupported(
                        syntax.at,
                        "`decltype` of this expression is not in the host subset",
                        "write the type out",
                    ));
                }
            },
            TypeKind::Auto => {
                return Err(Fault::unsupported(
                    syntax.at,
                    "`auto` in this place",
                    "write the type out",
                ));
            }
            TypeKind::Unsupported(reason) => return Err(refusal(syntax.at, reason)),
        })
    }

    pub(super) fn named_type(&mut self, name: &'p Name, at: At) -> Fallible<Type> {
        if let Some(Binding::Template(TemplateValue::Type(ty))) = self.find_local(&name.path) {
            // A class that was not whole yet where it was an argument.
            let whole = match ty {
                Type::Named(class) => self.language.classes.type_of(class),
                _ => None,
            };
            return Ok(whole.unwrap_or_else(|| ty.clone()));
        }
        if name.arguments.is_none()
            && let Some(ty) = self.class_around(&name.path)
        {
            return Ok(ty);
        }
        if let Some(ty) = self.member_type(name, at)? {
            return Ok(ty);
        }
        let versions = self.tables.records_named(&name.path);
        if let Some(&first) = versions.first()
            && self.tables.record(first).template.is_some() == name.arguments.is_some()
        {
            let arguments = match &name.arguments {
                Some(written) => Some(self.template_values(written)?),
                None => None,
            };
            return self.class_type(&versions, arguments.as_deref(), at);
        }
        if let Some(ty) = self.container_type(name, at)? {
            return Ok(ty);
        }
        if let Some(ty) = self.templated_alias(name, at)? {
            return Ok(ty);
        }
        if name.arguments.is_none() {
            if let Some(syntax) = self.tables.alias(&name.path) {
                return self.resolve_value_type(syntax);
            }
            if let Some(ty) = builtin_type(name.plain()) {
                return Ok(ty);
            }
        }
        let rendered = self.rendered_name(name, at)?;
        Ok(Type::Named(rendered))
    }

    /// `A<int>` of `template <class T> using A = S<T>;`. `None` where only the device knows what that is.
    fn templated_alias(&mut self, name: &'p Name, at: At) -> Fallible<Option<Type>> {
        let tables = self.tables;
        let (Some(written), Some(alias)) = (&name.arguments, tables.alias_template(&name.path))
        else {
            return Ok(None);
        };
        let values = self.template_values(written)?;
        let owner = TemplateOwner::Class(&alias.path);
        let bound = self.bind_arguments(owner, &alias.parameters, &values, at)?;
        let frame = Frame::new(bound.bindings);
        let meant = self.framed(frame, |interpreter| interpreter.resolve(&alias.ty));
        Ok(meant.ok())
    }

    /// A type that only the device knows, spelled with its arguments' meaning.
    fn rendered_name(&mut self, name: &'p Name, at: At) -> Fallible<String> {
        let Some(arguments) = &name.arguments else {
            return Ok(name.path.clone());
        };
        let values = self.template_values(arguments)?;
        let mut parts = Vec::new();
        for value in &values {
            parts.push(self.rendered(value, at)?);
        }
        Ok(format!("{}<{}>", name.path, parts.join(", ")))
    }

    /// `Class::type`, and the types of containers.
    fn member_type(&mut self, name: &'p Name, at: At) -> Fallible<Option<Type>> {
        if let Some(Binding::Template(TemplateValue::Type(ty))) = self.static_member(name, at)? {
            return Ok(Some(ty));
        }
        let (Some(owner), Some((_, member))) = (&name.owner, name.split()) else {
            return Ok(None);
        };
        let (Type::Vector(element) | Type::StdArray(element, _)) = self.named_type(owner, at)?
        else {
            return Ok(None);
        };
        let element = Type::clone(&element);
        Ok(match member {
            "iterator" | "pointer" => Some(Type::pointer_to(element, false)),
            "const_iterator" | "const_pointer" => Some(Type::pointer_to(element, true)),
            "value_type" => Some(element),
            "size_type" => Some(Type::SIZE),
            _ => None,
        })
    }

    /// `std::vector<T>` and what else the interpreter has of the standard library.
    fn container_type(&mut self, name: &'p Name, at: At) -> Fallible<Option<Type>> {
        let (Some(written), true) = (&name.arguments, is_container(name)) else {
            return Ok(None);
        };
        match name.plain() {
            "function" => return Ok(Some(Type::Function)),
            "unique_ptr" | "optional" => return self.holder_type(name, at),
            _ => {}
        }
        let values = self.template_values(written)?;
        Ok(match (name.plain(), values.as_slice()) {
            ("vector", [TemplateValue::Type(element), ..]) => {
                self.check_element(element, at)?;
                Some(Type::Vector(Rc::new(element.clone())))
            }
            ("array", [TemplateValue::Type(element), TemplateValue::Value(length)]) => {
                self.check_element(element, at)?;
                let length = self.count_of(length, at)?;
                Some(Type::StdArray(Rc::new(element.clone()), length))
            }
            ("pair", [TemplateValue::Type(first), TemplateValue::Type(second)]) => {
                let pair = Record::pair(first.clone(), second.clone());
                pair.map(|pair| Type::Record(Rc::new(pair)))
            }
            ("tuple", elements) => {
                let mut types = Vec::new();
                for element in elements {
                    let TemplateValue::Type(element) = element else {
                        return Ok(None);
                    };
                    self.check_element(element, at)?;
                    types.push(element.clone());
                }
                Record::tuple(types).map(|tuple| Type::Record(Rc::new(tuple)))
            }
            _ => None,
        })
    }

    pub(super) fn check_element(&self, element: &Type, at: At) -> Fallible<()> {
        match element {
            Type::Named(name) => Err(self.opaque_type(name, at)),
            Type::Void => Err(super::unknown_types::unknown_type("void", at)),
            ty if ty.has_destructor() => Err(Fault::unsupported(
                at,
                format!("a container of `{ty}`, which has a destructor, is not in the host subset"),
                "use an array, or variables",
            )),
            _ => Ok(()),
        }
    }

    /// Whether a bare name stands for a type here.
    pub(super) fn names_type(&self, name: &Name) -> bool {
        match self.find_local(&name.path) {
            Some(Binding::Template(TemplateValue::Type(_))) => return true,
            Some(_) => return false,
            None => {}
        }
        if self.tables.alias(&name.path).is_some()
            || !self.tables.records_named(&name.path).is_empty()
            || (name.arguments.is_some()
                && (is_container(name) || self.tables.alias_template(&name.path).is_some()))
        {
            return true;
        }
        if self.tables.global(&name.path).is_some()
            || !self.tables.functions_named(&name.path).is_empty()
        {
            return false;
        }
        builtin_type(name.plain()).is_some() || self.tables.opaque_type(&name.path).is_some()
    }

    /// What a variable has that is declared without a value: objects are constructed, fields with
    /// defaults have them, others are unset.
    pub(super) fn unset_value(&mut self, ty: &Type, at: At) -> Fallible<Option<Value>> {
        match ty {
            Type::Record(record) => {
                let constructors = self.constructors_of(record);
                let object = if constructors.is_empty() {
                    self.blank_object(record, Vec::new(), at)?
                } else {
                    self.construct_object(record, &constructors, Vec::new(), at)?
                };
                Ok(Some(object))
            }
            // A variable of this type is a `std::string`.
            Type::Text => Ok(Some(Value::Text("".into()))),
            _ => self.unset_row(ty, at),
        }
    }

    /// An object of which the first fields are given; the others are as their defaults make them, which see those
    /// before.
    pub(super) fn blank_object(
        &mut self,
        record: &Rc<Record>,
        given: Vec<Value>,
        at: At,
    ) -> Fallible<Value> {
        self.spend(record.fields.len() as u64, at)?;
        if record.holder.is_some() {
            return self.empty_holder(record, at);
        }
        if record.name == "dim3" {
            let mut fields: Vec<Option<Value>> = given.into_iter().map(Some).collect();
            fields.resize(3, Some(Value::Integer(Scalar::UInt, 1)));
            return Ok(Value::Record(Rc::clone(record), fields));
        }
        let count = given.len();
        let mut fields: Vec<Option<Value>> = given.into_iter().map(Some).collect();
        fields.resize(record.fields.len().max(count), None);
        let blank = Value::Record(Rc::clone(record), fields);
        let mark = self.memory.mark();
        let (place, _) = self.temporary(blank, at)?;
        for index in count..record.fields.len() {
            if let Some(value) = self.default_of_field(&place, record, index, at)? {
                let part = place.part(Part::Field(index));
                self.memory.store(&part, value, at)?;
            }
        }
        let object = self.memory.load(&place, at)?;
        self.memory.release(mark);
        object.ok_or_else(|| Fault::host(at, "an object has no value"))
    }

    /// `= value` behind a field.
    pub(super) fn default_expression(&self, record: &Record, index: usize) -> Option<&'p Expr> {
        let name = &record.fields.get(index)?.name;
        let class = self.class_of(&record.name)?;
        let tables = self.tables;
        let Layout::Fields(fields) = &tables.record(class.syntax).layout else {
            return None;
        };
        let field = fields.iter().find(|(field, ..)| field == name)?;
        field.2.as_ref()
    }

    /// What a field has that nobody gives a value.
    pub(super) fn default_of_field(
        &mut self,
        place: &HostRef,
        record: &Rc<Record>,
        index: usize,
        at: At,
    ) -> Fallible<Option<Value>> {
        let field = &record.fields[index];
        let Some(default) = self.default_expression(record, index) else {
            return self.unset_value(&field.ty, at);
        };
        let around = self.around_object(place, record, at)?;
        let frame = Frame::within(HashMap::new(), around);
        let owned = self.owned.len();
        let value = self.framed(frame, |interpreter| {
            interpreter.initialised(&field.ty, default)
        });
        self.ended(owned, value).map(Some)
    }
}

/// Templates of the standard library that the interpreter has.
fn is_container(name: &Name) -> bool {
    let is_standard = name.path.starts_with("std::") || !name.path.contains("::");
    is_standard
        && matches!(
            name.plain(),
            "vector" | "array" | "pair" | "tuple" | "function" | "unique_ptr" | "optional"
        )
}

fn builtin_type(name: &str) -> Option<Type> {
    if let Some(scalar) = Scalar::by_name(name) {
        return Some(Type::Scalar(scalar));
    }
    if let Some(record) = Record::builtin(name) {
        return Some(Type::Record(Rc::new(record)));
    }
    Some(match name {
        "void" => Type::Void,
        "string" => Type::Text,
        "nullptr_t" => Type::pointer_to(Type::Void, false),
        _ => return runtime_type(name),
    })
}

/// The fault for a construct outside the subset.
pub(super) fn refusal(at: At, reason: &Unsupported) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("{} is not in the host subset", reason.message),
        &reason.hint,
    )
}

/// Length of the longest name within.
fn name_length(ty: &Type) -> usize {
    match ty {
        Type::Record(record) => record.name.len(),
        Type::Named(name) => name.len(),
        Type::Pointer(pointee) => name_length(&pointee.ty),
        Type::Vector(element) | Type::Array(element, _) | Type::StdArray(element, _) => {
            name_length(element)
        }
        _ => 0,
    }
}
