//! The kernels with a real compiler for every architecture, and on the emulated device where it runs
//! them: they count what is claimed of them.

use domain::report::Counters;
use domain::{DeviceName, TimerRef};
use scoring::Pipe;

use super::figure::Figure;
use super::{Calibration, Ceilings, memory, rates, tensor, vector};
use crate::compile::wire::KernelSet;
use crate::measuring::pretend::rig;
use crate::measuring::rig::Rig;
use crate::test_support::compiled_for;

const SETS: [KernelSet; 6] = [
    KernelSet::Judging,
    KernelSet::Memory,
    KernelSet::Vector,
    KernelSet::Mma,
    KernelSet::Wgmma,
    KernelSet::Experiments,
];

/// Compiles every set, and finds the kernel of every pipe that a card of the architecture is said to
/// have.
fn compiles_for(arch: &str) {
    let code = SETS.map(|set| (set, compiled_for(set.source(), arch).ptx));
    for device in scoring::devices().filter(|device| device.limits.arch == arch) {
        for pipe in device.peak_flop_per_s.keys().copied() {
            let (set, kernel) = match pipe {
                Pipe::Fp32 | Pipe::Fp64 => (KernelSet::Vector, format!("calibration_{pipe}")),
                _ => {
                    let product = tensor::product(pipe, &device.limits);
                    let product = product.unwrap_or_else(|| panic!("{pipe} on {}", device.name));
                    (product.set, tensor::kernel(pipe, product))
                }
            };
            let (_, ptx) = code.iter().find(|(of, _)| *of == set).unwrap();
            let entry = format!(".entry {kernel}(");
            assert!(ptx.contains(&entry), "{kernel} for {arch}");
        }
    }
}

macro_rules! architectures {
    ($($name:ident),+) => {
        $(#[test] fn $name() { compiles_for(stringify!($name)); })+
    };
}
architectures!(sm_75, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a);

fn counted(rig: &mut Rig, spec: device::LaunchSpec) -> Counters {
    let operations = [device::Operation::Launch(spec)];
    let span = rig.device.run(rig.stream, &operations).unwrap();
    span.counters.unwrap()
}

#[test]
fn a_copy_moves_what_it_claims_whatever_the_grid() {
    const BYTES: u64 = 9 * 1024 + 16 * 5;
    for blocks in [1, 2, 7] {
        let mut rig = rig(KernelSet::Memory);
        let from = rig.random(BYTES, "from").unwrap();
        let to = rig.random(BYTES, "to").unwrap();
        rig.device.write(to, &[0; BYTES as usize]).unwrap();
        let spec = memory::copy_spec(&rig, to, from, BYTES, blocks).unwrap();
        let counters = counted(&mut rig, spec);
        assert_eq!(rig.device.read(to).unwrap(), rig.device.read(from).unwrap());
        let sectors = counters.global_load_sectors + counters.global_store_sectors;
        // Half a sector at the end counts as one on each side.
        assert_eq!(
            sectors * 32,
            rates::copy_bytes(BYTES) + 32,
            "{blocks} blocks"
        );
    }
}

#[test]
fn a_read_loads_everything_once_a_pass() {
    const BYTES: u64 = 40 * 1024;
    let mut rig = rig(KernelSet::Memory);
    let from = rig.random(BYTES, "from").unwrap();
    let spec = memory::read_spec(&rig, from, BYTES, 3, 2).unwrap();
    let counters = counted(&mut rig, spec);
    assert_eq!(counters.global_load_sectors * 32, BYTES * 3);
    assert_eq!(counters.global_store_sectors, 0);
}

#[test]
fn multiply_adds_are_counted_as_claimed() {
    for (pipe, counter) in [(Pipe::Fp32, "f32"), (Pipe::Fp64, "f64")] {
        let mut rig = rig(KernelSet::Vector);
        let numbers = vector::numbers(pipe);
        let starts = rig.device.allocate(numbers.len() as u64, "starts").unwrap();
        rig.device.write(starts, &numbers).unwrap();
        let spec = vector::spec(&rig, pipe, starts, 5, 2).unwrap();
        let counters = counted(&mut rig, spec);
        let claimed = rates::vector_flop(2 * 256, 5);
        assert_eq!(counters.flop.get(counter), Some(&claimed), "{counters:?}");
    }
}

#[test]
fn every_figure_of_memory_and_vector_units_goes_through() {
    let found = [
        memory::measure(&mut rig(KernelSet::Memory)),
        vector::measure(&mut rig(KernelSet::Vector)),
    ];
    for finding in found.concat() {
        let reading = finding.reading.unwrap();
        assert!(reading.value > 0.0, "{:?}: {reading:?}", finding.figure);
    }
}

#[test]
fn pipes_that_an_architecture_lacks_have_no_kernel() {
    let product = |name, pipe| tensor::product(pipe, &scoring::device(name).limits);
    assert_eq!(product(DeviceName::T4, Pipe::Bf16), None);
    assert_eq!(product(DeviceName::T4, Pipe::Tf32), None);
    assert_eq!(product(DeviceName::Rtx3090, Pipe::Fp8), None);
    let hopper = product(DeviceName::H200, Pipe::Bf16).unwrap();
    assert_eq!(hopper.set, KernelSet::Wgmma);
    let blackwell = product(DeviceName::B200, Pipe::Fp8).unwrap();
    assert_eq!(blackwell.set, KernelSet::Mma);
}

fn calibration() -> Calibration {
    let mut ceilings = Ceilings::default();
    Figure::Copy.put(4.32e12, &mut ceilings);
    Figure::Rate(Pipe::Bf16).put(742e12, &mut ceilings);
    Calibration {
        schema: super::SCHEMA.to_owned(),
        gpu_uuid: "GPU-00112233".to_owned(),
        device: DeviceName::H200,
        model: "NVIDIA H200".to_owned(),
        timer: TimerRef {
            name: "cupti".to_owned(),
            cupti: Some("26".to_owned()),
            driver: "13.0".to_owned(),
            unranked: None,
        },
        ceilings,
        spreads: [("copy_bytes_per_s".to_owned(), 0.001)].into(),
        ways: Default::default(),
        missing: [("fp8_flop_per_s".to_owned(), "a fault".to_owned())].into(),
        before: Some(domain::MachineState::default()),
        after: None,
    }
}

#[test]
fn a_calibration_is_found_again_by_its_card() {
    let folder = tempfile::tempdir().unwrap();
    let stored = calibration();
    let path = stored.store(folder.path()).unwrap();
    assert!(path.ends_with("GPU-00112233.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("copy_bytes_per_s = 4320000000000"), "{text}");
    let loaded = Calibration::load(folder.path(), "GPU-00112233");
    assert_eq!(loaded, Some(stored));
    assert_eq!(Calibration::load(folder.path(), "GPU-44556677"), None);
    std::fs::write(&path, "schema = 1").unwrap();
    assert_eq!(Calibration::load(folder.path(), "GPU-00112233"), None);
}

#[test]
fn one_line_tells_each_figure_and_its_share() {
    let line = super::in_one_line(&calibration().ceilings, DeviceName::H200);
    assert_eq!(
        line,
        "copy 4.32 TB/s (0.90 of peak), bf16 742.0 TFLOP/s (0.75 of peak)"
    );
}
