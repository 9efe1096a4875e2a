//! Machine code in parts, from what a disassembler wrote. It holds a section for each kernel, in which the
//! functions that the kernel calls follow it.

use std::collections::BTreeMap;

use domain::{CodeKind, CodeText};
use toolchain::Listing;

use super::{Part, bounded, by_lowered_name};

/// Machine code in parts: launched kernels, other kernels, functions. `lowered_names` are the launched
/// kernels' by their instantiations.
pub(crate) fn of_sass(sass: &str, lowered_names: &BTreeMap<String, String>) -> CodeText {
    let mut splitter = Splitter {
        launched: by_lowered_name(lowered_names),
        parts: Vec::new(),
        section: "",
    };
    for (line, at) in Listing::of_sass(sass).code() {
        splitter.take(line.trim(), at);
    }
    for part in &mut splitter.parts {
        while part.lines.len() > 1 && part.lines.last().is_some_and(|(line, _)| is_padding(line)) {
            part.lines.pop();
        }
    }
    splitter.parts.sort_by_key(Part::rank);
    bounded(splitter.parts)
}

/// Puts each line into its part, the last one.
struct Splitter<'a> {
    launched: BTreeMap<&'a str, &'a str>,
    parts: Vec<Part>,
    /// The mangled name of the kernel or function that the section is of.
    section: &'a str,
}

impl<'a> Splitter<'a> {
    fn take(&mut self, line: &'a str, at: Option<u32>) {
        if let Some(section) = line.strip_prefix(".section") {
            let name = section.trim_start().strip_prefix(".text.");
            self.section = name.map_or("", |name| name.split(',').next().unwrap_or(name));
            if !self.section.is_empty() {
                self.open(CodeKind::Function, self.section);
            }
        } else if self.section.is_empty() {
            // Not code.
        } else if line.starts_with(".other") && line.contains("STO_CUDA_ENTRY") {
            self.mark_kernel();
        } else if let Some(label) = line.strip_suffix(':') {
            self.label(label, at);
        } else if line.starts_with("/*") {
            self.push(&instruction(line), at);
        }
    }

    fn open(&mut self, kind: CodeKind, lowered: &str) {
        let part = Part::function(kind, lowered, &self.launched);
        self.parts.push(part);
    }

    fn mark_kernel(&mut self) {
        if let Some(part) = self.parts.last_mut() {
            part.kind = CodeKind::Kernel;
        }
    }

    /// A place that is jumped to, or the beginning of a function: `$KERNEL$FUNCTION`.
    fn label(&mut self, label: &'a str, at: Option<u32>) {
        if label.starts_with(".text.") {
            return; // the section's own, which the kernel's stands above
        }
        if let Some(name) = label.strip_prefix('$') {
            let of_kernel = name.strip_prefix(self.section);
            let name = of_kernel.and_then(|name| name.strip_prefix('$'));
            self.open(CodeKind::Function, name.unwrap_or(&label[1..]));
            return self.push(&format!("{label}:"), None);
        }
        self.push(&format!("{label}:"), at);
    }

    fn push(&mut self, line: &str, at: Option<u32>) {
        if let Some(part) = self.parts.last_mut() {
            part.push(line, at);
        }
    }
}

/// `/*0080*/              @!P0 BRA ...` with its columns closer to each other.
fn instruction(line: &str) -> String {
    let Some((offset, code)) = line.split_once("*/") else {
        return line.to_owned();
    };
    let code = code.trim_start();
    let (guard, code) = match code.split_once(' ') {
        Some((guard, code)) if guard.starts_with('@') => (guard, code.trim_start()),
        _ => ("", code),
    };
    format!("    {offset}*/ {guard:>5} {code}")
}

/// What fills a section to its end: no-operations, and labels of what follows.
fn is_padding(line: &str) -> bool {
    let is_label = line.ends_with(':');
    is_label || line.trim_end_matches([' ', ';']).ends_with(" NOP")
}

#[cfg(test)]
mod tests {
    use domain::CodePart;
    use domain::code::MAX_CODE_LINES;

    use super::*;

    const SASS: &str = "\
\t.target\tsm_90a

//--------------------- .text._Z6unusedPf --------------------------
\t.section\t.text._Z6unusedPf,\"ax\",@progbits
\t.align\t128
        .global         _Z6unusedPf
        .other          _Z6unusedPf,@\"STO_CUDA_ENTRY STV_DEFAULT\"
_Z6unusedPf:
.text._Z6unusedPf:
\t//## File \"/x/submission.cu\", line 8
        /*0000*/                   EXIT ;
.L_x_5:
        /*0010*/                   BRA `(.L_x_5);
        /*0020*/                   NOP;
.L_x_12:

\t.section\t.text._Z4tileILi64EEvPf,\"ax\",@progbits
        .other          _Z4tileILi64EEvPf,@\"STO_CUDA_ENTRY STV_DEFAULT\"
_Z4tileILi64EEvPf:
.text._Z4tileILi64EEvPf:
\t//## File \"/x/submission.cu\", line 4
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_6:
\t//## File \"/x/submission.cu\", line 6
        /*0010*/              @!P0 CALL.REL.NOINC `($_Z4tileILi64EEvPf$_Z1ff) ;
        .weak           $_Z4tileILi64EEvPf$_Z1ff
        .type           $_Z4tileILi64EEvPf$_Z1ff,@function
$_Z4tileILi64EEvPf$_Z1ff:
\t//## File \"/x/submission.cu\", line 2
        /*0020*/                   FADD R9, R4, UR6 ;
$__internal_0_$__cuda_sm20_div_rn_f32_slowpath:
        /*0030*/                   RET ;

//--------------------- SYMBOLS --------------------------

\t.type\t\t.nv.reservedSmem.offset0,@object
";

    fn of(sass: &str, launched: &[(&str, &str)]) -> CodeText {
        let names = launched.iter();
        let names = names.map(|&(name, lowered)| (name.to_owned(), lowered.to_owned()));
        of_sass(sass, &names.collect())
    }

    fn texts(text: &CodeText) -> Vec<(CodeKind, &str, &str)> {
        let parts = text.parts.iter();
        parts
            .map(
                |CodePart {
                     kind, name, text, ..
                 }| (*kind, name.as_str(), text.as_str()),
            )
            .collect()
    }

    #[test]
    fn kernels_come_first_and_functions_are_parts_of_their_own() {
        let text = of(SASS, &[("tile<64>", "_Z4tileILi64EEvPf")]);
        let tile = "\
_Z4tileILi64EEvPf:
    /*0000*/       LDC R1, c[0x0][0x28] ;
.L_x_6:
    /*0010*/  @!P0 CALL.REL.NOINC `($_Z4tileILi64EEvPf$_Z1ff) ;";
        let unused = "\
_Z6unusedPf:
    /*0000*/       EXIT ;
.L_x_5:
    /*0010*/       BRA `(.L_x_5);";
        let f = "$_Z4tileILi64EEvPf$_Z1ff:\n    /*0020*/       FADD R9, R4, UR6 ;";
        let slowpath = "__internal_0_$__cuda_sm20_div_rn_f32_slowpath";
        let division = format!("${slowpath}:\n    /*0030*/       RET ;");
        let expected = [
            (CodeKind::Kernel, "tile<64>", tile),
            (CodeKind::Kernel, "unused", unused),
            (CodeKind::Function, "f", f),
            (CodeKind::Function, slowpath, division.as_str()),
        ];
        assert_eq!(texts(&text), expected);
        let lines = &text.parts[0].source_lines;
        assert_eq!(lines, &[None, Some(4), Some(4), Some(6)]);
        assert_eq!(text.parts[2].source_lines[1], Some(2));
        assert_eq!(text.lines_left_out, 0);
    }

    #[test]
    fn what_is_too_long_says_how_much_is_missing() {
        let line = "        /*0000*/   FADD R1, R1, R1 ;\n".repeat(30_000);
        let text = of(&format!("\t.section .text.k,\nk:\n{line}"), &[]);
        let kept = text.parts[0].source_lines.len();
        assert!((10_000..=MAX_CODE_LINES).contains(&kept), "{kept}");
        assert_eq!(text.lines_left_out as usize + kept, 30_001);
    }

    #[test]
    fn text_that_is_no_machine_code_has_no_parts() {
        for text in ["", "\0\u{1b}[31m", "k:\n/*0000*/ EXIT ;", ".section", "$:"] {
            assert_eq!(of(text, &[]).parts, [], "{text:?}");
        }
        let text = of(".section .text.k\n$k$:\n$\u{202e}:\n/*", &[]);
        assert!(
            text.parts
                .iter()
                .all(|part| !part.text.contains('\u{202e}'))
        );
    }
}
