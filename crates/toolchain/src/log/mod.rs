//! NVRTC's log as diagnostics.
//!
//! Invariant: nothing of a file other than the submission gets out. Quoted source lines are read for
//! the caret's column and dropped; a message about a file that is neither the submission nor a header
//! of the toolchain is replaced by one that says just that.

mod clean;
mod noise;

use std::path::Path;

use domain::{Diagnostic, Severity, Stage};

use self::clean::clean;
pub use self::clean::demangle;

use crate::hint::Hints;
use crate::listing::Listing;

/// What the submission is called in messages.
pub(crate) const SOURCE_NAME: &str = "submission.cu";
/// Explanations kept after one error or warning.
const MAX_NOTES: usize = 4;
/// A longer message is cut.
const MAX_MESSAGE_BYTES: usize = 1000;

/// What a log is read with.
pub(crate) struct Reader<'a> {
    /// The toolchain's folder of headers.
    pub(crate) headers: &'a Path,
    /// For messages about the source.
    pub(crate) hints: &'a Hints<'a>,
    /// What the assembler was given, where it came so far.
    pub(crate) ptx: Option<&'a Listing<'a>>,
}

/// Reads a log.
pub(crate) fn read(log: &str, reader: &Reader<'_>) -> Vec<Diagnostic> {
    let headers = reader.headers;
    let messages = split(log);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut asked = Vec::new(); // errors about instantiations, which follow from any other
    let mut of_asked = false;
    let mut notes = 0;
    let mut dropped_parent = false;
    for message in messages {
        let place = Place::of(message.file, headers);
        if message.severity == Severity::Note {
            notes += 1;
            if dropped_parent || notes > MAX_NOTES || !matches!(place, Place::Submission) {
                continue;
            }
        } else {
            notes = 0;
            dropped_parent = message.severity == Severity::Warning
                && !matches!(place, Place::Submission | Place::None);
            if dropped_parent {
                continue; // a warning about the toolchain's own headers is nobody's business
            }
        }
        let mut diagnostic = message.into_diagnostic(&place, reader);
        let follows = diagnostics.iter().any(|earlier| {
            earlier.severity == Severity::Error
                && earlier.line.is_some()
                && earlier.line == diagnostic.line
        });
        reader.hints.give(&mut diagnostic, follows);
        let is_note = diagnostic.severity == Severity::Note;
        of_asked = matches!(place, Place::Instantiations) || is_note && of_asked;
        if of_asked {
            asked.push(diagnostic);
        } else if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    noise::reduced(diagnostics, asked)
}

/// Whose file a message is about.
enum Place<'a> {
    Submission,
    /// A header of the toolchain or of the judge, by its name as one includes it.
    Header(&'a str),
    /// The list of template instantiations that the host function asks for.
    Instantiations,
    Foreign,
    None,
}

impl<'a> Place<'a> {
    fn of(file: Option<&'a str>, headers: &Path) -> Self {
        let Some(file) = file else {
            return Self::None;
        };
        if file == SOURCE_NAME || file == "/submission.cu" {
            return Self::Submission;
        }
        if file == "__nv_name_map" {
            return Self::Instantiations;
        }
        let header = headers.to_str().and_then(|root| file.strip_prefix(root));
        if let Some(name) = header {
            let name = name.trim_start_matches('/');
            return Self::Header(name.strip_prefix("cccl/").unwrap_or(name));
        }
        match crate::headers::is_shim(file) {
            true => Self::Header(file),
            false => Self::Foreign,
        }
    }
}

/// One message as NVRTC wrote it.
struct Message<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    severity: Severity,
    text: String,
    /// The place in the submission from which a template was instantiated.
    instantiated_at: Option<u32>,
    /// The assembler's line, in PTX.
    ptx_line: Option<usize>,
}

impl Message<'_> {
    fn into_diagnostic(self, place: &Place, reader: &Reader<'_>) -> Diagnostic {
        let text = clean::without_reason(clean(&self.text, reader.headers));
        let (line, column, message) = match place {
            Place::Submission => (self.line, self.column, text),
            Place::None => {
                let line = reader.ptx.and_then(|ptx| self.line_by(ptx));
                (line, None, text)
            }
            Place::Header(name) => (self.instantiated_at, None, format!("in <{name}>: {text}")),
            Place::Instantiations => (
                None,
                None,
                format!("in a kernel that the host function launches: {text}"),
            ),
            Place::Foreign => (
                None,
                None,
                "an included file that is not part of the toolchain does not compile".into(),
            ),
        };
        Diagnostic {
            stage: Stage::Compile,
            severity: self.severity,
            line,
            column,
            message,
            hint: None,
        }
    }

    /// The assembler names a line of PTX or a kernel.
    fn line_by(&self, ptx: &Listing<'_>) -> Option<u32> {
        if let Some(number) = self.ptx_line {
            return ptx.source_line(number);
        }
        let (_, named) = self.text.split_once("Entry function '")?;
        ptx.kernel_line(named.split('\'').next()?)
    }
}

fn split(log: &str) -> Vec<Message<'_>> {
    let lines: Vec<&str> = log.lines().collect();
    let mut messages: Vec<Message> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let header = parse_header(line);
        let column = lines.get(at + 1).and_then(|next| caret_column(next));
        match (header, column) {
            // Messages start at the margin; quoted lines, which may look like anything, do not.
            (Some(message), _) if !line.starts_with("  ") => messages.push(message),
            (_, Some(column)) => {
                if let Some(message) = messages.last_mut() {
                    message.column = message.column.or(Some(column));
                }
                at += 1; // the caret
            }
            _ if line.starts_with("          ") => {
                if let Some(message) = messages.last_mut() {
                    continue_message(message, line.trim());
                }
            }
            _ => {}
        }
        at += 1;
    }
    messages
}

/// The column under a line that holds nothing but a caret. Quoted lines are indented by two.
fn caret_column(line: &str) -> Option<u32> {
    let before = line.strip_suffix('^')?;
    let blank = before.bytes().all(|b| b == b' ' || b == b'\t');
    let column = before.len().checked_sub(1)?;
    (blank && before.starts_with("  ")).then(|| u32::try_from(column).ok())?
}

fn continue_message(message: &mut Message, line: &str) {
    if line.starts_with("detected during") || line.starts_with("instantiation of") {
        if let Some(at) = instantiation_line(line) {
            message.instantiated_at = Some(at);
        }
        return;
    }
    if message.text.len() < MAX_MESSAGE_BYTES {
        let separator = if message.text.ends_with(':') {
            " "
        } else {
            "; "
        };
        message.text.push_str(separator);
        message.text.push_str(line);
    }
}

/// `... at line 12 of submission.cu`; within the submission the file is left out, and then the line
/// that the message itself names is the better one.
fn instantiation_line(line: &str) -> Option<u32> {
    let (_, after) = line.rsplit_once("at line ")?;
    let (number, file) = after.split_once(" of ")?;
    let is_submission = file.trim_end_matches(['"', ' ']).ends_with(SOURCE_NAME);
    is_submission.then(|| number.parse().ok())?
}

const SEVERITIES: [(&str, Severity); 7] = [
    ("catastrophic error", Severity::Error),
    ("internal error", Severity::Error),
    ("error", Severity::Error),
    ("fatal", Severity::Error),
    ("warning", Severity::Warning),
    ("note", Severity::Note),
    ("remark", Severity::Note),
];

fn parse_header(line: &str) -> Option<Message<'_>> {
    located(line)
        .or_else(|| unlocated(line))
        .or_else(|| assembler(line))
}

/// `file(12): error #20-D: text`
fn located(line: &str) -> Option<Message<'_>> {
    let (file, number, rest) = line.match_indices("): ").find_map(|(end, _)| {
        let (file, number) = line[..end].rsplit_once('(')?;
        let number: u32 = number.parse().ok()?;
        Some((file, number, &line[end + 3..]))
    })?;
    let (severity, text) = severity(rest)?;
    Some(Message {
        file: Some(file),
        line: Some(number),
        column: None,
        severity,
        text: text.to_owned(),
        instantiated_at: None,
        ptx_line: None,
    })
}

/// `At end of source: error: text`, `Note #3326-D: text`, `nvrtc: error: text`
fn unlocated(line: &str) -> Option<Message<'_>> {
    let at_end = line.strip_prefix("At end of source: ");
    let rest = at_end
        .or_else(|| line.strip_prefix("nvrtc: "))
        .unwrap_or(line);
    if at_end.is_none() && rest.starts_with("Remark") {
        return None; // how to turn warnings off, which no submission can
    }
    let (severity, text) = severity(rest)?;
    let text = match at_end {
        Some(_) => format!("at the end of the source: {text}"),
        None => text.to_owned(),
    };
    Some(message(severity, text))
}

/// `ptxas application ptx input, line 23; error   : text`, ` ptxas error   : text`
fn assembler(line: &str) -> Option<Message<'_>> {
    let rest = line.trim_start().strip_prefix("ptxas")?;
    let located = rest.split_once("; ").and_then(|(place, said)| {
        let (_, number) = place.rsplit_once(", line ")?;
        Some((number.parse().ok()?, said))
    });
    let (ptx_line, rest) = located.map_or((None, rest), |(number, said)| (Some(number), said));
    let (severity, text) = severity(rest.trim_start())?;
    if text.starts_with("Ptx assembly aborted") {
        return None; // says only that something was said before
    }
    Some(Message {
        ptx_line,
        ..message(severity, format!("assembler: {text}"))
    })
}

fn message<'a>(severity: Severity, text: String) -> Message<'a> {
    Message {
        file: None,
        line: None,
        column: None,
        severity,
        text,
        instantiated_at: None,
        ptx_line: None,
    }
}

/// Takes `warning #177-D: ` or `error   : ` off the front.
fn severity(text: &str) -> Option<(Severity, &str)> {
    SEVERITIES.iter().find_map(|&(word, severity)| {
        let head = text.get(..word.len())?;
        if !head.eq_ignore_ascii_case(word) {
            return None;
        }
        let (code, rest) = text[word.len()..].split_once(':')?;
        let code = code.trim();
        (code.is_empty() || code.starts_with('#')).then(|| (severity, rest.trim()))
    })
}

#[cfg(test)]
#[path = "../log_tests.rs"]
mod tests;
