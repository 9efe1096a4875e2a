//! Lowers template parameters and arguments.

use tree_sitter::Node;

use super::ast::{Expr, ExprKind, TemplateArgument, TemplateParameter, TemplateParameterKind};
use super::lower::{Lowerer, named_children, unsupported};

/// Arguments of one template.
const MAX_ARGUMENTS: usize = 1024;

impl Lowerer<'_> {
    pub(super) fn template_arguments(&mut self, list: Node<'_>) -> Vec<TemplateArgument> {
        named_children(list)
            .into_iter()
            .take(MAX_ARGUMENTS + 1)
            .enumerate()
            .map(|(index, child)| match index {
                MAX_ARGUMENTS => TemplateArgument::Value(Expr {
                    at: self.at(child),
                    kind: ExprKind::Unsupported(unsupported(
                        format!("a template with more than {MAX_ARGUMENTS} arguments"),
                        "use fewer",
                    )),
                }),
                _ => self.template_argument(child),
            })
            .collect()
    }

    fn template_argument(&mut self, node: Node<'_>) -> TemplateArgument {
        if node.kind() != "type_descriptor" {
            return TemplateArgument::Value(self.expression(node));
        }
        if let Some(call) = self.call_without_arguments(node) {
            return TemplateArgument::TypeOrValue(self.type_descriptor(node), call);
        }
        let ty = self.type_descriptor(node);
        // Names parse as types; `TILE` may well be a constant.
        let children = named_children(node);
        match children.as_slice() {
            [name]
                if matches!(
                    name.kind(),
                    "type_identifier" | "qualified_identifier" | "template_type"
                ) =>
            {
                let value = self.expression(*name);
                TemplateArgument::TypeOrValue(ty, value)
            }
            _ => TemplateArgument::Type(ty),
        }
    }

    /// `tile<4>()` parses as the type of a function.
    fn call_without_arguments(&mut self, node: Node<'_>) -> Option<Expr> {
        let declarator = node.child_by_field_name("declarator")?;
        let parameters = declarator.child_by_field_name("parameters")?;
        let is_alone = declarator.kind() == "abstract_function_declarator"
            && declarator.child_by_field_name("declarator").is_none()
            && named_children(parameters).is_empty();
        let ty = node.child_by_field_name("type")?;
        let is_name = matches!(
            ty.kind(),
            "type_identifier" | "qualified_identifier" | "template_type"
        );
        (is_alone && is_name).then(|| Expr {
            at: self.at(node),
            kind: ExprKind::Call(Box::new(self.expression(ty)), Vec::new()),
        })
    }

    pub(super) fn template_parameters(&mut self, list: Node<'_>) -> Vec<TemplateParameter> {
        named_children(list)
            .into_iter()
            .map(|child| self.template_parameter(child))
            .collect()
    }

    fn template_parameter(&mut self, node: Node<'_>) -> TemplateParameter {
        match node.kind() {
            "type_parameter_declaration" | "optional_type_parameter_declaration" => {
                let name = node
                    .child_by_field_name("name")
                    .or_else(|| named_children(node).first().copied());
                let default = node.child_by_field_name("default_type");
                TemplateParameter {
                    name: name.map_or("", |name| self.text_of(name)).to_owned(),
                    kind: TemplateParameterKind::Type {
                        default: default.map(|ty| self.type_descriptor(ty)),
                    },
                }
            }
            "parameter_declaration" | "optional_parameter_declaration" => {
                let base = self.base_type(node);
                let default = node.child_by_field_name("default_value");
                let default = default.map(|value| self.expression(value));
                let (name, ty) = match node.child_by_field_name("declarator") {
                    Some(declarator) => {
                        let declared = self.declared(declarator, base);
                        (declared.name, declared.ty)
                    }
                    None => (String::new(), base),
                };
                TemplateParameter {
                    name,
                    kind: TemplateParameterKind::Value { ty, default },
                }
            }
            "variadic_type_parameter_declaration" => {
                let name = named_children(node).last().copied();
                TemplateParameter {
                    name: name.map_or("", |name| self.text_of(name)).to_owned(),
                    kind: TemplateParameterKind::Pack,
                }
            }
            "variadic_parameter_declaration" => {
                let base = self.base_type(node);
                let declarator = node.child_by_field_name("declarator");
                let name = declarator.map(|declarator| self.declared(declarator, base).name);
                TemplateParameter {
                    name: name.unwrap_or_default(),
                    kind: TemplateParameterKind::Pack,
                }
            }
            _ => TemplateParameter {
                name: String::new(),
                kind: TemplateParameterKind::Other,
            },
        }
    }
}
