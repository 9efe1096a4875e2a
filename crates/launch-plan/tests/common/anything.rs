//! A device that takes everything and says anything.

use launch_plan::{Answer, DeviceSide, KernelInstance, Operation, Place, Refused};

/// Takes everything and reads the same bytes again and again.
pub struct Anything(pub Vec<u8>);

impl DeviceSide for Anything {
    fn submit(&mut self, _operation: Operation, _symbols: &[String]) -> Result<(), Refused> {
        Ok(())
    }

    fn read(
        &mut self,
        _source: Place,
        _symbols: &[String],
        into: &mut [u8],
    ) -> Result<Answer, Refused> {
        let endless = self.0.iter().copied().cycle();
        into.iter_mut()
            .zip(endless)
            .for_each(|(to, from)| *to = from);
        self.0.rotate_left(1);
        Ok(Answer::Known)
    }

    fn lacks(&mut self, _kernel: &KernelInstance, _line: u32) -> Result<(), Refused> {
        Ok(())
    }
}
