//! What a stream's operations do.

use super::errors::host_access;
use super::{EmulatedDevice, OpenSpan};
use crate::{Device, DeviceError, Operation};

/// The unit in which global memory moves.
const SECTOR_BYTES: u64 = 32;

impl EmulatedDevice {
    pub(super) fn perform(
        &mut self,
        operation: &Operation,
        open: &mut OpenSpan,
    ) -> Result<(), DeviceError> {
        let counted = open.span.counters.get_or_insert_default();
        match operation {
            Operation::Launch(launch) => self.launch(launch, open),
            Operation::Free(buffer) => self.free(*buffer),
            Operation::Memset {
                destination,
                value,
                bytes,
            } => {
                let address = self.resolve(*destination)?;
                counted.global_store_sectors += sectors(address, *bytes);
                open.model.transfer(*bytes);
                self.memory
                    .fill(address, *value, *bytes)
                    .map_err(|e| host_access("cudaMemset", &e))
            }
            Operation::Copy {
                destination,
                source,
                bytes,
            } => {
                let (to, from) = (self.resolve(*destination)?, self.resolve(*source)?);
                counted.global_load_sectors += sectors(from, *bytes);
                counted.global_store_sectors += sectors(to, *bytes);
                open.model.transfer(bytes.saturating_mul(2));
                self.memory
                    .copy(to, from, *bytes)
                    .map_err(|e| host_access("cudaMemcpy", &e))
            }
            Operation::Upload { destination, data } => {
                let address = self.resolve(*destination)?;
                counted.global_store_sectors += sectors(address, data.len() as u64);
                open.model.upload(data.len() as u64);
                self.memory
                    .write(address, data)
                    .map_err(|e| host_access("cudaMemcpy", &e))
            }
        }
    }
}

/// 32-byte sectors that a range touches. What the host function moves counts like what kernels move.
pub(super) fn sectors(address: u64, bytes: u64) -> u64 {
    if bytes == 0 {
        return 0;
    }
    let last = address.saturating_add(bytes - 1);
    last / SECTOR_BYTES - address / SECTOR_BYTES + 1
}
