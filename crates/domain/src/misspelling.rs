//! Which known name a mistyped one probably stands for.

use strsim::damerau_levenshtein;

/// Shorter names resemble too many others.
const SHORTEST: usize = 3;
/// Nobody mistypes a longer one, and comparing it would take long.
const LONGEST: usize = 64;

/// The known name that `name` is a slip of, unless none is near enough to ask about: another case, or a
/// few letters more, less, other or swapped. The first of equals.
#[must_use]
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if !(SHORTEST..=LONGEST).contains(&name.len()) {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |known: &str| {
        if known == name || known.len() < SHORTEST {
            return None;
        }
        // Also keeps long names from being compared letter by letter.
        if known.len().abs_diff(name.len()) > tolerated(name) {
            return None;
        }
        let other = known.to_lowercase();
        if squeezed(&other) == squeezed(&lower) {
            return Some(0);
        }
        let distance = damerau_levenshtein(&lower, &other);
        (distance <= tolerated(name)).then_some(distance)
    };
    let near = known
        .into_iter()
        .filter_map(|known| Some((distance(known)?, known)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Slips that a name of this length admits.
fn tolerated(name: &str) -> usize {
    match name.len() {
        0..=3 => 0,
        4..=5 => 1,
        6..=11 => 2,
        _ => 3,
    }
}

/// Case and underscores are what one forgets first.
fn squeezed(name: &str) -> String {
    name.chars().filter(|&c| c != '_').collect()
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn slips_are_recognised_and_other_names_are_not() {
        let known = [
            "threadIdx",
            "blockIdx",
            "__syncthreads",
            "__syncwarp",
            "sqrtf",
            "rsqrtf",
            "cudaDeviceSynchronize",
            "float",
            "n",
            "pow",
        ];
        let cases = [
            ("threadidx", Some("threadIdx")),
            ("ThreadIdx", Some("threadIdx")),
            ("thredIdx", Some("threadIdx")),
            ("syncthreads", Some("__syncthreads")),
            ("__syncthread", Some("__syncthreads")),
            ("sqrtff", Some("sqrtf")),
            ("cudaDeviceSyncronize", Some("cudaDeviceSynchronize")),
            ("flaot", Some("float")),
            ("threadIdx", None),
            ("sqr", None),
            ("reduce", None),
            ("row", None),
            ("Pow", Some("pow")),
            ("m", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(meant(name, known), expected, "{name}");
        }
    }
}
