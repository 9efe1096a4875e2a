//! A device with the judge's own code on it, before any program of a judging.

use device::{Bounds, Device, DeviceError, OpenRequest, StreamId};

use crate::kernels::Kernels;
use crate::wire::Code;

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
