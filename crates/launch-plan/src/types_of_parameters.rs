//! The parameter types of a function as text, by which C++ tells overloads apart.

use crate::syntax::ast::{Function, TemplateParameter, TypeKind, TypeSyntax};
use crate::tables::Tables;
use crate::types::Scalar;

/// Aliases of aliases, and parts of one type.
const MAX_PARTS: usize = 64;

/// Equal texts mean one function; `None` where the host cannot tell.
pub(crate) fn parameter_types(function: &Function, tables: &Tables) -> Option<String> {
    let template = function.template.as_deref().unwrap_or_default();
    let mut text = String::new();
    for parameter in &function.parameters {
        if parameter.rvalue {
            return None;
        }
        // `const` of the parameter itself is no part of its function's type.
        text.push_str(&written(&parameter.ty, false, template, tables, 0)?);
        text.push(',');
    }
    if function.variadic {
        text.push_str("...");
    }
    Some(text)
}

fn written(
    ty: &TypeSyntax,
    constant: bool,
    template: &[TemplateParameter],
    tables: &Tables,
    depth: usize,
) -> Option<String> {
    if depth > MAX_PARTS {
        return None;
    }
    let inner = |ty: &TypeSyntax, constant| written(ty, constant, template, tables, depth + 1);
    let text = match &ty.kind {
        TypeKind::Void => "void".to_owned(),
        TypeKind::Scalar(scalar) => scalar.name().to_owned(),
        TypeKind::Pointer(pointee) => format!("{}*", inner(pointee, pointee.constant)?),
        TypeKind::Reference(pointee) => format!("{}&", inner(pointee, pointee.constant)?),
        TypeKind::Named(name) if name.arguments.is_none() => {
            let parameter = template
                .iter()
                .position(|parameter| parameter.name == name.path);
            if let Some(position) = parameter {
                format!("#{position}")
            } else if let Some(own) = tables.opaque_type(&name.path) {
                own.to_owned() // an enumeration is a type of its own
            } else if let Some(alias) = tables.alias(&name.path) {
                return inner(alias, constant || alias.constant);
            } else {
                scalar_name(name.plain()).unwrap_or(name.plain()).to_owned()
            }
        }
        TypeKind::Named(_)
        | TypeKind::Auto
        | TypeKind::Array(..)
        | TypeKind::Function
        | TypeKind::TypeOf(_)
        | TypeKind::Unsupported(_) => return None,
    };
    Some(if constant {
        format!("const {text}")
    } else {
        text
    })
}

/// The scalar behind a name, unless the two are types of their own in C++.
fn scalar_name(name: &str) -> Option<&'static str> {
    let own_type = name.starts_with("cuda") || name.starts_with("CU") || name == "wchar_t";
    let scalar = Scalar::by_name(name).filter(|_| !own_type)?;
    Some(scalar.name())
}
