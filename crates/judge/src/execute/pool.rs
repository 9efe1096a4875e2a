//! Scratch memory of runs that are interpreted: allocated and freed as the host function says, in an order
//! that only the run knows.
//!
//! What a stream's earlier work used its later work may use again, so memory that the host function frees is
//! given to its next allocation without the device being asked.

use device::{BufferId, Device, DeviceError};

/// Buffers of one set, some of them taken.
#[derive(Default)]
pub(super) struct Pool {
    pieces: Vec<Piece<BufferId>>,
}

struct Piece<Buffer> {
    buffer: Buffer,
    bytes: u64,
    is_taken: bool,
}

impl Pool {
    /// A pool with free buffers of these sizes. What was made before a failure is in `self`.
    pub fn fill(&mut self, device: &mut dyn Device, sizes: &[u64]) -> Result<(), DeviceError> {
        for &bytes in sizes {
            self.pieces.push(Piece {
                buffer: device.allocate(bytes, "scratch")?,
                bytes,
                is_taken: false,
            });
        }
        Ok(())
    }

    /// A buffer of at least so many bytes; made, where none is free.
    pub fn take(
        &mut self,
        device: &mut dyn Device,
        bytes: u64,
        label: &str,
    ) -> Result<BufferId, DeviceError> {
        if let Some(piece) = best(&mut self.pieces, bytes) {
            piece.is_taken = true;
            return Ok(piece.buffer);
        }
        let buffer = device.allocate(bytes, label)?;
        self.pieces.push(Piece {
            buffer,
            bytes,
            is_taken: true,
        });
        Ok(buffer)
    }

    /// The host function has freed it.
    pub fn give_back(&mut self, buffer: BufferId) {
        for piece in &mut self.pieces {
            piece.is_taken &= piece.buffer != buffer;
        }
    }

    /// Everything is free again.
    pub fn rewind(&mut self) {
        for piece in &mut self.pieces {
            piece.is_taken = false;
        }
    }

    pub fn buffers(&self) -> impl Iterator<Item = BufferId> {
        self.pieces.iter().map(|piece| piece.buffer)
    }
}

/// The buffers that a pool would have needed for a run that had none.
#[derive(Default)]
pub(super) struct Needed {
    pieces: Vec<Piece<Option<BufferId>>>,
}

impl Needed {
    /// The run allocated `buffer`.
    pub fn take(&mut self, buffer: BufferId, bytes: u64) {
        if let Some(piece) = best(&mut self.pieces, bytes) {
            piece.is_taken = true;
            piece.buffer = Some(buffer);
            return;
        }
        self.pieces.push(Piece {
            buffer: Some(buffer),
            bytes,
            is_taken: true,
        });
    }

    /// The run freed it.
    pub fn give_back(&mut self, buffer: BufferId) {
        for piece in &mut self.pieces {
            piece.is_taken &= piece.buffer != Some(buffer);
        }
    }

    pub fn sizes(&self) -> Vec<u64> {
        self.pieces.iter().map(|piece| piece.bytes).collect()
    }
}

/// The smallest free buffer that is large enough.
fn best<Buffer>(pieces: &mut [Piece<Buffer>], bytes: u64) -> Option<&mut Piece<Buffer>> {
    pieces
        .iter_mut()
        .filter(|piece| !piece.is_taken && piece.bytes >= bytes)
        .min_by_key(|piece| piece.bytes)
}

#[cfg(test)]
mod tests {
    use device::EmulatedDevice;
    use device::emulated::Settings;
    use domain::DeviceName;

    use super::*;

    fn device() -> EmulatedDevice {
        EmulatedDevice::new(Settings {
            limits: scoring::device(DeviceName::H200).limits.clone(),
            memory_limit_bytes: 1 << 20,
            instruction_fuel: 0,
        })
    }

    #[test]
    fn freed_memory_serves_the_next_allocation_that_fits() {
        let (mut device, mut pool) = (device(), Pool::default());
        pool.fill(&mut device, &[4096, 64]).unwrap();
        let small = pool.take(&mut device, 60, "a").unwrap();
        let large = pool.take(&mut device, 60, "b").unwrap();
        assert_eq!(device.size_bytes(small), Ok(64));
        assert_eq!(device.size_bytes(large), Ok(4096));
        let made = pool.take(&mut device, 60, "c").unwrap();
        assert_eq!(device.size_bytes(made), Ok(60));
        pool.give_back(large);
        assert_eq!(pool.take(&mut device, 4096, "d"), Ok(large));
        pool.rewind();
        assert_eq!(pool.take(&mut device, 10, "e"), Ok(made));
        assert_eq!(pool.buffers().count(), 3);
    }

    #[test]
    fn a_run_without_a_pool_tells_what_the_pool_of_the_next_needs() {
        let mut needed = Needed::default();
        needed.take(BufferId(0), 100);
        needed.take(BufferId(1), 10);
        needed.give_back(BufferId(0));
        needed.take(BufferId(2), 90);
        needed.take(BufferId(3), 90);
        assert_eq!(needed.sizes(), [100, 10, 90]);
    }
}
