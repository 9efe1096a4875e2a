//! Device descriptions: what a card can do at most, what a launch may ask of it, and who says so.
//!
//! Data files under `devices/`, one a name of the contract, embedded into the binary. Changing a
//! figure changes scores, so it takes a new [`crate::SCORING_VERSION`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use domain::{DeviceName, TargetLimits};
use serde::Deserialize;

use crate::pipe::Pipe;

/// One card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Name in the contract.
    pub name: DeviceName,
    /// The card whose figures these are, where the device itself measures nothing.
    #[serde(skip)]
    pub stands_in_for: Option<DeviceName>,
    /// DRAM bandwidth of the datasheet, byte/s.
    pub peak_bytes_per_s: f64,
    /// Dense peak of the datasheet per pipe, FLOP/s. Absent: the card has no such pipe.
    pub peak_flop_per_s: BTreeMap<Pipe, f64>,
    /// FLOP per clock on one multiprocessor, at any clock.
    pub flop_per_clock_per_multiprocessor: BTreeMap<Pipe, f64>,
    /// The highest clock the card runs at, Hz.
    pub max_clock_hz: f64,
    /// Time of an empty plan, s: the least that is expected of any kernel.
    pub launch_floor_s: f64,
    /// What a launch may ask for.
    pub limits: TargetLimits,
    /// Where each figure comes from, by field.
    pub sources: BTreeMap<String, String>,
}

/// A description that borrows every figure from another card.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StandIn {
    name: DeviceName,
    stands_in_for: DeviceName,
    sources: BTreeMap<String, String>,
}

/// The description of `name`.
#[must_use]
pub fn device(name: DeviceName) -> &'static Device {
    &DEVICES[&name]
}

/// All descriptions, in the contract's order.
pub fn devices() -> impl Iterator<Item = &'static Device> {
    DeviceName::ALL.iter().map(|name| device(*name))
}

impl Device {
    /// The peak of `pipe` at the datasheet's clock, FLOP/s.
    #[must_use]
    pub fn peak(&self, pipe: Pipe) -> Option<f64> {
        self.peak_flop_per_s.get(&pipe).copied()
    }

    /// The same card at its highest clock: multiprocessors x FLOP per clock x clock, and never less
    /// than the datasheet, whose rows mix clocks. The bandwidth is that of the datasheet.
    #[must_use]
    pub fn at_max_clock(&self) -> Self {
        let mut fast = self.clone();
        for (pipe, peak) in &mut fast.peak_flop_per_s {
            if let Some(per_clock) = self.flop_per_clock_per_multiprocessor.get(pipe) {
                let multiprocessors = f64::from(self.limits.multiprocessors);
                *peak = peak.max(multiprocessors * per_clock * self.max_clock_hz);
            }
        }
        fast
    }
}

static DEVICES: LazyLock<BTreeMap<DeviceName, Device>> = LazyLock::new(|| {
    let mut devices: BTreeMap<DeviceName, Device> = FILES
        .iter()
        .map(|text| {
            let device: Device = toml::from_str(text).expect("a test reads every device file");
            (device.name, device)
        })
        .collect();
    let stand_in: StandIn = toml::from_str(EMULATED).expect("a test reads every device file");
    let mut emulated = devices[&stand_in.stands_in_for].clone();
    emulated.name = stand_in.name;
    emulated.stands_in_for = Some(stand_in.stands_in_for);
    emulated.limits.name = format!("Emulated ({})", emulated.limits.name);
    emulated.sources.extend(stand_in.sources);
    devices.insert(emulated.name, emulated);
    devices
});

const EMULATED: &str = include_str!("../devices/emulated.toml");

const FILES: [&str; 13] = [
    include_str!("../devices/t4.toml"),
    include_str!("../devices/a10.toml"),
    include_str!("../devices/a100-40gb.toml"),
    include_str!("../devices/a100-80gb.toml"),
    include_str!("../devices/l4.toml"),
    include_str!("../devices/l40s.toml"),
    include_str!("../devices/rtx3090.toml"),
    include_str!("../devices/rtx4090.toml"),
    include_str!("../devices/rtx5090.toml"),
    include_str!("../devices/h100-pcie.toml"),
    include_str!("../devices/h100-sxm.toml"),
    include_str!("../devices/h200.toml"),
    include_str!("../devices/b200.toml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_contract_has_a_description() {
        assert_eq!(devices().count(), DeviceName::ALL.len());
        for (device, name) in devices().zip(DeviceName::ALL) {
            assert_eq!(device.name, *name);
            for field in [
                "peak_bytes_per_s",
                "peak_flop_per_s",
                "flop_per_clock_per_multiprocessor",
                "max_clock_hz",
                "launch_floor_s",
                "limits",
                "global_memory_bytes",
                "l2_bytes",
            ] {
                assert!(device.sources.contains_key(field), "{name}: {field}");
            }
        }
    }

    #[test]
    fn datasheet_and_clock_agree_as_far_as_clocks_do() {
        // A datasheet row may be quoted at a lower clock than the card can run (H100: 1.83 GHz for
        // tensor rows, 1.98 for fp32), or rounded up by a per cent; anything else is a typing error.
        for device in devices() {
            assert_eq!(
                device.peak_flop_per_s.keys().collect::<Vec<_>>(),
                device
                    .flop_per_clock_per_multiprocessor
                    .keys()
                    .collect::<Vec<_>>(),
                "{}",
                device.name
            );
            for (pipe, peak) in &device.peak_flop_per_s {
                let per_clock = device.flop_per_clock_per_multiprocessor[pipe];
                let multiprocessors = f64::from(device.limits.multiprocessors);
                let ratio = multiprocessors * per_clock * device.max_clock_hz / peak;
                assert!(
                    (0.99..1.30).contains(&ratio),
                    "{} {pipe}: {ratio}",
                    device.name
                );
            }
        }
    }

    #[test]
    fn the_h200_is_what_its_documents_say() {
        let h200 = device(DeviceName::H200);
        assert_eq!(h200.peak(Pipe::Bf16), Some(989e12));
        assert_eq!(h200.peak(Pipe::Fp32), Some(66.9e12));
        assert_eq!(h200.peak_bytes_per_s, 4.8e12);
        assert_eq!(h200.launch_floor_s, 0.6e-6);
        assert_eq!(h200.limits.multiprocessors, 132);
        assert_eq!(h200.limits.shared_memory_per_block_optin_bytes, 227 * 1024);
        assert_eq!(
            h200.limits.shared_memory_per_multiprocessor_bytes,
            228 * 1024
        );
        assert_eq!(h200.limits.l2_bytes, 60 << 20);
        // 132 x 4096 x 1.98 GHz = 1070.5 TFLOP/s, above the datasheet's 989.
        let fast = h200.at_max_clock();
        assert!((fast.peak(Pipe::Bf16).unwrap() / 1070.53e12 - 1.0).abs() < 1e-4);
        assert_eq!(fast.peak_bytes_per_s, h200.peak_bytes_per_s);
    }

    #[test]
    fn the_emulated_device_borrows_the_h200() {
        let (emulated, h200) = (device(DeviceName::Emulated), device(DeviceName::H200));
        assert_eq!(emulated.stands_in_for, Some(DeviceName::H200));
        assert_eq!(h200.stands_in_for, None);
        assert_eq!(emulated.peak_flop_per_s, h200.peak_flop_per_s);
        assert_eq!(emulated.limits.arch, "sm_90a");
    }

    #[test]
    fn architectures_are_exact_targets() {
        let arch = |name| device(name).limits.arch.as_str();
        assert_eq!(arch(DeviceName::T4), "sm_75");
        assert_eq!(arch(DeviceName::A100_40gb), "sm_80");
        assert_eq!(arch(DeviceName::Rtx3090), "sm_86");
        assert_eq!(arch(DeviceName::L40s), "sm_89");
        assert_eq!(arch(DeviceName::B200), "sm_100a");
        assert_eq!(arch(DeviceName::Rtx5090), "sm_120a");
    }
}
