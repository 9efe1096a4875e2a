//! Lowers declarations of variables and aliases, inside functions and out.

use std::collections::HashSet;

use tree_sitter::Node;

use super::ast::{
    Bindings, Expr, Initial, Stmt, StmtKind, Storage, TypeKind, TypeSyntax, Unsupported, Variable,
};
use super::declarators::Declared;
use super::lower::{Lowerer, children_with_fields, named_children, unsupported};

/// Names that one declaration may declare: each has a type of its own here.
pub(super) const MAX_DECLARATORS: usize = 256;

fn too_many() -> Unsupported {
    let message = format!("a declaration of more than {MAX_DECLARATORS} variables");
    unsupported(message, "use an array, or several declarations")
}

impl Lowerer<'_> {
    pub(super) fn local_declaration(&mut self, node: Node<'_>) -> StmtKind {
        let words: Vec<String> = self.qualifiers(node).map(str::to_owned).collect();
        if words.iter().any(|word| word == "extern") {
            return StmtKind::Empty;
        }
        let mut variables = Vec::new();
        let declarators = declarators(node);
        if declarators.len() > MAX_DECLARATORS {
            return StmtKind::Unsupported(too_many());
        }
        for declarator in declarators {
            let (inner, value) = split_initial(declarator);
            if let (Some(names), Some(value)) = (self.bound_names(inner), value) {
                return StmtKind::Bindings(Box::new(Bindings {
                    at: self.at(inner),
                    names,
                    by_reference: inner.kind() == "reference_declarator",
                    value: self.expression(value),
                }));
            }
            let base = self.base_type(node);
            variables.extend(self.local_variable(declarator, base, &words));
        }
        let declared = StmtKind::Declare(variables);
        // `struct S { ... } s;`
        let defined = node
            .child_by_field_name("type")
            .filter(|ty| ty.child_by_field_name("body").is_some())
            .map(|ty| self.local_type(ty, None));
        match defined {
            None => declared,
            Some(defined) => {
                let at = self.at(node);
                let both = [defined, declared].map(|kind| Stmt { at, kind });
                StmtKind::Sequence(both.into())
            }
        }
    }

    /// The names of `[a, b]` and `&[a, b]`.
    pub(super) fn bound_names(&self, declarator: Node<'_>) -> Option<Vec<String>> {
        let list = match declarator.kind() {
            "structured_binding_declarator" => declarator,
            "reference_declarator" => named_children(declarator)
                .into_iter()
                .find(|child| child.kind() == "structured_binding_declarator")?,
            _ => return None,
        };
        let names = named_children(list);
        Some(
            names
                .iter()
                .map(|name| self.text_of(*name).to_owned())
                .collect(),
        )
    }

    /// `None` for the prototype of a function.
    fn local_variable(
        &mut self,
        declarator: Node<'_>,
        base: TypeSyntax,
        words: &[String],
    ) -> Option<Variable> {
        let (inner, value) = split_initial(declarator);
        let declared = self.declared(inner, base);
        let storage = storage(words, &declared.ty);
        let initial = match (declared.function, value) {
            (Some(function), None) => {
                let parameters = function.child_by_field_name("parameters");
                let parameters = parameters.filter(|list| !is_prototype(*list))?;
                // `dim3 block(TILE, TILE);` reads as the declaration of a function.
                Initial::Arguments(self.reparse_arguments(parameters)?)
            }
            (_, Some(value)) => self.initial(value),
            (None, None) => Initial::None,
        };
        Some(variable_of(declared, storage, initial))
    }

    /// What stands after the name: `(a, b)`, `{a, b}` or `= value`. `= {a, b}` is as without `=`.
    pub(super) fn initial(&mut self, value: Node<'_>) -> Initial {
        match value.kind() {
            "argument_list" => Initial::Arguments(self.expressions_in(value)),
            "initializer_list" => Initial::List(self.expressions_in(value)),
            _ => Initial::Value(self.expression(value)),
        }
    }

    /// The condition `T x = value` as a declaration.
    pub(super) fn condition_variable(&mut self, node: Node<'_>) -> Option<Variable> {
        let base = self.base_type(node);
        let declared = self.declared(node.child_by_field_name("declarator")?, base);
        let initial = match node.child_by_field_name("value") {
            Some(value) => self.initial(value),
            None => Initial::None,
        };
        Some(variable_of(declared, Storage::Automatic, initial))
    }

    pub(super) fn local_alias(&mut self, node: Node<'_>) -> StmtKind {
        // `typedef struct { ... } S;`
        if let Some(inner) = node.child_by_field_name("type")
            && inner.child_by_field_name("body").is_some()
        {
            let name = node.child_by_field_name("declarator");
            let name = name.map(|name| self.text_of(name).to_owned());
            return self.local_type(inner, name);
        }
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
        for declarator in declarators(node).into_iter().take(MAX_DECLARATORS) {
            let base = self.base_type(node);
            let (inner, value) = split_initial(declarator);
            let declared = self.declared(inner, base);
            let storage = match storage(&words, &declared.ty) {
                Storage::Automatic => Storage::Static,
                other => other,
            };
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
                (_, Some(value)) => self.initial(value),
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

/// `declared` is the variable's whole type: the `const` of what a pointer points to is not its own.
pub(super) fn storage(words: &[String], declared: &TypeSyntax) -> Storage {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    if has("__managed__") || has("extern") || has("thread_local") {
        Storage::Elsewhere
    } else if has("__device__") || has("__constant__") || has("__shared__") {
        Storage::Device
    } else if has("constexpr") || is_constant(declared) {
        Storage::Constant
    } else if has("static") {
        Storage::Static
    } else {
        Storage::Automatic
    }
}

/// Whether a variable, each element of an array or what a reference names is `const`.
fn is_constant(ty: &TypeSyntax) -> bool {
    match &ty.kind {
        TypeKind::Array(inner, _) | TypeKind::Reference(inner) => ty.constant || is_constant(inner),
        _ => ty.constant,
    }
}
