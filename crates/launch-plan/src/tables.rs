//! What a file declares, found by name.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::syntax::ast::{AliasTemplate, Expr, Function, RecordSyntax, TypeSyntax, Variable};
use crate::syntax::items::Items;
use crate::types_of_parameters::parameter_types;

/// Declarations by name. A name without its namespace finds what lies in one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tables {
    functions: Vec<Function>,
    #[serde(skip)]
    function_names: Names,
    /// Methods and lambdas, whose indices follow those of the functions.
    inner_functions: Vec<Function>,
    /// Methods by their whole path.
    #[serde(skip)]
    method_names: HashMap<String, Vec<usize>>,
    /// Whether host code has operators of its own.
    #[serde(skip)]
    has_operators: bool,
    #[serde(skip)]
    has_assignments: bool,
    globals: Vec<Variable>,
    #[serde(skip)]
    global_names: Names,
    aliases: Vec<(String, TypeSyntax)>,
    #[serde(skip)]
    alias_names: Names,
    alias_templates: Vec<AliasTemplate>,
    #[serde(skip)]
    alias_template_names: Names,
    records: Vec<RecordSyntax>,
    #[serde(skip)]
    record_names: Names,
    opaque_types: Vec<String>,
    #[serde(skip)]
    opaque_type_names: Names,
    opened: Vec<String>,
}

/// Last part of a path to everything so called, with the whole path.
#[derive(Debug, Default)]
struct Names(HashMap<String, Vec<(String, usize)>>);

impl Names {
    fn new<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut names: HashMap<String, Vec<(String, usize)>> = HashMap::new();
        for (index, path) in paths.enumerate() {
            names
                .entry(last_part(path).to_owned())
                .or_default()
                .push((path.to_owned(), index));
        }
        Self(names)
    }

    /// Exact matches, or else those whose path ends so.
    fn find(&self, path: &str) -> Vec<usize> {
        let path = path.strip_prefix("::").unwrap_or(path);
        let Some(candidates) = self.0.get(last_part(path)) else {
            return Vec::new();
        };
        let ending = format!("::{path}");
        let matching = |exact: bool| -> Vec<usize> {
            candidates
                .iter()
                .filter(|(full, _)| full == path || (!exact && full.ends_with(&ending)))
                .map(|&(_, index)| index)
                .collect()
        };
        let exact = matching(true);
        if exact.is_empty() {
            matching(false)
        } else {
            exact
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

impl Tables {
    /// Whether types have other names in this file.
    pub(crate) fn has_aliases(&self) -> bool {
        !self.aliases.is_empty() || !self.alias_templates.is_empty()
    }

    pub(crate) fn new(items: Items) -> Self {
        let tables = Self {
            functions: items.functions,
            inner_functions: items.inner_functions,
            globals: items.globals,
            aliases: items.aliases,
            alias_templates: items.alias_templates,
            records: items.records,
            opaque_types: items.opaque_types,
            opened: items.opened,
            ..Self::default()
        };
        let mut tables = tables.indexed();
        for (definition, prototype) in tables.prototypes() {
            let declared = tables.function(prototype);
            let is_static = declared.is_static;
            let defaults = declared
                .parameters
                .iter()
                .map(|parameter| parameter.default.clone());
            let defaults: Vec<Option<Expr>> = defaults.collect();
            let function = tables.function_mut(definition);
            function.is_static |= is_static;
            for (parameter, default) in function.parameters.iter_mut().zip(defaults) {
                parameter.default = parameter.default.take().or(default);
            }
        }
        tables
    }

    fn function_mut(&mut self, index: usize) -> &mut Function {
        let functions = self.functions.len();
        match index.checked_sub(functions) {
            None => &mut self.functions[index],
            Some(inner) => &mut self.inner_functions[inner],
        }
    }

    /// Definitions with the declarations before them, which may say what the definition does not repeat:
    /// default arguments and `static`.
    fn prototypes(&self) -> Vec<(usize, usize)> {
        let mut declared: HashMap<(&str, usize), Vec<usize>> = HashMap::new();
        let all = self
            .functions
            .iter()
            .chain(&self.inner_functions)
            .enumerate();
        for (index, function) in all.clone() {
            let says_more =
                function.is_static || function.parameters.iter().any(|p| p.default.is_some());
            if function.body.is_none() && says_more {
                let key = (function.path.as_str(), function.parameters.len());
                declared.entry(key).or_default().push(index);
            }
        }
        let mut pairs = Vec::new();
        for (index, function) in all.filter(|(_, function)| function.body.is_some()) {
            let key = (function.path.as_str(), function.parameters.len());
            let same = declared.get(&key).into_iter().flatten().copied();
            let types = parameter_types(function, self);
            let mut fitting = same.filter(|&prototype| {
                let other = parameter_types(self.function(prototype), self);
                types.is_none() || other.is_none() || types == other
            });
            if let (Some(prototype), None) = (fitting.next(), fitting.next()) {
                pairs.push((index, prototype));
            }
        }
        pairs
    }

    /// With everything to be found by its name. Names are not written down with the rest, so that none
    /// can lead elsewhere than to what bears it.
    pub(crate) fn indexed(self) -> Self {
        let mut method_names: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, method) in self.inner_functions.iter().enumerate() {
            let index = self.functions.len() + index;
            let same = method_names.entry(method.path.clone()).or_default();
            same.push(index);
        }
        let is_operator = |function: &Function| {
            let name = last_part(&function.path);
            name.starts_with("operator") && !name.ends_with("()") && name != "operator="
        };
        let has_operators = self
            .functions
            .iter()
            .chain(&self.inner_functions)
            .any(is_operator);
        let mut methods = self.inner_functions.iter();
        Self {
            has_assignments: methods.any(|method| last_part(&method.path) == "operator="),
            has_operators,
            method_names,
            function_names: Names::new(self.functions.iter().map(|f| f.path.as_str())),
            global_names: Names::new(self.globals.iter().map(|v| v.name.as_str())),
            alias_names: Names::new(self.aliases.iter().map(|(name, _)| name.as_str())),
            alias_template_names: Names::new(
                self.alias_templates.iter().map(|alias| alias.path.as_str()),
            ),
            opaque_type_names: Names::new(self.opaque_types.iter().map(String::as_str)),
            record_names: Names::new(self.records.iter().map(|r| r.path.as_str())),
            ..self
        }
    }

    /// Whether the file says `using namespace` of it.
    pub(crate) fn opens(&self, namespace: &str) -> bool {
        self.opened.iter().any(|opened| opened == namespace)
    }

    /// Whether a class says what assigning it does.
    pub(crate) fn has_assignments(&self) -> bool {
        self.has_assignments
    }

    pub(crate) fn has_operators(&self) -> bool {
        self.has_operators
    }

    /// Those of file and namespace scope.
    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub(crate) fn function(&self, index: usize) -> &Function {
        match self.functions.get(index) {
            Some(function) => function,
            None => &self.inner_functions[index - self.functions.len()],
        }
    }

    /// The index of a lambda.
    pub(crate) fn lambda(&self, inner: usize) -> Option<usize> {
        (inner < self.inner_functions.len()).then(|| self.functions.len() + inner)
    }

    /// Methods of a class by name; definitions alone, where there are any.
    pub(crate) fn methods(&self, class: &str, name: &str) -> Vec<usize> {
        let path = format!("{class}::{name}");
        let mut found = self.method_names.get(&path).cloned().unwrap_or_default();
        let defined = |&index: &usize| self.function(index).body.is_some();
        if found.iter().any(defined) {
            found.retain(defined);
        }
        found
    }

    /// Functions of a name; definitions before prototypes.
    pub(crate) fn functions_named(&self, path: &str) -> Vec<usize> {
        let mut found = self.function_names.find(path);
        found.sort_by_key(|&index| self.functions[index].body.is_none());
        found
    }

    pub(crate) fn global(&self, path: &str) -> Option<(usize, &Variable)> {
        let index = *self.global_names.find(path).first()?;
        Some((index, &self.globals[index]))
    }

    pub(crate) fn alias(&self, path: &str) -> Option<&TypeSyntax> {
        let index = *self.alias_names.find(path).first()?;
        Some(&self.aliases[index].1)
    }

    pub(crate) fn alias_template(&self, path: &str) -> Option<&AliasTemplate> {
        let index = *self.alias_template_names.find(path).first()?;
        Some(&self.alias_templates[index])
    }

    /// A struct or class by name; for a template, all its versions.
    pub(crate) fn records_named(&self, path: &str) -> Vec<usize> {
        self.record_names.find(path)
    }

    pub(crate) fn record(&self, index: usize) -> &RecordSyntax {
        &self.records[index]
    }

    /// The whole path of a type that exists and that the host knows by name alone.
    pub(crate) fn opaque_type(&self, path: &str) -> Option<&str> {
        let found = self.opaque_type_names.find(path).first().copied();
        found
            .map(|index| self.opaque_types[index].as_str())
            .or_else(|| self.alias_template(path).map(|alias| alias.path.as_str()))
    }
}
