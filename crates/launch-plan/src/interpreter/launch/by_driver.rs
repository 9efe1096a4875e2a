//! Launches by the driver's API: `cuLaunchKernel`, `cuLaunchCooperativeKernel` and `cuLaunchKernelEx`.

use super::Configuration;
use super::by_call::launched_of;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::source::text::At;

impl Interpreter<'_> {
    /// A launch by its function's name; `None` for other names.
    pub(in crate::interpreter) fn driver_launch(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cuLaunchKernel", [kernel, extents @ .., shared, _, array, extra]) => {
                no_extra(extra, at).and_then(|()| {
                    self.launch_by_numbers(kernel, extents, shared, array, false, at)
                })
            }
            ("cuLaunchCooperativeKernel", [kernel, extents @ .., shared, _, array]) => {
                self.launch_by_numbers(kernel, extents, shared, array, true, at)
            }
            ("cuLaunchKernelEx", [configuration, kernel, array, extra]) => no_extra(extra, at)
                .and_then(|()| {
                    let configuration = self.configuration(configuration, at)?;
                    let launched = launched_of(kernel.clone(), at)?;
                    self.issue_from_array(configuration, &launched, array, at)
                }),
            _ => return None,
        })
    }

    fn launch_by_numbers(
        &mut self,
        kernel: &Value,
        extents: &[Value],
        shared: &Value,
        array: &Value,
        cooperative: bool,
        at: At,
    ) -> Fallible<Value> {
        let mut numbers = [0; 6];
        if extents.len() != numbers.len() {
            return Err(Fault::launch(
                at,
                "a launch has three extents of the grid and three of the block",
            ));
        }
        for (number, extent) in numbers.iter_mut().zip(extents) {
            *number = u32::try_from(self.count_of(extent, at)?).unwrap_or(u32::MAX);
        }
        let [gx, gy, gz, bx, by, bz] = numbers;
        let configuration = Configuration {
            grid: [gx, gy, gz],
            block: [bx, by, bz],
            shared_bytes: self.count_of(shared, at)?,
            cluster: None,
            cooperative,
        };
        let launched = launched_of(kernel.clone(), at)?;
        self.issue_from_array(configuration, &launched, array, at)
    }
}

fn no_extra(extra: &Value, at: At) -> Fallible<()> {
    match extra {
        Value::Integer(_, 0) => Ok(()),
        Value::Pointer(_, target) if *target == Target::NULL => Ok(()),
        _ => Err(Fault::unsupported(
            at,
            "a launch with its arguments packed in `extra`",
            "pass the addresses of the arguments: `void* arguments[] = {&a, &b};`",
        )),
    }
}
