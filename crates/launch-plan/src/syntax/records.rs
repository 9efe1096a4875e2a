//! Reads structs and enumerations, of files and of functions.

use tree_sitter::Node;

use super::ast::{
    BinaryOp, Expr, ExprKind, Initial, Layout, Name, RecordSyntax, Stmt, StmtKind, Storage,
    TemplateParameter, TypeKind, TypeSyntax, Variable,
};
use super::items::{Items, joined};
use super::lower::{Lowerer, children_with_fields, named_children};
use crate::source::text::At;
use crate::types::Scalar;

/// Records a struct by name; returns the name's last part.
pub(super) fn record(
    node: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) -> Option<String> {
    let body = node.child_by_field_name("body")?;
    let Some(named) = node.child_by_field_name("name") else {
        let path = joined(path, &lowerer.unnamed(node));
        let record = record_syntax(&path, node, body, template, lowerer);
        items.records.push(record);
        return None;
    };
    let named = lowerer.name(named);
    let path = joined(path, &named.path);
    let at = lowerer.at(node);
    let methods = match named.arguments {
        Some(_) => format!("{path}@{at}"),
        None => path.clone(),
    };
    let mut record = class_syntax(&path, methods, node, body, template, lowerer);
    record.specialised = named.arguments;
    items.records.push(record);
    Some(named.path)
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
        let name = lowerer.text_of(declarator).to_owned();
        enumeration(inner, Some(name), path, lowerer, items);
        return;
    }
    let name = joined(path, lowerer.text_of(declarator));
    let record = record_syntax(&name, inner, body, None, lowerer);
    items.records.push(record);
}

/// A class by its path; its methods become inner functions.
pub(super) fn record_syntax(
    path: &str,
    node: Node<'_>,
    body: Node<'_>,
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
) -> RecordSyntax {
    class_syntax(path, path.to_owned(), node, body, template, lowerer)
}

fn class_syntax(
    path: &str,
    methods: String,
    node: Node<'_>,
    body: Node<'_>,
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
) -> RecordSyntax {
    let mut record = RecordSyntax {
        at: lowerer.at(node),
        path: path.to_owned(),
        methods,
        template: template.map(<[TemplateParameter]>::to_vec),
        specialised: None,
        members: Vec::new(),
        is_union: node.kind() == "union_specifier",
        mutable: Vec::new(),
        default_constructor: false,
        has_destructor: false,
        inherits_constructors: false,
        base: None,
        layout: Layout::Fields(Vec::new()),
    };
    let read = lowerer.nested(|lowerer| lowerer.members(body, &mut record));
    if read.is_none() {
        record.layout = Layout::Opaque("it nests too deep".to_owned());
    }
    let is_clause = |child: &Node<'_>| child.kind() == "base_class_clause";
    if let Some(clause) = named_children(node).into_iter().find(is_clause) {
        lowerer.base_class(clause, &mut record);
    }
    record
}

impl Lowerer<'_> {
    /// What the values of an enumeration are.
    fn underlying_type(&mut self, node: Node<'_>) -> TypeSyntax {
        match node.child_by_field_name("base") {
            Some(base) => self.type_node(base),
            None => int_type(self.at(node), false),
        }
    }

    /// One plain base class becomes the first field.
    fn base_class(&mut self, clause: Node<'_>, record: &mut RecordSyntax) {
        let is_type = |child: &Node<'_>| {
            matches!(
                child.kind(),
                "type_identifier" | "template_type" | "qualified_identifier"
            )
        };
        let bases: Vec<Node<'_>> = named_children(clause).into_iter().filter(is_type).collect();
        let is_virtual = self
            .text_of(clause)
            .split_whitespace()
            .any(|word| word == "virtual");
        let reason = match bases.as_slice() {
            [base] if !is_virtual => {
                let base = self.type_node(*base);
                record.base = Some(base.clone());
                if let Layout::Fields(fields) = &mut record.layout {
                    fields.insert(0, (String::new(), base, None));
                }
                return;
            }
            _ if is_virtual => "it has a virtual base class",
            _ => "it has several base classes",
        };
        record.layout = Layout::Opaque(reason.to_owned());
    }

    /// What a struct without a name is called here: no name that anyone can write.
    pub(super) fn unnamed(&self, node: Node<'_>) -> String {
        let what = match node.kind() {
            "union_specifier" => "union",
            _ => "struct",
        };
        format!("unnamed {what}@{}", self.at(node))
    }

    /// A struct or an enumeration within a function; `name` from a `typedef`.
    pub(super) fn local_type(&mut self, node: Node<'_>, name: Option<String>) -> StmtKind {
        let given = node.child_by_field_name("name");
        let name = name.or_else(|| given.map(|given| self.text_of(given).to_owned()));
        let Some(body) = node.child_by_field_name("body") else {
            return StmtKind::Empty;
        };
        let at = self.at(node);
        if node.kind() == "enum_specifier" {
            let mut statements = Vec::new();
            if let Some(name) = name {
                statements.push(StmtKind::Alias(name, self.underlying_type(node)));
            }
            statements.push(StmtKind::Declare(enumerators(node, &[], self)));
            let statements = statements.into_iter().map(|kind| Stmt { at, kind });
            return StmtKind::Sequence(statements.collect());
        }
        let name = name.unwrap_or_else(|| self.unnamed(node));
        // Structs of two functions may have one name.
        let path = format!("{name}@{at}");
        let record = record_syntax(&path, node, body, None, self);
        self.inner.records.push(record);
        StmtKind::Record(name, path)
    }
}

/// Enumerators of a file become constants.
pub(super) fn enumeration(
    node: Node<'_>,
    name: Option<String>,
    path: &[String],
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    if let Some(name) = name {
        let path = joined(path, &name);
        items.opaque_types.push(path.clone()); // for template arguments, which keep its name
        items.aliases.push((path, lowerer.underlying_type(node)));
    }
    for enumerator in enumerators(node, path, lowerer) {
        let name = &enumerator.name;
        let short = name.rsplit("::").next().unwrap_or(name);
        items.values.insert(short.to_owned());
        items.globals.push(enumerator);
    }
}

/// Each enumerator is the last given one plus its distance from it. One of a named enumeration is found
/// with that name before it and without.
pub(super) fn enumerators(
    node: Node<'_>,
    path: &[String],
    lowerer: &mut Lowerer<'_>,
) -> Vec<Variable> {
    let mut constants = Vec::new();
    let Some(body) = node.child_by_field_name("body") else {
        return constants;
    };
    let name = node.child_by_field_name("name");
    let mut scope = path.to_vec();
    scope.extend(name.map(|name| lowerer.text_of(name).to_owned()));
    // `enum class`: the enumerators are seen through its name alone.
    let is_scoped = children_with_fields(node)
        .iter()
        .any(|(_, child)| matches!(child.kind(), "class" | "struct"));
    let mut base: Option<String> = None;
    let mut distance = 0_u64;
    for enumerator in named_children(body) {
        let Some(label) = enumerator.child_by_field_name("name") else {
            continue;
        };
        let at = lowerer.at(label);
        let short = lowerer.text_of(label);
        let full = joined(if is_scoped { &scope } else { path }, short);
        let value = if let Some(given) = enumerator.child_by_field_name("value") {
            base = Some(full.clone());
            distance = 0;
            lowerer.expression(given)
        } else {
            after(base.as_deref(), distance, at)
        };
        distance += 1;
        let has_alias = scope.len() > path.len() && !is_scoped;
        let alias = has_alias.then(|| joined(&scope, short));
        constants.push(constant(at, full.clone(), value));
        constants.extend(alias.map(|alias| constant(at, alias, named(at, &full))));
    }
    constants
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
            owner: None,
        }),
    }
}

fn constant(at: At, name: String, value: Expr) -> Variable {
    Variable {
        at,
        name,
        ty: int_type(at, true),
        storage: Storage::Constant,
        initial: Initial::Value(value),
    }
}

pub(super) fn int_type(at: At, constant: bool) -> TypeSyntax {
    TypeSyntax {
        at,
        rvalue: false,
        constant,
        kind: TypeKind::Scalar(Scalar::Int),
    }
}
