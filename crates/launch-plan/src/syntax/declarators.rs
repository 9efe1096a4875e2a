//! Lowers types and the declarators around names.

use tree_sitter::Node;

use super::ast::{Name, TypeKind, TypeSyntax, Unsupported};
use super::lower::{Lowerer, children_with_fields, named_children, too_deep, unsupported};
use crate::source::grammar_gaps::POINTER_TO;
use crate::source::text::At;
use crate::types::Scalar;

/// Pointers, arrays and references around one name.
const MAX_DECLARATOR_PARTS: usize = 16;

/// A name with its full type.
pub(super) struct Declared<'n> {
    pub(super) at: At,
    /// Empty for an unnamed parameter.
    pub(super) name: String,
    pub(super) ty: TypeSyntax,
    /// The `function_declarator`, where the name itself is declared as a function.
    pub(super) function: Option<Node<'n>>,
    pub(super) pack: bool,
}

impl Lowerer<'_> {
    /// The type of a declaration without its declarator: `const float` of `const float* x`.
    pub(super) fn base_type(&mut self, declaration: Node<'_>) -> TypeSyntax {
        let mut ty = match declaration.child_by_field_name("type") {
            Some(node) => self.type_node(node),
            None => self.unknown_type(
                declaration,
                unsupported("a declaration without a type", "write its type, or `auto`"),
            ),
        };
        ty.constant |= self.qualifiers(declaration).any(|word| word == "const");
        ty
    }

    /// `const`, `constexpr`, `__constant__` and the like that stand directly in a declaration.
    pub(super) fn qualifiers<'s>(
        &'s self,
        declaration: Node<'s>,
    ) -> impl Iterator<Item = &'s str> + 's {
        children_with_fields(declaration)
            .into_iter()
            .filter(|(field, _)| field.is_none())
            .map(|(_, child)| self.text_of(child))
    }

    /// A type in a cast, `sizeof` or template argument list.
    pub(super) fn type_descriptor(&mut self, node: Node<'_>) -> TypeSyntax {
        if node.kind() != "type_descriptor" {
            return self.type_node(node);
        }
        let base = self.base_type(node);
        match node.child_by_field_name("declarator") {
            Some(declarator) => self.declared(declarator, base).ty,
            None => base,
        }
    }

    /// A type without declarators.
    pub(super) fn type_node(&mut self, node: Node<'_>) -> TypeSyntax {
        let kind = self.nested(|lowerer| lowerer.type_kind(node));
        TypeSyntax {
            at: self.at(node),
            rvalue: false,
            constant: false,
            kind: kind.unwrap_or_else(|| TypeKind::Unsupported(too_deep())),
        }
    }

    fn type_kind(&mut self, node: Node<'_>) -> TypeKind {
        let text = self.text_of(node);
        match node.kind() {
            "primitive_type" if text == "void" => TypeKind::Void,
            "sized_type_specifier" => match sized_type(text) {
                Some(scalar) => TypeKind::Scalar(scalar),
                None => TypeKind::Unsupported(unsupported(
                    format!("the type `{text}`"),
                    "use float or double",
                )),
            },
            "placeholder_type_specifier" | "auto" => TypeKind::Auto,
            "primitive_type" | "identifier" => match Scalar::by_name(text) {
                Some(scalar) => TypeKind::Scalar(scalar),
                None => TypeKind::Named(self.name(node)),
            },
            "template_type" if text.starts_with(POINTER_TO) => {
                let arguments = node.child_by_field_name("arguments");
                let to = arguments.and_then(|list| named_children(list).first().copied());
                match to {
                    Some(to) => TypeKind::Pointer(Box::new(self.type_descriptor(to))),
                    None => TypeKind::Named(self.name(node)),
                }
            }
            "type_identifier"
            | "qualified_identifier"
            | "template_type"
            | "dependent_type"
            | "template_function" => TypeKind::Named(self.name(node)),
            "struct_specifier" | "class_specifier" | "enum_specifier" | "union_specifier" => {
                match node.child_by_field_name("name") {
                    Some(name) => TypeKind::Named(self.name(name)),
                    None if node.kind() == "enum_specifier" => TypeKind::Scalar(Scalar::Int),
                    None => TypeKind::Named(Name {
                        path: self.unnamed(node),
                        arguments: None,
                        owner: None,
                    }),
                }
            }
            // `decltype(auto)` has no operand.
            "decltype" => match named_children(node).first() {
                Some(&operand) if operand.kind() != "auto" => {
                    TypeKind::TypeOf(Box::new(self.expression(operand)))
                }
                _ => TypeKind::Auto,
            },
            _ => TypeKind::Unsupported(unsupported(
                format!("the type `{text}`"),
                "use scalars, pointers and plain structs",
            )),
        }
    }

    fn unknown_type(&self, node: Node<'_>, reason: Unsupported) -> TypeSyntax {
        TypeSyntax {
            at: self.at(node),
            rvalue: false,
            constant: false,
            kind: TypeKind::Unsupported(reason),
        }
    }

    /// The name inside a declarator and its type, given the type to its left.
    pub(super) fn declared<'n>(&mut self, declarator: Node<'n>, base: TypeSyntax) -> Declared<'n> {
        let mut declared = Declared {
            at: self.at(declarator),
            name: String::new(),
            ty: base,
            function: None,
            pack: false,
        };
        let mut next = Some(declarator);
        for _ in 0..MAX_DECLARATOR_PARTS {
            let Some(node) = next else { return declared };
            next = self.declarator_part(node, &mut declared);
        }
        if next.is_some() {
            declared.ty = self.unknown_type(declarator, too_deep());
        }
        declared
    }

    /// Applies one part of a declarator and returns the part within it.
    fn declarator_part<'n>(
        &mut self,
        node: Node<'n>,
        declared: &mut Declared<'n>,
    ) -> Option<Node<'n>> {
        let inner = node.child_by_field_name("declarator").or_else(|| {
            named_children(node)
                .into_iter()
                .rfind(|child| child.kind() != "type_qualifier")
        });
        let at = declared.ty.at;
        let around = |kind: fn(Box<TypeSyntax>) -> TypeKind, ty: &mut TypeSyntax, constant| {
            let old = std::mem::replace(ty, void(at));
            *ty = TypeSyntax {
                at,
                rvalue: false,
                constant,
                kind: kind(Box::new(old)),
            };
        };
        match node.kind() {
            "pointer_declarator" | "abstract_pointer_declarator" | "pointer_type_declarator" => {
                let constant = named_children(node)
                    .iter()
                    .any(|child| self.text_of(*child) == "const");
                around(TypeKind::Pointer, &mut declared.ty, constant);
                node.child_by_field_name("declarator")
            }
            "reference_declarator" | "abstract_reference_declarator" => {
                around(TypeKind::Reference, &mut declared.ty, false);
                declared.ty.rvalue = self.text_of(node).starts_with("&&");
                inner
            }
            "array_declarator" | "abstract_array_declarator" | "array_type_declarator" => {
                let length = node.child_by_field_name("size");
                let length = length.map(|length| Box::new(self.expression(length)));
                let old = std::mem::replace(&mut declared.ty, void(at));
                declared.ty.kind = TypeKind::Array(Box::new(old), length);
                node.child_by_field_name("declarator")
            }
            "function_declarator" | "abstract_function_declarator" => {
                let named = inner.is_some_and(|inner| {
                    matches!(
                        inner.kind(),
                        "identifier"
                            | "qualified_identifier"
                            | "template_function"
                            | "field_identifier"
                            | "operator_name"
                            | "destructor_name"
                            | "type_identifier"
                    )
                });
                if named {
                    declared.function = Some(node);
                } else {
                    declared.ty.kind = TypeKind::Function;
                }
                node.child_by_field_name("declarator")
            }
            "parenthesized_declarator"
            | "abstract_parenthesized_declarator"
            | "attributed_declarator"
            | "init_declarator" => inner,
            "variadic_declarator" => {
                declared.pack = true;
                inner
            }
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "operator_name"
            | "destructor_name" => {
                declared.at = self.at(node);
                self.text_of(node).clone_into(&mut declared.name);
                None
            }
            "template_function" => {
                declared.at = self.at(node);
                declared.name = self.name(node).path;
                None
            }
            other => {
                declared.ty = self.unknown_type(
                    node,
                    unsupported(
                        format!("a declaration of the form `{other}`"),
                        "declare plain variables one by one",
                    ),
                );
                None
            }
        }
    }
}

fn void(at: At) -> TypeSyntax {
    TypeSyntax {
        at,
        rvalue: false,
        constant: false,
        kind: TypeKind::Void,
    }
}

/// `unsigned long long int` and every other order of those words.
fn sized_type(text: &str) -> Option<Scalar> {
    let count = |wanted: &str| {
        text.split_whitespace()
            .filter(|&word| word == wanted)
            .count()
    };
    let known = [
        "unsigned", "signed", "long", "short", "int", "char", "const",
    ];
    if !text.split_whitespace().all(|word| known.contains(&word)) {
        return None;
    }
    let unsigned = count("unsigned") > 0;
    let (signed_type, unsigned_type) = if count("char") > 0 {
        (Scalar::SignedChar, Scalar::UChar)
    } else if count("short") > 0 {
        (Scalar::Short, Scalar::UShort)
    } else {
        match count("long") {
            0 => (Scalar::Int, Scalar::UInt),
            1 => (Scalar::Long, Scalar::ULong),
            _ => (Scalar::LongLong, Scalar::ULongLong),
        }
    };
    Some(if unsigned { unsigned_type } else { signed_type })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sized_types_in_any_order() {
        assert_eq!(sized_type("unsigned"), Some(Scalar::UInt));
        assert_eq!(sized_type("long unsigned int"), Some(Scalar::ULong));
        assert_eq!(sized_type("unsigned  long long"), Some(Scalar::ULongLong));
        assert_eq!(sized_type("signed char"), Some(Scalar::SignedChar));
        assert_eq!(sized_type("long double"), None);
    }
}
