//! Names of kernels as plans and reports spell them: with template arguments, and with a cast where a name
//! is overloaded.

const CAST: &str = "static_cast<";
/// What its type begins with: a kernel returns nothing.
const POINTER: &str = "void (*)";

/// `k<4>` of `static_cast<void (*)(int)>(k<4>)`; what is no cast stays as it is.
pub fn without_cast(instance: &str) -> &str {
    uncast(instance).unwrap_or(instance)
}

/// `ns::k` of `ns::k<4>` and `static_cast<void (*)(int)>(ns::k<4>)`.
pub fn plain_name(instance: &str) -> &str {
    let named = without_cast(instance);
    named.split('<').next().unwrap_or(named).trim_end()
}

/// `tanh(const float*, int)` of `static_cast<void (*)(const float*, int)>(tanh)`: what tells an overload from
/// the others, without the cast that names it in the language.
pub fn spelt(instance: &str) -> String {
    let Some(named) = uncast(instance) else {
        return instance.to_owned();
    };
    let parameters = instance
        .strip_suffix(named_suffix(named).as_str())
        .and_then(|cast| cast.strip_prefix(CAST)?.strip_prefix(POINTER));
    match parameters {
        Some(parameters) => format!("{named}{parameters}"),
        None => named.to_owned(),
    }
}

fn named_suffix(named: &str) -> String {
    format!(">({named})")
}

/// The type may have template arguments, and so may what is cast.
fn uncast(instance: &str) -> Option<&str> {
    let cast = instance.strip_prefix(CAST)?;
    let mut depth = 1_usize;
    let end = cast.find(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    cast[end + 1..].strip_prefix('(')?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_casts_are_no_part_of_a_name() {
        for (instance, uncast, plain) in [
            ("k", "k", "k"),
            ("ns::k<4>", "ns::k<4>", "ns::k"),
            (
                "static_cast<void (*)(const float*, int)>(tanh)",
                "tanh",
                "tanh",
            ),
            ("static_cast<void (*)(int)>(ns::k<4>)", "ns::k<4>", "ns::k"),
            ("k<static_cast<Mode>(1)>", "k<static_cast<Mode>(1)>", "k"),
            (
                "static_cast<void (*)(Box<Box<int>>, int)>(k<static_cast<Mode>(1), Box<int>>)",
                "k<static_cast<Mode>(1), Box<int>>",
                "k",
            ),
        ] {
            assert_eq!(without_cast(instance), uncast);
            assert_eq!(plain_name(instance), plain);
        }
    }

    #[test]
    fn an_overload_is_told_by_its_parameters() {
        for (instance, told) in [
            ("k<4>", "k<4>"),
            ("k<static_cast<Mode>(1)>", "k<static_cast<Mode>(1)>"),
            (
                "static_cast<void (*)(const float*, int)>(tanh)",
                "tanh(const float*, int)",
            ),
            (
                "static_cast<void (*)(Box<Box<int>>, int)>(k<static_cast<Mode>(1), Box<int>>)",
                "k<static_cast<Mode>(1), Box<int>>(Box<Box<int>>, int)",
            ),
            ("static_cast<int>(k)", "k"),
        ] {
            assert_eq!(spelt(instance), told);
        }
    }

    #[test]
    fn what_is_no_name_is_no_panic() {
        for text in [
            "",
            "<",
            ">",
            "static_cast<",
            "static_cast<>",
            "static_cast<é>(",
            "static_cast<>>()",
        ] {
            plain_name(text);
            spelt(text);
        }
        assert_eq!(without_cast("static_cast<int>(k"), "static_cast<int>(k");
    }
}
