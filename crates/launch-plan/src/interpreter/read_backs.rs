//! Copies from the device into host variables.
//!
//! What the device holds is the submission's doing and trusted with nothing: bytes become values of the
//! variable's type, whatever they are, and no address among them is ever followed.

use super::Interpreter;
use super::device_values::{guessed, holds_numbers_only, partly_overwritten, value_of};
use super::value::HostRef;
use crate::device_side::{Answer, Refused};
use crate::failure::{Fallible, Fault};
use crate::plan::Place;
use crate::source::text::At;
use crate::types::Type;

/// Bytes that one call may read back.
const MAX_BYTES: u64 = 16 << 20;
/// Bytes of read-backs that cost a step.
const BYTES_PER_STEP: u64 = 16;

#[derive(Debug, Default)]
pub(super) struct ReadBacks {
    bytes: u64,
    /// Where values were copied to the host that nobody knows.
    unknown: Vec<At>,
}

impl Interpreter<'_> {
    /// Copies `bytes` bytes, which lie within their buffer, into host variables.
    pub(super) fn read_back(
        &mut self,
        destination: &HostRef,
        source: Place,
        bytes: u64,
        at: At,
    ) -> Fallible<()> {
        self.read_backs.bytes = self.read_backs.bytes.saturating_add(bytes);
        if self.read_backs.bytes > MAX_BYTES {
            let message = format!("the host function reads back more than {MAX_BYTES} bytes");
            return Err(Fault::fuel(at, message).hint("work on bulk data in a kernel"));
        }
        self.spend(bytes / BYTES_PER_STEP, at)?;
        let (ty, slots) = self.memory.run_unseen(destination, at)?;
        let size = element_bytes(&ty, at)?;
        let count = usize::try_from(bytes.div_ceil(size)).unwrap_or(usize::MAX);
        if count > slots.len() {
            let message = format!(
                "cudaMemcpy writes {bytes} bytes to host memory that has {}",
                (slots.len() as u64).saturating_mul(size)
            );
            return Err(Fault::host(at, message));
        }
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        let answer = self.side.read(source, &self.plan.symbols, &mut data);
        let answer = answer.map_err(|Refused| self.refused(at))?;
        let guess = self.guess;
        let (_, slots) = self.memory.run_unseen(destination, at)?;
        let parts = data.chunks(usize::try_from(size).unwrap_or(usize::MAX));
        for (slot, part) in slots.iter_mut().zip(parts) {
            let value = match answer {
                Answer::Unknown => guessed(&ty, guess),
                Answer::Known if part.len() as u64 == size => value_of(&ty, part),
                Answer::Known => match partly_overwritten(&ty, slot.as_ref(), part) {
                    None => return Err(half_a_value(&ty, at)),
                    value => value,
                },
            };
            *slot = Some(value.ok_or_else(|| not_a_number(&ty, at))?);
        }
        let is_unknown = answer == Answer::Unknown;
        if is_unknown {
            self.read_backs.unknown.push(at);
        }
        let unknown = vec![is_unknown; count];
        self.memory.set_unknown_from(destination, &unknown, at)
    }

    /// Where no value that was copied back is used, the copies are left out.
    pub(super) fn warn_about_unused_read_backs(&mut self) {
        if self.memory.first_use_of_unknown().is_some() {
            return;
        }
        for at in std::mem::take(&mut self.read_backs.unknown) {
            self.warn(
                at,
                "nothing uses what is copied to the host here; the copy is left out",
                "remove it: outputs are checked where they lie, in device memory",
            );
        }
    }
}

/// Size of a variable that device memory can be copied into.
fn element_bytes(ty: &Type, at: At) -> Fallible<u64> {
    let size = ty.size_bytes().filter(|&size| size > 0);
    match size {
        Some(size) if holds_numbers_only(ty) => Ok(size),
        _ => Err(not_a_number(ty, at)),
    }
}

fn half_a_value(ty: &Type, at: At) -> Box<Fault> {
    let message = format!("a part of a `{ty}` is copied to the host, and the rest has no value");
    Fault::host(at, message).hint("copy whole elements: count * sizeof(type) bytes")
}

fn not_a_number(ty: &Type, at: At) -> Box<Fault> {
    Fault::host(
        at,
        format!("device memory is copied into host variables of type `{ty}`"),
    )
    .hint(
        "only numbers and plain structs of numbers can be read back; addresses mean nothing there",
    )
}
