//! What kernels printed, which may be 64 KiB of it.

use crate::terminal::dim;

/// Lines shown of the beginning and of the end.
const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 10;
/// Characters shown of a line.
const LINE_CHARS: usize = 400;

/// Its first and its last lines, and how many are between them.
pub(super) fn text(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let shown = |lines: &[&str]| -> String {
        let lines = lines.iter().map(|line| format!("    {}\n", shown(line)));
        lines.collect()
    };
    let heading = format!("  {}\n", dim("printed:"));
    if lines.len() <= HEAD_LINES + TAIL_LINES {
        return format!("{heading}{}", shown(&lines));
    }
    let (head, rest) = lines.split_at(HEAD_LINES);
    let (between, tail) = rest.split_at(rest.len() - TAIL_LINES);
    let left_out = format!("... {} more lines (--json has them all)", between.len());
    format!(
        "{heading}{}    {}\n{}",
        shown(head),
        dim(left_out),
        shown(tail)
    )
}

/// A line without what would steer the reader's terminal.
fn shown(line: &str) -> String {
    let replaced = |c: char| match c {
        '\t' => c,
        c if domain::shows(c) => c,
        _ => char::REPLACEMENT_CHARACTER,
    };
    let cut = line.char_indices().nth(LINE_CHARS);
    let (kept, left_out) = match cut {
        Some((end, _)) => (&line[..end], line[end..].chars().count()),
        None => (line, 0),
    };
    let kept: String = kept.chars().map(replaced).collect();
    match left_out {
        0 => kept,
        _ => format!("{kept}... ({left_out} more characters)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        (1..=count).map(|line| format!("i = {line}\n")).collect()
    }

    #[test]
    fn long_output_is_told_by_its_two_ends() {
        console::set_colors_enabled(false);
        assert_eq!(text(""), "");
        assert_eq!(text(&lines(50)).lines().count(), 51);
        let shown = text(&lines(1000));
        let shown: Vec<&str> = shown.lines().map(str::trim).collect();
        assert_eq!(shown.len(), 52);
        assert_eq!((shown[1], shown[40]), ("i = 1", "i = 40"));
        assert_eq!(shown[41], "... 950 more lines (--json has them all)");
        assert_eq!((shown[42], shown[51]), ("i = 991", "i = 1000"));
    }

    #[test]
    fn long_lines_are_cut_and_none_steers_the_terminal() {
        assert_eq!(shown("a\tb\u{1b}[2J\u{202e}c"), "a\tb\u{fffd}[2J\u{fffd}c");
        assert_eq!(
            shown(&"µ".repeat(1234)),
            format!("{}... (834 more characters)", "µ".repeat(400))
        );
    }
}
