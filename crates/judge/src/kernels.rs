//! The judge's own kernels on a device: inputs, poison, digests, and a known state of the caches.

use device::{Address, Argument, BufferId, Device, DeviceError, LaunchSpec, ModuleId, ModuleImage};
use device::{Operation, StreamId};
use domain::ElementType;
use problems::subkey::Subkey;
use problems::{Generator, TensorSpec};

use crate::wire::Code;

/// The kernels' source, compiled for the device judged on.
pub(crate) const SOURCE: &str = include_str!("kernels/kernels.cu");

const THREADS: u32 = 256;
/// Blocks of a kernel that strides over its data; enough for every card.
const MAX_BLOCKS: u64 = 4096;
/// Numbers that the health probe asks for: every multiprocessor has some to make.
const PROBE_ELEMENTS: u64 = 1 << 18;
/// Steps of the canary: some 0.1 ms at any card's clock, long against the timer's tick.
const CANARY_STEPS: u32 = 50_000;

/// The kernels, loaded: where they are on the device that has them.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    module: ModuleId,
    flush: BufferId,
    flush_bytes: u64,
    /// Eight bytes for a digest, or whatever a kernel must write to.
    cell: BufferId,
    scrub_bytes: u32,
    multiprocessors: u32,
}

impl Kernels {
    /// Loads the kernels and makes the buffer that the L2 is flushed with.
    pub fn load(
        device: &mut dyn Device,
        stream: StreamId,
        code: &Code,
    ) -> Result<Self, DeviceError> {
        let module = device.load(ModuleImage {
            ptx: &code.ptx,
            cubin: &code.cubin,
        })?;
        let limits = device.limits().clone();
        // Replacement is not strictly by age, and the L2 of large cards has two halves.
        let flush_bytes = limits.l2_bytes * 2;
        let kernels = Self {
            module,
            flush: device.allocate(flush_bytes, "flush")?,
            flush_bytes,
            cell: device.allocate(8, "cell")?,
            scrub_bytes: limits.shared_memory_per_block_optin_bytes,
            multiprocessors: limits.multiprocessors,
        };
        let zero = |buffer, bytes| Operation::Memset {
            destination: Address::start_of(buffer),
            value: 0,
            bytes,
        };
        let cleared = [zero(kernels.flush, flush_bytes), zero(kernels.cell, 8)];
        device.run(stream, &cleared).map(|_| kernels)
    }

    /// Whether the device makes of known inputs what it must. The generator is asked for integers, which
    /// every device makes alike.
    pub fn probe(&self, device: &mut dyn Device, stream: StreamId) -> Result<(), DeviceError> {
        let generator = Generator::Integers {
            low: -1_000_000,
            high: 1_000_000,
        };
        let key = [0x5a; 32];
        let spec = TensorSpec {
            name: "probe".to_owned(),
            element: ElementType::I32,
            direction: domain::Direction::In,
            dims: vec![PROBE_ELEMENTS],
            bytes: PROBE_ELEMENTS * 4,
            align_bytes: 16,
            generator: Some(generator),
        };
        let mut expected = Vec::new();
        let generator = spec.generator.as_ref().expect("set above");
        problems::generate::fill(generator, spec.element, &spec.dims, key, &mut expected);
        let buffer = device.allocate(spec.bytes, &spec.name)?;
        let made = self.initialise(buffer, &spec, Some(key));
        device.run(stream, &[made])?;
        let found = device.read(buffer)?;
        device.free(buffer)?;
        if found != expected {
            return Err(DeviceError::Internal(
                "the card fails its health probe: it makes wrong numbers".to_owned(),
            ));
        }
        Ok(())
    }

    /// Puts a tensor's initial contents into its buffer: generated, or poison where it has no generator.
    pub fn initialise(
        &self,
        buffer: BufferId,
        spec: &TensorSpec,
        key: Option<Subkey>,
    ) -> Operation {
        match (&spec.generator, key) {
            (Some(generator), Some(key)) => self.generate(buffer, spec, generator, key),
            _ => self.poison(buffer, spec.bytes, problems::element::poison(spec.element)),
        }
    }

    fn generate(
        &self,
        buffer: BufferId,
        spec: &TensorSpec,
        generator: &Generator,
        key: Subkey,
    ) -> Operation {
        let elements = spec.elements();
        self.launch(
            "lightspeed_generate",
            elements.div_ceil(4),
            vec![
                start(buffer),
                number(elements),
                Argument::Value(generator_argument(generator, spec.element, key)),
            ],
        )
    }

    /// Fills a buffer with a pattern of 1, 2, 4 or 8 bytes.
    pub fn poison(&self, buffer: BufferId, bytes: u64, pattern: &[u8]) -> Operation {
        let repeated: Vec<u8> = pattern.iter().copied().cycle().take(8).collect();
        let arguments = vec![start(buffer), number(bytes), Argument::Value(repeated)];
        self.launch("lightspeed_fill", (bytes / 8).max(8), arguments)
    }

    /// Puts a floating tensor's elements into another buffer as doubles.
    pub fn widen(&self, from: BufferId, spec: &TensorSpec, doubles: BufferId) -> Operation {
        let elements = spec.elements();
        let arguments = vec![
            start(from),
            start(doubles),
            number(elements),
            Argument::Value(element_number(spec.element).to_le_bytes().to_vec()),
        ];
        self.launch("lightspeed_widen", elements, arguments)
    }

    /// A digest of a buffer's contents. Two contents have the same one for one key in billions, and so
    /// nobody can forge one who does not know the key: it is to be drawn once nothing of a submission's runs
    /// any more, and never used again.
    pub fn digest(
        &self,
        device: &mut dyn Device,
        stream: StreamId,
        buffer: BufferId,
        key: u64,
    ) -> Result<u64, DeviceError> {
        let bytes = device.size_bytes(buffer)?;
        let launch = self.launch(
            "lightspeed_digest",
            (bytes / 8).max(8),
            vec![start(buffer), number(bytes), number(key), start(self.cell)],
        );
        self.counted(device, stream, launch)
    }

    /// How many elements of an output are not plainly right. `expected` and `scale` hold doubles.
    pub fn doubtful(
        &self,
        device: &mut dyn Device,
        stream: StreamId,
        actual: (BufferId, &TensorSpec),
        reference: (BufferId, BufferId),
        slack: f64,
    ) -> Result<u64, DeviceError> {
        let (buffer, spec) = actual;
        let ulp = |value| problems::element::ulp(value, spec.element);
        let real = |value: f64| Argument::Value(value.to_le_bytes().to_vec());
        let launch = self.launch(
            "lightspeed_doubtful",
            spec.elements(),
            vec![
                start(buffer),
                start(reference.0),
                start(reference.1),
                number(spec.elements()),
                Argument::Value(element_number(spec.element).to_le_bytes().to_vec()),
                real(slack),
                real(ulp(1.0)),
                real(ulp(0.0)),
                real(ulp(problems::element::largest(spec.element))),
                start(self.cell),
            ],
        );
        self.counted(device, stream, launch)
    }

    /// How many bytes of two buffers differ.
    pub fn different(
        &self,
        device: &mut dyn Device,
        stream: StreamId,
        a: BufferId,
        b: BufferId,
    ) -> Result<u64, DeviceError> {
        let bytes = device.size_bytes(a)?;
        let arguments = vec![start(a), start(b), number(bytes), start(self.cell)];
        let launch = self.launch("lightspeed_different", bytes, arguments);
        self.counted(device, stream, launch)
    }

    /// What a kernel adds up in the cell.
    fn counted(
        &self,
        device: &mut dyn Device,
        stream: StreamId,
        launch: Operation,
    ) -> Result<u64, DeviceError> {
        let clear = Operation::Memset {
            destination: Address::start_of(self.cell),
            value: 0,
            bytes: 8,
        };
        device.run(stream, &[clear, launch])?;
        let mut sum = [0; 8];
        device.read_into(self.cell, &mut sum)?;
        Ok(u64::from_le_bytes(sum))
    }

    /// Takes a buffer's lines off any list of lines to keep.
    pub fn demote(&self, buffer: BufferId, bytes: u64) -> Operation {
        let arguments = vec![start(buffer), number(bytes)];
        self.launch("lightspeed_demote", bytes.div_ceil(128), arguments)
    }

    /// Overwrites shared memory on every multiprocessor.
    pub fn scrub(&self) -> Operation {
        let words = self.scrub_bytes / 4;
        Operation::Launch(LaunchSpec {
            grid: [self.multiprocessors * 2, 1, 1],
            dynamic_shared_bytes: words * 4,
            ..self.spec(
                "lightspeed_scrub",
                vec![
                    Argument::Value(words.to_le_bytes().to_vec()),
                    start(self.cell),
                ],
            )
        })
    }

    /// Reads more than the L2 holds.
    pub fn flush(&self) -> Operation {
        let count = self.flush_bytes / 16;
        let arguments = vec![start(self.flush), number(count), start(self.cell)];
        self.launch("lightspeed_flush", count, arguments)
    }

    /// A kernel whose time depends on the clock alone.
    pub fn canary(&self) -> Operation {
        Operation::Launch(self.spec(
            "lightspeed_canary",
            vec![
                start(self.cell),
                Argument::Value(CANARY_STEPS.to_le_bytes().to_vec()),
                Argument::Value(0.5_f32.to_le_bytes().to_vec()),
            ],
        ))
    }

    /// A launch with about a thread for each of `items`.
    fn launch(&self, kernel: &str, items: u64, arguments: Vec<Argument>) -> Operation {
        let blocks = items.div_ceil(u64::from(THREADS)).clamp(1, MAX_BLOCKS);
        Operation::Launch(LaunchSpec {
            grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1],
            ..self.spec(kernel, arguments)
        })
    }

    fn spec(&self, kernel: &str, arguments: Vec<Argument>) -> LaunchSpec {
        LaunchSpec {
            module: self.module,
            kernel: kernel.to_owned(),
            grid: [1, 1, 1],
            block: [THREADS, 1, 1],
            cluster: None,
            cooperative: false,
            dynamic_shared_bytes: 0,
            arguments,
        }
    }
}

fn start(buffer: BufferId) -> Argument {
    Argument::Pointer(Address::start_of(buffer))
}

fn number(value: u64) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

/// `struct Generator` of the source.
fn generator_argument(generator: &Generator, element: ElementType, key: Subkey) -> Vec<u8> {
    let none = (0.0, 0.0);
    let rare =
        |outliers: &Option<problems::Outliers>| outliers.map_or(none, |o| (o.share, o.factor));
    let (kind, first, second, (share, factor), low, high) = match generator {
        Generator::Normal {
            mean,
            std,
            outliers,
        } => (0_u32, *mean, *std, rare(outliers), 0, 0),
        Generator::Uniform {
            low,
            high,
            outliers,
        } => (1, *low, *high, rare(outliers), 0, 0),
        Generator::Integers { low, high } => (2, 0.0, 0.0, none, *low, *high),
        Generator::Constant { value } => (3, *value, 0.0, none, 0, 0),
        Generator::Sequence { start, step } => (4, *start, *step, none, 0, 0),
    };
    let mut bytes = key.to_vec();
    for number in [first, second, share, factor] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [low, high] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(kind.to_le_bytes());
    bytes.extend(element_number(element).to_le_bytes());
    bytes
}

/// `enum Element` of the source.
fn element_number(element: ElementType) -> u32 {
    match element {
        ElementType::F64 => 0,
        ElementType::F32 => 1,
        ElementType::F16 => 2,
        ElementType::Bf16 => 3,
        ElementType::Fp8E4m3 => 4,
        ElementType::Fp8E5m2 => 5,
        ElementType::I64 => 6,
        ElementType::U64 => 7,
        ElementType::I32 => 8,
        ElementType::U32 => 9,
        ElementType::I16 => 10,
        ElementType::I8 => 11,
        ElementType::U8 => 12,
        ElementType::Bool => 13,
    }
}

#[cfg(test)]
mod tests;
