//! Host output, which nobody sees: its arguments are evaluated, and a warning says so once.

use super::super::Interpreter;
use super::super::value::Value;
use crate::source::text::At;

impl Interpreter<'_> {
    /// Whether a call prints. The first one is warned of.
    pub(super) fn is_output(&mut self, name: &str, at: At) -> bool {
        let prints = matches!(
            name,
            "printf"
                | "fprintf"
                | "vprintf"
                | "puts"
                | "fputs"
                | "putchar"
                | "fputc"
                | "putc"
                | "perror"
        );
        // What only sets how others print.
        let quiet = matches!(
            name,
            "fflush" | "setprecision" | "setw" | "setfill" | "setvbuf" | "setbuf"
        );
        if prints {
            self.warn_of_output(name, at);
        }
        prints || quiet
    }

    pub(in super::super) fn warn_of_output(&mut self, name: &str, at: At) {
        if self.language.has_warned_of_output {
            return;
        }
        self.language.has_warned_of_output = true;
        self.warn(
            at,
            &format!("host output (`{name}`) is left out"),
            "remove it; `printf` in a kernel is shown in practice runs",
        );
    }
}

/// `std::cout` and its like, and what is sent into them.
pub(in super::super) fn output_stream(name: &str) -> Option<Value> {
    match name {
        "cout" | "cerr" | "clog" | "stdout" | "stderr" => Some(Value::Output),
        "endl" | "flush" | "fixed" | "scientific" | "hex" | "dec" | "left" | "right"
        | "boolalpha" => Some(Value::Text(name.into())),
        _ => None,
    }
}
