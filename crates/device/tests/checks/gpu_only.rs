//! What needs a GPU of compute capability 9.0 or newer.

use device::{BufferId, LaunchSpec, Operation};
use domain::VerdictKind;

use super::Outcome;
use super::bench::{Bench, ensure, fault, launch, pointer, text, word};

pub fn attributes(bench: &mut Bench) -> Outcome {
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

pub fn large_shared(bench: &mut Bench) -> Outcome {
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

pub fn cluster(bench: &mut Bench) -> Outcome {
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

pub fn cooperative(bench: &mut Bench) -> Outcome {
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

pub fn cooperative_too_large(bench: &mut Bench) -> Outcome {
    let blocks = bench.device.limits().multiprocessors * 3;
    let (_, spec) = cooperative_launch(bench, blocks)?;
    fault(
        bench.run(&[Operation::Launch(spec)]),
        VerdictKind::LaunchConfig,
    )
    .map(drop)
}

pub fn slope(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(4 << 20, "out")?;
    let spec = LaunchSpec {
        grid: [8192, 1, 1],
        ..launch(module, "fill", vec![pointer(out), word(1 << 20), word(0)])
    };
    // Graphs of a few nodes, of as many as are put behind a gate, and of more.
    for copies in [2, 50, 256, 300, 2000] {
        let one_s = bench.slope(&[Operation::Launch(spec.clone())], copies)?;
        ensure!((1e-7..1e-3).contains(&one_s), "{copies} copies: {one_s} s");
    }
    Ok(())
}
