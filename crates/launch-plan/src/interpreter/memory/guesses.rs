//! Which of the host's values are guesses: copied from a device that has not run.

use super::{HostRef, Memory};
use crate::failure::Fallible;
use crate::source::text::At;

impl Memory {
    /// Where a value was used first that is only a guess.
    pub(in crate::interpreter) fn first_use_of_unknown(&self) -> Option<At> {
        self.first_use_of_unknown
    }

    pub(super) fn use_unknown(&mut self, at: At) {
        self.first_use_of_unknown.get_or_insert(at);
    }

    /// Which of the elements from a place on are guesses.
    pub(in crate::interpreter) fn unknown_from(
        &mut self,
        reference: &HostRef,
        count: usize,
        at: At,
    ) -> Fallible<Vec<bool>> {
        let start = usize::try_from(reference.index).unwrap_or(usize::MAX);
        let unknown = &self.alive(reference, at)?.unknown;
        let is_unknown = |index: usize| unknown.get(index).copied().unwrap_or(false);
        // What lies within an element is one with it.
        let step = usize::from(reference.fields.is_empty());
        Ok((0..count)
            .map(|offset| is_unknown(start.saturating_add(offset * step)))
            .collect())
    }

    /// Says of the elements from a place on whether they are guesses now. What lies within an element is one
    /// with it, and stays a guess if it was one.
    pub(in crate::interpreter) fn set_unknown_from(
        &mut self,
        reference: &HostRef,
        unknown: &[bool],
        at: At,
    ) -> Fallible<()> {
        let start = usize::try_from(reference.index).unwrap_or(usize::MAX);
        let object = self.alive(reference, at)?;
        if object.unknown.is_empty() {
            if !unknown.contains(&true) {
                return Ok(());
            }
            object.unknown = vec![false; object.elements.len()];
        }
        if !reference.fields.is_empty() {
            if let Some(slot) = object.unknown.get_mut(start) {
                *slot |= unknown.contains(&true);
            }
            return Ok(());
        }
        for (slot, &unknown) in object.unknown.iter_mut().skip(start).zip(unknown) {
            *slot = unknown;
        }
        Ok(())
    }
}
