//! "Did you mean": the known word that a mistyped one is closest to.

/// Two words this similar are taken for the same one mistyped; 1 is equal. A letter more, less or
/// other in a word of four is 0.75.
const SIMILAR: f64 = 0.6;
/// A piece of a known word this long means that word.
const PIECE: usize = 3;

/// The closest of the known words, unless none is close.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |known: &str| {
        let whole = strsim::normalized_damerau_levenshtein(&word, known);
        let is_piece = word.len() >= PIECE && known.contains(&word);
        if is_piece { whole.max(SIMILAR) } else { whole }
    };
    known
        .into_iter()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// The question, as the beginning of a hint; empty where no word is close.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!("did you mean `{known}`? "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let problems = ["matmul", "matrix_transpose", "softmax_1d", "vector_add"];
        let cases = [
            ("vector_ad", Some("vector_add")),
            ("vectoradd", Some("vector_add")),
            ("MatMul", Some("matmul")),
            ("softmax", Some("softmax_1d")),
            ("transpose", Some("matrix_transpose")),
            ("convolution", None),
            ("", None),
            ("a", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, problems), expected, "{word}");
        }
        assert_eq!(nearest("h201", ["h200", "b200"]), Some("h200"));
        assert_eq!(
            did_you_mean("rankd", ["ranked", "practice"]),
            "did you mean `ranked`? "
        );
        assert_eq!(did_you_mean("x", ["ranked", "practice"]), "");
    }
}
