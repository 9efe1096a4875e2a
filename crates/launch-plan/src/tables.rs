//! What a file declares, found by name.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::syntax::ast::{Function, RecordSyntax, TypeSyntax, Variable};
use crate::syntax::items::Items;

/// Declarations by name. A name without its namespace finds what lies in one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tables {
    functions: Vec<Function>,
    #[serde(skip)]
    function_names: Names,
    globals: Vec<Variable>,
    #[serde(skip)]
    global_names: Names,
    aliases: Vec<(String, TypeSyntax)>,
    #[serde(skip)]
    alias_names: Names,
    records: Vec<RecordSyntax>,
    #[serde(skip)]
    record_names: Names,
    opaque_types: Vec<String>,
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
        let matching = |exact: bool| -> Vec<usize> {
            candidates
                .iter()
                .filter(|(full, _)| {
                    full == path || (!exact && full.ends_with(&format!("::{path}")))
                })
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
    pub(crate) fn new(items: Items) -> Self {
        let tables = Self {
            functions: items.functions,
            globals: items.globals,
            aliases: items.aliases,
            records: items.records,
            opaque_types: items.opaque_types,
            ..Self::default()
        };
        tables.indexed()
    }

    /// With everything to be found by its name. Names are not written down with the rest, so that none
    /// can lead elsewhere than to what bears it.
    pub(crate) fn indexed(self) -> Self {
        Self {
            function_names: Names::new(self.functions.iter().map(|f| f.path.as_str())),
            global_names: Names::new(self.globals.iter().map(|v| v.name.as_str())),
            alias_names: Names::new(self.aliases.iter().map(|(name, _)| name.as_str())),
            record_names: Names::new(self.records.iter().map(|r| r.path.as_str())),
            ..self
        }
    }

    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub(crate) fn function(&self, index: usize) -> &Function {
        &self.functions[index]
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

    pub(crate) fn record(&self, path: &str) -> Option<&RecordSyntax> {
        let index = *self.record_names.find(path).first()?;
        Some(&self.records[index])
    }

    /// A type that exists and that the host knows by name alone.
    pub(crate) fn is_opaque_type(&self, path: &str) -> bool {
        self.opaque_types.iter().any(|name| name == last_part(path))
    }
}
