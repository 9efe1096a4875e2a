//! The parts of structs that only the host uses: methods without annotation whose text needs a host.
//!
//! nvcc compiles such a method for the host; NVRTC, which takes every function for device code, would
//! stumble over it though nothing on the device calls it.

use tree_sitter::Node;

use super::Cover;
use super::host_words::Words;
use crate::source::preprocess::Preprocessed;
use crate::source::text::At;
use crate::syntax::items::{Piece, PieceKind};

/// Spans of the submitted text that can go, within kept pieces. `is_host` judges a piece of code.
pub(super) fn host_members(
    root: Node<'_>,
    preprocessed: &Preprocessed,
    piece: &Piece,
    is_host: &dyn Fn(&Words<'_>) -> bool,
) -> Vec<(At, At)> {
    if piece.has_error {
        return Vec::new();
    }
    let Some(node) = root.descendant_for_byte_range(piece.range.start, piece.range.end) else {
        return Vec::new();
    };
    match piece.kind {
        PieceKind::Record => within_records(node, preprocessed, piece, is_host),
        PieceKind::Other if is_outside_method(node) && goes(node, preprocessed, is_host) => {
            vec![piece.span]
        }
        _ => Vec::new(),
    }
}

fn within_records(
    node: Node<'_>,
    preprocessed: &Preprocessed,
    piece: &Piece,
    is_host: &dyn Fn(&Words<'_>) -> bool,
) -> Vec<(At, At)> {
    let mut stay = Vec::new();
    let mut go = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        let in_a_list = node.kind() == "field_declaration_list";
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if in_a_list {
                let span = preprocessed.origin_span(child.start_byte(), child.end_byte());
                if is_method(child) && goes(child, preprocessed, is_host) {
                    go.push(span);
                    continue;
                }
                stay.push(span);
            }
            if !child.kind().ends_with("statement") {
                pending.push(child);
            }
        }
    }
    // A macro may have made this member and its neighbours, or the whole struct.
    let stay = Cover::new(stay.into_iter());
    go.retain(|&span| span.0 > piece.span.0 && span.1 < piece.span.1 && !stay.overlaps(span));
    go
}

/// A function in a struct: defined, declared, or made a friend.
fn is_method(node: Node<'_>) -> bool {
    match node.kind() {
        "function_definition" | "friend_declaration" => true,
        "template_declaration" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .last()
                .is_some_and(is_method)
        }
        "field_declaration" | "declaration" => function_name(node).is_some(),
        _ => false,
    }
}

/// `void S::f() { ... }`
fn is_outside_method(node: Node<'_>) -> bool {
    match node.kind() {
        "template_declaration" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .last()
                .is_some_and(is_outside_method)
        }
        "function_definition" => function_name(node)
            .is_some_and(|name| matches!(name.kind(), "qualified_identifier" | "operator_name")),
        _ => false,
    }
}

/// What a declaration of a function (not of a pointer to one) names.
fn function_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut declarator = node.child_by_field_name("declarator")?;
    while declarator.kind() != "function_declarator" {
        if !matches!(
            declarator.kind(),
            "pointer_declarator" | "reference_declarator"
        ) {
            return None;
        }
        let inner = declarator.child_by_field_name("declarator");
        declarator = inner.or_else(|| declarator.named_child(0))?;
    }
    let name = declarator.child_by_field_name("declarator")?;
    (name.kind() != "parenthesized_declarator").then_some(name)
}

fn goes(node: Node<'_>, preprocessed: &Preprocessed, is_host: &dyn Fn(&Words<'_>) -> bool) -> bool {
    let text = preprocessed.text().get(node.byte_range()).unwrap_or("");
    let head = text.split('{').next().unwrap_or(text);
    !node.has_error() && !head.contains("__device__") && is_host(&Words::of(text))
}
