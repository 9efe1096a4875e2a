//! The text that NVRTC compiles: the submitted text with what only the host needs overwritten by
//! spaces.
//!
//! Invariant: line ends, and every byte outside a blanked piece, stay where they were. A piece
//! that the grammar could not read is never blanked; the compiler is the better judge of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::preprocess::Preprocessed;
use crate::source::text::{At, SourceText};
use crate::syntax::items::{Piece, PieceKind};

/// Overwrites host pieces. `entry` is the entry function's name, which is never device code.
pub(crate) fn device_source(
    source: &SourceText,
    preprocessed: &Preprocessed,
    pieces: &[Piece],
    entry: &str,
) -> String {
    let words: Vec<BTreeSet<&str>> = pieces
        .iter()
        .map(|piece| words_of(piece, source, preprocessed))
        .collect();
    let host_only = host_only(pieces, &words, preprocessed, entry);
    let kept = kept_pieces(pieces, &words, &host_only);
    let mut bytes = source.as_str().as_bytes().to_vec();
    let kept_text = Cover::new(kept.iter().map(|&index| pieces[index].span));
    for (index, piece) in pieces.iter().enumerate() {
        // One macro may expand to a kernel and to its host wrapper.
        if !kept.contains(&index) && !kept_text.overlaps(piece.span) {
            blank(&mut bytes, piece.span, preprocessed);
        }
    }
    String::from_utf8(bytes).expect("whole tokens are overwritten, and by ASCII")
}

/// Identifiers of a piece, before and after macros.
fn words_of<'a>(
    piece: &Piece,
    source: &'a SourceText,
    preprocessed: &'a Preprocessed,
) -> BTreeSet<&'a str> {
    let mut words = preprocessed.identifiers_in(source, piece.span);
    let text = preprocessed.text().get(piece.range.clone()).unwrap_or("");
    words.extend(
        text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty()),
    );
    words
}

/// Which pieces can be nothing but host code, whoever names them.
fn host_only(
    pieces: &[Piece],
    words: &[BTreeSet<&str>],
    preprocessed: &Preprocessed,
    entry: &str,
) -> Vec<bool> {
    let text = |piece: &Piece| preprocessed.text().get(piece.range.clone()).unwrap_or("");
    let on_its_own = |(piece, words): (&Piece, &BTreeSet<&str>)| match piece.kind {
        PieceKind::HostFunction => {
            let entry = |name: &String| name == entry || name == "main";
            piece.names.iter().any(entry) || uses_host_library(words) || text(piece).contains("<<<")
        }
        PieceKind::HostVariable | PieceKind::Record => uses_host_library(words),
        _ => false,
    };
    let mut host_only: Vec<bool> = pieces.iter().zip(words).map(on_its_own).collect();
    // A prototype goes the way of its function.
    let functions: BTreeSet<&String> = pieces
        .iter()
        .zip(&host_only)
        .filter(|(piece, host)| **host && piece.kind == PieceKind::HostFunction)
        .flat_map(|(piece, _)| &piece.names)
        .collect();
    for (piece, host) in pieces.iter().zip(&mut host_only) {
        let prototype = piece.kind == PieceKind::HostFunction && text(piece).ends_with(';');
        *host |= prototype && piece.names.iter().any(|name| functions.contains(name));
    }
    host_only
}

/// Device code, and whatever device code names, and so on.
fn kept_pieces(pieces: &[Piece], words: &[BTreeSet<&str>], host_only: &[bool]) -> BTreeSet<usize> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        for name in &piece.names {
            by_name.entry(name).or_default().push(index);
        }
    }
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut pending: Vec<usize> = (0..pieces.len())
        .filter(|&index| match pieces[index].kind {
            PieceKind::DeviceFunction | PieceKind::DeviceVariable | PieceKind::Other => true,
            PieceKind::Record => !host_only[index],
            PieceKind::HostFunction | PieceKind::HostVariable => pieces[index].has_error,
        })
        .collect();
    while let Some(index) = pending.pop() {
        if !kept.insert(index) {
            continue;
        }
        for &word in &words[index] {
            if !seen.insert(word) {
                continue;
            }
            for &named in by_name.get(word).into_iter().flatten() {
                // A record that device code names stays, whatever its methods do.
                let record = pieces[named].kind == PieceKind::Record;
                if !kept.contains(&named) && (record || !host_only[named]) {
                    pending.push(named);
                }
            }
        }
    }
    kept
}

/// Words that NVRTC can do nothing with.
fn uses_host_library(words: &BTreeSet<&str>) -> bool {
    const HOST: [&str; 22] = [
        "vector",
        "string",
        "cout",
        "cerr",
        "endl",
        "fprintf",
        "fopen",
        "malloc",
        "calloc",
        "unique_ptr",
        "shared_ptr",
        "unordered_map",
        "ifstream",
        "ofstream",
        "exit",
        "abort",
        "getenv",
        "stderr",
        "stdout",
        "chrono",
        "thread",
        "mutex",
    ];
    let runtime_call = |word: &&str| {
        ["cuda", "cublas", "cusparse", "curand", "cudnn", "cufft"]
            .iter()
            .filter_map(|prefix| word.strip_prefix(prefix))
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    words
        .iter()
        .any(|word| runtime_call(word) || HOST.contains(word))
}

/// A set of spans that answers whether another overlaps any of them.
struct Cover {
    /// Start, and the farthest end of all spans up to here; in order of start.
    spans: Vec<(At, At)>,
}

impl Cover {
    fn new(spans: impl Iterator<Item = (At, At)>) -> Self {
        let mut spans: Vec<(At, At)> = spans.collect();
        spans.sort_unstable();
        let mut farthest = 0;
        for span in &mut spans {
            farthest = farthest.max(span.1);
            span.1 = farthest;
        }
        Self { spans }
    }

    fn overlaps(&self, span: (At, At)) -> bool {
        let before_end = self.spans.partition_point(|&(start, _)| start < span.1);
        before_end > 0 && self.spans[before_end - 1].1 > span.0
    }
}

/// Spaces for everything but line ends and preprocessor lines.
fn blank(bytes: &mut [u8], span: (At, At), preprocessed: &Preprocessed) {
    let directives = preprocessed.directives_in(span);
    let mut next = directives.iter().peekable();
    let mut offset = span.0 as usize;
    let end = (span.1 as usize).min(bytes.len());
    while offset < end {
        if let Some(&&(start, directive_end)) = next.peek()
            && offset == start as usize
        {
            offset = directive_end as usize;
            next.next();
            continue;
        }
        if !matches!(bytes[offset], b'\n' | b'\r') {
            bytes[offset] = b' ';
        }
        offset += 1;
    }
}
