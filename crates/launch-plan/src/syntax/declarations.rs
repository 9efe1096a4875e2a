//! Lowers declarations of variables and aliases, inside functions and out.

use std::collections::HashSet;

use tree_sitter::Node;

use super::ast::{Expr, Initial, StmtKind, Storage, TypeKind, TypeSyntax, Variable};
use super::declarators::Declared;
use super::lower::{Lowerer, children_with_fields, named_children, unsupported};

impl Lowerer<'_> {
    pub(super) fn local_declaration(&mut self, node: Node<'_>) -> StmtKind {
        let words: Vec<String> = self.qualifiers(node).map(str::to_owned).collect();
        if words.iter().any(|word| word == "extern") {
            return StmtKind::Empty;
        }
        let mut variables = Vec::new();
        for declarator in declarators(node) {
            let base = self.base_type(node);
            let storage = storage(&words, &base);
            match self.local_variable(declarator, base, storage) {
                Ok(Some(variable)) => variables.push(variable),
                Ok(None) => {}
                Err(kind) => return kind,
            }
        }
        StmtKind::Declare(variables)
    }

    /// `None` for the prototype of a function.
    fn local_variable(
        &mut self,
        declarator: Node<'_>,
        base: TypeSyntax,
        storage: Storage,
    ) -> Result<Option<Variable>, StmtKind> {
        let (inner, value) = split_initial(declarator);
        if inner.kind() == "structured_binding_declarator" {
            return Err(StmtKind::Unsupported(unsupported(
                "a structured binding in host code",
                "name the parts one by one",
            )));
        }
        let declared = self.declared(inner, base);
        let initial = match (declared.function, value) {
            (Some(function), None) => {
                let parameters = function.child_by_field_name("parameters");
                let Some(parameters) = parameters.filter(|list| !is_prototype(*list)) else {
                    return Ok(None);
                };
                // `dim3 block(TILE, TILE);` reads as the declaration of a function.
                match self.reparse_arguments(parameters) {
                    Some(arguments) => Initial::Arguments(arguments),
                    None => return Ok(None),
                }
            }
            (_, Some(value)) if is_arguments(value, declarator) => {
                Initial::Arguments(self.expressions_in(value))
            }
            (_, Some(value)) => Initial::Value(self.expression(value)),
            (None, None) => Initial::None,
        };
        Ok(Some(variable_of(declared, storage, initial)))
    }

    pub(super) fn local_alias(&mut self, node: Node<'_>) -> StmtKind {
        match self.alias(node) {
            Some((name, ty)) => StmtKind::Alias(name, ty),
            None => StmtKind::Unsupported(unsupported("this type alias", "write the type out")),
        }
    }

    /// `using A = T;` or `typedef T A;`
    pub(super) fn alias(&mut self, node: Node<'_>) -> Option<(String, TypeSyntax)> {
        if node.kind() == "alias_declaration" {
            let name = self.text_of(node.child_by_field_name("name")?).to_owned();
            let ty = self.type_descriptor(node.child_by_field_name("type")?);
            return Some((name, ty));
        }
        let base = self.base_type(node);
        let declarator = node.child_by_field_name("declarator")?;
        let declared = self.declared(declarator, base);
        let mut ty = declared.ty;
        if declared.function.is_some() {
            ty.kind = TypeKind::Function;
        }
        (!declared.name.is_empty()).then_some((declared.name, ty))
    }

    /// The variables of a declaration at file scope. Prototypes come back by name alone. `values`
    /// are the names declared before that stand for values.
    pub(super) fn global_variables(
        &mut self,
        node: Node<'_>,
        values: &HashSet<String>,
    ) -> (Vec<Variable>, Vec<String>) {
        let words: Vec<String> = self.qualifiers(node).map(str::to_owned).collect();
        let mut variables = Vec::new();
        let mut prototypes = Vec::new();
        for declarator in declarators(node) {
            let base = self.base_type(node);
            let storage = match storage(&words, &base) {
                Storage::Automatic => Storage::Static,
                other => other,
            };
            let (inner, value) = split_initial(declarator);
            let declared = self.declared(inner, base);
            let initial = match (declared.function, value) {
                (Some(function), None) => {
                    match self.global_arguments(function, &declared, values) {
                        Some(arguments) => Initial::Arguments(arguments),
                        None => {
                            prototypes.push(declared.name);
                            continue;
                        }
                    }
                }
                (_, None) => Initial::None,
                (_, Some(value)) if is_arguments(value, declarator) => {
                    Initial::Arguments(self.expressions_in(value))
                }
                (_, Some(value)) => Initial::Value(self.expression(value)),
            };
            variables.push(variable_of(declared, storage, initial));
        }
        (variables, prototypes)
    }

    /// `const dim3 block(TILE, TILE);` reads as a prototype and is one unless its parameters begin
    /// with the names of values.
    fn global_arguments(
        &mut self,
        function: Node<'_>,
        declared: &Declared<'_>,
        values: &HashSet<String>,
    ) -> Option<Vec<Expr>> {
        let list = function.child_by_field_name("parameters")?;
        let names_value = |parameter: &Node<'_>| {
            let ty = parameter.child_by_field_name("type");
            let name = ty.map_or("", |ty| self.text_of(ty));
            values.contains(name.rsplit("::").next().unwrap_or(name))
        };
        let function = matches!(declared.ty.kind, TypeKind::Void)
            || is_prototype(list)
            || !named_children(list).iter().any(names_value);
        if function {
            return None;
        }
        self.reparse_arguments(list)
    }
}

fn variable_of(declared: Declared<'_>, storage: Storage, initial: Initial) -> Variable {
    Variable {
        at: declared.at,
        name: declared.name,
        ty: declared.ty,
        storage,
        initial,
    }
}

fn declarators(declaration: Node<'_>) -> Vec<Node<'_>> {
    children_with_fields(declaration)
        .into_iter()
        .filter(|(field, _)| *field == Some("declarator"))
        .map(|(_, node)| node)
        .collect()
}

/// The declarator proper and the initial value.
fn split_initial(declarator: Node<'_>) -> (Node<'_>, Option<Node<'_>>) {
    if declarator.kind() != "init_declarator" {
        return (declarator, None);
    }
    let inner = declarator.child_by_field_name("declarator");
    (
        inner.unwrap_or(declarator),
        declarator.child_by_field_name("value"),
    )
}

/// `x(a, b)` or `x{a, b}`, not `x = value`. `x = {a, b}` means the same.
fn is_arguments(value: Node<'_>, _declarator: Node<'_>) -> bool {
    matches!(value.kind(), "argument_list" | "initializer_list")
}

/// Whether a parameter list can only be that of a function: empty, or with named parameters of
/// built-in types.
fn is_prototype(list: Node<'_>) -> bool {
    let parameters = named_children(list);
    parameters.is_empty()
        || parameters.iter().any(|parameter| {
            parameter
                .child_by_field_name("type")
                .is_some_and(|ty| matches!(ty.kind(), "primitive_type" | "sized_type_specifier"))
        })
}

fn storage(words: &[String], base: &TypeSyntax) -> Storage {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    if has("__managed__") || has("extern") || has("thread_local") {
        Storage::Elsewhere
    } else if has("__device__") || has("__constant__") || has("__shared__") {
        Storage::Device
    } else if has("constexpr") || has("constinit") || base.constant {
        Storage::Constant
    } else if has("static") {
        Storage::Static
    } else {
        Storage::Automatic
    }
}
