//! A device with the judge's own code on it, before any program of a judging.

use device::{Bounds, Device, DeviceError, OpenRequest, StreamId};
use sandbox::Mailbox;

use crate::kernels::Kernels;
use crate::wire::Code;

/// As much of a mailbox as is pinned.
const PINNED_BYTES: usize = 1 << 30;

/// An open device.
pub(crate) struct Opened {
    pub device: Box<dyn Device>,
    pub stream: StreamId,
    pub kernels: Option<Kernels>,
}

impl Opened {
    /// Opens a device, loads the judge's kernels, and sees that they work.
    pub fn new(request: &OpenRequest, kernels: Option<&Code>) -> Result<Self, DeviceError> {
        let mut device = device::open(request)?;
        let stream = device.stream()?;
        let kernels = kernels
            .map(|code| Kernels::load(device.as_mut(), stream, code))
            .transpose()?;
        let mut opened = Self {
            device,
            stream,
            kernels,
        };
        opened.probe()?;
        Ok(opened)
    }

    /// Lets the device fetch from the mailbox directly, as far as outputs mostly reach. Pinning makes the
    /// pages, a tenth of a second for half a gibibyte, and so is done before a judging waits for it.
    /// A host that does not allow it only makes copies slower.
    pub fn pin(&mut self, mailbox: &Mailbox) {
        let (start, bytes) = mailbox.place();
        let bytes = bytes.min(PINNED_BYTES);
        let pinned = self.device.pin(start, bytes, mailbox.is_writable());
        if let Err(error) = pinned {
            tracing::debug!(%error, "the mailbox is not pinned");
        }
    }

    /// Whether the device still works: what an earlier program did to the card must not be told as the
    /// next one's fault.
    pub fn probe(&mut self) -> Result<(), DeviceError> {
        match &self.kernels {
            Some(kernels) => kernels.probe(self.device.as_mut(), self.stream),
            None => Ok(()),
        }
    }

    /// Sets what the program that comes now may use.
    pub fn bound(&mut self, bounds: &Bounds) -> Result<(), DeviceError> {
        self.device.bound(bounds)
    }
}
