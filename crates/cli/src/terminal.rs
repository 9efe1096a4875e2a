//! How output looks: colour, quiet, and what goes where. Results go to stdout, everything else to
//! stderr.

use std::io::{IsTerminal, Write};

use console::{Style, StyledObject};
use domain::Verdict;

use crate::arguments::{Color, Global};

/// Settings of output, decided once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// Whether a person watches stderr, so that a line may be redrawn.
    pub(crate) animated: bool,
}

impl Terminal {
    /// From the flags, the environment and where output goes.
    pub(crate) fn new(global: &Global) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let on = |is_terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !plain,
        };
        console::set_colors_enabled(on(std::io::stdout().is_terminal()));
        console::set_colors_enabled_stderr(on(std::io::stderr().is_terminal()));
        Self {
            json: global.json,
            quiet: global.quiet,
            animated: std::io::stderr().is_terminal() && !global.quiet,
        }
    }

    /// A line of progress.
    pub(crate) fn say(self, line: &str) {
        if !self.quiet {
            eprintln!("{line}");
        }
    }

    /// The result, for a person.
    pub(crate) fn print(self, text: &str) {
        print(text);
    }

    /// The result, for a program.
    pub(crate) fn print_json<T: serde::Serialize>(self, document: &T) {
        let text = serde_json::to_string_pretty(document).expect("our types are plain JSON");
        self.print(&text);
    }

    /// One line of a stream, for a program.
    pub(crate) fn print_json_line<T: serde::Serialize>(self, document: &T) {
        print_line(document);
    }
}

/// One line of JSON, also before any setting is known.
pub(crate) fn print_line<T: serde::Serialize>(document: &T) {
    print(&serde_json::to_string(document).expect("our types are plain JSON"));
}

/// A closed pipe is no error: whoever read it has read enough.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = out.write_all(b"\n");
    }
    let _ = out.flush();
}

/// A verdict in its colour.
pub(crate) fn verdict(verdict: Verdict) -> StyledObject<&'static str> {
    let style = match verdict {
        Verdict::Accepted => Style::new().green(),
        Verdict::Held | Verdict::Cancelled | Verdict::Unsupported => Style::new().yellow(),
        Verdict::JudgeError => Style::new().magenta(),
        _ => Style::new().red(),
    };
    style.bold().apply_to(verdict.as_str())
}

/// Text of lesser weight.
pub(crate) fn dim<T>(text: T) -> StyledObject<T> {
    Style::new().dim().apply_to(text)
}

/// Text of greater weight.
pub(crate) fn bold<T>(text: T) -> StyledObject<T> {
    Style::new().bold().apply_to(text)
}
