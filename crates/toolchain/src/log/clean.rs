//! One message in plain words.

use std::path::Path;

use domain::printable;

use super::{MAX_MESSAGE_BYTES, SOURCE_NAME};

/// A file that is missing and one that may not be read must look the same, or includes would tell
/// which files a host has.
pub(super) fn without_reason(mut text: String) -> String {
    if text.starts_with("cannot open source file \"") {
        let end = text.rfind('"').map_or(text.len(), |quote| quote + 1);
        text.truncate(end);
    }
    text
}

/// Takes the toolchain's path, NVRTC's own words and mangled names out of a message.
pub(super) fn clean(text: &str, headers: &Path) -> String {
    let mut text = text
        .replace("Input name expression was:", "It was:")
        .replace(
            "A function explicitly marked as a __host__ function is not allowed in JIT mode",
            "device code uses this function, but the function is marked `__host__`",
        );
    if let Some(root) = headers.to_str().filter(|root| !root.is_empty()) {
        text = text.replace(&format!("{root}/cccl/"), "");
        text = text.replace(&format!("{root}/"), "");
    }
    let mut text = printable(&without_places_in_headers(&demangle(&text)));
    if text.len() > MAX_MESSAGE_BYTES {
        let end = (0..=MAX_MESSAGE_BYTES)
            .rev()
            .find(|&i| text.is_char_boundary(i));
        text.truncate(end.unwrap_or(0));
        text.push_str(" ...");
    }
    text
}

/// ` (declared at line 5013 of cuda_fp16.h)` helps nobody.
fn without_places_in_headers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(" (declared at line ") {
        let end = rest[start..]
            .find(')')
            .map_or(rest.len(), |end| start + end + 1);
        kept.push_str(&rest[..start]);
        if !rest[start..end].contains(" of ") || rest[start..end].contains(SOURCE_NAME) {
            kept.push_str(&rest[start..end]);
        }
        rest = &rest[end..];
    }
    kept + rest
}

/// Replaces `_Z1kPf` and `_ZN1a1bE...` by `k` and `a::b`: in the assembler's few messages, the name
/// is all that a reader needs.
#[must_use]
pub fn demangle(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("_Z") {
        let is_word_start = !rest[..start].ends_with(is_word);
        let end = rest[start..]
            .find(|c| !is_word(c))
            .map_or(rest.len(), |n| start + n);
        out.push_str(&rest[..start]);
        match identifiers(&rest[start + 2..end]).filter(|_| is_word_start) {
            Some(name) => out.push_str(&name),
            None => out.push_str(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn identifiers(mangled: &str) -> Option<String> {
    let mut rest = mangled.strip_prefix('N').unwrap_or(mangled);
    let mut names = Vec::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let length: usize = rest[..digits].parse().ok()?;
        names.push(rest.get(digits..digits.checked_add(length)?)?);
        rest = &rest[digits + length..];
        if !mangled.starts_with('N') {
            break;
        }
    }
    (!names.is_empty()).then(|| names.join("::"))
}
