//! Compiled code as text: each line of the source quoted above what was made from it, as
//! `judge --keep-code` writes it.

use std::fmt::Write as _;
use std::path::Path;

use domain::{CodeKind, CodeListing, CodePart, CodeText};

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Part after part, a blank line between two.
pub(crate) fn render(code: &CodeText, source: &str) -> String {
    let source: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    for part in &code.parts {
        if !text.is_empty() {
            text.push('\n');
        }
        render_part(&mut text, part, &source);
    }
    if code.lines_left_out > 0 {
        let _ = writeln!(text, "// {} more lines are left out", code.lines_left_out);
    }
    text
}

/// Why there is no machine code, as a sentence.
pub(crate) fn no_sass(code: &CodeListing) -> String {
    match &code.no_sass {
        Some(reason) => format!("no machine code: {reason}"),
        None => "no machine code: it was judged before machine code was kept".to_owned(),
    }
}

fn render_part(text: &mut String, part: &CodePart, source: &[&str]) {
    let _ = match part.kind {
        CodeKind::Kernel => writeln!(text, "// kernel {}", part.name),
        CodeKind::Function => writeln!(text, "// function {}", part.name),
        CodeKind::Module => writeln!(text, "// outside of functions"),
    };
    let mut quoted = None;
    for (line, &at) in part.text.lines().zip(&part.source_lines) {
        if at != quoted {
            if let Some(number) = at {
                let written = (number as usize).checked_sub(1);
                let written = written.and_then(|index| source.get(index)).unwrap_or(&"");
                let _ = writeln!(text, "// {number}: {}", written.trim());
            }
            quoted = at;
        }
        text.push_str(line);
        text.push('\n');
    }
}

/// Writes `code.ptx` and, where there is machine code, `code.sass`, and says so.
pub(crate) fn keep(
    folder: &Path,
    code: &CodeListing,
    source: &str,
    terminal: Terminal,
) -> Result<(), Failure> {
    let failed = |path: &Path, error: &std::io::Error| {
        let message = format!("cannot write {}: {error}", path.display());
        Failure::usage(message, "name a folder that you may write with --keep-code")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let sass = code.sass.as_ref().map(|sass| ("code.sass", sass));
    for (name, text) in [("code.ptx", &code.ptx)].into_iter().chain(sass) {
        let path = folder.join(name);
        std::fs::write(&path, render(text, source)).map_err(|error| failed(&path, &error))?;
        terminal.say(&format!("wrote {}", path.display()));
    }
    if code.sass.is_none() {
        terminal.say(&no_sass(code));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> CodeText {
        let part = |kind, name: &str, text: &str, source_lines| CodePart {
            kind,
            name: name.to_owned(),
            text: text.to_owned(),
            source_lines,
        };
        let kernel = "{\nld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nret;\n}";
        let lines = vec![None, Some(2), Some(2), Some(9), None];
        CodeText {
            parts: vec![
                part(CodeKind::Kernel, "twice", kernel, lines),
                part(CodeKind::Module, "", ".version 9.5", vec![None]),
            ],
            lines_left_out: 7,
        }
    }

    #[test]
    fn each_source_line_stands_above_its_code() {
        let text = render(&code(), "void twice(float* x)\n    x[0] *= 2;\n");
        let expected = "\
// kernel twice
{
// 2: x[0] *= 2;
ld.global.f32 %f1, [%rd1];
add.f32 %f2, %f1, %f1;
// 9: 
ret;
}

// outside of functions
.version 9.5
// 7 more lines are left out
";
        assert_eq!(text, expected);
    }

    #[test]
    fn code_becomes_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let listing = CodeListing {
            arch: "sm_90a".to_owned(),
            ptx: code(),
            sass: None,
            no_sass: Some("out of time".to_owned()),
        };
        let inner = folder.path().join("new/code");
        let terminal = Terminal {
            json: false,
            quiet: true,
            animated: false,
        };
        keep(&inner, &listing, "", terminal).unwrap();
        let file = inner.join("code.ptx");
        let kept = std::fs::read_to_string(&file).unwrap();
        assert_eq!(kept, render(&listing.ptx, ""));
        assert!(!inner.join("code.sass").exists());
        assert_eq!(no_sass(&listing), "no machine code: out of time");
        let with_sass = CodeListing {
            sass: Some(code()),
            ..listing.clone()
        };
        keep(&inner, &with_sass, "", terminal).unwrap();
        let kept = std::fs::read_to_string(inner.join("code.sass")).unwrap();
        assert_eq!(kept, render(&code(), ""));
        let refused = keep(&file, &listing, "", terminal).unwrap_err();
        assert!(refused.to_string().contains("cannot write"), "{refused}");
    }
}
