//! What every part of the lowering shares: text, places, nesting.

use tree_sitter::Node;

use super::ast::{Expr, ExprKind, Function, RecordSyntax, Unsupported};
use super::parse::parse;
use crate::source::preprocess::Preprocessed;
use crate::source::text::At;

/// Statements within statements and operands within operands. Keeps every later walk of the tree
/// on a small stack.
const MAX_NESTING: u32 = 160;

/// What stands within functions and classes, kept apart from them.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    /// Methods by the path of their class, and lambdas.
    pub(crate) functions: Vec<Function>,
    /// Structs of functions, each with a path of its own.
    pub(crate) records: Vec<RecordSyntax>,
}

/// Walks one parsed text. `shift` maps its offsets to the preprocessed text's.
pub(crate) struct Lowerer<'t> {
    text: &'t str,
    origins: &'t Preprocessed,
    shift: i64,
    depth: u32,
    pub(super) inner: Inner,
}

impl<'t> Lowerer<'t> {
    pub(crate) fn new(origins: &'t Preprocessed) -> Self {
        Self {
            text: origins.text(),
            origins,
            shift: 0,
            depth: 0,
            inner: Inner::default(),
        }
    }

    pub(super) fn origins(&self) -> &'t Preprocessed {
        self.origins
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Where a node was written.
    pub(super) fn at(&self, node: Node<'_>) -> At {
        let offset = node.start_byte() as i64 + self.shift;
        self.origins.origin(usize::try_from(offset).unwrap_or(0))
    }

    /// Runs `lower` one level deeper; `None` where the text nests too deep.
    pub(super) fn nested<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_NESTING {
            return None;
        }
        self.depth += 1;
        let lowered = lower(self);
        self.depth -= 1;
        Some(lowered)
    }

    /// Reads `node`'s text, which the grammar took for parameters, as the arguments of a call.
    pub(super) fn reparse_arguments(&mut self, parameter_list: Node<'_>) -> Option<Vec<Expr>> {
        const BEFORE: &str = "void f(){f";
        let snippet = format!("{BEFORE}{};}}", self.text_of(parameter_list));
        let tree = parse(&snippet).ok()?;
        if tree.root_node().has_error() {
            return None;
        }
        let call = find_first(tree.root_node(), "argument_list")?;
        let mut inner = Lowerer {
            text: &snippet,
            origins: self.origins,
            shift: self.shift + parameter_list.start_byte() as i64 - BEFORE.len() as i64,
            depth: self.depth,
            inner: std::mem::take(&mut self.inner),
        };
        let arguments = inner.expressions_in(call);
        self.inner = inner.inner;
        Some(arguments)
    }
}

/// The first node of a kind in text order.
fn find_first<'n>(root: Node<'n>, kind: &str) -> Option<Node<'n>> {
    let mut cursor = root.walk();
    loop {
        if cursor.node().kind() == kind {
            return Some(cursor.node());
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return None;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Every identifier below a node, once each, in order.
pub(super) fn names_in(lowerer: &Lowerer<'_>, root: Node<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if matches!(
            node.kind(),
            "identifier" | "type_identifier" | "namespace_identifier"
        ) {
            let name = lowerer.text_of(node);
            if seen.insert(name) {
                names.push(name.to_owned());
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.node() == root {
                return names;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return names;
            }
        }
    }
}

/// The named children of a node without its comments.
pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

/// All children with their field names.
pub(super) fn children_with_fields<'n>(node: Node<'n>) -> Vec<(Option<&'n str>, Node<'n>)> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    if cursor.goto_first_child() {
        loop {
            children.push((cursor.field_name(), cursor.node()));
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    children
}

/// The first place below `node` that the grammar could not read, and what is wrong with it.
pub(super) fn first_syntax_error<'n>(node: Node<'n>) -> Option<(Node<'n>, String)> {
    if !node.has_error() {
        return None;
    }
    let mut cursor = node.walk();
    loop {
        let here = cursor.node();
        if here.is_error() {
            return Some((here, "syntax error".to_owned()));
        }
        if here.is_missing() && !is_untyped_list(here) {
            let message = format!("syntax error: `{}` is missing", here.kind());
            return Some((here, message));
        }
        if (here.has_error() && cursor.goto_first_child()) || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if cursor.node() == node || !cursor.goto_parent() {
                return None;
            }
            if cursor.node() == node {
                return None;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// `<<<{1, 2}, ...>>>`: the grammar misses a type that C++ does not ask for.
fn is_untyped_list(missing: Node<'_>) -> bool {
    missing.kind() == "type_identifier"
        && missing
            .parent()
            .is_some_and(|parent| parent.kind() == "compound_literal_expression")
}

pub(super) fn unsupported(message: impl Into<String>, hint: &str) -> Unsupported {
    Unsupported {
        message: message.into(),
        hint: hint.to_owned(),
    }
}

pub(super) fn too_deep() -> Unsupported {
    unsupported(
        format!("code nested more than {MAX_NESTING} levels deep"),
        "split it into several statements",
    )
}

/// An expression that is refused where it would be evaluated.
pub(super) fn unsupported_expression(at: At, reason: Unsupported) -> Expr {
    Expr {
        at,
        kind: ExprKind::Unsupported(reason),
    }
}
