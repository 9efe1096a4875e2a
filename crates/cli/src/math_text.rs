//! Statements for a terminal: the TeX between dollar signs as plain text, everything else untouched.
//!
//! It knows what statements use. A command that it does not know stays as it was written, so that
//! nothing is lost.

/// Between formulas that `\quad` sets apart; survives the joining of spaces.
const WIDE: char = '\u{2003}';

/// A statement with every `$...$` and `$$...$$` outside code made readable. What stands between `$$`
/// becomes a line of its own, indented.
pub(crate) fn readable(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find(['$', '`', '\\']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let fence = rest.len() - rest.trim_start_matches('`').len();
        let (piece, length) = if fence > 0 {
            verbatim(rest, fence)
        } else if rest.starts_with('\\') {
            escape(rest)
        } else {
            formula(rest)
        };
        text.push_str(&piece);
        rest = &rest[length..];
    }
    text + rest
}

/// Code between backticks, as it is. Each of these gives the piece and the bytes it took.
fn verbatim(rest: &str, fence: usize) -> (String, usize) {
    let end = rest[fence..].find(&rest[..fence]);
    let length = end.map_or(fence, |end| end + 2 * fence);
    (rest[..length].to_owned(), length)
}

/// `\$` is a dollar.
fn escape(rest: &str) -> (String, usize) {
    match rest[1..].chars().next() {
        Some('$') => ("$".to_owned(), 2),
        Some(other) => (format!("\\{other}"), 1 + other.len_utf8()),
        None => ("\\".to_owned(), 1),
    }
}

fn formula(rest: &str) -> (String, usize) {
    let fence = if rest.starts_with("$$") { "$$" } else { "$" };
    let inner = &rest[fence.len()..];
    let Some(end) = inner.find(fence) else {
        return (fence.to_owned(), fence.len());
    };
    let text = plain(&inner[..end]);
    let text = if fence == "$$" {
        format!("    {text}")
    } else {
        text
    };
    (text, end + 2 * fence.len())
}

/// One formula.
fn plain(tex: &str) -> String {
    let mut reader = Reader {
        rest: tex,
        depth: 0,
    };
    let text = reader.until_end();
    let joined: Vec<&str> = text
        .split([' ', '\n', '\t'])
        .filter(|word| !word.is_empty())
        .collect();
    joined
        .join(" ")
        .replace(&format!(" {WIDE}"), &WIDE.to_string())
        .replace(&format!("{WIDE} "), &WIDE.to_string())
        .replace(WIDE, "   ")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" ;", ";")
        .trim()
        .to_owned()
}

/// Groups within groups. A deeper formula is no formula, and is left as it is.
const MAX_DEPTH: u32 = 64;

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    /// Everything, or up to the brace that closes the group.
    fn until_end(&mut self) -> String {
        let mut text = String::new();
        while let Some(next) = self.rest.chars().next() {
            if next == '}' {
                break;
            }
            text.push_str(&self.atom());
        }
        text
    }

    /// One letter, group or command.
    fn atom(&mut self) -> String {
        let Some(next) = self.rest.chars().next() else {
            return String::new();
        };
        if self.depth == MAX_DEPTH {
            return std::mem::take(&mut self.rest).to_owned();
        }
        self.rest = &self.rest[next.len_utf8()..];
        self.depth += 1;
        let text = self.after(next);
        self.depth -= 1;
        text
    }

    /// What a letter, just read, begins.
    fn after(&mut self, first: char) -> String {
        match first {
            '{' => {
                let text = self.until_end();
                self.rest = self.rest.strip_prefix('}').unwrap_or(self.rest);
                text
            }
            '\\' => self.command(),
            '^' => superscript(&self.argument()),
            '_' => subscript(&self.argument()),
            '~' | '&' => " ".to_owned(),
            other => other.to_string(),
        }
    }

    /// What a command or an index applies to.
    fn argument(&mut self) -> String {
        self.rest = self.rest.trim_start();
        self.atom().trim().to_owned()
    }

    fn command(&mut self) -> String {
        let letters = self.rest.find(|c: char| !c.is_ascii_alphabetic());
        let name = &self.rest[..letters.unwrap_or(self.rest.len())];
        if name.is_empty() {
            return self.control_symbol();
        }
        self.rest = &self.rest[name.len()..];
        match name {
            "frac" | "tfrac" | "dfrac" => {
                let over = self.argument();
                format!("{}/{}", operand(&over), operand(&self.argument()))
            }
            "sqrt" => format!("√{}", operand(&self.argument())),
            "text" | "mathrm" | "mathtt" | "mathbf" | "mathit" | "operatorname" => self.argument(),
            "left" | "right" => {
                // A dot stands for no delimiter.
                self.rest = self.rest.trim_start();
                self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
                String::new()
            }
            "sum" | "prod" => self.big_operator(if name == "sum" { " ∑" } else { " ∏" }),
            "begin" => self.matrix(),
            _ => symbol(name).map_or_else(|| self.unknown(name), str::to_owned),
        }
    }

    /// As it was written, with the groups that follow.
    fn unknown(&mut self, name: &str) -> String {
        let mut text = format!("\\{name}");
        while self.rest.starts_with('{') {
            text.push_str(&format!("{{{}}}", self.atom()));
        }
        text
    }

    /// A backslash before something that is no letter.
    fn control_symbol(&mut self) -> String {
        let Some(next) = self.rest.chars().next() else {
            return "\\".to_owned();
        };
        self.rest = &self.rest[next.len_utf8()..];
        match next {
            ',' | ';' | ':' | ' ' | '\n' => " ".to_owned(),
            '!' => String::new(),
            '\\' => "; ".to_owned(),
            '|' => "‖".to_owned(),
            other => other.to_string(),
        }
    }

    /// `∑(j=0..N-1) `: both bounds read as a range.
    fn big_operator(&mut self, sign: &str) -> String {
        let (mut from, mut to) = (None, None);
        loop {
            self.rest = self.rest.trim_start();
            let slot = match self.rest.chars().next() {
                Some('_') => &mut from,
                Some('^') => &mut to,
                _ => break,
            };
            self.rest = &self.rest[1..];
            *slot = Some(self.argument());
        }
        match (from, to) {
            (Some(from), Some(to)) => format!("{sign}({from}..{to}) "),
            (Some(from), None) => format!("{sign}({from}) "),
            (None, Some(to)) => format!("{sign}(..{to}) "),
            (None, None) => format!("{sign} "),
        }
    }

    /// `\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}` becomes `(1 2; 3 4)`.
    fn matrix(&mut self) -> String {
        let name = self.argument();
        let end = format!("\\end{{{name}}}");
        let Some(at) = self.rest.find(&end) else {
            return format!("\\begin{{{name}}}");
        };
        let rows = plain(&self.rest[..at]);
        self.rest = &self.rest[at + end.len()..];
        let rows = rows.trim_end_matches(';');
        match name.as_str() {
            "bmatrix" => format!("[{rows}]"),
            "pmatrix" => format!("({rows})"),
            _ => rows.to_owned(),
        }
    }
}

/// What is a part of a fraction or stands under a root, in parentheses unless it is one piece.
fn operand(text: &str) -> String {
    let is_word = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c))
    };
    if is_word(text) || text.starts_with('√') && is_word(&text['√'.len_utf8()..]) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

fn superscript(text: &str) -> String {
    let raised: Option<String> = text.chars().map(raised).collect();
    match raised {
        Some(raised) => raised,
        None if text.chars().count() == 1 => format!("^{text}"),
        None => format!("^({text})"),
    }
}

fn raised(c: char) -> Option<char> {
    Some(match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4'..='9' => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32))?,
        '-' => '⁻',
        '+' => '⁺',
        _ => return None,
    })
}

fn subscript(text: &str) -> String {
    if text.chars().all(char::is_alphanumeric) {
        format!("_{text}")
    } else {
        format!("_({text})")
    }
}

/// Relations and operators bring their spaces along; what follows a name keeps apart from it.
fn symbol(name: &str) -> Option<&'static str> {
    Some(match name {
        "cdot" => " · ",
        "times" => " × ",
        "div" => " ÷ ",
        "pm" => " ± ",
        "le" | "leq" => " ≤ ",
        "ge" | "geq" => " ≥ ",
        "lt" => " < ",
        "gt" => " > ",
        "ne" | "neq" => " ≠ ",
        "approx" => " ≈ ",
        "sim" => " ~ ",
        "equiv" => " ≡ ",
        "in" => " ∈ ",
        "to" | "rightarrow" => " → ",
        "gets" | "leftarrow" => " ← ",
        "mapsto" => " ↦ ",
        "Rightarrow" | "Longrightarrow" | "implies" => " ⟹ ",
        "odot" => " ⊙ ",
        "oplus" => " ⊕ ",
        "otimes" => " ⊗ ",
        "quad" | "qquad" => "\u{2003}",
        "max" => "max",
        "min" => "min",
        "exp" => "exp",
        "log" => "log",
        "ln" => "ln",
        "tanh" => "tanh",
        "infty" => "∞",
        "partial" => "∂",
        "ldots" | "dots" => "…",
        "cdots" => "⋯",
        "lfloor" => "⌊",
        "rfloor" => "⌋",
        "lceil" => "⌈",
        "rceil" => "⌉",
        "lvert" | "rvert" | "vert" => "|",
        "lVert" | "rVert" | "Vert" => "‖",
        "top" => "ᵀ",
        _ => return greek(name),
    })
}

fn greek(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "α",
        "beta" => "β",
        "gamma" => "γ",
        "delta" => "δ",
        "epsilon" | "varepsilon" => "ε",
        "zeta" => "ζ",
        "eta" => "η",
        "theta" => "θ",
        "iota" => "ι",
        "kappa" => "κ",
        "lambda" => "λ",
        "mu" => "μ",
        "nu" => "ν",
        "xi" => "ξ",
        "pi" => "π",
        "rho" => "ρ",
        "sigma" => "σ",
        "tau" => "τ",
        "upsilon" => "υ",
        "phi" | "varphi" => "φ",
        "chi" => "χ",
        "psi" => "ψ",
        "omega" => "ω",
        "Gamma" => "Γ",
        "Delta" => "Δ",
        "Theta" => "Θ",
        "Lambda" => "Λ",
        "Xi" => "Ξ",
        "Pi" => "Π",
        "Sigma" => "Σ",
        "Phi" => "Φ",
        "Psi" => "Ψ",
        "Omega" => "Ω",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_of_the_statements_read_as_text() {
        let cases = [
            (
                r"C_i = A_i + B_i, \qquad 0 \le i < N.",
                "C_i = A_i + B_i,   0 ≤ i < N.",
            ),
            (
                r"C_{ik} = \sum_{j=0}^{N-1} A_{ij}\, B_{jk}, \quad 0 \le k < K.",
                "C_ik = ∑(j=0..N-1) A_ij B_jk,   0 ≤ k < K.",
            ),
            (r"M \times N", "M × N"),
            (r"2\sqrt{N}\cdot 2^{-24}\,S", "2√N · 2⁻²⁴ S"),
            (
                r"\sqrt{2}\cdot 2^{-24}\,(|A_i| + |B_i|)",
                "√2 · 2⁻²⁴ (|A_i| + |B_i|)",
            ),
            (r"1 \le N \le 2^{28}", "1 ≤ N ≤ 2²⁸"),
            (r"S = \sum_j |A_{ij} B_{jk}|", "S = ∑(j) |A_ij B_jk|"),
            (
                r"\begin{pmatrix} 1 & 2 & 3 \\ 4 & 5 & 6 \end{pmatrix}",
                "(1 2 3; 4 5 6)",
            ),
            (
                r"A = (1,\ 2) \quad\Longrightarrow\quad C = (11,\ 22).",
                "A = (1, 2)   ⟹   C = (11, 22).",
            ),
            (r"B_{c,\,r} = A_{r,\,c}", "B_(c, r) = A_(r, c)"),
            (r"T_{\mathrm{SOL}}", "T_SOL"),
            (
                r"T_{\mathrm{SOL}} = \frac{\text{bytes}}{\text{memory bandwidth of the device}}.",
                "T_SOL = bytes/(memory bandwidth of the device).",
            ),
            (
                r"y_i = \frac{e^{x_i}}{\sum_{j=0}^{N-1} e^{x_j}}",
                "y_i = (e^(x_i))/(∑(j=0..N-1) e^(x_j))",
            ),
            (r"e^{100} \approx 2.7 \cdot 10^{43}", "e¹⁰⁰ ≈ 2.7 · 10⁴³"),
            (r"m = \max_j x_j", "m = max_j x_j"),
            (
                r"|x - r| \;\le\; 2\,\sqrt{N}\;2^{-24}\,S \;+\; \tfrac12\,\mathrm{ulp}(r),",
                "|x - r| ≤ 2 √N 2⁻²⁴ S + 1/2 ulp(r),",
            ),
            (
                r"4 \cdot 2^{-24} \left(\sqrt{N} + |x_i - m|\right) r_i",
                "4 · 2⁻²⁴ (√N + |x_i - m|) r_i",
            ),
            (
                r"\frac{h_j}{\sqrt{\frac{1}{H}\sum_{k=0}^{H-1} h_k^2 + \varepsilon}} \cdot \mathrm{weight}_j .",
                "h_j/(√(1/H ∑(k=0..H-1) h_k² + ε)) · weight_j .",
            ),
            (r"\mathtt{output}[0]", "output[0]"),
            (r"\unheard{x}{\le} + \alpha", r"\unheard{x}{ ≤ } + α"),
        ];
        for (tex, expected) in cases {
            assert_eq!(plain(tex), expected, "{tex}");
        }
    }

    #[test]
    fn code_and_lone_dollars_stay() {
        let cases = [
            ("`a $x$ b` and $2^3$", "`a $x$ b` and 2³"),
            ("```\n$x_1$\n```\n", "```\n$x_1$\n```\n"),
            (r"costs \$5 or $n \le 5$", "costs $5 or n ≤ 5"),
            ("a $ b", "a $ b"),
            (
                "see\n\n$$\nx \\le y\n$$\n\nthen",
                "see\n\n    x ≤ y\n\nthen",
            ),
            ("ends in \\", "ends in \\"),
            ("a ` b", "a ` b"),
        ];
        for (markdown, expected) in cases {
            assert_eq!(readable(markdown), expected, "{markdown}");
        }
    }

    /// Nothing of TeX is left in any statement of the repository.
    #[test]
    fn every_statement_is_readable() {
        let problems = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
        let mut seen = 0;
        for entry in std::fs::read_dir(problems).unwrap() {
            for language in ["en", "zh"] {
                let path = entry.as_ref().unwrap().path();
                let path = path.join(format!("statement.{language}.md"));
                let Ok(statement) = std::fs::read_to_string(&path) else {
                    continue;
                };
                let text = readable(&statement);
                assert!(!text.contains(['$', '\\']), "{}:\n{text}", path.display());
                seen += 1;
            }
        }
        assert!(seen >= 12, "{seen} statements");
    }
}
