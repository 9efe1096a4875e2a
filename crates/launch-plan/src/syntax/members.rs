//! Reads what stands between the braces of a class.
//!
//! Methods are kept by the path of their class; what makes a class more than fields and functions
//! makes it opaque to the host, and no fault until an object is made.

use tree_sitter::Node;

use super::ast::{
    Function, Initial, Layout, Member, RecordSyntax, Space, TemplateParameter, TypeKind,
    TypeSyntax, Variable,
};
use super::declarations::MAX_DECLARATORS;
use super::items::{any_function_head, function_body, space_of};
use super::lower::{Lowerer, children_with_fields, named_children};
use super::records::{enumerators, record_syntax};

impl Lowerer<'_> {
    pub(super) fn members(&mut self, body: Node<'_>, record: &mut RecordSyntax) {
        for member in named_children(body) {
            match member.kind() {
                "field_declaration" => self.field_declaration(member, record),
                "function_definition" | "declaration" => self.method(member, None, record),
                "template_declaration" => {
                    let list = member.child_by_field_name("parameters");
                    let parameters = list.map(|list| self.template_parameters(list));
                    if let Some(&inner) = named_children(member).last()
                        && matches!(inner.kind(), "function_definition" | "declaration")
                    {
                        self.method(inner, Some(&parameters.unwrap_or_default()), record);
                    }
                }
                "using_declaration" => self.using_member(member, record),
                "alias_declaration" | "type_definition" => {
                    if let Some((name, ty)) = self.alias(member) {
                        record.members.push(Member::Alias(name, ty));
                    }
                }
                _ => {}
            }
        }
    }

    /// `using Base::Base;`
    fn using_member(&mut self, node: Node<'_>, record: &mut RecordSyntax) {
        let Some(&named) = named_children(node).last() else {
            return;
        };
        let path = self.text_of(named);
        let without_arguments =
            |part: &str| part.split('<').next().unwrap_or(part).trim().to_owned();
        let mut parts = path.rsplit("::").map(without_arguments);
        let (last, owner) = (parts.next(), parts.next());
        record.inherits_constructors |= owner.is_some() && last == owner;
    }

    fn field_declaration(&mut self, node: Node<'_>, record: &mut RecordSyntax) {
        if let Some(ty) = node.child_by_field_name("type")
            && let Some(body) = ty.child_by_field_name("body")
        {
            self.nested_type(ty, body, record);
            if ty.child_by_field_name("name").is_none()
                && node.child_by_field_name("declarator").is_none()
                && ty.kind() != "enum_specifier"
            {
                // Its fields are found as if they were this class's own.
                let base = self.base_type(node);
                if let Layout::Fields(fields) = &mut record.layout {
                    fields.push((String::new(), base, None));
                }
            }
        }
        let words: Vec<String> = self.qualifiers(node).map(str::to_owned).collect();
        let is_static = words.iter().any(|word| word == "static");
        let parts = children_with_fields(node);
        let declared = parts
            .iter()
            .filter(|(field, _)| *field == Some("declarator"));
        if declared.count() > MAX_DECLARATORS {
            let reason = format!("it declares more than {MAX_DECLARATORS} fields at once");
            record.layout = Layout::Opaque(reason);
            return;
        }
        for (index, &(field, declarator)) in parts.iter().enumerate() {
            if field != Some("declarator") {
                continue;
            }
            let base = self.base_type(node);
            let declared = self.declared(declarator, base);
            if declared.function.is_some() {
                self.method(node, None, record);
                continue;
            }
            // The value of this field stands before the next.
            let default = parts[index + 1..]
                .iter()
                .take_while(|(field, _)| *field != Some("declarator"))
                .find(|(field, _)| *field == Some("default_value"))
                .map(|&(_, value)| value);
            if is_static {
                let initial = default.map_or(Initial::None, |value| self.initial(value));
                record.members.push(Member::Constant(Variable {
                    at: declared.at,
                    name: declared.name,
                    storage: super::declarations::storage(&words, &declared.ty),
                    ty: declared.ty,
                    initial,
                }));
            } else {
                let default = default.map(|value| self.expression(value));
                if words.iter().any(|word| word == "mutable") {
                    record.mutable.push(declared.name.clone());
                }
                if matches!(declared.ty.kind, TypeKind::Reference(_)) {
                    let reason = "it has a reference as a field; hold a pointer".to_owned();
                    record.layout = Layout::Opaque(reason);
                }
                if let Layout::Fields(fields) = &mut record.layout {
                    fields.push((declared.name, declared.ty, default));
                }
            }
        }
    }

    fn nested_type(&mut self, ty: Node<'_>, body: Node<'_>, record: &mut RecordSyntax) {
        if ty.kind() == "enum_specifier" {
            let constants = enumerators(ty, &[], self);
            record
                .members
                .extend(constants.into_iter().map(Member::Constant));
            if let Some(name) = ty.child_by_field_name("name") {
                let int = super::records::int_type(self.at(ty), false);
                let name = self.text_of(name).to_owned();
                record.members.push(Member::Alias(name, int));
            }
            return;
        }
        let name = match ty.child_by_field_name("name") {
            Some(name) => self.text_of(name).to_owned(),
            None => self.unnamed(ty),
        };
        let path = format!("{}::{name}", record.path);
        let nested = record_syntax(&path, ty, body, None, self);
        self.inner.records.push(nested);
    }

    fn method(
        &mut self,
        node: Node<'_>,
        template: Option<&[TemplateParameter]>,
        record: &mut RecordSyntax,
    ) {
        if let Some(cast) = node.child_by_field_name("declarator")
            && cast.kind() == "operator_cast"
        {
            self.cast_operator(node, cast, record);
            return;
        }
        let words: Vec<&str> = self.qualifiers(node).collect();
        if words.contains(&"virtual") {
            record.layout = Layout::Opaque("it has virtual methods".to_owned());
        }
        let parts = named_children(node);
        let has = |kind: &str| parts.iter().any(|part| part.kind() == kind);
        if has("delete_method_clause") || has("pure_virtual_clause") {
            return;
        }
        let path: Vec<String> = record.methods.split("::").map(str::to_owned).collect();
        let Some(function) = any_function_head(node, &path, template, self) else {
            return;
        };
        let last = function.path.rsplit("::").next().unwrap_or_default();
        if has("default_method_clause") {
            let class = record.methods.rsplit("::").next().unwrap_or_default();
            let is_constructor = class.split('@').next() == Some(last);
            record.default_constructor |= is_constructor && function.parameters.is_empty();
            return;
        }
        if last.starts_with('~') {
            if function.space == Space::Device {
                record.layout = Layout::Opaque("its destructor is for the device".to_owned());
                return;
            }
            record.has_destructor = true;
        }
        let function = self.with_body(function, node);
        self.inner.functions.push(function);
    }

    /// `operator T() const { ... }`
    fn cast_operator(&mut self, node: Node<'_>, cast: Node<'_>, record: &RecordSyntax) {
        let space = space_of(node, self);
        if space == Space::Device {
            return;
        }
        let mut returns = self.base_type(cast);
        let mut inner = cast.child_by_field_name("declarator");
        let mut is_const = false;
        while let Some(part) = inner {
            let kind: fn(Box<TypeSyntax>) -> TypeKind = match part.kind() {
                "abstract_pointer_declarator" => TypeKind::Pointer,
                "abstract_reference_declarator" => TypeKind::Reference,
                _ => {
                    let parts = named_children(part);
                    is_const = parts.iter().any(|part| self.text_of(*part) == "const");
                    break;
                }
            };
            returns = TypeSyntax {
                at: returns.at,
                rvalue: false,
                constant: false,
                kind: kind(Box::new(returns)),
            };
            let parts = named_children(part);
            inner = parts
                .into_iter()
                .rfind(|part| part.kind() != "type_qualifier");
        }
        let function = Function {
            at: self.at(cast),
            path: format!("{}::operator cast", record.methods),
            space,
            template: None,
            specialisation: false,
            parameters: Vec::new(),
            variadic: false,
            returns,
            is_static: false,
            is_const,
            initialisers: Vec::new(),
            body: function_body(node, space, self),
        };
        self.inner.functions.push(function);
    }

    /// The rest of a method whose head is read.
    fn with_body(&mut self, mut function: Function, node: Node<'_>) -> Function {
        // Constructors return nothing.
        if node.child_by_field_name("type").is_none() {
            function.returns.kind = TypeKind::Void;
        }
        let list = named_children(node)
            .into_iter()
            .find(|part| part.kind() == "field_initializer_list");
        for initialiser in list.map(named_children).unwrap_or_default() {
            if let [name, value] = named_children(initialiser)[..] {
                let name = self.text_of(name).to_owned();
                let value = self.initial(value);
                function.initialisers.push((name, value));
            }
        }
        if node.kind() == "function_definition" {
            function.body = function_body(node, function.space, self);
        }
        function
    }
}

/// `void S::method() { ... }`
pub(super) fn method_outside(
    node: Node<'_>,
    path: &[String],
    template: Option<&[TemplateParameter]>,
    lowerer: &mut Lowerer<'_>,
) {
    let Some(mut function) = any_function_head(node, path, template, lowerer) else {
        return;
    };
    if !function.path.contains("::") {
        return;
    }
    // The template is the class's.
    function.template = None;
    let function = lowerer.with_body(function, node);
    lowerer.inner.functions.push(function);
}
