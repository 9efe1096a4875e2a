//! Walks a file's top level: what it declares, and where each piece lies in the text.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::aliases::{read_alias, read_using};
use super::ast::{
    AliasTemplate, Body, Function, Parameter, RecordSyntax, Space, Storage, TemplateParameter,
    TypeKind, TypeSyntax, Variable,
};
use super::lower::{Lowerer, children_with_fields, first_syntax_error, named_children};
use super::members::method_outside;
use super::records::{enumeration, record};
use crate::source::text::At;

/// Namespaces within namespaces.
const MAX_NAMESPACES: usize = 32;

/// All that a file declares at file and namespace scope.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) functions: Vec<Function>,
    /// Names carry their namespaces.
    pub(crate) globals: Vec<Variable>,
    /// Variables that the file defines itself, with where: no enumerators, no `extern`.
    pub(crate) defined: Vec<(String, At)>,
    /// Last parts of names that stand for values: variables, enumerators, functions.
    pub(super) values: HashSet<String>,
    pub(crate) aliases: Vec<(String, TypeSyntax)>,
    pub(crate) alias_templates: Vec<AliasTemplate>,
    /// `using namespace`
    pub(crate) opened: Vec<String>,
    pub(crate) records: Vec<RecordSyntax>,
    /// Methods and lambdas.
    pub(crate) inner_functions: Vec<Function>,
    /// Type names that exist but that the host cannot look into (enums, templates).
    pub(crate) opaque_types: Vec<String>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) first_error: Option<(At, String)>,
}

/// One declaration as text.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// In the preprocessed text.
    pub(crate) range: Range<usize>,
    /// In the submitted text.
    pub(crate) span: (At, At),
    /// Last parts of the names that it declares.
    pub(crate) names: Vec<String>,
    pub(crate) has_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Annotated `__global__` or `__device__`.
    DeviceFunction,
    /// Not annotated, or `__host__`; definition or prototype.
    HostFunction,
    DeviceVariable,
    /// Or a name taken out of its namespace.
    HostVariable,
    /// A struct or an alias of a type.
    Record,
    /// Enums, `using namespace`, `static_assert`, what the grammar does not know.
    Other,
}

/// Reads the top level of a parsed file.
pub(crate) fn items(root: Node<'_>, lowerer: &mut Lowerer<'_>) -> Items {
    let mut items = Items {
        first_error: first_syntax_error(root).map(|(node, message)| (lowerer.at(node), message)),
        ..Items::default()
    };
    read_all(root, &[], lowerer, &mut items);
    let inner = std::mem::take(&mut lowerer.inner);
    items.inner_functions = inner.functions;
    items.records.extend(inner.records);
    items
}

fn read_all(node: Node<'_>, path: &[String], lowerer: &mut Lowerer<'_>, items: &mut Items) {
    for child in named_children(node) {
        read(child, child, path, None, lowerer, items);
    }
}

/// `whole` is what would be blanked: `node` with the `template` or `extern "C"` around it.
fn read(
    node: Node<'_>,
    whole: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    let body = node.child_by_field_name("body");
    match (node.kind(), body) {
        ("namespace_definition", Some(body)) => {
            let mut inner = path.to_vec();
            let name = node.child_by_field_name("name");
            inner.extend(name.map(|name| lowerer.text_of(name).to_owned()));
            if inner.len() < MAX_NAMESPACES {
                read_all(body, &inner, lowerer, items);
            }
        }
        ("linkage_specification", Some(body)) if body.kind() == "declaration_list" => {
            // Only namespaces may nest without bound; a nested `extern "C"` counts as one.
            if let Some(()) = lowerer.nested(|lowerer| read_all(body, path, lowerer, items)) {}
        }
        ("linkage_specification", Some(body)) => {
            let read_inner =
                |lowerer: &mut Lowerer<'_>| read(body, whole, path, template, lowerer, items);
            if let Some(()) = lowerer.nested(read_inner) {}
        }
        ("template_declaration", _) => {
            let list = node.child_by_field_name("parameters");
            let parameters = list.map(|list| lowerer.template_parameters(list));
            let Some(&inner) = named_children(node).last() else {
                return;
            };
            let parameters = parameters.unwrap_or_default();
            let read_inner = |lowerer: &mut Lowerer<'_>| {
                read(inner, whole, path, Some(&parameters), lowerer, items);
            };
            if let Some(()) = lowerer.nested(read_inner) {}
        }
        ("function_definition", _) => read_function(node, whole, path, template, lowerer, items),
        ("declaration", _) => read_declaration(node, whole, path, template, lowerer, items),
        ("struct_specifier" | "class_specifier" | "union_specifier", _) => {
            let name = record(node, path, template, lowerer, items);
            let names = name.into_iter().collect();
            push(items, lowerer, PieceKind::Record, whole, names);
        }
        ("enum_specifier", _) => {
            let name = node.child_by_field_name("name");
            let name = name.map(|name| lowerer.text_of(name).to_owned());
            enumeration(node, name, path, lowerer, items);
            push(items, lowerer, PieceKind::Other, whole, vec![]);
        }
        ("type_definition" | "alias_declaration", _) => {
            read_alias(node, whole, path, template, lowerer, items);
        }
        ("using_declaration", _) => read_using(node, whole, lowerer, items),
        _ => push(items, lowerer, PieceKind::Other, whole, vec![]),
    }
}

pub(super) fn push(
    items: &mut Items,
    lowerer: &Lowerer<'_>,
    kind: PieceKind,
    node: Node<'_>,
    names: Vec<String>,
) {
    items.pieces.push(Piece {
        kind,
        range: node.byte_range(),
        span: lowerer
            .origins()
            .origin_span(node.start_byte(), node.end_byte()),
        names,
        has_error: first_syntax_error(node).is_some(),
    });
}

pub(super) fn joined(path: &[String], name: &str) -> String {
    if path.is_empty() {
        return name.to_owned();
    }
    format!("{}::{name}", path.join("::"))
}

pub(super) fn space_of(node: Node<'_>, lowerer: &Lowerer<'_>) -> Space {
    let words: Vec<&str> = lowerer.qualifiers(node).collect();
    let has = |wanted: &str| words.contains(&wanted);
    match (has("__global__"), has("__device__"), has("__host__")) {
        (true, _, _) => Space::Kernel,
        (_, true, true) => Space::Both,
        (_, true, false) => Space::Device,
        _ => Space::Host,
    }
}

fn read_function(
    node: Node<'_>,
    whole: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    let Some(mut function) = function_head(node, path, template, lowerer) else {
        method_outside(node, path, template, lowerer);
        push(items, lowerer, PieceKind::Other, whole, vec![]);
        return;
    };
    let last = function.path.rsplit("::").next().unwrap_or_default();
    let names = vec![last.to_owned()];
    let host = function.space == Space::Host;
    function.body = function_body(node, function.space, lowerer);
    if last.starts_with("operator") {
        // Device code calls it without its name.
        items.functions.push(function);
        push(items, lowerer, PieceKind::Other, whole, vec![]);
        return;
    }
    let kind = if host {
        PieceKind::HostFunction
    } else {
        PieceKind::DeviceFunction
    };
    items.values.extend(names.iter().cloned());
    items.functions.push(function);
    push(items, lowerer, kind, whole, names);
}

/// The body of a definition, where the host may run it.
pub(super) fn function_body(
    node: Node<'_>,
    space: Space,
    lowerer: &mut Lowerer<'_>,
) -> Option<Body> {
    if !matches!(space, Space::Host | Space::Both) {
        return Some(Body::Statements(vec![]));
    }
    let body = node.child_by_field_name("body")?;
    Some(match first_syntax_error(node) {
        Some((error, message)) => Body::SyntaxError(lowerer.at(error), message),
        None => Body::Statements(lowerer.statements_in(body)),
    })
}

/// Everything but the body. `None` for methods.
fn function_head(
    node: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
) -> Option<Function> {
    let function = any_function_head(node, path, template, lowerer)?;
    let last = function
        .path
        .strip_prefix(&joined(path, ""))
        .unwrap_or(&function.path);
    // Those of device code mean nothing here.
    let is_foreign = last.starts_with("operator")
        && (function.space == Space::Device || function.template.is_some());
    (!last.contains("::") && !is_foreign).then_some(function)
}

/// The same for methods and operators too.
pub(super) fn any_function_head(
    node: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
) -> Option<Function> {
    let space = space_of(node, lowerer);
    let base = lowerer.base_type(node);
    let declared = lowerer.declared(node.child_by_field_name("declarator")?, base);
    let head = declared.function?;
    let is_static = lowerer.qualifiers(node).any(|word| word == "static");
    let named = head.child_by_field_name("declarator")?;
    let list = head.child_by_field_name("parameters")?;
    let (parameters, variadic) = lowerer.parameters(list);
    let is_const = named_children(head)
        .iter()
        .any(|child| child.kind() == "type_qualifier" && lowerer.text_of(*child) == "const");
    Some(Function {
        at: declared.at,
        path: joined(path, &declared.name),
        space,
        template: template.map(<[TemplateParameter]>::to_vec),
        specialisation: named.kind() == "template_function",
        parameters,
        variadic,
        returns: declared.ty,
        is_static,
        is_const,
        initialisers: Vec::new(),
        body: None,
    })
}

impl Lowerer<'_> {
    /// The parameters of a function, and whether they end in a pack or `...`.
    pub(super) fn parameters(&mut self, list: Node<'_>) -> (Vec<Parameter>, bool) {
        let mut parameters = Vec::new();
        let mut variadic = children_with_fields(list)
            .iter()
            .any(|(_, child)| child.kind() == "...");
        for node in named_children(list) {
            if !node.kind().ends_with("parameter_declaration") {
                continue;
            }
            variadic |= node.kind() == "variadic_parameter_declaration";
            let at = self.at(node);
            let base = self.base_type(node);
            let (name, ty, pack) = match node.child_by_field_name("declarator") {
                Some(declarator) => {
                    let declared = self.declared(declarator, base);
                    (declared.name, declared.ty, declared.pack)
                }
                None => (String::new(), base, false),
            };
            let default = node.child_by_field_name("default_value");
            parameters.push(Parameter {
                pack,
                at,
                name,
                ty: decayed(ty),
                rvalue: self.text_of(node).contains("&&"),
                default: default.map(|value| self.expression(value)),
            });
        }
        // `f(void)` has no parameters.
        if let [only] = parameters.as_slice()
            && only.name.is_empty()
            && matches!(only.ty.kind, TypeKind::Void)
        {
            parameters.clear();
        }
        (parameters, variadic)
    }
}

/// An array parameter is a pointer.
fn decayed(ty: TypeSyntax) -> TypeSyntax {
    match ty.kind {
        TypeKind::Array(element, _) => TypeSyntax {
            at: ty.at,
            rvalue: false,
            constant: false,
            kind: TypeKind::Pointer(element),
        },
        _ => ty,
    }
}

fn read_declaration(
    node: Node<'_>,
    whole: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
    items: &mut Items,
) {
    if let Some(inner) = node.child_by_field_name("type")
        && inner.child_by_field_name("body").is_some()
    {
        match inner.kind() {
            "enum_specifier" => {
                let name = inner.child_by_field_name("name");
                let name = name.map(|name| lowerer.text_of(name).to_owned());
                enumeration(inner, name, path, lowerer, items);
            }
            _ => {
                record(inner, path, template, lowerer, items);
            }
        }
    }
    let (mut variables, prototypes) = lowerer.global_variables(node, &items.values);
    let space = space_of(node, lowerer);
    let device_variable = variables
        .iter()
        .any(|variable| matches!(variable.storage, Storage::Device | Storage::Elsewhere));
    let mut names: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
    let kind = if !prototypes.is_empty() {
        if let Some(head) = function_head(node, path, template, lowerer) {
            items.functions.push(head);
        }
        if space == Space::Host {
            PieceKind::HostFunction
        } else {
            PieceKind::DeviceFunction
        }
    } else if device_variable || space != Space::Host {
        PieceKind::DeviceVariable
    } else {
        PieceKind::HostVariable
    };
    names.extend(prototypes);
    items.values.extend(names.iter().cloned());
    let sound = first_syntax_error(node).is_none();
    for variable in &mut variables {
        variable.name = joined(path, &variable.name);
        if template.is_none() && sound && variable.storage != Storage::Elsewhere {
            items.defined.push((variable.name.clone(), variable.at));
        }
    }
    if template.is_none() {
        items.globals.append(&mut variables);
    }
    push(items, lowerer, kind, whole, names);
}
