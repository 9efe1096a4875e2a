//! Lowers statements.

use tree_sitter::Node;

use super::ast::{
    Case, Element, Expr, ExprKind, ForEach, Name, Stmt, StmtKind, UnaryOp, Unsupported,
};
use super::lower::{Lowerer, named_children, too_deep, unsupported};
use crate::source::text::At;

impl Lowerer<'_> {
    /// The statements of a block.
    pub(super) fn statements_in(&mut self, block: Node<'_>) -> Vec<Stmt> {
        named_children(block)
            .into_iter()
            .map(|child| self.statement(child))
            .collect()
    }

    pub(super) fn statement(&mut self, node: Node<'_>) -> Stmt {
        let at = self.at(node);
        let kind = self.nested(|lowerer| lowerer.statement_kind(node));
        Stmt {
            at,
            kind: kind.unwrap_or_else(|| StmtKind::Unsupported(too_deep())),
        }
    }

    fn statement_kind(&mut self, node: Node<'_>) -> StmtKind {
        match node.kind() {
            "compound_statement" => StmtKind::Block(self.statements_in(node)),
            "expression_statement" => match named_children(node).first() {
                Some(&expression) => StmtKind::Expr(self.expression(expression)),
                None => StmtKind::Empty,
            },
            "declaration" => self.local_declaration(node),
            "alias_declaration" | "type_definition" => self.local_alias(node),
            "if_statement" => self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "while_statement" => match self.condition(node) {
                Ok((None, condition)) => {
                    StmtKind::While(condition, self.body(node.child_by_field_name("body")))
                }
                Ok((Some(declared), condition)) => {
                    let at = self.at(node);
                    let body = self.body(node.child_by_field_name("body"));
                    while_declared(*declared, *condition, *body, at)
                }
                Err(reason) => StmtKind::Unsupported(reason),
            },
            "do_statement" => match self.condition(node) {
                Ok((_, condition)) => {
                    StmtKind::DoWhile(self.body(node.child_by_field_name("body")), condition)
                }
                Err(reason) => StmtKind::Unsupported(reason),
            },
            "switch_statement" => self.switch(node),
            // A `throw` that is met is refused, so that no handler is ever entered.
            "try_statement" => match node.child_by_field_name("body") {
                Some(body) => StmtKind::Block(self.statements_in(body)),
                None => StmtKind::Unsupported(unknown_statement("try_statement")),
            },
            "for_range_loop" => self.for_each(node),
            "struct_specifier" | "class_specifier" | "enum_specifier" => {
                self.local_type(node, None)
            }
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "return_statement" => {
                let value = named_children(node).first().copied();
                StmtKind::Return(value.map(|value| Box::new(self.expression(value))))
            }
            "using_declaration"
            | "static_assert_declaration"
            | "attributed_statement"
            | "empty_statement" => StmtKind::Empty,
            other => StmtKind::Unsupported(unknown_statement(other)),
        }
    }

    fn body(&mut self, node: Option<Node<'_>>) -> Box<Stmt> {
        Box::new(match node {
            Some(node) => self.statement(node),
            None => Stmt {
                at: 0,
                kind: StmtKind::Empty,
            },
        })
    }

    /// The condition of `if`, `while` and `switch`, with what is declared before it.
    #[allow(clippy::type_complexity)] // a pair, used within this file
    fn condition(&mut self, node: Node<'_>) -> Result<(Option<Box<Stmt>>, Box<Expr>), Unsupported> {
        let Some(clause) = node.child_by_field_name("condition") else {
            return Err(unsupported(
                "a statement without a condition",
                "write the condition",
            ));
        };
        let first = clause
            .child_by_field_name("initializer")
            .and_then(|initial| {
                if initial.kind() == "init_statement" {
                    named_children(initial).first().copied()
                } else {
                    Some(initial)
                }
            })
            .map(|initial| Box::new(self.statement(initial)));
        let value = clause.child_by_field_name("value").unwrap_or(clause);
        if value.kind() == "declaration"
            && let Some(variable) = self.condition_variable(value)
        {
            let at = variable.at;
            let condition = name_of(&variable.name, at);
            let declared = Stmt {
                at,
                kind: StmtKind::Declare(vec![variable]),
            };
            let first = match first {
                None => declared,
                Some(first) => Stmt {
                    at,
                    kind: StmtKind::Sequence(vec![*first, declared]),
                },
            };
            return Ok((Some(Box::new(first)), Box::new(condition)));
        }
        Ok((first, Box::new(self.expression(value))))
    }

    fn if_statement(&mut self, node: Node<'_>) -> StmtKind {
        let (first, condition) = match self.condition(node) {
            Ok(parts) => parts,
            Err(reason) => return StmtKind::Unsupported(reason),
        };
        let then = self.body(node.child_by_field_name("consequence"));
        let otherwise = node.child_by_field_name("alternative").map(|alternative| {
            let inner = if alternative.kind() == "else_clause" {
                named_children(alternative).first().copied()
            } else {
                Some(alternative)
            };
            self.body(inner)
        });
        StmtKind::If {
            first,
            condition,
            then,
            otherwise,
        }
    }

    fn for_statement(&mut self, node: Node<'_>) -> StmtKind {
        let first = node.child_by_field_name("initializer").map(|initial| {
            if initial.kind() == "declaration" {
                return Box::new(self.statement(initial));
            }
            let expression = self.expression(initial);
            Box::new(Stmt {
                at: expression.at,
                kind: StmtKind::Expr(expression),
            })
        });
        let expression = |lowerer: &mut Self, field: &str| {
            node.child_by_field_name(field)
                .map(|part| Box::new(lowerer.expression(part)))
        };
        StmtKind::For {
            first,
            condition: expression(self, "condition"),
            step: expression(self, "update"),
            body: self.body(node.child_by_field_name("body")),
        }
    }

    fn for_each(&mut self, node: Node<'_>) -> StmtKind {
        let first = node.child_by_field_name("initializer").map(|initial| {
            let inner = named_children(initial).first().copied();
            self.statement(
                inner
                    .filter(|_| initial.kind() == "init_statement")
                    .unwrap_or(initial),
            )
        });
        let (Some(declarator), Some(range)) = (
            node.child_by_field_name("declarator"),
            node.child_by_field_name("right"),
        ) else {
            return StmtKind::Unsupported(unsupported(
                "this range-based `for`",
                "write a loop over an index",
            ));
        };
        let element = match self.bound_names(declarator) {
            Some(names) => Element::Bindings {
                at: self.at(declarator),
                names,
                by_reference: declarator.kind() == "reference_declarator",
            },
            None => {
                let base = self.base_type(node);
                let declared = self.declared(declarator, base);
                Element::Variable {
                    at: declared.at,
                    name: declared.name,
                    ty: declared.ty,
                }
            }
        };
        let range = self.expression(range);
        let body = *self.body(node.child_by_field_name("body"));
        StmtKind::ForEach(Box::new(ForEach {
            first,
            element,
            range,
            body,
        }))
    }

    fn switch(&mut self, node: Node<'_>) -> StmtKind {
        let (first, condition) = match self.condition(node) {
            Ok(parts) => parts,
            Err(reason) => return StmtKind::Unsupported(reason),
        };
        let Some(body) = node.child_by_field_name("body") else {
            return StmtKind::Empty;
        };
        let mut cases = Vec::new();
        for child in named_children(body) {
            if child.kind() != "case_statement" {
                return StmtKind::Unsupported(unsupported(
                    "a statement before the first `case` of a `switch`",
                    "move it out of the switch",
                ));
            }
            cases.push(self.case(child));
        }
        let switch = StmtKind::Switch(condition, cases);
        match first {
            None => switch,
            Some(first) => StmtKind::Block(vec![
                *first,
                Stmt {
                    at: self.at(node),
                    kind: switch,
                },
            ]),
        }
    }

    fn case(&mut self, node: Node<'_>) -> Case {
        let label = node.child_by_field_name("value");
        let value = label.map(|label| self.expression(label));
        let body = named_children(node)
            .into_iter()
            .filter(|child| Some(*child) != label)
            .map(|child| self.statement(child))
            .collect();
        Case { value, body }
    }
}

fn name_of(name: &str, at: At) -> Expr {
    Expr {
        at,
        kind: ExprKind::Name(Name {
            path: name.to_owned(),
            arguments: None,
            owner: None,
        }),
    }
}

/// `while (T x = value) body`: x is made anew each time round.
fn while_declared(declared: Stmt, condition: Expr, body: Stmt, at: At) -> StmtKind {
    let leave = StmtKind::If {
        first: None,
        condition: Box::new(Expr {
            at,
            kind: ExprKind::Unary(UnaryOp::Not, Box::new(condition)),
        }),
        then: Box::new(Stmt {
            at,
            kind: StmtKind::Break,
        }),
        otherwise: None,
    };
    let block = StmtKind::Block(vec![declared, Stmt { at, kind: leave }, body]);
    StmtKind::For {
        first: None,
        condition: None,
        step: None,
        body: Box::new(Stmt { at, kind: block }),
    }
}

fn unknown_statement(kind: &str) -> Unsupported {
    let (what, hint) = match kind {
        "goto_statement" | "labeled_statement" => ("`goto` in host code", "use a loop"),
        "try_statement" | "throw_statement" => (
            "an exception in host code",
            "nothing that is interpreted throws; return instead",
        ),
        "namespace_alias_definition" => (
            "a second name for a namespace in host code",
            "write the namespace's own name out",
        ),
        "union_specifier" => ("a union in host code", "use a struct"),
        "co_return_statement" | "co_yield_statement" => {
            ("a coroutine in host code", "write a loop")
        }
        _ => {
            return unsupported(
                format!("host code of the form `{kind}`"),
                "write it with plain statements",
            );
        }
    };
    unsupported(what, hint)
}
