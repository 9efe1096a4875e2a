//! Which of several functions of one name a call or launch means.
//!
//! C++'s rules as far as the host knows the types: each argument has a rank for each candidate, and
//! a candidate wins that is nowhere worse and somewhere better than every other. A type that only
//! the device knows takes anything, at the worst rank.

use std::rc::Rc;

use super::Interpreter;
use super::parameters::mentions_auto;
use super::scope::{Frame, Surroundings};
use super::value::{TemplateValue, Value};
use crate::failure::Fallible;
use crate::source::text::At;
use crate::syntax::ast::{
    Function, Parameter, Space, TemplateParameter, TemplateParameterKind, TypeKind, TypeSyntax,
};
use crate::types::{Scalar, Type};

/// What comes of a set of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The index of the function.
    One(usize),
    Ambiguous,
    NoneFits,
}

/// An argument as the choice sees it.
pub(super) struct Passed {
    /// `None` for a braced list, which takes the parameter's type.
    pub(super) value: Option<Value>,
    /// A reference could bind to it.
    pub(super) place: bool,
}

/// How an argument becomes a parameter, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exact,
    Qualification,
    Promotion,
    Conversion,
    Unknown,
}

struct Candidate {
    index: usize,
    template: bool,
    /// Whether it ends in a parameter pack.
    pack: bool,
    ranks: Vec<Rank>,
}

impl<'p> Interpreter<'p> {
    /// The kernels of a name. Where some are defined, prototypes do not count: what is declared
    /// alone could not be launched.
    pub(super) fn kernels_called(&self, path: &str) -> Vec<usize> {
        let mut kernels = self.tables.functions_named(path);
        kernels.retain(|&index| {
            let function = self.tables.function(index);
            function.space == Space::Kernel && !function.specialisation
        });
        let is_defined = |index: &usize| self.tables.function(*index).body.is_some();
        let defined = kernels.iter().filter(|index| is_defined(index)).count();
        kernels.truncate(defined.max(1)); // definitions come first
        kernels
    }

    pub(super) fn choose(
        &mut self,
        candidates: &[usize],
        explicit: &[TemplateValue],
        passed: &[Passed],
        at: At,
    ) -> Fallible<Choice> {
        self.choose_within(candidates, explicit, passed, &Surroundings::default(), at)
    }

    /// The same for functions that see a class.
    pub(super) fn choose_within(
        &mut self,
        candidates: &[usize],
        explicit: &[TemplateValue],
        passed: &[Passed],
        around: &Surroundings,
        at: At,
    ) -> Fallible<Choice> {
        let mut viable = Vec::new();
        for &index in candidates {
            self.spend(1 + passed.len() as u64, at)?;
            let function = self.tables.function(index);
            if let Some(ranks) = self.ranks(function, explicit, passed, around, at) {
                viable.push(Candidate {
                    index,
                    template: function.template.is_some(),
                    pack: function.parameters.last().is_some_and(|last| last.pack),
                    ranks,
                });
            }
        }
        let best = viable.iter().find(|candidate| {
            viable
                .iter()
                .all(|other| other.index == candidate.index || beats(candidate, other))
        });
        Ok(match best {
            Some(best) => Choice::One(best.index),
            None if viable.is_empty() => Choice::NoneFits,
            None => Choice::Ambiguous,
        })
    }

    /// `None` where the call cannot mean this function.
    fn ranks(
        &mut self,
        function: &'p Function,
        explicit: &[TemplateValue],
        passed: &[Passed],
        around: &Surroundings,
        at: At,
    ) -> Option<Vec<Rank>> {
        if !takes_count(function, passed.len()) || !takes_explicit(function, explicit) {
            return None;
        }
        let types: Vec<Option<Type>> = passed
            .iter()
            .map(|passed| passed.value.as_ref().map(Value::ty))
            .collect();
        // What cannot be deduced or resolved takes the candidate out, as in C++. A limit that is
        // reached here is reached again by the next step.
        let bound = self.bind_templates(function, explicit, &types, at).ok()?;
        let deduced = function.template.as_deref().unwrap_or_default();
        let deduced = deduced.get(explicit.len()..).unwrap_or_default();
        let frame = Frame::within(bound.bindings, around.clone());
        self.framed(frame, |interpreter| {
            function
                .parameters
                .iter()
                .zip(passed)
                .map(|(parameter, passed)| interpreter.rank(parameter, passed, deduced))
                .collect()
        })
    }

    fn rank(
        &mut self,
        parameter: &'p Parameter,
        passed: &Passed,
        deduced: &[TemplateParameter],
    ) -> Option<Rank> {
        let Some(value) = &passed.value else {
            return Some(Rank::Exact);
        };
        if parameter.pack || mentions_auto(&parameter.ty) {
            return Some(Rank::Exact);
        }
        let wanted = self.resolve(&parameter.ty).ok()?;
        let rank = match conversion(&wanted, value) {
            Some(rank) => rank,
            None if self.is_derived(&wanted, &value.ty()) => Rank::Conversion,
            None => return None,
        };
        if rank > Rank::Qualification && mentions(&parameter.ty, deduced) {
            return None; // a deduced type is met exactly
        }
        match &parameter.ty.kind {
            TypeKind::Reference(inner) if !inner.constant && !parameter.rvalue => {
                let same = rank == Rank::Exact || self.is_derived(&wanted, &value.ty());
                (passed.place && same).then_some(rank)
            }
            // One that moves takes no variables, unless its type is deduced.
            TypeKind::Reference(inner) if parameter.rvalue && passed.place => {
                mentions(inner, deduced).then_some(rank)
            }
            // What can be moved is rather moved.
            TypeKind::Reference(_) if !parameter.rvalue && !passed.place => {
                Some(rank.max(Rank::Qualification))
            }
            _ => Some(rank),
        }
    }
}

impl Interpreter<'_> {
    /// Whether a value of type `given`, or what it points to, has `wanted` as a base class.
    fn is_derived(&self, wanted: &Type, given: &Type) -> bool {
        match (wanted, given) {
            (Type::Record(wanted), Type::Record(given)) => self.derives(given, wanted),
            (Type::Pointer(wanted), Type::Pointer(given)) => {
                (wanted.constant || !given.constant) && self.is_derived(&wanted.ty, &given.ty)
            }
            _ => false,
        }
    }
}

/// Whether `count` arguments can be passed.
pub(super) fn takes_count(function: &Function, count: usize) -> bool {
    let required = function
        .parameters
        .iter()
        .take_while(|parameter| parameter.default.is_none() && !parameter.pack)
        .count();
    if function.parameters.last().is_some_and(|last| last.pack) {
        return count >= required;
    }
    (required..=function.parameters.len()).contains(&count)
}

/// Whether the written template arguments are types and values where the template wants them.
fn takes_explicit(function: &Function, explicit: &[TemplateValue]) -> bool {
    let Some(parameters) = &function.template else {
        return explicit.is_empty();
    };
    let fits = |(parameter, value): (&TemplateParameter, &TemplateValue)| match parameter.kind {
        TemplateParameterKind::Type { .. } => matches!(value, TemplateValue::Type(_)),
        // A name that only the device knows may be a constant.
        TemplateParameterKind::Value { .. } => {
            matches!(
                value,
                TemplateValue::Value(_) | TemplateValue::Type(Type::Named(_))
            )
        }
        TemplateParameterKind::Pack | TemplateParameterKind::Other => true,
    };
    let has_pack = parameters
        .iter()
        .any(|parameter| matches!(parameter.kind, TemplateParameterKind::Pack));
    if has_pack {
        return true;
    }
    explicit.len() <= parameters.len() && parameters.iter().zip(explicit).all(fits)
}

fn beats(a: &Candidate, b: &Candidate) -> bool {
    let mut pairs = a.ranks.iter().zip(&b.ranks);
    if pairs.clone().any(|(a, b)| a > b) {
        return false;
    }
    pairs.any(|(a, b)| a < b)
        || (!a.template && b.template)
        || (a.template == b.template && !a.pack && b.pack)
}

/// Whether a type is made of any of these template parameters.
fn mentions(ty: &TypeSyntax, parameters: &[TemplateParameter]) -> bool {
    match &ty.kind {
        TypeKind::Named(name) => parameters.iter().any(|p| p.name == name.path),
        TypeKind::Pointer(inner) | TypeKind::Reference(inner) => mentions(inner, parameters),
        _ => false,
    }
}

/// C++'s implicit conversion of a value.
fn conversion(wanted: &Type, value: &Value) -> Option<Rank> {
    match (wanted, value) {
        (Type::Named(name), value) => Some(match value.ty() {
            Type::Named(given) if given == *name => Rank::Exact,
            _ => Rank::Unknown,
        }),
        (Type::Pointer(wanted), Value::Pointer(given, target)) => {
            let gains_const = wanted.constant && !given.constant;
            let loses_const = given.constant && !wanted.constant;
            match (&wanted.ty, &given.ty) {
                // `nullptr`.
                (_, Type::Void) if target.is_null() => Some(Rank::Conversion),
                (wanted, given) if wanted == given && !loses_const => Some(if gains_const {
                    Rank::Qualification
                } else {
                    Rank::Exact
                }),
                (Type::Void, _) if !loses_const => Some(Rank::Conversion),
                (Type::Named(_), _) | (_, Type::Named(_)) => Some(Rank::Unknown),
                _ => None,
            }
        }
        (Type::Pointer(_), Value::Integer(_, 0)) => Some(Rank::Conversion),
        (Type::Pointer(wanted), Value::Text(_)) => {
            (wanted.ty == Type::Scalar(Scalar::Char)).then_some(Rank::Exact)
        }
        (Type::Scalar(wanted), Value::Integer(given, _) | Value::Floating(given, _)) => {
            Some(between_scalars(*wanted, *given))
        }
        (Type::Function | Type::Kernel, Value::Closure(_)) => Some(Rank::Conversion),
        (Type::Scalar(Scalar::Bool), Value::Pointer(..)) => Some(Rank::Conversion),
        (Type::Record(wanted), Value::Record(given, _)) => {
            (Rc::ptr_eq(wanted, given) || wanted.name == given.name).then_some(Rank::Exact)
        }
        (wanted, value) => (*wanted == value.ty()).then_some(Rank::Exact),
    }
}

fn between_scalars(wanted: Scalar, given: Scalar) -> Rank {
    let narrow = given < Scalar::Int && given.is_integer();
    if wanted == given {
        Rank::Exact
    } else if (wanted == Scalar::Int && narrow)
        || (wanted == Scalar::Double && given == Scalar::Float)
    {
        Rank::Promotion
    } else if wanted.is_small_float() || given.is_small_float() {
        Rank::Unknown // a class of its own, with constructors for everything
    } else {
        Rank::Conversion
    }
}
