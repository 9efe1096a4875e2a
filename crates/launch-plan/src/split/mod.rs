//! The text that NVRTC compiles: the submitted text with what only the host needs overwritten by
//! spaces.
//!
//! Invariant: line ends, and every byte outside a blanked piece, stay where they were. A piece
//! that the grammar could not read is never blanked; the compiler is the better judge of it.

mod host_only;
mod host_words;
mod members;

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use self::host_only::HostOnly;
use self::host_words::Words;
use self::members::host_members;
use crate::source::preprocess::Preprocessed;
use crate::source::text::{At, SourceText};
use crate::syntax::items::{Piece, PieceKind};

/// Overwrites host pieces. `entry` is the entry function's name, which is never device code.
pub(crate) fn device_source(
    source: &SourceText,
    preprocessed: &Preprocessed,
    root: Node<'_>,
    pieces: &[Piece],
    entry: &str,
) -> String {
    let words: Vec<BTreeSet<&str>> = pieces
        .iter()
        .map(|piece| words_of(piece, source, preprocessed))
        .collect();
    let HostOnly {
        pieces: host_only,
        functions,
    } = HostOnly::of(pieces, preprocessed, entry);
    let kept = kept_pieces(pieces, &words, &host_only);
    let mut bytes = source.as_str().as_bytes().to_vec();
    let kept_text = Cover::new(kept.iter().map(|&index| pieces[index].span));
    let is_host = |words: &Words<'_>| words.need_a_host() || !words.calls().is_disjoint(&functions);
    for (index, piece) in pieces.iter().enumerate() {
        if kept.contains(&index) {
            for member in host_members(root, preprocessed, piece, &is_host) {
                blank(&mut bytes, member, preprocessed);
            }
        } else if !kept_text.overlaps(piece.span) {
            // (One macro may expand to a kernel and to its host wrapper.)
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
