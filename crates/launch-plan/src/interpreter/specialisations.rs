//! Which version of a class template its arguments mean: the template, or one that is written for some of
//! them.

use std::collections::HashMap;

use super::Interpreter;
use super::scope::Binding;
use super::value::{TemplateValue, Value};
use crate::failure::Fallible;
use crate::syntax::ast::{
    ExprKind, Name, TemplateArgument, TemplateParameter, TemplateParameterKind, TypeKind,
    TypeSyntax,
};
use crate::types::Type;

/// What comes of the versions that are written for given arguments.
pub(super) enum Version {
    /// None fits: the template itself.
    Primary,
    /// The index among the file's records, and the meaning of its own template parameters.
    Special(usize, HashMap<String, Binding>),
    /// One has a form that the host cannot match, or several fit as well.
    Unknown,
}

/// What the parameters of a partial specialisation stand for, as far as is known.
type Meanings<'p> = HashMap<&'p str, TemplateValue>;

/// Whether a pattern fits. `None` where the host cannot tell.
type Fits = Option<bool>;

impl<'p> Interpreter<'p> {
    pub(super) fn version_for(
        &mut self,
        versions: &[usize],
        given: &[TemplateValue],
    ) -> Fallible<Version> {
        let tables = self.tables;
        let mut best: Option<(usize, Version)> = None;
        for &version in versions {
            let record = tables.record(version);
            let Some(patterns) = &record.specialised else {
                continue;
            };
            let parameters = record.template.as_deref().unwrap_or_default();
            let mut meanings = HashMap::new();
            match self.fits_all(patterns, parameters, given, &mut meanings)? {
                Some(false) => continue,
                None => return Ok(Version::Unknown),
                Some(true) => {}
            }
            let detail = patterns.iter().map(|p| detail(p, parameters)).sum();
            let bindings = meanings.into_iter();
            let bindings =
                bindings.map(|(name, value)| (name.to_owned(), Binding::Template(value)));
            let found = Version::Special(version, bindings.collect());
            match &best {
                Some((known, _)) if *known > detail => {}
                Some((known, _)) if *known == detail => best = Some((detail, Version::Unknown)),
                _ => best = Some((detail, found)),
            }
        }
        Ok(best.map_or(Version::Primary, |(_, version)| version))
    }

    fn fits_all(
        &mut self,
        patterns: &'p [TemplateArgument],
        parameters: &'p [TemplateParameter],
        given: &[TemplateValue],
        meanings: &mut Meanings<'p>,
    ) -> Fallible<Fits> {
        let is_pack = |p: &TemplateParameter| matches!(p.kind, TemplateParameterKind::Pack);
        let holds_pack = |value: &TemplateValue| matches!(value, TemplateValue::Pack(_));
        if parameters.iter().any(is_pack) || given.iter().any(holds_pack) {
            return Ok(None);
        }
        // Defaults that are not written stand for something that is not looked up here.
        let mut all = (patterns.len() == given.len()).then_some(true);
        for (pattern, value) in patterns.iter().zip(given) {
            match self.fits(pattern, parameters, value, meanings)? {
                Some(false) => return Ok(Some(false)),
                None => all = None,
                Some(true) => {}
            }
        }
        Ok(all)
    }

    fn fits(
        &mut self,
        pattern: &'p TemplateArgument,
        parameters: &'p [TemplateParameter],
        value: &TemplateValue,
        meanings: &mut Meanings<'p>,
    ) -> Fallible<Fits> {
        let expression = match pattern {
            TemplateArgument::Type(ty) => return self.type_fits(ty, parameters, value, meanings),
            TemplateArgument::TypeOrValue(ty, expression) => {
                if let Some(name) = parameter_of(ty, parameters) {
                    return Ok(Some(means(name, value, meanings)));
                }
                if mentions(ty, parameters) || matches!(value, TemplateValue::Type(_)) {
                    return self.type_fits(ty, parameters, value, meanings);
                }
                expression
            }
            TemplateArgument::Value(expression) => expression,
        };
        if let ExprKind::Name(name) = &expression.kind
            && let Some(parameter) = parameter_called(&name.path, parameters)
        {
            return Ok(Some(means(parameter, value, meanings)));
        }
        let TemplateValue::Value(value) = value else {
            return Ok(Some(false));
        };
        Ok(match self.evaluate(expression) {
            Ok(wanted) => Some(same_value(&wanted, value)),
            Err(_) => None,
        })
    }

    fn type_fits(
        &mut self,
        pattern: &'p TypeSyntax,
        parameters: &'p [TemplateParameter],
        value: &TemplateValue,
        meanings: &mut Meanings<'p>,
    ) -> Fallible<Fits> {
        let TemplateValue::Type(ty) = value else {
            return Ok(Some(false));
        };
        if !mentions(pattern, parameters) {
            // The host's types do not tell a constant's from another's.
            let is_it = self.resolve(pattern)? == *ty;
            return Ok((!(is_it && pattern.constant)).then_some(is_it));
        }
        if let Some(name) = parameter_of(pattern, parameters) {
            // The host's types do not tell a constant's from another's.
            return Ok((!pattern.constant).then(|| means(name, value, meanings)));
        }
        match (&pattern.kind, ty) {
            (TypeKind::Pointer(inner), Type::Pointer(pointee)) => {
                let inner_type = match (pointee.constant, inner.constant) {
                    (false, true) => return Ok(Some(false)),
                    (true, false) => Type::Named(format!("const {}", pointee.ty)),
                    _ => pointee.ty.clone(),
                };
                let inner_value = TemplateValue::Type(inner_type);
                if let Some(name) = parameter_of(inner, parameters) {
                    return Ok(Some(means(name, &inner_value, meanings)));
                }
                self.type_fits(inner, parameters, &inner_value, meanings)
            }
            (TypeKind::Pointer(_), _) => Ok(Some(false)),
            _ => Ok(None),
        }
    }
}

/// The parameter that a type is, with no more around it.
fn parameter_of<'p>(ty: &TypeSyntax, parameters: &'p [TemplateParameter]) -> Option<&'p str> {
    match &ty.kind {
        TypeKind::Named(name) if name.arguments.is_none() => {
            parameter_called(&name.path, parameters)
        }
        _ => None,
    }
}

fn parameter_called<'p>(path: &str, parameters: &'p [TemplateParameter]) -> Option<&'p str> {
    let mut names = parameters.iter().map(|parameter| parameter.name.as_str());
    names.find(|name| *name == path)
}

fn mentions(ty: &TypeSyntax, parameters: &[TemplateParameter]) -> bool {
    match &ty.kind {
        TypeKind::Named(name) => {
            parameter_called(&name.path, parameters).is_some()
                || arguments(name).any(|argument| match argument {
                    TemplateArgument::Type(ty) | TemplateArgument::TypeOrValue(ty, _) => {
                        mentions(ty, parameters)
                    }
                    TemplateArgument::Value(_) => true,
                })
        }
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) | TypeKind::Array(inner, _) => {
            mentions(inner, parameters)
        }
        _ => false,
    }
}

fn arguments(name: &Name) -> impl Iterator<Item = &TemplateArgument> {
    name.arguments.iter().flatten()
}

/// Gives a parameter its meaning; `false` where it has another already.
fn means<'p>(name: &'p str, value: &TemplateValue, meanings: &mut Meanings<'p>) -> bool {
    match meanings.get(name) {
        Some(known) => same(known, value),
        None => {
            meanings.insert(name, value.clone());
            true
        }
    }
}

fn same(a: &TemplateValue, b: &TemplateValue) -> bool {
    match (a, b) {
        (TemplateValue::Value(a), TemplateValue::Value(b)) => same_value(a, b),
        (a, b) => a == b,
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Integer(_, a), Value::Integer(_, b)) => a == b,
        (a, b) => a == b,
    }
}

/// How much a pattern asks for: of two that fit, C++ takes the one that asks for more.
fn detail(pattern: &TemplateArgument, parameters: &[TemplateParameter]) -> usize {
    match pattern {
        TemplateArgument::Type(ty) | TemplateArgument::TypeOrValue(ty, _) => {
            type_detail(ty, parameters)
        }
        TemplateArgument::Value(_) => 1,
    }
}

fn type_detail(ty: &TypeSyntax, parameters: &[TemplateParameter]) -> usize {
    let constant = usize::from(ty.constant);
    match &ty.kind {
        TypeKind::Pointer(inner) => 1 + constant + type_detail(inner, parameters),
        _ if mentions(ty, parameters) => constant,
        _ => 100 + constant, // a type itself, however it is made
    }
}
