//! Reads structs and enumerations at file scope.

use tree_sitter::Node;

use super::ast::{
    BinaryOp, Expr, ExprKind, Initial, Name, RecordSyntax, Storage, TypeKind, TypeSyntax, Variable,
};
use super::items::{Items, joined};
use super::lower::{Lowerer, children_with_fields, named_children};
use crate::source::text::At;
use crate::types::Scalar;

/// Records a struct by name; returns the name's last part.
pub(super) fn record(
    node: Node<'_>,
    path: &[String],
    template: bool,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) -> Option<String> {
    let name = lowerer
        .text_of(node.child_by_field_name("name")?)
        .to_owned();
    let body = node.child_by_field_name("body")?;
    add_record(&name, node, body, path, template, lowerer, items);
    Some(name)
}

pub(super) fn typedef_of_body(
    node: Node<'_>,
    inner: Node<'_>,
    path: &[String],
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    let declarator = node.child_by_field_name("declarator");
    let (Some(declarator), Some(body)) = (declarator, inner.child_by_field_name("body")) else {
        return;
    };
    if inner.kind() == "enum_specifier" {
        enumeration(inner, path, lowerer, items);
        return;
    }
    let name = lowerer.text_of(declarator).to_owned();
    add_record(&name, inner, body, path, false, lowerer, items);
}

fn add_record(
    name: &str,
    node: Node<'_>,
    body: Node<'_>,
    path: &[String],
    template: bool,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    let plain = !template
        && node.kind() != "union_specifier"
        && named_children(node)
            .iter()
            .all(|child| child.kind() != "base_class_clause");
    let mut fields = Some(Vec::new()).filter(|_| plain);
    for member in named_children(body) {
        let simple = member.kind() == "field_declaration";
        let harmless = matches!(member.kind(), "access_specifier" | "alias_declaration")
            || (member.kind() == "function_definition"
                && member.child_by_field_name("type").is_some());
        if !simple && !harmless {
            fields = None;
        }
        let (true, Some(fields)) = (simple, fields.as_mut()) else {
            continue;
        };
        let is_static = lowerer.qualifiers(member).any(|word| word == "static");
        let default = member.child_by_field_name("default_value");
        for (field, declarator) in children_with_fields(member) {
            if field != Some("declarator") || is_static {
                continue;
            }
            let base = lowerer.base_type(member);
            let declared = lowerer.declared(declarator, base);
            if declared.function.is_none() {
                let default = default.map(|value| lowerer.expression(value));
                fields.push((declared.name, declared.ty, default));
            }
        }
    }
    items.records.push(RecordSyntax {
        at: lowerer.at(node),
        path: joined(path, name),
        fields,
    });
}

/// Enumerators become constants: each the last given one plus its distance from it.
pub(super) fn enumeration(
    node: Node<'_>,
    path: &[String],
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    let name = node.child_by_field_name("name");
    let name = name.map(|name| lowerer.text_of(name).to_owned());
    items.opaque_types.extend(name.clone());
    let Some(body) = node.child_by_field_name("body") else {
        return;
    };
    let mut scope = path.to_vec();
    scope.extend(name);
    let mut base: Option<String> = None;
    let mut distance = 0_u64;
    for enumerator in named_children(body) {
        let Some(label) = enumerator.child_by_field_name("name") else {
            continue;
        };
        let at = lowerer.at(label);
        let short = lowerer.text_of(label);
        let full = joined(path, short);
        let value = if let Some(given) = enumerator.child_by_field_name("value") {
            base = Some(full.clone());
            distance = 0;
            lowerer.expression(given)
        } else {
            after(base.as_deref(), distance, at)
        };
        distance += 1;
        if scope.len() > path.len() {
            let alias = joined(&scope, short);
            items.globals.push(constant(at, alias, named(at, &full)));
        }
        items.values.insert(short.to_owned());
        items.globals.push(constant(at, full, value));
    }
}

/// `base + distance`, or `distance` alone.
fn after(base: Option<&str>, distance: u64, at: At) -> Expr {
    let step = Expr {
        at,
        kind: ExprKind::Integer(distance, Scalar::Int),
    };
    match base {
        None => step,
        Some(base) => Expr {
            at,
            kind: ExprKind::Binary(BinaryOp::Add, Box::new(named(at, base)), Box::new(step)),
        },
    }
}

fn named(at: At, path: &str) -> Expr {
    Expr {
        at,
        kind: ExprKind::Name(Name {
            path: path.to_owned(),
            arguments: None,
        }),
    }
}

fn constant(at: At, name: String, value: Expr) -> Variable {
    Variable {
        at,
        name,
        ty: TypeSyntax {
            at,
            constant: true,
            kind: TypeKind::Scalar(Scalar::Int),
        },
        storage: Storage::Constant,
        initial: Initial::Value(value),
    }
}
