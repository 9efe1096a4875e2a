//! Which pieces can be nothing but host code, whoever names them.

use std::collections::{BTreeMap, BTreeSet};

use super::host_words::Words;
use crate::source::preprocess::Preprocessed;
use crate::syntax::items::{Piece, PieceKind};

/// Pieces for the host alone: what needs it, and what calls that.
pub(super) struct HostOnly<'a> {
    /// One flag a piece.
    pub(super) pieces: Vec<bool>,
    /// Functions of which no definition is left for the device.
    pub(super) functions: BTreeSet<&'a str>,
}

impl<'a> HostOnly<'a> {
    /// `entry` is the entry function's name. A piece that the grammar could not read is never one.
    pub(super) fn of(pieces: &'a [Piece], preprocessed: &'a Preprocessed, entry: &str) -> Self {
        let text = |piece: &Piece| preprocessed.text().get(piece.range.clone()).unwrap_or("");
        let words: Vec<Words<'_>> = pieces.iter().map(|piece| Words::of(text(piece))).collect();
        let follow = Followers::of(pieces, &words, &text);
        let mut found = Self {
            pieces: vec![false; pieces.len()],
            functions: BTreeSet::new(),
        };
        let mut pending: Vec<usize> = (0..pieces.len())
            .filter(|&index| on_its_own(&pieces[index], &words[index], entry))
            .collect();
        let mut definitions = follow.definitions.clone();
        while let Some(index) = pending.pop() {
            if std::mem::replace(&mut found.pieces[index], true) {
                continue;
            }
            if pieces[index].kind == PieceKind::Record {
                pending.extend(variables_of(&pieces[index], pieces, &words));
            }
            if !is_function(&pieces[index]) {
                continue;
            }
            for name in &pieces[index].names {
                let left = definitions.entry(name).or_insert(1);
                *left = left.saturating_sub(usize::from(!is_prototype(text(&pieces[index]))));
                if *left == 0 && found.functions.insert(name) {
                    pending.extend(follow.of_name.get(name.as_str()).into_iter().flatten());
                }
            }
        }
        found
    }
}

fn on_its_own(piece: &Piece, words: &Words<'_>, entry: &str) -> bool {
    let is_entry = |name: &String| name == entry || name == "main";
    match piece.kind {
        _ if piece.has_error => false,
        PieceKind::HostFunction => piece.names.iter().any(is_entry) || words.need_a_host(),
        PieceKind::HostVariable | PieceKind::Record => words.need_a_host(),
        _ => false,
    }
}

/// Variables of a record for the host alone. No device code can use one, whatever it names alike; a constant
/// expression it can.
fn variables_of(record: &Piece, pieces: &[Piece], words: &[Words<'_>]) -> Vec<usize> {
    let is_of_it = |&index: &usize| {
        let (piece, words) = (&pieces[index], &words[index]);
        piece.kind == PieceKind::HostVariable
            && !piece.has_error
            && !words.mention("constexpr")
            && record.names.iter().any(|name| words.mention(name))
    };
    (0..pieces.len()).filter(is_of_it).collect()
}

fn is_function(piece: &Piece) -> bool {
    matches!(
        piece.kind,
        PieceKind::HostFunction | PieceKind::DeviceFunction
    )
}

fn is_prototype(text: &str) -> bool {
    text.ends_with(';')
}

/// What goes with a function: its prototypes and its callers among the functions without annotation.
struct Followers<'a> {
    of_name: BTreeMap<&'a str, Vec<usize>>,
    /// How many bodies, overloads included, a name has.
    definitions: BTreeMap<&'a str, usize>,
}

impl<'a> Followers<'a> {
    fn of(pieces: &'a [Piece], words: &[Words<'a>], text: &dyn Fn(&Piece) -> &'a str) -> Self {
        let mut of_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut definitions: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, piece) in pieces.iter().enumerate() {
            let prototype = is_prototype(text(piece));
            if is_function(piece) && !prototype {
                for name in &piece.names {
                    *definitions.entry(name).or_default() += 1;
                }
            }
            if piece.kind != PieceKind::HostFunction || piece.has_error {
                continue;
            }
            if prototype {
                for name in &piece.names {
                    of_name.entry(name).or_default().push(index);
                }
            } else {
                for name in words[index].calls() {
                    of_name.entry(name).or_default().push(index);
                }
            }
        }
        Self {
            of_name,
            definitions,
        }
    }
}
