//! Buffers, and operations of the host on them.

use device::{DeviceError, Operation};
use domain::VerdictKind;

use super::Outcome;
use super::bench::{Bench, at, ensure, fault, memset, text};

pub fn round_trip(bench: &mut Bench) -> Outcome {
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

pub fn memory_limit(bench: &mut Bench) -> Outcome {
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

pub fn host_operations(bench: &mut Bench) -> Outcome {
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

pub fn host_bounds(bench: &mut Bench) -> Outcome {
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

pub fn freed(bench: &mut Bench) -> Outcome {
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
