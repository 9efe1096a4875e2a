//! The text that the parser sees: directives obeyed, macros expanded, with a map back.

use std::collections::BTreeSet;

use domain::{PREDEFINED_HEADER, VerdictKind};

use super::directives::{Conditionals, obey};
use super::grammar_gaps::{bridged, note_templates};
use super::lex::{RawToken, TokenKind, lex};
use super::macros::{Expander, Macro, TooMuchExpansion};
use super::nesting::Nesting;
use super::text::{At, SourceText};
use super::token::Token;
use crate::failure::{Fallible, Fault};

/// Bytes that the preprocessed text may have.
const MAX_EXPANDED_BYTES: usize = 1 << 20;

/// What a CUDA compiler predefines, as far as host code asks for it.
const PREDEFINED: [(&str, &str); 15] = [
    ("__FILE__", "\"submission.cu\""),
    ("__DATE__", "\"Jan  1 1970\""), // the same plan on any day
    ("__TIME__", "\"00:00:00\""),
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__cplusplus", "201703L"),
    ("__CUDACC_VER_MAJOR__", "13"),
    ("__CUDACC_VER_MINOR__", "5"),
    ("CUDART_VERSION", "13050"),
    ("CUDA_VERSION", "13050"),
    ("__linux__", "1"),
    ("__x86_64__", "1"),
    ("__forceinline__", "inline"),
    ("__inline__", "inline"),
    ("__noinline__", ""),
];

/// Annotations that mean nothing to host code and confuse the parser.
const ERASED: [&str; 4] = [
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "__extension__",
];
const ERASED_WITH_ARGUMENTS: [&str; 7] = [
    "_Pragma",
    "__launch_bounds__",
    "__cluster_dims__",
    "__attribute__",
    "__declspec",
    "__align__",
    "alignas",
];

/// Preprocessed text whose every token knows where it was written.
#[derive(Debug)]
pub(crate) struct Preprocessed {
    text: String,
    /// Offset in `text`, and the span in the submitted text, in ascending order of the former.
    tokens: Vec<(At, (At, At))>,
    /// Preprocessor lines of the submitted text, continuations included.
    directives: Vec<(At, At)>,
    /// Identifiers of the submitted text with where they start, in order.
    identifiers: Vec<(At, At)>,
}

impl Preprocessed {
    /// Obeys all directives and expands all macros of `source`.
    pub(crate) fn new(source: &SourceText) -> Fallible<Self> {
        let raw = lex(source.as_str());
        if let Some(open) = raw
            .last()
            .filter(|last| last.kind == TokenKind::OpenComment)
        {
            return Err(
                Fault::syntax(open.start, "a comment without its end").hint("a `/*` has no `*/`")
            );
        }
        let mut expander = Expander::new(source);
        predefine(&mut expander);
        let mut output = Output::default();
        read(&raw, &mut expander, &mut output)?;
        let identifiers = raw
            .iter()
            .filter(|token| token.kind == TokenKind::Identifier)
            .map(|token| (token.start, token.end))
            .collect();
        Ok(Self {
            text: output.text,
            tokens: output.tokens,
            directives: output.directives,
            identifiers,
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where the token at or before `offset` of the preprocessed text was written.
    pub(crate) fn origin(&self, offset: usize) -> At {
        let index = self.token_at(offset);
        self.tokens.get(index).map_or(0, |&(_, origin)| origin.0)
    }

    /// The span in the submitted text that the preprocessed span `start..end` comes from.
    pub(crate) fn origin_span(&self, start: usize, end: usize) -> (At, At) {
        let first = self.token_at(start);
        let covered = self.tokens[first.min(self.tokens.len())..]
            .iter()
            .take_while(|&&(offset, _)| (offset as usize) < end)
            .map(|&(_, origin)| origin);
        covered
            .reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
            .unwrap_or((0, 0))
    }

    /// Preprocessor lines that start within a span of the submitted text.
    pub(crate) fn directives_in(&self, span: (At, At)) -> &[(At, At)] {
        within(&self.directives, span)
    }

    /// Identifiers written within a span of the submitted text, whether active or not.
    pub(crate) fn identifiers_in<'a>(
        &self,
        source: &'a SourceText,
        span: (At, At),
    ) -> BTreeSet<&'a str> {
        within(&self.identifiers, span)
            .iter()
            .map(|&(start, end)| &source.as_str()[start as usize..end as usize])
            .collect()
    }

    fn token_at(&self, offset: usize) -> usize {
        self.tokens
            .partition_point(|&(start, _)| start as usize <= offset)
            .saturating_sub(1)
    }
}

fn within(spans: &[(At, At)], span: (At, At)) -> &[(At, At)] {
    let first = spans.partition_point(|&(start, _)| start < span.0);
    let last = spans.partition_point(|&(start, _)| start < span.1);
    &spans[first..last.max(first)]
}

impl From<TooMuchExpansion> for Box<Fault> {
    fn from(error: TooMuchExpansion) -> Self {
        Fault::new(VerdictKind::CompileLimit, error.at, error.to_string())
            .hint("a macro probably expands to itself many times over; write the code out instead")
    }
}

fn predefine(expander: &mut Expander<'_>) {
    let of_the_host = PREDEFINED_HEADER
        .lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    for (name, text) in of_the_host.chain(PREDEFINED) {
        let body = expander.tokens_of(text);
        expander.define(
            name,
            Macro {
                parameters: None,
                variadic: false,
                body,
            },
        );
    }
    let erased = |parameters: Option<Vec<String>>| Macro {
        variadic: parameters.is_some(),
        parameters,
        body: Vec::new(),
    };
    for name in ERASED {
        expander.define(name, erased(None));
    }
    for name in ERASED_WITH_ARGUMENTS {
        expander.define(name, erased(Some(vec!["__VA_ARGS__".to_owned()])));
    }
}

fn read(raw: &[RawToken], expander: &mut Expander<'_>, output: &mut Output) -> Fallible<()> {
    let mut conditionals = Conditionals::default();
    let mut segment: Vec<Token> = Vec::new();
    let mut index = 0;
    while let Some(&token) = raw.get(index) {
        let line: Vec<Token> = if is_hash(token, expander) {
            let length = raw[index + 1..]
                .iter()
                .position(|next| next.line_start)
                .unwrap_or(raw.len() - index - 1);
            raw[index..=index + length]
                .iter()
                .map(|&t| t.into())
                .collect()
        } else {
            if conditionals.active() {
                segment.push(token.into());
            }
            index += 1;
            continue;
        };
        index += line.len();
        let end = line.last().map_or(token.end, |last| last.end);
        output.directives.push((token.start, end));
        output.append(expander, std::mem::take(&mut segment))?;
        obey(&line[1..], expander, &mut conditionals)?;
    }
    output.append(expander, segment)?;
    conditionals.finish()
}

fn is_hash(token: RawToken, expander: &Expander<'_>) -> bool {
    token.line_start && expander.text(&token.into()) == "#"
}

#[derive(Default)]
struct Output {
    text: String,
    tokens: Vec<(At, (At, At))>,
    directives: Vec<(At, At)>,
    nesting: Nesting,
    /// Names declared as templates so far.
    templates: BTreeSet<String>,
}

impl Output {
    fn append(&mut self, expander: &mut Expander<'_>, segment: Vec<Token>) -> Fallible<()> {
        let tokens = expander.expand(segment)?;
        let words: Vec<(TokenKind, &str)> = tokens
            .iter()
            .map(|token| (token.kind, expander.text(token)))
            .collect();
        note_templates(&words, &mut self.templates);
        let readable = bridged(&words, &self.templates);
        for (index, token) in tokens.iter().enumerate() {
            if token.kind == TokenKind::OpenText {
                return Err(open_literal(words[index].1, token.origin.0));
            }
            self.nesting.take(words[index].1, token.origin.0)?;
            if token.space_before || index == 0 {
                self.text.push(' ');
            }
            self.tokens.push((self.text.len() as At, token.origin));
            self.text.push_str(&readable[index]);
            if self.text.len() > MAX_EXPANDED_BYTES {
                return Err(TooMuchExpansion { at: token.origin.0 }.into());
            }
        }
        Ok(())
    }
}

fn open_literal(text: &str, at: At) -> Box<Fault> {
    let (what, end) = if text.contains("R\"") && text.contains('(') {
        ("raw string", "`)` with its delimiter and a `\"`")
    } else if text.contains('"') {
        ("string", "`\"` on its line")
    } else {
        ("character", "`'` on its line")
    };
    Fault::syntax(at, format!("a {what} literal without its end")).hint(format!("it has no {end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> String {
        let source = SourceText::new(text);
        let preprocessed = Preprocessed::new(&source).expect("within the limits");
        let words: Vec<&str> = preprocessed.text().split_whitespace().collect();
        words.join(" ")
    }

    #[test]
    fn macros_expand_as_in_c() {
        let text = "#define CEIL(a, b) (((a) + (b) - 1) / (b))\n#define T 16\nCEIL(N, T) CEIL";
        assert_eq!(expanded(text), "((( N) + ( 16) - 1) / ( 16)) CEIL");
        assert_eq!(expanded("#define A B\n#define B A\nA"), "A");
        assert_eq!(expanded("#define J(a, b) a##b\nJ(x, 1) J(,y)"), "x1 y");
        assert_eq!(
            expanded("#define S(a) #a\nS(a + \"b\")"),
            "\"a + \\\"b\\\"\""
        );
        assert_eq!(
            expanded("#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2)"),
            "g( 1, 2)"
        );
    }

    #[test]
    fn places_are_those_of_use() {
        let text =
            "#define AT(x) x, __FILE__, __LINE__\n\nAT(__LINE__)\n__LINE__ __COUNTER__ __COUNTER__";
        assert_eq!(expanded(text), "3, \"submission.cu\" , 3 4 0 1");
    }

    #[test]
    fn conditionals_choose_one_branch() {
        let text = "#ifdef X\n1\n#elif defined(Y) || 0\n2\n#else\n3\n#endif\n4";
        assert_eq!(expanded(text), "3 4");
        assert_eq!(expanded(&format!("#define Y\n{text}")), "2 4");
        assert_eq!(expanded(&format!("#define X\n#define Y\n{text}")), "1 4");
        assert_eq!(
            expanded("#if 0\n#if 1\n1\n#else\n2\n#endif\n#endif\n3"),
            "3"
        );
    }

    #[test]
    fn origins_are_places_of_use_and_arguments_keep_their_own() {
        let text = "#define CHECK(x) do { x; } while (0)\n  CHECK(f(1));";
        let source = SourceText::new(text);
        let preprocessed = Preprocessed::new(&source).unwrap();
        let do_at = preprocessed.text().find("do").unwrap();
        let f_at = preprocessed.text().find('f').unwrap();
        assert_eq!(source.lines().position(preprocessed.origin(do_at)), (2, 3));
        assert_eq!(source.lines().position(preprocessed.origin(f_at)), (2, 9));
    }

    #[test]
    fn digraphs_mean_what_they_stand_for() {
        assert_eq!(
            expanded("%:define J(a, b) a%:%:b <:1:>\nJ(x, 1) <% %>"),
            "x1 [1] { }"
        );
        assert_eq!(expanded("#define S(a) #a\nS(<:)"), "\"<:\"");
    }

    #[test]
    fn a_macro_bomb_is_an_error() {
        let mut text = String::from("#define A0 x x\n");
        for level in 1..40 {
            text += &format!("#define A{level} A{0} A{0}\n", level - 1);
        }
        text += "A39";
        let fault = Preprocessed::new(&SourceText::new(&text)).unwrap_err();
        assert!(fault.to_string().contains("macro expansion"));
    }
}
