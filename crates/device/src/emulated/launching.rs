//! Kernel launches: arguments laid out, limits that are left, what is counted.

use domain::report::Counters;

use super::errors::{device_error, load_error};
use super::tensor_map;
use super::{EmulatedDevice, OpenSpan, PRINTED_BYTES};
use crate::{Argument, Checking, DeviceError, LaunchSpec};

impl EmulatedDevice {
    pub(super) fn launch(
        &mut self,
        launch: &LaunchSpec,
        open: &mut OpenSpan,
    ) -> Result<(), DeviceError> {
        let OpenSpan {
            span, fuel, model, ..
        } = open;
        let parameters = self.pack(launch)?;
        let loaded = self.module(launch.module)?.clone();
        let limits = emulator::Limits {
            instruction_fuel: *fuel,
            threads: self.threads,
            checks: match self.checking {
                Checking::Bounds => emulator::Checks::BOUNDS,
                // Nobody asks which bytes were touched.
                Checking::Full => emulator::Checks {
                    footprints: false,
                    ..emulator::Checks::FULL
                },
            },
            output_bytes: PRINTED_BYTES.saturating_sub(span.printed.len()),
            ..emulator::Limits::default()
        };
        let request = emulator::Launch {
            kernel: &launch.kernel,
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster.unwrap_or([1; 3]),
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            parameters: &parameters,
        };
        let outcome = emulator::launch(&loaded, &request, &mut self.memory, &limits)
            .map_err(|fault| device_error(&fault, self.settings.instruction_fuel))?;
        *fuel = fuel.saturating_sub(outcome.counters.warp_instructions);
        *span.counters.get_or_insert_default() += &counters(&outcome.counters);
        let registers = self.modules.get(launch.module.0 as usize);
        let registers = registers.and_then(|module| module.registers.get(&launch.kernel).copied());
        let kernel = loaded.module().check(&launch.kernel).map_err(load_error)?;
        let shared_bytes = kernel.static_shared_bytes + launch.dynamic_shared_bytes;
        model.launch(
            &launch.kernel,
            &outcome,
            registers,
            launch.block,
            shared_bytes,
        );
        span.printed.push_str(&outcome.output.text);
        Ok(())
    }

    /// Lays the arguments out as the kernel expects them.
    fn pack(&self, launch: &LaunchSpec) -> Result<Vec<u8>, DeviceError> {
        let kernel = self
            .module(launch.module)?
            .module()
            .check(&launch.kernel)
            .map_err(load_error)?;
        if kernel.parameters.len() != launch.arguments.len() {
            let message = format!("`{}` got {} arguments", kernel.name, launch.arguments.len());
            return Err(DeviceError::Internal(message));
        }
        let mut packed = vec![0; kernel.parameter_bytes as usize];
        for (parameter, argument) in kernel.parameters.iter().zip(&launch.arguments) {
            let bytes = match argument {
                Argument::Pointer(address) => self.resolve(*address)?.to_le_bytes().to_vec(),
                Argument::Value(bytes) => bytes.clone(),
                Argument::Record { bytes, pointers } => {
                    Argument::record(bytes, pointers, |address| self.resolve(address))?
                }
                Argument::TensorMap(map) => tensor_map::encode(map, self.resolve(map.base)?)?,
            };
            let offset = parameter.offset_bytes as usize;
            let place = packed
                .get_mut(offset..offset + bytes.len())
                .filter(|place| place.len() == parameter.bytes as usize)
                .ok_or_else(|| {
                    DeviceError::Internal(format!("an argument of `{}` does not fit", kernel.name))
                })?;
            place.copy_from_slice(&bytes);
        }
        Ok(packed)
    }
}

fn counters(counted: &emulator::Counters) -> Counters {
    let flop = [
        ("f32", counted.flop_f32),
        ("f64", counted.flop_f64),
        ("f16", counted.flop_f16),
        ("tensor_f16", counted.flop_tensor_f16),
        ("tensor_tf32", counted.flop_tensor_tf32),
        ("tensor_fp8", counted.flop_tensor_fp8),
        ("tensor_int8", counted.flop_tensor_int8),
        ("tensor_f64", counted.flop_tensor_f64),
    ];
    Counters {
        warp_instructions: counted.warp_instructions,
        thread_instructions: counted.thread_instructions,
        global_requests: counted.global_requests,
        global_load_sectors: counted.global_load_sectors,
        global_store_sectors: counted.global_store_sectors + counted.global_atomic_sectors,
        shared_requests: counted.shared_requests,
        shared_wavefronts: counted.shared_wavefronts,
        barriers: counted.barriers,
        atomics: counted.atomics,
        divergent_branches: counted.divergent_branches,
        flop: flop
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect(),
    }
}
