//! Lowers lambdas and what is done with parameter packs.

use tree_sitter::Node;

use super::ast::{
    BinaryOp, Body, Capture, CaptureKind, Expansion, ExprKind, Fold, FoldOperator, Function,
    Lambda, Space, TypeKind, TypeSyntax,
};
use super::lower::{Lowerer, children_with_fields, named_children, names_in, unsupported};

impl Lowerer<'_> {
    pub(super) fn lambda(&mut self, node: Node<'_>) -> ExprKind {
        let at = self.at(node);
        let declarator = node.child_by_field_name("declarator");
        let parts = declarator.map(named_children).unwrap_or_default();
        if parts.iter().any(|part| self.text_of(*part) == "mutable") {
            return ExprKind::Unsupported(unsupported(
                "a `mutable` lambda",
                "capture by reference what the lambda changes",
            ));
        }
        let list = declarator.and_then(|node| node.child_by_field_name("parameters"));
        let (parameters, variadic) = match list {
            Some(list) => self.parameters(list),
            None => (Vec::new(), false),
        };
        let returns = parts
            .iter()
            .find(|part| part.kind() == "trailing_return_type")
            .and_then(|part| named_children(*part).first().copied())
            .map_or(
                TypeSyntax {
                    at,
                    rvalue: false,
                    constant: false,
                    kind: TypeKind::Auto,
                },
                |ty| self.type_descriptor(ty),
            );
        let template = node.child_by_field_name("template_parameters");
        let template = template.map(|list| self.template_parameters(list));
        let body = node.child_by_field_name("body");
        let names = body.map_or_else(Vec::new, |body| names_in(self, body));
        let statements = body.map_or_else(Vec::new, |body| self.statements_in(body));
        let mut lambda = Lambda {
            default: None,
            captures: Vec::new(),
            this: false,
            names,
            function: 0,
        };
        if let Some(list) = node.child_by_field_name("captures") {
            self.captures(list, &mut lambda);
        }
        lambda.function = self.inner.functions.len();
        self.inner.functions.push(Function {
            at,
            path: "a lambda".to_owned(),
            space: Space::Host,
            template,
            specialisation: false,
            parameters,
            variadic,
            returns,
            is_static: true,
            is_const: false,
            initialisers: Vec::new(),
            body: Some(Body::Statements(statements)),
        });
        ExprKind::Lambda(Box::new(lambda))
    }

    fn captures(&mut self, list: Node<'_>, lambda: &mut Lambda) {
        let mut kind = CaptureKind::Copy;
        for (_, child) in children_with_fields(list) {
            let at = self.at(child);
            match child.kind() {
                "lambda_default_capture" => {
                    lambda.default = Some(if self.text_of(child) == "&" {
                        CaptureKind::Reference
                    } else {
                        CaptureKind::Copy
                    });
                }
                "this" => lambda.this = true,
                "&" => kind = CaptureKind::Reference,
                "," => kind = CaptureKind::Copy,
                "identifier" => lambda.captures.push(Capture {
                    at,
                    name: self.text_of(child).to_owned(),
                    kind,
                    value: None,
                }),
                "lambda_capture_initializer" => {
                    let by_reference = children_with_fields(child)
                        .iter()
                        .any(|(_, part)| part.kind() == "&");
                    let left = child.child_by_field_name("left");
                    let right = child.child_by_field_name("right");
                    lambda.captures.push(Capture {
                        at,
                        name: left.map_or("", |name| self.text_of(name)).to_owned(),
                        kind: if by_reference {
                            CaptureKind::Reference
                        } else {
                            kind
                        },
                        value: right.map(|value| self.expression(value)),
                    });
                }
                _ => {}
            }
        }
    }

    fn pattern(&mut self, node: Node<'_>) -> Expansion {
        Expansion {
            names: names_in(self, node),
            size: u32::try_from(node.byte_range().len()).unwrap_or(u32::MAX),
            pattern: self.expression(node),
        }
    }

    pub(super) fn expansion(&mut self, node: Node<'_>) -> ExprKind {
        match node.child_by_field_name("pattern") {
            // `Ts...` among template arguments.
            Some(pattern) if pattern.kind() == "type_descriptor" => {
                let name = named_children(pattern);
                let name = name.first().copied().unwrap_or(pattern);
                ExprKind::Expand(Box::new(self.pattern(name)))
            }
            Some(pattern) => ExprKind::Expand(Box::new(self.pattern(pattern))),
            None => ExprKind::Unsupported(unsupported(
                "this expansion of a parameter pack",
                "write the arguments out",
            )),
        }
    }

    /// `(p + ...)`, `(... + p)`, `(p + ... + init)` and `(init + ... + p)`.
    pub(super) fn fold(&mut self, node: Node<'_>) -> ExprKind {
        let refused = || {
            ExprKind::Unsupported(unsupported(
                "this fold expression",
                "write the operands out",
            ))
        };
        let children = children_with_fields(node);
        let operands: Vec<Node<'_>> = children
            .iter()
            .filter(|(_, child)| child.is_named() && child.kind() != "...")
            .map(|&(_, child)| child)
            .collect();
        let dots = children.iter().position(|(_, child)| child.kind() == "...");
        let first = children.iter().position(|(_, child)| child.is_named());
        let (Some(dots), Some(first)) = (dots, first) else {
            return refused();
        };
        let symbol = children
            .iter()
            .filter(|(_, child)| !child.is_named() && !matches!(child.kind(), "(" | ")" | "..."))
            .map(|&(_, child)| self.text_of(child))
            .next();
        let operator = match symbol {
            Some("&&") => FoldOperator::And,
            Some("||") => FoldOperator::Or,
            Some(",") => FoldOperator::Comma,
            other => match other.and_then(BinaryOp::parse) {
                Some(operator) => FoldOperator::Binary(operator),
                None => return refused(),
            },
        };
        let (pattern, initial) = match operands.as_slice() {
            [pattern] => (*pattern, None),
            [left, right] if names_in(self, *left).is_empty() => (*right, Some(*left)),
            [left, right] => (*left, Some(*right)),
            _ => return refused(),
        };
        let from_left = match initial {
            None => dots < first,
            Some(initial) => initial.start_byte() < pattern.start_byte(),
        };
        let expansion = self.pattern(pattern);
        ExprKind::Fold(Box::new(Fold {
            operator,
            expansion,
            initial: initial.map(|initial| self.expression(initial)),
            from_left,
        }))
    }
}
