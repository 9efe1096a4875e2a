//! Names that stand for types, and names taken out of their namespaces.

use tree_sitter::Node;

use super::ast::{AliasTemplate, TemplateParameter};
use super::items::{Items, PieceKind, joined, push};
use super::lower::{Lowerer, named_children};
use super::records::typedef_of_body;

/// `using A = T;` and `typedef T A;`
pub(super) fn read_alias(
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
        typedef_of_body(node, inner, path, lowerer, items);
    }
    let mut names = Vec::new();
    if let Some((name, ty)) = lowerer.alias(node) {
        names.push(name.clone());
        let path = joined(path, &name);
        match template {
            Some(parameters) => items.alias_templates.push(AliasTemplate {
                path,
                parameters: parameters.to_vec(),
                ty,
            }),
            None => items.aliases.push((path, ty)),
        }
    }
    push(items, lowerer, PieceKind::Record, whole, names);
}

/// `using std::vector;` goes with the host; `using std::min;` stays where device code says `min`.
pub(super) fn read_using(
    node: Node<'_>,
    whole: Node<'_>,
    lowerer: &Lowerer<'_>,
    items: &mut Items,
) {
    let named = named_children(node).last().copied();
    let path = named
        .filter(|named| named.kind() == "qualified_identifier")
        .map(|named| lowerer.text_of(named))
        .filter(|_| !lowerer.text_of(node).contains("namespace"));
    let (kind, names) = match path {
        Some(path) => {
            let name = path.rsplit("::").next().unwrap_or(path).trim();
            (PieceKind::HostVariable, vec![name.to_owned()])
        }
        None => (PieceKind::Other, vec![]),
    };
    if path.is_none()
        && let Some(named) = named
    {
        items.opened.push(lowerer.text_of(named).to_owned());
    }
    push(items, lowerer, kind, whole, names);
}
