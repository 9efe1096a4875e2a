//! How far a child that drives a device has come: it opens one, then loads one program for good.

use device::{Bounds, DeviceError, OpenRequest};
use sandbox::Mailbox;

use crate::loaded::Loaded;
use crate::opened::Opened;
use crate::wire::Code;

/// A child's device. `Work` is what it keeps beside the program.
pub(crate) enum Stage<Work> {
    /// There is none.
    Closed,
    /// The judge's own code is on it.
    Open(Opened),
    /// A program is.
    Loaded(Work),
}

impl<Work> Stage<Work> {
    /// Opens the device, with the mailbox pinned for it.
    pub fn open(
        &mut self,
        request: &OpenRequest,
        kernels: Option<&Code>,
        mailbox: &Mailbox,
    ) -> Result<(), DeviceError> {
        let mut opened = Opened::new(request, kernels)?;
        opened.pin(mailbox);
        *self = Self::Open(opened);
        Ok(())
    }

    /// Whether the open device still works.
    pub fn probe(&mut self) -> Result<(), DeviceError> {
        self.opened()?.probe()
    }

    /// Sets what the program that comes next may use.
    pub fn bound(&mut self, bounds: &Bounds) -> Result<(), DeviceError> {
        self.opened()?.bound(bounds)
    }

    /// Puts the program on the device. One that cannot be loaded leaves none behind.
    pub fn load(
        &mut self,
        code: Code,
        work: impl FnOnce(Loaded) -> Work,
    ) -> Result<(), DeviceError> {
        match std::mem::replace(self, Self::Closed) {
            Self::Open(opened) => {
                *self = Self::Loaded(work(Loaded::new(opened, code)?));
                Ok(())
            }
            other => {
                *self = other;
                Err(not_open())
            }
        }
    }

    /// The program and what is kept beside it.
    pub fn work(&mut self) -> Result<&mut Work, DeviceError> {
        match self {
            Self::Loaded(work) => Ok(work),
            _ => Err(DeviceError::Internal("nothing is loaded".to_owned())),
        }
    }

    fn opened(&mut self) -> Result<&mut Opened, DeviceError> {
        match self {
            Self::Open(opened) => Ok(opened),
            _ => Err(not_open()),
        }
    }
}

fn not_open() -> DeviceError {
    DeviceError::Internal("no device is open".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{bounds, compiled, emulated};

    #[test]
    fn requests_out_of_turn_are_refused_and_change_nothing() {
        let mailbox = Mailbox::create(4096).unwrap();
        let code = compiled("extern \"C\" __global__ void f() {}");
        let mut stage = Stage::<Loaded>::Closed;
        assert!(stage.probe().is_err() && stage.bound(&bounds()).is_err());
        assert!(stage.load(code.clone(), |loaded| loaded).is_err());
        stage.open(&emulated(), None, &mailbox).unwrap();
        assert!(stage.work().is_err());
        stage.probe().unwrap();
        stage.bound(&bounds()).unwrap();
        stage.load(code.clone(), |loaded| loaded).unwrap();
        assert!(stage.load(code, |loaded| loaded).is_err());
        assert!(stage.work().is_ok(), "the first program is still there");
    }
}
