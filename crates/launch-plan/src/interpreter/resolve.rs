//! What a written type means.

use std::rc::Rc;

use super::Interpreter;
use super::runtime::runtime_type;
use super::scope::Binding;
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Name, RecordSyntax, TypeKind, TypeSyntax, Unsupported};
use crate::types::{Record, Scalar, Type};

/// Scalars that one struct may hold in all.
const MAX_RECORD_FIELDS: u64 = 256;

impl<'p> Interpreter<'p> {
    /// The type that `syntax` names here. `auto` is for the caller to handle.
    pub(super) fn resolve(&mut self, syntax: &'p TypeSyntax) -> Fallible<Type> {
        self.deeper(syntax.at, |interpreter| interpreter.resolve_kind(syntax))
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
            return Ok(ty.clone());
        }
        if name.arguments.is_none() {
            if let Some(syntax) = self.tables.alias(&name.path) {
                return self.resolve(syntax);
            }
            if let Some(record) = self.tables.record(&name.path) {
                return self.record_type(record);
            }
            if let Some(ty) = builtin_type(name.plain()) {
                return Ok(ty);
            }
        }
        let rendered = self.rendered_name(name, at)?;
        Ok(Type::Named(rendered))
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

    fn record_type(&mut self, syntax: &'p RecordSyntax) -> Fallible<Type> {
        let Some(fields) = &syntax.fields else {
            return Ok(Type::Named(syntax.path.clone()));
        };
        let mut members = Vec::new();
        let mut weight = 0_u64;
        for (name, ty, _) in fields {
            self.spend(1, syntax.at)?;
            let ty = match self.resolve(ty)? {
                Type::Array(element, length) if length <= MAX_RECORD_FIELDS => {
                    match Record::array(&element, length) {
                        Some(array) => Type::Record(Rc::new(array)),
                        None => Type::Array(element, length),
                    }
                }
                ty => ty,
            };
            weight = weight.saturating_add(flat_fields(&ty));
            members.push((name.clone(), ty));
        }
        // Types of unknown size make the whole one of unknown size.
        let record = Record::new(&syntax.path, members).filter(|_| weight <= MAX_RECORD_FIELDS);
        Ok(match record {
            Some(record) => Type::Record(Rc::new(record)),
            None => Type::Named(syntax.path.clone()),
        })
    }

    /// Whether a bare name stands for a type here.
    pub(super) fn names_type(&self, name: &Name) -> bool {
        match self.find_local(&name.path) {
            Some(Binding::Template(TemplateValue::Type(_))) => return true,
            Some(_) => return false,
            None => {}
        }
        if self.tables.alias(&name.path).is_some() || self.tables.record(&name.path).is_some() {
            return true;
        }
        if self.tables.global(&name.path).is_some()
            || !self.tables.functions_named(&name.path).is_empty()
        {
            return false;
        }
        builtin_type(name.plain()).is_some() || self.tables.is_opaque_type(&name.path)
    }

    /// A default value for `S s;`: fields with defaults have them, others are unset.
    pub(super) fn unset_value(&mut self, ty: &Type, at: At) -> Fallible<Option<Value>> {
        let Type::Record(record) = ty else {
            return Ok(None);
        };
        self.spend(record.fields.len() as u64, at)?;
        if record.name == "dim3" {
            let ones = vec![Some(Value::Integer(Scalar::UInt, 1)); 3];
            return Ok(Some(Value::Record(Rc::clone(record), ones)));
        }
        let syntax = self.tables.record(&record.name);
        let mut fields = Vec::new();
        for (index, field) in record.fields.iter().enumerate() {
            let default = syntax
                .and_then(|syntax| syntax.fields.as_ref())
                .and_then(|fields| fields.get(index))
                .and_then(|(_, _, default)| default.as_ref());
            fields.push(match default {
                Some(default) => Some(self.initialised(&field.ty, default)?),
                None => self.unset_value(&field.ty, at)?,
            });
        }
        Ok(Some(Value::Record(Rc::clone(record), fields)))
    }
}

/// Scalars within a type.
fn flat_fields(ty: &Type) -> u64 {
    match ty {
        Type::Record(record) => record
            .fields
            .iter()
            .map(|field| flat_fields(&field.ty))
            .sum(),
        _ => 1,
    }
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
