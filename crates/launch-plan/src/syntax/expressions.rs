//! Lowers expressions.

use tree_sitter::Node;

use super::ast::{BinaryOp, Expr, ExprKind, Initial, LaunchExpr, Name, UnaryOp};
use super::literal;
use super::lower::{
    Lowerer, children_with_fields, named_children, too_deep, unsupported, unsupported_expression,
};
use crate::source::text::At;
use crate::types::Scalar;

const ANOTHER_OPERATOR: &str = "use C's arithmetic, comparison and logical operators";

impl Lowerer<'_> {
    /// Every named child as an expression.
    pub(super) fn expressions_in(&mut self, node: Node<'_>) -> Vec<Expr> {
        named_children(node)
            .into_iter()
            .map(|child| self.expression(child))
            .collect()
    }

    /// `.field = value`; arrays have no such lists in C++.
    fn designated(&mut self, node: Node<'_>) -> ExprKind {
        let parts = named_children(node);
        let (Some(designator), Some(value)) = (parts.first(), parts.last()) else {
            return ExprKind::Unsupported(unsupported("this list", "write the values in order"));
        };
        if parts.len() != 2 || designator.kind() != "field_designator" {
            let message = "a value for a part of a field, or of an array, within a list";
            return ExprKind::Unsupported(unsupported(message, "write the values in order"));
        }
        let name = self
            .text_of(*designator)
            .trim_start_matches('.')
            .trim()
            .to_owned();
        ExprKind::Designated(name, Box::new(self.expression(*value)))
    }

    pub(super) fn expression(&mut self, node: Node<'_>) -> Expr {
        let at = self.at(node);
        let kind = self.nested(|lowerer| lowerer.expression_kind(node));
        Expr {
            at,
            kind: kind.unwrap_or_else(|| ExprKind::Unsupported(too_deep())),
        }
    }

    fn boxed(&mut self, node: Option<Node<'_>>) -> Box<Expr> {
        Box::new(match node {
            Some(node) => self.expression(node),
            None => {
                unsupported_expression(0, unsupported("an incomplete expression", "complete it"))
            }
        })
    }

    fn field(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        self.boxed(node.child_by_field_name(field))
    }

    fn expression_kind(&mut self, node: Node<'_>) -> ExprKind {
        match node.kind() {
            "number_literal" => number(self.text_of(node), self.at(node)),
            "char_literal" => literal::character(self.text_of(node)).map_or_else(
                || ExprKind::Unsupported(unsupported("this character literal", "use a number")),
                |value| ExprKind::Integer(value as u64, Scalar::Char),
            ),
            "true" => ExprKind::Integer(1, Scalar::Bool),
            "false" => ExprKind::Integer(0, Scalar::Bool),
            "null" | "nullptr" => ExprKind::Null,
            "string_literal" | "raw_string_literal" | "concatenated_string" => {
                ExprKind::Text(self.text_literal(node).into())
            }
            "identifier"
                if matches!(
                    self.text_of(node),
                    "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__"
                ) =>
            {
                ExprKind::Text(self.name_of_function_around(node).into())
            }
            "this"
            | "identifier"
            | "type_identifier"
            | "field_identifier"
            | "qualified_identifier"
            | "template_function"
            | "template_type"
            | "template_method" => self.name_kind(node),
            "parenthesized_expression" | "condition_clause" => {
                let children = named_children(node);
                self.expression_kind_of(children.last().copied())
            }
            "unary_expression" => self.unary(node),
            "pointer_expression" => {
                let operand = self.field(node, "argument");
                if self.operator(node) == "&" {
                    ExprKind::AddressOf(operand)
                } else {
                    ExprKind::Dereference(operand)
                }
            }
            "update_expression" => self.update(node),
            "binary_expression" => self.binary(node),
            "assignment_expression" => self.assignment(node),
            "conditional_expression" => ExprKind::Conditional(
                self.field(node, "condition"),
                self.field(node, "consequence"),
                self.field(node, "alternative"),
            ),
            "comma_expression" => {
                ExprKind::Comma(self.field(node, "left"), self.field(node, "right"))
            }
            "subscript_expression" => self.subscript(node),
            "field_expression" => self.member(node),
            "call_expression" => self.call(node),
            "cast_expression" => match node.child_by_field_name("type") {
                Some(ty) => ExprKind::Cast(
                    Box::new(self.type_descriptor(ty)),
                    self.field(node, "value"),
                ),
                None => ExprKind::Unsupported(unsupported("this cast", "write `(T)value`")),
            },
            "compound_literal_expression" => self.compound_literal(node),
            "initializer_list" => ExprKind::List(self.expressions_in(node)),
            "initializer_pair" => self.designated(node),
            "alignof_expression" => match node.child_by_field_name("type") {
                Some(ty) => ExprKind::AlignOf(Box::new(self.type_descriptor(ty))),
                None => ExprKind::Unsupported(unsupported("this `alignof`", "name a type")),
            },
            "sizeof_expression" => self.size_of(node),
            "new_expression" => self.new_expression(node),
            "lambda_expression" => self.lambda(node),
            "parameter_pack_expansion" => self.expansion(node),
            "fold_expression" => self.fold(node),
            "delete_expression" => {
                let children = named_children(node);
                ExprKind::Delete(self.boxed(children.last().copied()))
            }
            // A built-in type's name in the place of a value, as in `float(x)`'s callee.
            "primitive_type" | "sized_type_specifier" => self.name_kind(node),
            other => ExprKind::Unsupported(unknown_expression(other)),
        }
    }

    fn expression_kind_of(&mut self, node: Option<Node<'_>>) -> ExprKind {
        match node {
            Some(node) => self.expression(node).kind,
            None => ExprKind::Unsupported(unsupported("an empty expression", "complete it")),
        }
    }

    /// Its name alone, in all three spellings.
    /// What a literal, or several in a row, stand for. Those that have no meaning here are only shown.
    fn text_literal(&self, node: Node<'_>) -> String {
        let parts = match node.kind() {
            "concatenated_string" => named_children(node),
            _ => vec![node],
        };
        let texts: Option<String> = parts
            .iter()
            .filter(|part| part.kind() != "comment")
            .map(|part| literal::text(self.text_of(*part)))
            .collect();
        texts.unwrap_or_else(|| self.text_of(node).trim_matches('"').to_owned())
    }

    fn name_of_function_around(&self, node: Node<'_>) -> String {
        let definition = std::iter::successors(Some(node), Node::parent)
            .find(|around| around.kind() == "function_definition");
        let declarator = definition.and_then(|node| node.child_by_field_name("declarator"));
        let text = declarator.map_or("", |declarator| self.text_of(declarator));
        let name = text.split('(').next().unwrap_or_default();
        name.trim_matches(['*', '&', ' ']).to_owned()
    }

    fn name_kind(&mut self, node: Node<'_>) -> ExprKind {
        ExprKind::Name(self.name(node))
    }

    /// A name with its path and the arguments of its last part.
    pub(super) fn name(&mut self, node: Node<'_>) -> Name {
        match node.kind() {
            "qualified_identifier" => {
                let scope_node = node.child_by_field_name("scope");
                let scope = scope_node.map_or("", |scope| self.text_of(scope));
                let Some(inner) = node.child_by_field_name("name") else {
                    return plain_name(self.text_of(node));
                };
                let inner = self
                    .nested(|lowerer| lowerer.name(inner))
                    .unwrap_or_else(|| plain_name(""));
                let class = scope_node.filter(|scope| scope.kind() == "template_type");
                let owner = match (inner.owner, class) {
                    (Some(mut owner), _) => {
                        owner.path = format!("{scope}::{}", owner.path);
                        Some(owner)
                    }
                    (None, Some(class)) => self.nested(|lowerer| Box::new(lowerer.name(class))),
                    (None, None) => None,
                };
                Name {
                    path: format!("{scope}::{}", inner.path),
                    arguments: inner.arguments,
                    owner,
                }
            }
            "template_function" | "template_type" | "template_method" => {
                let name = node
                    .child_by_field_name("name")
                    .map_or("", |name| self.text_of(name));
                let arguments = node
                    .child_by_field_name("arguments")
                    .map(|list| self.template_arguments(list));
                Name {
                    path: name.to_owned(),
                    arguments,
                    owner: None,
                }
            }
            "dependent_name" | "dependent_type" => match named_children(node).last() {
                Some(&inner) => self
                    .nested(|lowerer| lowerer.name(inner))
                    .unwrap_or_else(|| plain_name("")),
                None => plain_name(self.text_of(node)),
            },
            _ => plain_name(self.text_of(node)),
        }
    }

    fn operator(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("operator")
            .map_or("", |operator| self.text_of(operator))
    }

    fn unary(&mut self, node: Node<'_>) -> ExprKind {
        let operator = match self.operator(node) {
            "+" => UnaryOp::Plus,
            "-" => UnaryOp::Minus,
            "!" | "not" => UnaryOp::Not,
            "~" | "compl" => UnaryOp::Complement,
            other => {
                let message = format!("the operator `{other}`");
                return ExprKind::Unsupported(unsupported(message, ANOTHER_OPERATOR));
            }
        };
        ExprKind::Unary(operator, self.field(node, "argument"))
    }

    fn update(&mut self, node: Node<'_>) -> ExprKind {
        let operator = node.child_by_field_name("operator");
        let argument = node.child_by_field_name("argument");
        let prefix = match (operator, argument) {
            (Some(operator), Some(argument)) => operator.start_byte() < argument.start_byte(),
            _ => true,
        };
        ExprKind::Step {
            increment: self.operator(node) == "++",
            prefix,
            operand: self.field(node, "argument"),
        }
    }

    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let operator = self.operator(node).to_owned();
        let left = self.field(node, "left");
        let right = self.field(node, "right");
        match operator.as_str() {
            "&&" | "and" => ExprKind::And(left, right),
            "||" | "or" => ExprKind::Or(left, right),
            other => match BinaryOp::parse(other) {
                Some(parsed) => ExprKind::Binary(parsed, left, right),
                None => ExprKind::Unsupported(unsupported(
                    format!("the operator `{other}`"),
                    ANOTHER_OPERATOR,
                )),
            },
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> ExprKind {
        let operator = self.operator(node).to_owned();
        let left = self.field(node, "left");
        let right = self.field(node, "right");
        if operator == "=" {
            return ExprKind::Assign(None, left, right);
        }
        match operator.strip_suffix('=').and_then(BinaryOp::parse) {
            Some(parsed) => ExprKind::Assign(Some(parsed), left, right),
            None => ExprKind::Unsupported(unsupported(
                format!("the operator `{operator}`"),
                ANOTHER_OPERATOR,
            )),
        }
    }

    fn subscript(&mut self, node: Node<'_>) -> ExprKind {
        let indices = node.child_by_field_name("indices").map(named_children);
        match indices.as_deref() {
            Some([index]) => {
                ExprKind::Index(self.field(node, "argument"), self.boxed(Some(*index)))
            }
            _ => ExprKind::Unsupported(unsupported(
                "a subscript with other than one index",
                "use one index, computed from the others",
            )),
        }
    }

    fn member(&mut self, node: Node<'_>) -> ExprKind {
        let field = node.child_by_field_name("field");
        let name = field.map_or_else(|| plain_name(""), |field| self.name(field));
        ExprKind::Field {
            through_pointer: self.operator(node) == "->",
            object: self.field(node, "argument"),
            name,
        }
    }

    fn call(&mut self, node: Node<'_>) -> ExprKind {
        let Some(function) = node.child_by_field_name("function") else {
            return ExprKind::Unsupported(unsupported("this call", "call a function by its name"));
        };
        let arguments = node
            .child_by_field_name("arguments")
            .map(|list| self.expressions_in(list))
            .unwrap_or_default();
        let configuration = named_children(node)
            .into_iter()
            .find(|child| child.kind() == "kernel_call_syntax");
        if let Some(configuration) = configuration {
            return ExprKind::Launch(Box::new(LaunchExpr {
                callee: self.expression(function),
                configuration: self.expressions_in(configuration),
                arguments,
            }));
        }
        if matches!(function.kind(), "primitive_type" | "sized_type_specifier") {
            return ExprKind::Construct(Box::new(self.type_node(function)), arguments);
        }
        if function.kind() == "template_function"
            && let Some(cast) = self.named_cast(function, &arguments)
        {
            return cast;
        }
        ExprKind::Call(Box::new(self.expression(function)), arguments)
    }

    /// `static_cast<T>(x)` and its like.
    fn named_cast(&mut self, function: Node<'_>, arguments: &[Expr]) -> Option<ExprKind> {
        let name = self.text_of(function.child_by_field_name("name")?);
        if !name.ends_with("_cast") {
            return None;
        }
        let list = function.child_by_field_name("arguments")?;
        let ty = self.type_descriptor(*named_children(list).first()?);
        let [operand] = arguments else { return None };
        Some(ExprKind::Cast(Box::new(ty), Box::new(operand.clone())))
    }

    fn compound_literal(&mut self, node: Node<'_>) -> ExprKind {
        let values = node
            .child_by_field_name("value")
            .map(|list| self.expressions_in(list))
            .unwrap_or_default();
        match node.child_by_field_name("type") {
            Some(ty) if !ty.is_missing() => {
                let ty = if ty.kind() == "type_descriptor" {
                    self.type_descriptor(ty)
                } else {
                    self.type_node(ty)
                };
                ExprKind::ConstructList(Box::new(ty), values)
            }
            _ => ExprKind::List(values),
        }
    }

    fn size_of(&mut self, node: Node<'_>) -> ExprKind {
        let dots = children_with_fields(node)
            .iter()
            .any(|(_, child)| child.kind() == "...");
        if dots {
            let pack = named_children(node).last().copied();
            return ExprKind::PackSize(pack.map_or("", |pack| self.text_of(pack)).to_owned());
        }
        if let Some(ty) = node.child_by_field_name("type") {
            return ExprKind::SizeOfType(Box::new(self.type_descriptor(ty)));
        }
        ExprKind::SizeOfValue(self.field(node, "value"))
    }

    fn new_expression(&mut self, node: Node<'_>) -> ExprKind {
        let Some(ty) = node.child_by_field_name("type") else {
            return ExprKind::Unsupported(unsupported("this `new`", "write `new T[count]`"));
        };
        let ty = Box::new(self.type_node(ty));
        let length = node
            .child_by_field_name("declarator")
            .and_then(|declarator| declarator.child_by_field_name("length"));
        let length = length.map(|length| self.boxed(Some(length)));
        let initial = match node.child_by_field_name("arguments") {
            Some(arguments) => self.initial(arguments),
            None => Initial::None,
        };
        ExprKind::New(ty, length, Box::new(initial))
    }
}

fn plain_name(path: &str) -> Name {
    Name {
        path: path.to_owned(),
        arguments: None,
        owner: None,
    }
}

/// The grammar takes a sign into the literal.
fn number(text: &str, at: At) -> ExprKind {
    if let Some(rest) = text.strip_prefix(['-', '+']) {
        let operator = if text.starts_with('-') {
            UnaryOp::Minus
        } else {
            UnaryOp::Plus
        };
        let operand = Expr {
            at,
            kind: number(rest, at),
        };
        return ExprKind::Unary(operator, Box::new(operand));
    }
    if let Some(literal) = literal::integer(text) {
        return ExprKind::Integer(literal.value, literal.scalar);
    }
    match literal::floating(text) {
        Some((value, single)) => ExprKind::Float(
            value,
            if single {
                Scalar::Float
            } else {
                Scalar::Double
            },
        ),
        None => {
            let message = format!("the number `{text}`, which fits no type");
            ExprKind::Unsupported(unsupported(message, "write a smaller number"))
        }
    }
}

fn unknown_expression(kind: &str) -> super::ast::Unsupported {
    let (what, hint) = match kind {
        "gnu_asm_expression" => (
            "inline assembly in host code",
            "host code is interpreted, not compiled; move the work into a kernel",
        ),
        "throw_expression" | "co_await_expression" => {
            ("an exception in host code", "return instead")
        }
        _ => {
            return unsupported(
                format!("host code of the form `{kind}`"),
                "write it with plain expressions",
            );
        }
    };
    unsupported(what, hint)
}
