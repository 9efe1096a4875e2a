//! What host code does to a device, as it does it. A plan records it; a live run carries it out.

use crate::plan::{KernelInstance, Operation, Place};

/// The device as the interpreter of host code sees it. Operations come in the order of the one stream.
pub trait DeviceSide {
    /// Takes one operation. It need not have ended when this returns. `symbols`: what
    /// [`crate::Buffer::Symbol`] means, as far as it was met; the list only grows.
    ///
    /// # Errors
    /// [`Refused`] ends the interpretation; why is for the side itself to remember.
    fn submit(&mut self, operation: Operation, symbols: &[String]) -> Result<(), Refused>;

    /// Reads device memory from a place on, after everything that was submitted before.
    ///
    /// # Errors
    /// As [`DeviceSide::submit`].
    fn read(
        &mut self,
        source: Place,
        symbols: &[String],
        into: &mut [u8],
    ) -> Result<Answer, Refused>;

    /// Is told that the host function asks for the compiler's numbers of a kernel of which there are none.
    /// What stands for them is a guess, to be had only where nothing runs by it.
    ///
    /// # Errors
    /// As [`DeviceSide::submit`].
    fn lacks(&mut self, kernel: &KernelInstance, line: u32) -> Result<(), Refused>;
}

/// What came of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bytes are there.
    Known,
    /// No kernel has run, and nobody knows.
    Unknown,
}

/// The side goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;
