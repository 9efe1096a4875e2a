//! Whether a piece of code can be nothing but host code, by the words it uses.
//!
//! A word counts only in the place of a type, a call or a stream: people name variables `vector`,
//! `thread` and `string`, and what such a function computes may be device code.

use std::collections::BTreeSet;

use crate::source::lex::{TokenKind, lex};

/// Of the host's standard library, said with `std::` before it.
const STANDARD: [&str; 53] = [
    "vector",
    "string",
    "to_string",
    "cout",
    "cerr",
    "clog",
    "cin",
    "endl",
    "flush",
    "unique_ptr",
    "make_unique",
    "shared_ptr",
    "make_shared",
    "optional",
    "make_optional",
    "nullopt",
    "map",
    "unordered_map",
    "set",
    "unordered_set",
    "list",
    "deque",
    "queue",
    "priority_queue",
    "stack",
    "function",
    "ifstream",
    "ofstream",
    "stringstream",
    "ostringstream",
    "istringstream",
    "ostream",
    "istream",
    "getline",
    "setprecision",
    "setw",
    "fixed",
    "chrono",
    "thread",
    "mutex",
    "lock_guard",
    "async",
    "future",
    "exception",
    "runtime_error",
    "invalid_argument",
    "random_device",
    "mt19937",
    "sort",
    "stable_sort",
    "iota",
    "accumulate",
    "filesystem",
];

/// Streams, which stand anywhere in an expression.
const STREAMS: [&str; 5] = ["cout", "cerr", "endl", "stderr", "stdout"];
/// Functions.
const CALLS: [&str; 11] = [
    "fprintf",
    "fopen",
    "fclose",
    "malloc",
    "calloc",
    "exit",
    "abort",
    "getenv",
    "system",
    "clock_gettime",
    "gettimeofday",
];
/// Class templates.
const TEMPLATES: [&str; 4] = ["vector", "unique_ptr", "shared_ptr", "unordered_map"];
/// Classes and name spaces.
const TYPES: [&str; 9] = [
    "string", "thread", "mutex", "ifstream", "ofstream", "chrono", "timespec", "timeval", "FILE",
];

/// Words before a name that do not make it a declaration.
const NOT_TYPES: [&str; 10] = [
    "return", "case", "else", "goto", "new", "sizeof", "throw", "typename", "using", "delete",
];

/// A piece of code as a list of tokens.
pub(super) struct Words<'a> {
    tokens: Vec<&'a str>,
    declared: BTreeSet<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let tokens: Vec<&str> = lex(text)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Text)
            .filter_map(|token| text.get(token.start as usize..token.end as usize))
            .collect();
        let declared = (0..tokens.len())
            .filter(|&index| declares(&tokens, index))
            .map(|index| tokens[index])
            .collect();
        Self { tokens, declared }
    }

    /// Whether NVRTC could do nothing with it: it uses the host's libraries or launches a kernel.
    pub(super) fn need_a_host(&self) -> bool {
        (0..self.tokens.len()).any(|index| self.needs_a_host(index))
    }

    /// Whether it uses a word at all.
    pub(super) fn mention(&self, word: &str) -> bool {
        self.tokens.contains(&word)
    }

    /// Names of what is called: functions, and whatever else looks so.
    pub(super) fn calls(&self) -> BTreeSet<&'a str> {
        (0..self.tokens.len())
            .filter(|&index| {
                self.tokens[index].starts_with(is_word)
                    && matches!(self.at(index + 1), "(" | "<")
                    && !self.is_member(index)
                    && !self.declared.contains(self.tokens[index])
            })
            .map(|index| self.tokens[index])
            .collect()
    }

    fn at(&self, index: usize) -> &'a str {
        self.tokens.get(index).copied().unwrap_or("")
    }

    fn before(&self, index: usize) -> &'a str {
        index.checked_sub(1).map_or("", |index| self.at(index))
    }

    fn is_member(&self, index: usize) -> bool {
        matches!(self.before(index), "." | "->")
    }

    fn needs_a_host(&self, index: usize) -> bool {
        let word = self.tokens[index];
        if word == "<<<" {
            return true;
        }
        if !word.starts_with(is_word) || self.is_member(index) {
            return false;
        }
        if self.before(index) == "::" && index >= 2 && self.tokens[index - 2] == "std" {
            return STANDARD.contains(&word);
        }
        if is_runtime_name(word) {
            return true;
        }
        let next = self.at(index + 1);
        if self.declared.contains(word) {
            return false;
        }
        STREAMS.contains(&word)
            || (CALLS.contains(&word) && next == "(")
            || (TEMPLATES.contains(&word) && next == "<")
            || (TYPES.contains(&word) && (next == "::" || self.is_type(index)))
    }

    /// `string name`, `(string& name`, `vector<string>`, `chrono::`.
    fn is_type(&self, index: usize) -> bool {
        let starts = matches!(
            self.before(index),
            "" | ";" | "{" | "}" | "(" | "," | "<" | "const" | "static" | "inline" | "struct"
        );
        let next = self.at(index + 1);
        starts && (next.starts_with(is_word) || matches!(next, "&" | "*" | "&&" | ">" | "::"))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `float vector = 1`, `int* thread)`: a variable or a parameter of that name. (A product such as
/// `a * thread)` looks the same, and shows as well that the word is a value.)
fn declares(tokens: &[&str], index: usize) -> bool {
    let (Some(before), Some(after)) = (
        index.checked_sub(1).and_then(|index| tokens.get(index)),
        tokens.get(index + 1),
    ) else {
        return false;
    };
    let a_type = (before.starts_with(is_word)
        && !before.starts_with(|c: char| c.is_ascii_digit())
        && !NOT_TYPES.contains(before))
        || matches!(*before, "*" | "&" | "&&" | ">" | ">>");
    let one_more = *before == "," && *after == "="; // `int a = 1, b = 2`
    tokens[index].starts_with(is_word)
        && (one_more || a_type && matches!(*after, "=" | ";" | "," | ")" | "[" | "{" | ":"))
}

/// `cudaMalloc`, `cublasCreate`, `cudaStream_t`: functions and types of the host's side of CUDA.
fn is_runtime_name(word: &str) -> bool {
    ["cuda", "cublas", "cusparse", "curand", "cudnn", "cufft"]
        .iter()
        .filter_map(|prefix| word.strip_prefix(prefix))
        .any(|rest| {
            rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.starts_with("State")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn host(text: &str, expected: bool) {
        assert_eq!(Words::of(text).need_a_host(), expected, "{text}");
    }

    #[test]
    fn types_calls_and_streams_of_the_host_count() {
        for text in [
            "std::vector<float> v;",
            "vector<int> v(3);",
            "void f(const string& name) {}",
            "string name = 3;",
            "std::string f();",
            "cout << 1 << endl;",
            "float* p = (float*)malloc(3);",
            "cudaMalloc(&p, 4);",
            "cudaStream_t s;",
            "k<<<1, 1>>>(p);",
            "fprintf(stderr, \"x\");",
            "auto t = chrono::steady_clock::now();",
            "struct timer { struct timespec start, end; };",
            "void f(timeval* now) { gettimeofday(now, 0); }",
            "FILE* log;",
        ] {
            host(text, true);
        }
    }

    #[test]
    fn names_of_variables_and_members_do_not() {
        for text in [
            "int f(int thread) { return thread * 2; }",
            "float f(float* vector, int n) { return vector[n] < vector[0] ? vector[n] : 0; }",
            "int f() { int string = 1; return string & 3; }",
            "int f(S s) { return s.thread + s.vector < 3; }",
            "int f() { int endl = 3, stdout = 4; return endl; }",
            "int f() { int exit = 3; return exit (3); }",
            "void f() { printf(\"std::vector cudaMalloc <<<\"); }",
            "curandStatePhilox4_32_10_t s;",
        ] {
            host(text, false);
        }
    }
}
