//! The machine's state by NVML. What cannot be read is left out; nothing here is an error.

use domain::MachineState;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, PerformancePolicy, TemperatureSensor,
};

pub(super) struct Machine {
    nvml: Option<Nvml>,
    uuid: String,
}

impl Machine {
    /// Opens the library where there is one.
    pub(super) fn open(uuid: &str) -> Self {
        Self {
            nvml: Nvml::init().ok(),
            uuid: uuid.to_owned(),
        }
    }

    pub(super) fn state(&self) -> MachineState {
        let Some(device) = self
            .nvml
            .as_ref()
            .and_then(|nvml| nvml.device_by_uuid(self.uuid.as_str()).ok())
        else {
            return nothing();
        };
        let hertz = |clock| device.clock_info(clock).ok().map(megahertz);
        let throttled = |policy| device.violation_status(policy).ok();
        let power_and_heat = throttled(PerformancePolicy::Power)
            .zip(throttled(PerformancePolicy::Thermal))
            .map(|(power, heat)| power.violation_time.saturating_add(heat.violation_time));
        MachineState {
            sm_clock_hz: hertz(Clock::SM),
            memory_clock_hz: hertz(Clock::Memory),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok(),
            power_w: device.power_usage().ok().map(milli),
            power_limit_w: device.enforced_power_limit().ok().map(milli),
            energy_j: device
                .total_energy_consumption()
                .ok()
                .map(|millijoules| millijoules as f64 / 1e3),
            throttle_reasons: device
                .current_throttle_reasons()
                .map(names)
                .unwrap_or_default(),
            throttled_ns: power_and_heat,
            ecc_uncorrected: device
                .total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile)
                .ok(),
        }
    }
}

fn nothing() -> MachineState {
    MachineState {
        sm_clock_hz: None,
        memory_clock_hz: None,
        temperature_c: None,
        power_w: None,
        power_limit_w: None,
        energy_j: None,
        throttle_reasons: Vec::new(),
        throttled_ns: None,
        ecc_uncorrected: None,
    }
}

fn megahertz(clock_mhz: u32) -> u64 {
    u64::from(clock_mhz) * 1_000_000
}

fn milli(value: u32) -> f64 {
    f64::from(value) / 1e3
}

fn names(reasons: ThrottleReasons) -> Vec<String> {
    reasons
        .iter_names()
        .filter(|(_, reason)| !reason.is_empty())
        .map(|(name, _)| name.to_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_drivers_names_in_snake_case() {
        let reasons = ThrottleReasons::SW_POWER_CAP | ThrottleReasons::HW_THERMAL_SLOWDOWN;
        assert_eq!(names(reasons), ["sw_power_cap", "hw_thermal_slowdown"]);
        assert!(names(ThrottleReasons::NONE).is_empty());
    }

    #[test]
    fn a_machine_that_cannot_be_asked_has_nothing_to_say() {
        let machine = Machine {
            nvml: None,
            uuid: String::new(),
        };
        assert_eq!(machine.state(), nothing());
    }
}
