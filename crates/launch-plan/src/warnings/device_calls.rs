//! Functions without `__device__` that device code calls. The compiler here takes every function for device
//! code; nvcc does not.

use domain::Diagnostic;
use domain::slips::words;

use super::{Planned, last_part, warning};
use crate::syntax::ast::Space;

impl Planned<'_> {
    /// The first call of each, over a text without its comments and the insides of its literals.
    pub(super) fn host_functions_on_the_device(&self, code: &str) -> Vec<Diagnostic> {
        let bodies = device_bodies(code);
        let functions = self.tables.functions().iter();
        let hosts = functions.filter(|function| {
            let name = last_part(&function.path);
            let all = self.tables.functions_named(name);
            let is_host = |&index: &usize| self.tables.function(index).space == Space::Host;
            let line = self.source.line(function.at);
            let head = usize::try_from(line)
                .ok()
                .and_then(|line| code.lines().nth(line - 1));
            // Some compilers are told to take `constexpr` functions everywhere.
            function.body.is_some()
                && all.iter().all(is_host)
                && head.is_some_and(|head| !words(head).any(|word| word == "constexpr"))
        });
        let found = hosts.filter_map(|function| {
            let name = last_part(&function.path);
            let at = bodies.iter().find_map(|&body| call_in(code, body, name))?;
            let before = &code[..at];
            let line = before.matches('\n').count() + 1;
            let column = at - before.rfind('\n').map_or(0, |end| end + 1) + 1;
            Some(warning(
                u32::try_from(line).unwrap_or(u32::MAX),
                u32::try_from(column).ok(),
                &format!("device code calls `{name}`, which is a host function; nvcc refuses that"),
                "declare it `__device__`, or `__host__ __device__`",
            ))
        });
        found.collect()
    }
}

/// From and to of the bodies of functions that run on the device alone.
fn device_bodies(code: &str) -> Vec<(usize, usize)> {
    let mut bodies = Vec::new();
    let mut from = 0;
    while let Some(next) = ["__global__", "__device__"]
        .iter()
        .filter_map(|word| code[from..].find(word))
        .min()
    {
        let start = from + next;
        from = start + 1;
        let line = code[..start].rfind('\n').map_or(0, |end| end + 1);
        if code[line..].trim_start().starts_with('#') {
            continue; // a macro's body is no function's head
        }
        let head_start = code[..start]
            .rfind([';', '}', '{', '#'])
            .map_or(0, |at| at + 1);
        let Some(end) = code[start..].find([';', '{']).map(|end| start + end) else {
            break;
        };
        let is_shared = words(&code[head_start..end]).any(|word| word == "__host__");
        if code[end..].starts_with('{') {
            let close = end + block_length(&code[end..]);
            from = close;
            if !is_shared {
                bodies.push((end, close));
            }
        }
    }
    bodies
}

/// Bytes up to the brace that closes the first one.
fn block_length(code: &str) -> usize {
    let mut open = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open <= 1 => return at + 1,
            b'}' => open -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Where a body calls a function by its name alone.
fn call_in(code: &str, (start, end): (usize, usize), name: &str) -> Option<usize> {
    let body = &code[start..end];
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let found = body.match_indices(name).find(|&(at, _)| {
        let before = body[..at].trim_end();
        let after = body[at + name.len()..].trim_start();
        let touches = body[..at].ends_with(is_name);
        // `T name(...)` declares a variable, `x.name(...)` calls a method.
        let is_alone = before.ends_with(['=', '(', ',', ';', '{', '}', '+', '-', '*', '/'])
            || before.ends_with("return");
        !touches && is_alone && !before.ends_with("->") && after.starts_with('(')
    });
    found.map(|(at, _)| start + at)
}
