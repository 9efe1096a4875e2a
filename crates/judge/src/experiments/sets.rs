//! What experiments run: copies and chains, and sets of buffers in turn, as the judge rotates them.

use device::{BufferId, DeviceError, Operation};

use crate::compile::wire::KernelSet::Experiments;
use crate::measuring::rig::{Rig, long, pointer, word};

const VECTOR_BYTES: u64 = 16;
const THREADS: u32 = 256;
/// As the judge's rotation: so many times the L2 before an address comes back, so many sets at most.
const POOL_OVER_L2: u64 = 5;
const MAX_SETS: u64 = 64;

/// A copy of `bytes`, `times` over.
pub(super) fn copy(
    rig: &Rig,
    to: BufferId,
    from: BufferId,
    bytes: u64,
    times: u32,
) -> Result<Operation, DeviceError> {
    let count = bytes / VECTOR_BYTES;
    let arguments = vec![pointer(to), pointer(from), long(count), word(times)];
    let grid = [blocks(rig, count), THREADS];
    let spec = rig.spec(Experiments, "measured_copy", grid, arguments)?;
    Ok(Operation::Launch(spec))
}

/// A chain of dependent multiply-adds.
pub(super) fn chain(rig: &Rig, steps: u32) -> Result<Operation, DeviceError> {
    let steps = steps.min(rig.extent.max_steps);
    let by = device::Argument::Value(0.5_f32.to_le_bytes().to_vec());
    let arguments = vec![rig.sink(), word(steps), by];
    let spec = rig.spec(Experiments, "measured_chain", [1, THREADS], arguments)?;
    Ok(Operation::Launch(spec))
}

/// A reader of `from`, which is told where the next run will read.
pub(super) fn reader(
    rig: &Rig,
    kernel: &str,
    from: BufferId,
    next: BufferId,
    bytes: u64,
) -> Result<Operation, DeviceError> {
    let count = bytes / VECTOR_BYTES;
    let arguments = vec![pointer(from), long(count), pointer(next), rig.sink()];
    let grid = [blocks(rig, count), THREADS];
    Ok(Operation::Launch(rig.spec(
        Experiments,
        kernel,
        grid,
        arguments,
    )?))
}

/// A thread a vector, or sixteen blocks a multiprocessor.
fn blocks(rig: &Rig, count: u64) -> u32 {
    let most = u64::from(rig.device.limits().multiprocessors) * 16;
    let blocks = count.div_ceil(u64::from(THREADS)).clamp(1, most);
    u32::try_from(blocks).unwrap_or(u32::MAX)
}

/// Sets of buffers that take turns; always the first where there is no rotation.
pub(super) struct Sets {
    /// Each set's buffers, all of one size.
    pub sets: Vec<Vec<BufferId>>,
    pub bytes: u64,
    next: usize,
}

impl Sets {
    /// As many sets of `each` buffers as the judge would rotate through.
    pub fn new(rig: &mut Rig, each: u64, bytes: u64) -> Result<Self, DeviceError> {
        let pool = rig.device.limits().l2_bytes * POOL_OVER_L2;
        let wanted = (pool.div_ceil(bytes * each) + 1).clamp(2, MAX_SETS);
        let mut sets = Vec::new();
        for _ in 0..wanted {
            let set: Result<Vec<_>, _> = (0..each)
                .map(|_| rig.device.allocate(bytes, "set"))
                .collect();
            sets.push(set?);
        }
        Ok(Self {
            sets,
            bytes,
            next: 0,
        })
    }

    /// The set whose turn it is, and the one after it.
    pub fn turn(&mut self, rotates: bool) -> (&[BufferId], &[BufferId]) {
        if !rotates {
            return (&self.sets[0], &self.sets[0]);
        }
        let now = self.next;
        self.next = (self.next + 1) % self.sets.len();
        (&self.sets[now], &self.sets[self.next])
    }

    pub fn release(self, rig: &mut Rig) -> Result<(), DeviceError> {
        rig.free(self.sets.into_iter().flatten())
    }
}
