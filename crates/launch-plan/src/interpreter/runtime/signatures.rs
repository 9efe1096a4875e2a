//! How many arguments calls of the runtime take, by their declarations.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::failure::{Fallible, Fault};
use crate::source::text::At;

/// As CUDA's headers declare them for C++, in names that say what to pass: one a line, overloads on lines of
/// their own, the plainest first. Calls that are not here take any number.
const DECLARATIONS: &str = include_str!("signatures.txt");

static BY_NAME: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
    for declaration in DECLARATIONS.lines() {
        let name = declaration.split('(').next().unwrap_or(declaration);
        by_name.entry(name).or_default().push(declaration);
    }
    by_name
});

/// A compiler refuses a call with more or fewer.
pub(super) fn check_count(name: &str, count: usize, at: At) -> Fallible<()> {
    let Some(declarations) = BY_NAME.get(name) else {
        return Ok(());
    };
    let takes: Vec<(usize, usize)> = declarations.iter().map(|text| counts(text)).collect();
    if takes
        .iter()
        .any(|&(least, most)| (least..=most).contains(&count))
    {
        return Ok(());
    }
    let least = takes.iter().map(|&(least, _)| least).min().unwrap_or(0);
    let most = takes.iter().map(|&(_, most)| most).max().unwrap_or(0);
    let wanted = match most {
        1 if least == 1 => "1 argument".to_owned(),
        most if most == least => format!("{most} arguments"),
        most => format!("{least} to {most} arguments"),
    };
    let message = format!("`{name}` takes {wanted}; this call passes {count}");
    let first = declarations.first().copied().unwrap_or(name);
    Err(Fault::syntax(at, message).hint(format!("it is declared `{first}`")))
}

/// The least and the largest number of arguments of a declaration.
fn counts(declaration: &str) -> (usize, usize) {
    let inner = declaration.split_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.trim_end_matches(')');
    let parameters = || inner.split(',').filter(|parameter| !parameter.is_empty());
    let given = parameters().filter(|parameter| !parameter.contains('='));
    (given.count(), parameters().count())
}

#[cfg(test)]
mod tests {
    use super::{check_count, counts};

    #[test]
    fn parameters_with_defaults_may_be_left_out() {
        assert_eq!(counts("f()"), (0, 0));
        assert_eq!(counts("f(int* a, b, size_t c = 0)"), (2, 3));
    }

    #[test]
    fn overloads_count_together() {
        for (name, count, fits) in [
            ("cudaMallocAsync", 2, false),
            ("cudaMallocAsync", 3, true),
            ("cudaMallocAsync", 4, true),
            ("cudaMemcpy", 3, false),
            ("cudaMemcpy", 4, true),
            ("cudaDeviceSynchronize", 1, false),
            ("cudaGraphInstantiate", 7, true),
        ] {
            assert_eq!(check_count(name, count, 0).is_ok(), fits, "{name}");
        }
    }
}
