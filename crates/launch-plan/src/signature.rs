//! Finds the entry function and compares its parameters with the problem's.

use domain::{ElementType, ParameterKind, Signature};

use crate::failure::{Fallible, Fault};
use crate::source::text::SourceText;
use crate::syntax::ast::{Body, Function, Space, TypeKind, TypeSyntax};
use crate::tables::Tables;
use crate::types::Scalar;

/// Names that an entry function may have.
pub(crate) const ENTRY_NAMES: [&str; 2] = ["solve", "solution"];
/// Aliases of aliases.
const MAX_ALIASES: usize = 32;

/// The index of the entry function, whose parameters fit `signature`.
pub(crate) fn find_entry(
    tables: &Tables,
    signature: &Signature,
    source: &SourceText,
) -> Fallible<usize> {
    let hosts = host_entries(tables);
    let expected = signature.declaration();
    let Some(&first) = hosts.first() else {
        return Err(missing(tables, &candidates(tables), &expected));
    };
    let fitting = hosts
        .iter()
        .copied()
        .find(|&index| mismatch(tables.function(index), signature, tables).is_none());
    let index = fitting.unwrap_or(first);
    let function = tables.function(index);
    if let Some(reason) = mismatch(function, signature, tables) {
        let found = head_text(function, source);
        let message = format!("the parameters do not match the problem: {reason}");
        return Err(Fault::signature(Some(function.at), message)
            .hint(format!("expected: {expected}; found: {found}")));
    }
    if let Some(Body::SyntaxError(at, message)) = &function.body {
        return Err(Fault::syntax(*at, message.clone()));
    }
    Ok(index)
}

fn candidates(tables: &Tables) -> Vec<usize> {
    let names = ENTRY_NAMES.iter();
    names
        .flat_map(|name| tables.functions_named(name))
        .collect()
}

/// Functions that could be the entry if their parameters fit.
pub(crate) fn host_entries(tables: &Tables) -> Vec<usize> {
    let mut entries = candidates(tables);
    entries.retain(|&index| {
        let function = tables.function(index);
        matches!(function.space, Space::Host | Space::Both)
            && function.body.is_some()
            && function.template.is_none()
    });
    entries
}

fn missing(tables: &Tables, candidates: &[usize], expected: &str) -> Box<Fault> {
    let found = candidates.first().map(|&index| tables.function(index));
    let (at, message) = match found {
        Some(function) if function.space == Space::Kernel => (
            Some(function.at),
            format!(
                "`{}` is a kernel; the entry is a host function",
                function.path
            ),
        ),
        Some(function) if function.space == Space::Device => (
            Some(function.at),
            format!(
                "`{}` is a __device__ function; the entry is a host function",
                function.path
            ),
        ),
        Some(function) if function.template.is_some() => (
            Some(function.at),
            format!(
                "`{}` is a template; the entry is an ordinary function",
                function.path
            ),
        ),
        Some(function) => (
            Some(function.at),
            format!("`{}` is declared and not defined", function.path),
        ),
        None => (
            None,
            "the file defines no function `solve` (or `solution`)".to_owned(),
        ),
    };
    Fault::signature(at, message).hint(format!("expected: {expected}"))
}

/// What is wrong with a function's parameters.
fn mismatch(function: &Function, signature: &Signature, tables: &Tables) -> Option<String> {
    let (found, wanted) = (function.parameters.len(), signature.0.len());
    if found != wanted || function.variadic {
        let variadic = if function.variadic { " and more" } else { "" };
        return Some(format!(
            "`{}` takes {found}{variadic} parameters, the problem passes {wanted}",
            function.path
        ));
    }
    let pairs = function.parameters.iter().zip(&signature.0);
    for (position, (parameter, wanted)) in pairs.enumerate() {
        let shape = shape_of(&parameter.ty, tables);
        if !fits(&shape, &wanted.kind) {
            return Some(format!(
                "parameter {} (`{}`) is {}, expected {}",
                position + 1,
                parameter.name,
                shape.description(),
                wanted_text(&wanted.kind)
            ));
        }
    }
    None
}

/// A parameter's type as far as a signature cares.
#[derive(Debug, PartialEq)]
pub(crate) enum Shape {
    Pointer(Scalar),
    Scalar(Scalar),
    Other(String),
}

impl Shape {
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Pointer(scalar) => format!("`{}*`", scalar.name()),
            Self::Scalar(scalar) => format!("`{}`", scalar.name()),
            Self::Other(text) => text.clone(),
        }
    }
}

pub(crate) fn shape_of(ty: &TypeSyntax, tables: &Tables) -> Shape {
    match &plain(ty, tables).kind {
        TypeKind::Scalar(scalar) => Shape::Scalar(*scalar),
        TypeKind::Pointer(inner) => match &plain(inner, tables).kind {
            TypeKind::Scalar(scalar) => Shape::Pointer(*scalar),
            TypeKind::Named(name) => match Scalar::by_name(name.plain()) {
                Some(scalar) => Shape::Pointer(scalar),
                None => Shape::Other(format!("`{}*`", name.path)),
            },
            TypeKind::Void => Shape::Other("`void*`".to_owned()),
            TypeKind::Pointer(_) => Shape::Other("a pointer to a pointer".to_owned()),
            _ => Shape::Other("a pointer to another type".to_owned()),
        },
        TypeKind::Named(name) => match Scalar::by_name(name.plain()) {
            Some(scalar) => Shape::Scalar(scalar),
            None => Shape::Other(format!("`{}`", name.path)),
        },
        _ => Shape::Other("of another type".to_owned()),
    }
}

/// A type without references and aliases.
fn plain<'t>(ty: &'t TypeSyntax, tables: &'t Tables) -> &'t TypeSyntax {
    let mut ty = ty;
    for _ in 0..MAX_ALIASES {
        ty = match &ty.kind {
            TypeKind::Reference(inner) => inner,
            TypeKind::Named(name) => match tables.alias(&name.path) {
                Some(alias) => alias,
                None => return ty,
            },
            _ => return ty,
        };
    }
    ty
}

fn fits(shape: &Shape, wanted: &ParameterKind) -> bool {
    match (shape, wanted) {
        (Shape::Pointer(scalar), ParameterKind::Tensor { element, .. }) => {
            let wanted = scalar_of(*element);
            let bytes = matches!(
                (scalar, wanted),
                (Scalar::Char, Scalar::SignedChar) | (Scalar::Char, Scalar::UChar)
            );
            scalar.same_layout(wanted) || bytes
        }
        (Shape::Scalar(scalar), ParameterKind::Scalar { element }) => {
            let wanted = scalar_of(*element);
            if wanted.is_integer() {
                scalar.is_integer()
            } else {
                matches!(scalar, Scalar::Float | Scalar::Double) || *scalar == wanted
            }
        }
        _ => false,
    }
}

fn scalar_of(element: ElementType) -> Scalar {
    match element {
        ElementType::F64 => Scalar::Double,
        ElementType::F32 => Scalar::Float,
        ElementType::F16 => Scalar::Half,
        ElementType::Bf16 => Scalar::Bf16,
        ElementType::Fp8E4m3 => Scalar::E4m3,
        ElementType::Fp8E5m2 => Scalar::E5m2,
        ElementType::I64 => Scalar::LongLong,
        ElementType::I32 => Scalar::Int,
        ElementType::I16 => Scalar::Short,
        ElementType::I8 => Scalar::SignedChar,
        ElementType::U64 => Scalar::ULongLong,
        ElementType::U32 => Scalar::UInt,
        ElementType::U8 => Scalar::UChar,
        ElementType::Bool => Scalar::Bool,
    }
}

fn wanted_text(wanted: &ParameterKind) -> String {
    match wanted {
        ParameterKind::Tensor { element, .. } => format!("`{}*`", element.c_name()),
        ParameterKind::Scalar { element } if scalar_of(*element).is_integer() => {
            format!("`{}` or another integer", element.c_name())
        }
        ParameterKind::Scalar { element } => format!("`{}`", element.c_name()),
    }
}

/// The head of a function as written, on one line.
fn head_text(function: &Function, source: &SourceText) -> String {
    let rest = source.as_str().get(function.at as usize..).unwrap_or("");
    let end = rest.find('{').unwrap_or(rest.len());
    let words: Vec<&str> = rest[..end].split_whitespace().collect();
    let mut text = format!("void {}", words.join(" "));
    if text.len() > 300 {
        let mut end = 300;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("...");
    }
    text
}
