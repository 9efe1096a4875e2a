//! The judge's kernels on the emulated device.

use std::collections::BTreeSet;

use domain::Direction;
use problems::{Outliers, element, generate};

use super::*;
use crate::test_support::{compiled, emulated, vector};

const KEY: Subkey = [9; 32];
/// Not a multiple of 4, so that the last block of random words is used in part.
const ELEMENTS: u64 = 1003;

struct Rig {
    device: Box<dyn Device>,
    stream: StreamId,
    kernels: Kernels,
}

fn rig() -> Rig {
    let mut device = device::open(&emulated()).unwrap();
    let stream = device.stream().unwrap();
    let kernels = Kernels::load(device.as_mut(), stream, &compiled(SOURCE)).unwrap();
    Rig {
        device,
        stream,
        kernels,
    }
}

impl Rig {
    fn made(&mut self, spec: &TensorSpec, key: Option<Subkey>) -> Vec<u8> {
        let buffer = self.device.allocate(spec.bytes, &spec.name).unwrap();
        let operation = self.kernels.initialise(buffer, spec, key);
        self.device.run(self.stream, &[operation]).unwrap();
        self.device.read(buffer).unwrap()
    }

    fn digest(&mut self, contents: &[u8], key: u64) -> u64 {
        let buffer = self.device.allocate(contents.len() as u64, "data").unwrap();
        self.device.write(buffer, contents).unwrap();
        let digest = self
            .kernels
            .digest(self.device.as_mut(), self.stream, buffer, key);
        digest.unwrap()
    }
}

fn on_host(spec: &TensorSpec) -> Vec<u8> {
    let mut contents = Vec::new();
    let generator = spec.generator.as_ref().unwrap();
    generate::fill(generator, spec.element, &spec.dims, KEY, &mut contents);
    contents
}

#[test]
fn the_device_makes_what_the_host_makes() {
    let rare = Some(Outliers {
        share: 0.05,
        factor: 30.0,
    });
    let uniform = |low, high, outliers| Generator::Uniform {
        low,
        high,
        outliers,
    };
    let whole = Generator::Integers {
        low: i64::MIN,
        high: i64::MAX,
    };
    let cases = [
        (ElementType::F64, uniform(-1.0, 3.0, None)),
        (ElementType::F32, uniform(-1.0, 3.0, rare)),
        (ElementType::F16, uniform(-100.0, 100.0, rare)),
        (ElementType::Bf16, uniform(-1e3, 1e3, rare)),
        (ElementType::Fp8E4m3, uniform(-500.0, 500.0, None)),
        (ElementType::Fp8E5m2, uniform(-1.0, 1.0, None)),
        (ElementType::I64, whole.clone()),
        (ElementType::U64, whole),
        (
            ElementType::I32,
            Generator::Integers {
                low: -5,
                high: 1 << 40,
            },
        ),
        (ElementType::I16, uniform(-40_000.0, 40_000.0, None)),
        (
            ElementType::I8,
            Generator::Integers {
                low: -128,
                high: 127,
            },
        ),
        (ElementType::U32, Generator::Integers { low: 0, high: 6 }),
        (ElementType::U8, Generator::Integers { low: 0, high: 255 }),
        (ElementType::Bool, Generator::Integers { low: 0, high: 1 }),
        (ElementType::F32, Generator::Integers { low: -3, high: 3 }),
        (ElementType::Bf16, Generator::Constant { value: 2.5 }),
        (
            ElementType::I16,
            Generator::Sequence {
                start: 10.0,
                step: -3.0,
            },
        ),
        (
            ElementType::F32,
            Generator::Sequence {
                start: 0.1,
                step: 0.3,
            },
        ),
    ];
    let mut rig = rig();
    for (element, generator) in cases {
        let spec = vector("x", element, Direction::In, ELEMENTS, Some(generator));
        let made = rig.made(&spec, Some(KEY));
        assert_eq!(made, on_host(&spec), "{element:?} {:?}", spec.generator);
    }
}

/// The device's logarithm and cosine may differ from the host's in the last place of a double.
#[test]
fn normal_numbers_agree_to_the_last_place() {
    let generator = Generator::Normal {
        mean: 0.5,
        std: 2.0,
        outliers: None,
    };
    let mut rig = rig();
    for element in [ElementType::F64, ElementType::F32, ElementType::Bf16] {
        let spec = vector(
            "x",
            element,
            Direction::In,
            ELEMENTS,
            Some(generator.clone()),
        );
        let made = element::widen(&rig.made(&spec, Some(KEY)), element);
        let expected = element::widen(&on_host(&spec), element);
        let ulps = if element == ElementType::F64 {
            8.0
        } else {
            1.0
        };
        for (made, expected) in made.iter().zip(&expected) {
            let slack = ulps * element::ulp(expected.abs().max(0.5), element);
            assert!(
                (made - expected).abs() <= slack,
                "{element:?} {made} {expected}"
            );
        }
    }
}

#[test]
fn outputs_hold_poison_to_the_last_byte() {
    let mut rig = rig();
    for element in [
        ElementType::F64,
        ElementType::F16,
        ElementType::Fp8E4m3,
        ElementType::U8,
    ] {
        let spec = vector("y", element, Direction::Out, 13, None);
        let expected = element::poison(element).repeat(13);
        assert_eq!(rig.made(&spec, None), expected, "{element:?}");
    }
}

#[test]
fn every_byte_and_its_place_count_in_a_digest() {
    let mut rig = rig();
    let contents: Vec<u8> = (0..29).collect();
    for key in [0, 1, 0x0123_4567_89ab_cdef] {
        let digest = rig.digest(&contents, key);
        assert_eq!(digest, rig.digest(&contents, key));
        for at in [0, 3, 4, 7, 8, 23, 24, 28] {
            let mut other = contents.clone();
            other[at] ^= 0x80;
            assert_ne!(digest, rig.digest(&other, key), "byte {at}");
        }
        for (a, b) in [(0, 4), (0, 8), (24, 25)] {
            let mut swapped = contents.clone();
            swapped.swap(a, b);
            assert_ne!(digest, rig.digest(&swapped, key), "{a} and {b}");
        }
    }
}

/// What a change does to the digest tells nothing of what it does under another key, so that changes which
/// cancel under one do not under the next.
#[test]
fn the_key_reaches_every_byte_of_a_digest() {
    let mut rig = rig();
    let contents = [0x5a; 29];
    for at in 0..contents.len() {
        let mut other = contents;
        other[at] ^= 0x80;
        let mut change = |key| {
            let before = rig.digest(&contents, key);
            rig.digest(&other, key).wrapping_sub(before)
        };
        let changes: BTreeSet<u64> = (0..4).map(&mut change).collect();
        assert_eq!(changes.len(), 4, "byte {at}");
    }
}

/// A trap in our own code would make every failed launch of a submission look like one.
#[test]
fn the_judges_kernels_have_no_trap() {
    let ptx = compiled(SOURCE).ptx;
    assert!(!ptx.contains("trap;"));
}

#[test]
fn doubt_is_cast_on_whatever_the_host_would_not_admit() {
    let mut rig = rig();
    for element in [
        ElementType::F32,
        ElementType::Bf16,
        ElementType::F16,
        ElementType::Fp8E4m3,
    ] {
        let spec = vector("y", element, Direction::Out, 8, None);
        let ulp = element::ulp(1.5, element);
        let good = [1.5, -2.0, 0.0, 1.5 + ulp, 100.0, 1e-3, 0.25, -0.0];
        let mut doubt = |actual: [f64; 8], expected: [f64; 8], scale: f64, slack: f64| {
            let mut bytes = Vec::new();
            actual
                .iter()
                .for_each(|v| element::encode(*v, element, &mut bytes));
            let doubles = |v: [f64; 8]| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
            let contents = [bytes, doubles(expected), doubles([scale; 8])];
            let [actual, expected, scales] = contents.map(|bytes| {
                let buffer = rig.device.allocate(bytes.len() as u64, "b").unwrap();
                rig.device.write(buffer, &bytes).unwrap();
                buffer
            });
            let device = rig.device.as_mut();
            let pair = (expected, scales);
            rig.kernels
                .doubtful(device, rig.stream, (actual, &spec), pair, slack)
                .unwrap()
        };
        // Half a unit is admitted without any slack, one and a half are not.
        let rounded = good.map(|v| {
            element::widen(
                &{
                    let mut b = Vec::new();
                    element::encode(v, element, &mut b);
                    b
                },
                element,
            )[0]
        });
        assert_eq!(doubt(rounded, rounded, 1.0, 0.0), 0, "{element:?}");
        let mut off = rounded;
        off[0] += 0.49 * ulp;
        assert_eq!(doubt(rounded, off, 1.0, 0.0), 0, "{element:?}");
        off[0] += 1.2 * ulp;
        assert_eq!(doubt(rounded, off, 1.0, 0.0), 1, "{element:?}");
        assert_eq!(doubt(rounded, off, 1.0, 2.0 * ulp), 0, "{element:?}");
        off[3] = f64::NAN;
        assert_eq!(doubt(rounded, off, 1.0, 2.0 * ulp), 1, "{element:?}");
        assert_eq!(doubt(rounded, rounded, f64::NAN, 0.0), 8, "{element:?}");
        let mut nan = rounded;
        nan[5] = f64::NAN;
        assert_eq!(doubt(nan, rounded, 1.0, 1.0), 1, "{element:?}");
    }
}

#[test]
fn elements_become_doubles_as_on_the_host() {
    let mut rig = rig();
    for element in [
        ElementType::F64,
        ElementType::F32,
        ElementType::F16,
        ElementType::Bf16,
        ElementType::Fp8E4m3,
        ElementType::Fp8E5m2,
    ] {
        let generator = Generator::Uniform {
            low: -300.0,
            high: 300.0,
            outliers: None,
        };
        let spec = vector("x", element, Direction::Inout, ELEMENTS, Some(generator));
        let narrow = rig.device.allocate(spec.bytes, "x").unwrap();
        let doubles = rig.device.allocate(ELEMENTS * 8, "doubles").unwrap();
        let operations = [
            rig.kernels.initialise(narrow, &spec, Some(KEY)),
            rig.kernels.widen(narrow, &spec, doubles),
        ];
        rig.device.run(rig.stream, &operations).unwrap();
        let made = element::widen(&rig.device.read(doubles).unwrap(), ElementType::F64);
        assert_eq!(
            made,
            element::widen(&on_host(&spec), element),
            "{element:?}"
        );
    }
}

#[test]
fn bytes_that_differ_are_counted() {
    let mut rig = rig();
    let mut buffer = |contents: &[u8]| {
        let buffer = rig.device.allocate(contents.len() as u64, "b").unwrap();
        rig.device.write(buffer, contents).unwrap();
        buffer
    };
    let (a, b) = (buffer(&[1; 1001]), buffer(&[1; 1001]));
    let mut other = [1; 1001];
    other[1000] = 2;
    other[3] = 0;
    let c = buffer(&other);
    let mut count = |a, b| {
        let device = rig.device.as_mut();
        rig.kernels.different(device, rig.stream, a, b).unwrap()
    };
    assert_eq!((count(a, b), count(a, c)), (0, 2));
}

#[test]
fn settling_and_the_canary_run_and_change_nothing() {
    let mut rig = rig();
    let buffer = rig.device.allocate(1000, "data").unwrap();
    rig.device.write(buffer, &[7; 1000]).unwrap();
    let operations = [
        rig.kernels.scrub(),
        rig.kernels.demote(buffer, 1000),
        rig.kernels.flush(),
        rig.kernels.canary(),
    ];
    rig.device.run(rig.stream, &operations).unwrap();
    assert_eq!(rig.device.read(buffer).unwrap(), [7; 1000]);
}
