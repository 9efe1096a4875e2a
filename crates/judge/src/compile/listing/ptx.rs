//! PTX in parts.

use std::collections::BTreeMap;

use domain::{CodeKind, CodeListing};
use toolchain::Listing;

use super::{Part, bounded, by_lowered_name};

/// PTX in parts: launched kernels, other kernels, functions, and the rest. `lowered_names` are the
/// launched kernels' by their instantiations.
pub(crate) fn of_ptx(
    arch: &str,
    ptx: &str,
    lowered_names: &BTreeMap<String, String>,
) -> CodeListing {
    let mut splitter = Splitter {
        launched: by_lowered_name(lowered_names),
        parts: vec![Part::module()],
        open: None,
        in_debug: false,
    };
    for (line, at) in Listing::of_ptx(ptx).code() {
        splitter.take(line, at);
    }
    CodeListing {
        arch: arch.to_owned(),
        ptx: bounded(splitter.finish()),
        sass: None, // when the verdict is known
        no_sass: None,
    }
}

/// Puts each line into its part.
struct Splitter<'a> {
    launched: BTreeMap<&'a str, &'a str>,
    /// The module first.
    parts: Vec<Part>,
    /// The function that is being read.
    open: Option<Part>,
    /// Within a section for debuggers, which says nothing to a person.
    in_debug: bool,
}

impl Splitter<'_> {
    fn take(&mut self, line: &str, at: Option<u32>) {
        let trimmed = line.trim();
        let begins_debug = trimmed.starts_with(".section") && trimmed.contains(".debug_");
        if self.open.is_none() && (self.in_debug || begins_debug) {
            self.in_debug = trimmed != "}";
            return;
        }
        let Some(mut part) = self.open.take().or_else(|| self.opened_by(line)) else {
            if !is_linkage_comment(line) {
                self.parts[0].push(line, at);
            }
            return;
        };
        part.push(line, at);
        match line.trim_end() {
            "{" => part.has_body = true,
            "}" => return self.parts.push(part),
            line if line.ends_with(';') && !part.has_body => {
                self.parts[0].lines.append(&mut part.lines); // a declaration
                return;
            }
            _ => {}
        }
        self.open = Some(part);
    }

    fn opened_by(&self, line: &str) -> Option<Part> {
        let (kind, lowered) = opened_function(line)?;
        Some(Part::function(kind, lowered, &self.launched))
    }

    fn finish(mut self) -> Vec<Part> {
        self.parts.extend(self.open);
        self.parts.sort_by_key(Part::rank);
        self.parts
    }
}

/// What a line of PTX opens, and its mangled name.
fn opened_function(line: &str) -> Option<(CodeKind, &str)> {
    if !line.starts_with('.') {
        return None;
    }
    let (kind, after) = if let Some((_, after)) = line.split_once(".entry ") {
        (CodeKind::Kernel, after)
    } else {
        let (_, after) = line.split_once(".func ")?;
        let after = after.trim_start();
        let after = match after.starts_with('(') {
            true => after.split_once(')')?.1, // what it returns
            false => after,
        };
        (CodeKind::Function, after)
    };
    let name = after.trim_start().split(['(', ' ', '\t', ';']).next()?;
    Some((kind, name))
}

/// `// .globl _Z1kPf`: the line after says it again.
fn is_linkage_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("// .globl") || line.starts_with("// .weak")
}

#[cfg(test)]
mod tests {
    use domain::code::{MAX_CODE_LINE_BYTES, MAX_CODE_LINES};
    use domain::{CodeFault, CodePart, CodeText};

    use super::super::CUT;
    use super::*;
    use crate::test_support::compiled;

    fn listing(source: &str, launched: &[(&str, &str)]) -> CodeText {
        let names = launched.iter();
        let names = names.map(|&(name, lowered)| (name.to_owned(), lowered.to_owned()));
        let listing = of_ptx("sm_90a", &compiled(source).ptx, &names.collect());
        assert_eq!(listing.check(), Ok(()));
        assert_eq!(listing.arch, "sm_90a");
        listing.ptx
    }

    #[test]
    fn launched_kernels_come_first_and_lines_know_their_source() {
        let source = "\
__constant__ float table[4];
__device__ __noinline__ float f(float x) { return x + table[1]; }
__global__ void unused(float* x) { *x = 1; }
__global__ void twice(float* x) {
    x[threadIdx.x] = f(x[threadIdx.x]);
}
";
        let text = listing(source, &[("twice", "_Z5twicePf")]);
        let names: Vec<_> = text
            .parts
            .iter()
            .map(|p| (p.kind, p.name.as_str()))
            .collect();
        let expected = [
            (CodeKind::Kernel, "twice"),
            (CodeKind::Kernel, "unused"),
            (CodeKind::Function, "f"),
            (CodeKind::Module, ""),
        ];
        assert_eq!(names, expected);
        assert_eq!(text.lines_left_out, 0);
        let made_from = |part: &CodePart, instruction: &str| {
            let mut lines = part.text.lines().zip(&part.source_lines);
            let found = lines.find(|(line, _)| line.contains(instruction));
            *found
                .unwrap_or_else(|| panic!("{instruction}: {}", part.text))
                .1
        };
        assert_eq!(made_from(&text.parts[0], "    st.global.f32"), Some(5));
        assert_eq!(made_from(&text.parts[1], "    st.global"), Some(3));
        assert_eq!(made_from(&text.parts[2], "ld.const.f32"), Some(2));
        assert!(
            text.parts[0]
                .text
                .starts_with(".visible .entry _Z5twicePf(")
        );
        assert!(text.parts[0].text.ends_with('}'));
        let module = &text.parts[3].text;
        assert!(module.contains(".target sm_90a"), "{module}");
        assert!(
            module.contains(".const .align 4 .b8 table[16];"),
            "{module}"
        );
        assert!(!module.contains(".globl"), "{module}");
    }

    #[test]
    fn sections_for_debuggers_are_left_out() {
        let source = "__device__ float f(float x) { return x * x + 1; }\n\
                      __global__ void k(float* x) { *x = f(*x); }\n";
        assert!(compiled(source).ptx.contains(".debug_str"), "there is one");
        let text = listing(source, &[("k", "_Z1kPf")]);
        assert!(
            !text.parts[1].text.contains("debug"),
            "{}",
            text.parts[1].text
        );
        let unended = of(".version 9.5\n\t.section\t.debug_str\n\t{\n.b8 1\n");
        assert_eq!(unended.parts[0].text, ".version 9.5");
    }

    #[test]
    fn a_declaration_is_no_function() {
        let source = "#include <cstdio>\n__global__ void say() { printf(\"%d\", threadIdx.x); }\n";
        let text = listing(source, &[("say", "_Z3sayv")]);
        let kinds: Vec<_> = text.parts.iter().map(|part| part.kind).collect();
        assert_eq!(kinds, [CodeKind::Kernel, CodeKind::Module]);
        assert!(text.parts[1].text.contains("vprintf"));
    }

    fn of(ptx: &str) -> CodeText {
        let listing = of_ptx("sm_90a", ptx, &BTreeMap::new());
        let checked = listing.check();
        assert!(
            matches!(checked, Ok(()) | Err(CodeFault::Empty)),
            "{checked:?}"
        );
        listing.ptx
    }

    #[test]
    fn a_table_of_constants_is_cut_short() {
        let table = format!(".global .b8 table[1] = {{{}}};\n", "255, ".repeat(100_000));
        let text = of(&table);
        assert_eq!(text.parts.len(), 1);
        assert!(text.parts[0].text.len() <= MAX_CODE_LINE_BYTES);
        assert!(text.parts[0].text.ends_with(CUT));
        // Every byte of it one that takes three to be shown.
        let hostile = of(&"\u{1}".repeat(100_000));
        assert!(hostile.parts[0].text.len() <= MAX_CODE_LINE_BYTES);
    }

    #[test]
    fn what_is_too_long_says_how_much_is_missing() {
        let body = "\tadd.s32 \t%r1, %r1, %r1;\n".repeat(30_000);
        let text = of(&format!(".visible .entry k(\n)\n{{\n{body}}}\n"));
        let kept = text.parts[0].source_lines.len();
        assert!((10_000..=MAX_CODE_LINES).contains(&kept), "{kept}");
        assert_eq!(text.lines_left_out as usize + kept, 30_004);
        assert!(text.parts[0].text.ends_with("    add.s32 %r1, %r1, %r1;"));
    }

    #[test]
    fn long_names_count_for_the_size() {
        let kernel = |n| format!(".visible .entry k{n:05}{}(\n)\n{{\n}}\n", "x".repeat(500));
        let text = of(&(0..5_000).map(kernel).collect::<String>());
        let kept: usize = text.parts.iter().map(|part| part.source_lines.len()).sum();
        assert!(kept > 1_000, "{kept}");
        assert_eq!(text.lines_left_out as usize + kept, 20_000);
    }

    #[test]
    fn text_that_is_no_ptx_is_a_module() {
        for text in [
            ".entry ",
            ".func (",
            ".entry k\n{\n",
            "}\n",
            "{",
            "\u{1b}[31m\u{202e}\0",
        ] {
            of(text);
        }
        assert_eq!(of("").parts, []);
    }
}
