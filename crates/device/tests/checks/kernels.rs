//! Launches, variables and spans, on every backend.

use device::{Address, Argument, LaunchSpec, ModuleId, Operation};
use domain::VerdictKind;

use super::Outcome;
use super::bench::{Bench, at, ensure, fault, launch, memset, pointer, text, word};

pub fn layouts(bench: &mut Bench) -> Outcome {
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

pub fn mixed_arguments(bench: &mut Bench) -> Outcome {
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

pub fn past_end(bench: &mut Bench) -> Outcome {
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

pub fn past_end_freed(bench: &mut Bench) -> Outcome {
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

pub fn globals(bench: &mut Bench) -> Outcome {
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

pub fn symbol_upload(bench: &mut Bench) -> Outcome {
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

pub fn launch_config(bench: &mut Bench) -> Outcome {
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

pub fn one_span(bench: &mut Bench) -> Outcome {
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
