//! What must hold of every backend, and what only a GPU can do, told through the `Device` trait alone.

use std::collections::BTreeMap;

pub use device::Argument;
use device::{
    Address, BufferId, Device, DeviceError, Fault, LaunchSpec, ModuleId, ModuleImage, Operation,
    Span, StreamId,
};
use domain::{DeviceKind, VerdictKind};

/// One compiled source.
pub struct Code {
    pub ptx: String,
    pub cubin: Vec<u8>,
}

/// Compiled sources of `examples/kernels`, by file name without extension.
pub type Images = BTreeMap<String, Code>;

pub type Outcome = Result<(), String>;
pub type Check = (&'static str, fn(&mut Bench) -> Outcome);

/// Hold on every backend.
pub const COMMON: &[Check] = &[
    ("what is written is read back", round_trip),
    ("the memory limit holds", memory_limit),
    ("host operations move bytes", host_operations),
    ("host operations stay in their buffers", host_bounds),
    ("freed memory is refused to the host", freed),
    ("layouts and missing kernels", layouts),
    ("arguments of mixed sizes arrive", mixed_arguments),
    ("a write past the end is found", past_end),
    (
        "a write past the end of a freed buffer is found",
        past_end_freed,
    ),
    ("variables return to their initial contents", globals),
    ("a symbol is written and reset", symbol_upload),
    ("a block that is too large is refused", launch_config),
    ("several operations are one span", one_span),
];

/// Need a GPU of compute capability 9.0 or newer.
pub const GPU_ONLY: &[Check] = &[
    ("attributes", attributes),
    ("dynamic shared memory of 200 KiB", large_shared),
    ("a cluster of two blocks", cluster),
    ("a cooperative grid meets", cooperative),
    (
        "a cooperative grid that is too large is refused",
        cooperative_too_large,
    ),
    ("a slope is measured", slope),
];

/// A device under test.
pub struct Bench<'a> {
    pub device: &'a mut dyn Device,
    images: &'a Images,
    stream: StreamId,
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

impl<'a> Bench<'a> {
    pub fn new(device: &'a mut dyn Device, images: &'a Images) -> Result<Self, String> {
        let stream = device.stream().map_err(text)?;
        Ok(Self {
            device,
            images,
            stream,
        })
    }

    pub fn load(&mut self, name: &str) -> Result<ModuleId, String> {
        let code = self
            .images
            .get(name)
            .ok_or_else(|| format!("no code of `{name}`"))?;
        let image = ModuleImage {
            ptx: &code.ptx,
            cubin: &code.cubin,
        };
        self.device.load(image).map_err(text)
    }

    pub fn buffer(&mut self, bytes: u64, label: &str) -> Result<BufferId, String> {
        self.device.allocate(bytes, label).map_err(text)
    }

    pub fn run(&mut self, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.device.run(self.stream, operations)
    }

    pub fn time(&mut self, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.device.time(self.stream, operations)
    }

    pub fn slope(&mut self, operations: &[Operation], copies: u32) -> Result<f64, String> {
        let slope = self.device.slope(self.stream, operations, copies);
        let slope = slope.map_err(text)?.ok_or("no slope")?;
        Ok(slope.as_secs_f64())
    }

    fn words(&mut self, buffer: BufferId) -> Result<Vec<u32>, String> {
        let bytes = self.device.read(buffer).map_err(text)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }

    fn is_gpu(&self) -> bool {
        self.device.kind() == DeviceKind::Gpu
    }
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub fn at(buffer: BufferId, offset_bytes: i64) -> Address {
    Address::Buffer {
        buffer,
        offset_bytes,
    }
}

pub fn pointer(buffer: BufferId) -> Argument {
    Argument::Pointer(at(buffer, 0))
}

pub fn word(value: u32) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

/// A launch of one block of 128 threads.
pub fn launch(module: ModuleId, kernel: &str, arguments: Vec<Argument>) -> LaunchSpec {
    LaunchSpec {
        module,
        kernel: kernel.to_owned(),
        grid: [1, 1, 1],
        block: [128, 1, 1],
        cluster: None,
        cooperative: false,
        dynamic_shared_bytes: 0,
        arguments,
    }
}

fn memset(buffer: BufferId, offset_bytes: i64, value: u8, bytes: u64) -> Operation {
    Operation::Memset {
        destination: at(buffer, offset_bytes),
        value,
        bytes,
    }
}

fn fault(outcome: Result<impl Sized, DeviceError>, wanted: VerdictKind) -> Result<Fault, String> {
    match outcome {
        Err(DeviceError::Fault(fault)) if fault.kind == wanted => Ok(fault),
        Err(DeviceError::Fault(fault)) => Err(format!(
            "{} instead of {}: {}",
            fault.kind.as_str(),
            wanted.as_str(),
            fault.message
        )),
        Err(other) => Err(format!("instead of {}: {other}", wanted.as_str())),
        Ok(_) => Err(format!("no {}", wanted.as_str())),
    }
}

fn round_trip(bench: &mut Bench) -> Outcome {
    let data: Vec<u8> = (0..1_000_003_u32).map(|i| (i * 7 % 251) as u8).collect();
    let buffer = bench.buffer(data.len() as u64, "data")?;
    bench.device.write(buffer, &data).map_err(text)?;
    ensure!(
        bench.device.read(buffer).map_err(text)? == data,
        "other bytes came back"
    );
    let mut part = [0; 10];
    bench.device.read_into(buffer, &mut part).map_err(text)?;
    ensure!(part[..] == data[..10], "a part is other bytes");
    let empty = bench.buffer(0, "empty")?;
    bench.device.write(empty, &[]).map_err(text)?;
    ensure!(
        bench.device.read(empty).map_err(text)?.is_empty(),
        "an empty buffer has bytes"
    );
    bench.device.verify_guards().map_err(text)
}

fn memory_limit(bench: &mut Bench) -> Outcome {
    match bench.device.allocate(1 << 50, "huge") {
        Err(DeviceError::OutOfMemory {
            requested_bytes, ..
        }) => {
            ensure!(
                requested_bytes == 1 << 50,
                "{requested_bytes} bytes were asked for"
            );
            Ok(())
        }
        Err(other) => Err(text(other)),
        Ok(_) => Err("a petabyte was given".to_owned()),
    }
}

fn host_operations(bench: &mut Bench) -> Outcome {
    let (a, b) = (bench.buffer(64, "a")?, bench.buffer(64, "b")?);
    let operations = [
        memset(a, 0, 5, 64),
        memset(a, 8, 9, 0),
        Operation::Upload {
            destination: at(a, 16),
            data: (0..16).collect(),
        },
        Operation::Copy {
            destination: at(b, 32),
            source: at(a, 16),
            bytes: 32,
        },
    ];
    bench.run(&operations).map_err(text)?;
    let mut expected = vec![5; 16];
    expected.extend(0..16);
    expected.extend([5; 32]);
    ensure!(
        bench.device.read(a).map_err(text)? == expected,
        "memset and upload"
    );
    let b = bench.device.read(b).map_err(text)?;
    ensure!(b[32..] == expected[16..48], "copy: {b:?}");
    Ok(())
}

fn host_bounds(bench: &mut Bench) -> Outcome {
    let buffer = bench.buffer(16, "C")?;
    let found = fault(
        bench.run(&[memset(buffer, 8, 0, 16)]),
        VerdictKind::OutOfBounds,
    )?;
    ensure!(
        found
            .message
            .contains("cudaMemset: 16 bytes at offset 8 do not fit `C`, which has 16 bytes"),
        "{}",
        found.message
    );
    Ok(())
}

fn freed(bench: &mut Bench) -> Outcome {
    let buffer = bench.buffer(16, "scratch")?;
    let operations = [
        memset(buffer, 0, 0, 16),
        Operation::Free(buffer),
        memset(buffer, 0, 0, 16),
    ];
    let found = fault(bench.run(&operations), VerdictKind::UseAfterFree)?;
    ensure!(
        found.message.contains("`scratch` was freed"),
        "{}",
        found.message
    );
    let other = bench.buffer(16, "other")?;
    bench
        .run(&[memset(other, 0, 1, 16), Operation::Free(other)])
        .map_err(text)?;
    bench.device.free(other).map_err(text)?; // a second time does nothing
    fault(
        bench.run(&[memset(other, 0, 1, 16)]),
        VerdictKind::UseAfterFree,
    )
    .map(drop)
}

fn layouts(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let layout = bench.device.kernel(module, "mixed").map_err(text)?;
    ensure!(
        layout.parameter_bytes == [1, 24, 2, 8, 8, 1],
        "parameters of {:?} bytes",
        layout.parameter_bytes
    );
    let empty = bench.device.kernel(module, "empty").map_err(text)?;
    ensure!(
        empty.parameter_bytes.is_empty(),
        "{:?}",
        empty.parameter_bytes
    );
    ensure!(
        bench.device.kernel(module, "absent").is_err(),
        "a kernel that is not there"
    );
    Ok(())
}

fn mixed_arguments(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(56, "out")?;
    let mut structure = Vec::new();
    structure.extend(1.5_f32.to_le_bytes());
    structure.extend([0; 4]);
    structure.extend((-2.25_f64).to_le_bytes());
    for value in [1_i16, 2, 3] {
        structure.extend(value.to_le_bytes());
    }
    structure.extend([0; 2]);
    let arguments = vec![
        Argument::Value(vec![0xFD]),
        Argument::Value(structure),
        Argument::Value((-300_i16).to_le_bytes().to_vec()),
        Argument::Value((1_u64 << 40).to_le_bytes().to_vec()),
        pointer(out),
        Argument::Value(vec![200]),
    ];
    let spec = LaunchSpec {
        block: [1, 1, 1],
        ..launch(module, "mixed", arguments)
    };
    bench.run(&[Operation::Launch(spec)]).map_err(text)?;
    let bytes = bench.device.read(out).map_err(text)?;
    let found: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(std::array::from_fn(|i| b[i])))
        .collect();
    let expected = [-3.0, 1.5, -2.25, 321.0, -300.0, (1_u64 << 40) as f64, 200.0];
    ensure!(found == expected, "{found:?} instead of {expected:?}");
    Ok(())
}

fn past_end(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(1000, "narrow")?;
    let spec = launch(module, "past_end", vec![pointer(out), word(1000)]);
    let ran = bench.run(&[Operation::Launch(spec)]);
    let found = fault(
        ran.and_then(|_| bench.device.verify_guards()),
        VerdictKind::OutOfBounds,
    )?;
    ensure!(
        found.message.contains("`narrow`") && found.message.contains("at offset 1000"),
        "{}",
        found.message
    );
    Ok(())
}

fn past_end_freed(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "short-lived")?;
    let spec = launch(module, "past_end", vec![pointer(out), word(512)]);
    let ran = bench.run(&[Operation::Launch(spec), Operation::Free(out)]);
    let found = fault(
        ran.and_then(|_| bench.device.verify_guards()),
        VerdictKind::OutOfBounds,
    )?;
    ensure!(found.message.contains("`short-lived`"), "{}", found.message);
    Ok(())
}

fn counted(bench: &mut Bench, module: ModuleId) -> Result<Vec<u32>, String> {
    let out = bench.buffer(16, "out")?;
    let spec = LaunchSpec {
        block: [1, 1, 1],
        ..launch(module, "count", vec![pointer(out)])
    };
    bench.run(&[Operation::Launch(spec)]).map_err(text)?;
    bench.words(out)
}

fn globals(bench: &mut Bench) -> Outcome {
    let module = bench.load("state")?;
    let first = counted(bench, module)?;
    ensure!(first == [8, 101, 1, 3], "at first {first:?}");
    let second = counted(bench, module)?;
    ensure!(second == [9, 102, 2, 3], "then {second:?}");
    bench.device.reset_globals(module).map_err(text)?;
    let again = counted(bench, module)?;
    ensure!(again == first, "after the reset {again:?}");
    Ok(())
}

fn symbol_upload(bench: &mut Bench) -> Outcome {
    let module = bench.load("state")?;
    for name in ["counter", "factor"] {
        let (address, bytes) = bench
            .device
            .symbol(module, name)
            .ok_or_else(|| format!("no `{name}`"))?;
        ensure!(bytes == 4, "`{name}` has {bytes} bytes");
        let upload = Operation::Upload {
            destination: address,
            data: 50_u32.to_le_bytes().to_vec(),
        };
        bench.run(&[upload]).map_err(text)?;
    }
    let changed = counted(bench, module)?;
    ensure!(changed == [51, 101, 1, 50], "after the upload {changed:?}");
    bench.device.reset_globals(module).map_err(text)?;
    let (address, _) = bench
        .device
        .symbol(module, "counter")
        .ok_or("no `counter`")?;
    let Address::Buffer { buffer, .. } = address else {
        return Err("a variable at null".to_owned());
    };
    ensure!(bench.words(buffer)? == [7], "a symbol that was not reset");
    let reset = counted(bench, module)?;
    ensure!(reset == [8, 101, 1, 3], "after the reset {reset:?}");
    ensure!(
        bench.device.symbol(module, "absent").is_none(),
        "a symbol that is not there"
    );
    Ok(())
}

fn launch_config(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let spec = LaunchSpec {
        block: [2048, 1, 1],
        ..launch(module, "empty", Vec::new())
    };
    let refused = bench.run(&[Operation::Launch(spec)]);
    fault(refused, VerdictKind::LaunchConfig)?;
    let fine = launch(module, "empty", Vec::new());
    bench
        .run(&[Operation::Launch(fine)])
        .map(drop)
        .map_err(text)
}

fn one_span(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let (out, scratch) = (bench.buffer(512, "out")?, bench.buffer(512, "scratch")?);
    let fill = launch(
        module,
        "fill",
        vec![pointer(scratch), word(128), word(1000)],
    );
    let operations = [
        memset(out, 0, 0, 512),
        Operation::Launch(fill),
        Operation::Copy {
            destination: at(out, 4),
            source: at(scratch, 0),
            bytes: 508,
        },
        Operation::Upload {
            destination: at(out, 0),
            data: vec![1, 0, 0, 0],
        },
        Operation::Free(scratch),
    ];
    let span = bench.time(&operations).map_err(text)?;
    ensure!(
        span.duration.is_some_and(|d| !d.is_zero()) == bench.is_gpu(),
        "a span of {:?}",
        span.duration
    );
    let words = bench.words(out)?;
    let expected: Vec<u32> = std::iter::once(1).chain(1000..1127).collect();
    ensure!(words == expected, "{words:?}");
    let nothing = bench.time(&[]).map_err(text)?;
    ensure!(nothing.duration.is_none_or(|d| d.is_zero()), "{nothing:?}");
    Ok(())
}

fn attributes(bench: &mut Bench) -> Outcome {
    let limits = bench.device.limits();
    println!("     {limits:?}");
    ensure!(limits.warp_size == 32, "warps of {}", limits.warp_size);
    ensure!(limits.compute_major >= 9, "too old for these checks");
    ensure!(
        limits.max_threads_per_block == 1024,
        "{}",
        limits.max_threads_per_block
    );
    ensure!(
        limits.l2_bytes > 1 << 20 && limits.clock_hz > 100_000_000,
        "L2 or clock"
    );
    Ok(())
}

fn large_shared(bench: &mut Bench) -> Outcome {
    let module = bench.load("wide")?;
    let out = bench.buffer(4, "out")?;
    let words = (200 << 10) / 4;
    let spec = |dynamic_shared_bytes| LaunchSpec {
        dynamic_shared_bytes,
        ..launch(module, "shared_sum", vec![pointer(out), word(words)])
    };
    bench
        .run(&[Operation::Launch(spec(words * 4))])
        .map_err(text)?;
    let expected = (0..words).fold(0, u32::wrapping_add);
    ensure!(bench.words(out)? == [expected], "another sum");
    let refused = bench.run(&[Operation::Launch(spec(1 << 20))]);
    fault(refused, VerdictKind::LaunchConfig).map(drop)
}

fn cluster(bench: &mut Bench) -> Outcome {
    let module = bench.load("wide")?;
    let out = bench.buffer(16, "out")?;
    let spec = LaunchSpec {
        grid: [2, 1, 1],
        cluster: Some([2, 1, 1]),
        ..launch(module, "cluster", vec![pointer(out)])
    };
    bench.run(&[Operation::Launch(spec)]).map_err(text)?;
    let words = bench.words(out)?;
    ensure!(words == [2, 41, 2, 40], "{words:?}");
    Ok(())
}

fn cooperative_launch(bench: &mut Bench, blocks: u32) -> Result<(BufferId, LaunchSpec), String> {
    let module = bench.load("wide")?;
    let words = bench.buffer(u64::from(blocks) * 4, "words")?;
    let out = bench.buffer(u64::from(blocks) * 4, "out")?;
    let spec = LaunchSpec {
        grid: [blocks, 1, 1],
        block: [1024, 1, 1],
        cooperative: true,
        ..launch(module, "meet", vec![pointer(words), pointer(out)])
    };
    Ok((out, spec))
}

fn cooperative(bench: &mut Bench) -> Outcome {
    let blocks = bench.device.limits().multiprocessors;
    let (out, spec) = cooperative_launch(bench, blocks)?;
    bench
        .run(&[
            Operation::Launch(spec.clone()),
            Operation::Launch(spec.clone()),
        ])
        .map_err(text)?;
    let words = bench.words(out)?;
    let expected: Vec<u32> = (1..=blocks).rev().collect();
    ensure!(words == expected, "{words:?}");
    bench
        .time(&[Operation::Launch(spec.clone()), Operation::Launch(spec)])
        .map(drop)
        .map_err(text)
}

fn cooperative_too_large(bench: &mut Bench) -> Outcome {
    let blocks = bench.device.limits().multiprocessors * 3;
    let (_, spec) = cooperative_launch(bench, blocks)?;
    fault(
        bench.run(&[Operation::Launch(spec)]),
        VerdictKind::LaunchConfig,
    )
    .map(drop)
}

fn slope(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(4 << 20, "out")?;
    let spec = LaunchSpec {
        grid: [8192, 1, 1],
        ..launch(module, "fill", vec![pointer(out), word(1 << 20), word(0)])
    };
    let one_s = bench.slope(&[Operation::Launch(spec)], 50)?;
    ensure!((1e-7..1e-3).contains(&one_s), "{one_s} s");
    Ok(())
}
