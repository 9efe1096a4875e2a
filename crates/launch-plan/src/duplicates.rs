//! Functions and variables that a file defines twice.
//!
//! The compiler finds them in device code alone: host code never gets to it. What cannot be told
//! (template arguments, `auto`, `&&`) counts as different, so that no legal file is refused.

use std::collections::HashMap;

use crate::failure::{Fallible, Fault};
use crate::source::text::{At, SourceText};
use crate::syntax::ast::Function;
use crate::tables::Tables;
use crate::types_of_parameters::parameter_types;

/// Refuses the second definition of anything. `variables` are those of file scope, in order.
pub(crate) fn refuse_duplicates(
    tables: &Tables,
    variables: &[(String, At)],
    source: &SourceText,
) -> Fallible<()> {
    let mut first_variables: HashMap<&str, At> = HashMap::new();
    for (name, at) in variables {
        if let Some(first) = first_variables.insert(name, *at) {
            return Err(defined_twice("variable", name, first, *at, source));
        }
    }
    let mut first_functions: HashMap<(&str, String), At> = HashMap::new();
    for function in tables.functions().iter().filter(|f| may_clash(f)) {
        let Some(types) = parameter_types(function, tables) else {
            continue;
        };
        let key = (function.path.as_str(), types);
        if let Some(first) = first_functions.insert(key, function.at) {
            return Err(defined_twice(
                "function",
                &function.path,
                first,
                function.at,
                source,
            ));
        }
    }
    Ok(())
}

fn may_clash(function: &Function) -> bool {
    function.body.is_some() && function.template.is_none() && !function.specialisation
}

/// In the compiler's words.
fn defined_twice(what: &str, name: &str, first: At, again: At, source: &SourceText) -> Box<Fault> {
    let line = source.line(first);
    let message =
        format!("{what} \"{name}\" has already been defined (previous definition at line {line})");
    Fault::syntax(again, message)
}
