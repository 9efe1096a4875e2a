//! What happens to a source before NVRTC sees it. Lines and columns stay what they were.

/// Drops a byte-order mark (columns of the first line count from after it, as editors do) and blanks
/// `#line` directives, by which a source could put messages under other names or lines. Spellings
/// that this misses lead to diagnostics without a place, not to a leak.
pub(crate) fn prepare(source: &str) -> String {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    source
        .split_inclusive('\n')
        .map(|line| {
            if is_line_directive(line) {
                blank(line)
            } else {
                line.to_owned()
            }
        })
        .collect()
}

/// `#line 7`, `# line 7 "x"`, and the marker form `# 7 "x"`.
fn is_line_directive(line: &str) -> bool {
    let line = line.trim_start();
    let after_hash = line.strip_prefix('#').or_else(|| line.strip_prefix("%:"));
    let Some(rest) = after_hash.map(str::trim_start) else {
        return false;
    };
    rest.starts_with(|c: char| c.is_ascii_digit())
        || rest
            .strip_prefix("line")
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn blank(line: &str) -> String {
    line.chars()
        .map(|c| if c == '\n' || c == '\r' { c } else { ' ' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_become_blanks() {
        let source = "a\n#line 7 \"x\"\r\n  # 12 \"y\" 1\n#linear\n%:line 3\n#define line 3\n";
        assert_eq!(
            prepare(source),
            "a\n           \r\n            \n#linear\n        \n#define line 3\n"
        );
    }

    #[test]
    fn a_byte_order_mark_goes() {
        assert_eq!(prepare("\u{feff}int x;"), "int x;");
    }
}
