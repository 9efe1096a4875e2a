//! Spans that are decided while they go on, on every backend.

use std::time::{Duration, Instant};

use device::{Bounds, BufferId, Checking, DeviceError, LaunchSpec, ModuleId, Operation};
use domain::VerdictKind;

use super::Outcome;
use super::bench::{Bench, at, ensure, launch, memset, pointer, text, word};

/// 128 words from `first` on.
fn filled(module: ModuleId, buffer: BufferId, first: u32) -> Operation {
    let arguments = vec![pointer(buffer), word(128), word(first)];
    Operation::Launch(launch(module, "fill", arguments))
}

fn fetched(bench: &mut Bench, buffer: BufferId, index: i64) -> Result<u32, String> {
    let mut bytes = [0; 4];
    bench
        .fetch(at(buffer, index * 4), &mut bytes)
        .map_err(text)?;
    Ok(u32::from_le_bytes(bytes))
}

pub fn segments(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "out")?;
    bench.begin_span(true).map_err(text)?;
    let first = [memset(out, 0, 0, 512), filled(module, out, 1000)];
    bench.issue(&first).map_err(text)?;
    let last = fetched(bench, out, 127)?;
    ensure!(last == 1127, "{last} is read back");
    // Two uploads whose bytes must not meet, before and after a read-back.
    let upload = |index: i64, value: u32| Operation::Upload {
        destination: at(out, index * 4),
        data: value.to_le_bytes().to_vec(),
    };
    bench.issue(&[upload(0, last + 1)]).map_err(text)?;
    bench.issue(&[upload(1, last + 2)]).map_err(text)?;
    let scratch = bench.buffer(512, "scratch")?;
    let copy = Operation::Copy {
        destination: at(out, 8),
        source: at(scratch, 0),
        bytes: 8,
    };
    let more = [filled(module, scratch, 5), copy, Operation::Free(scratch)];
    bench.issue(&more).map_err(text)?;
    let third = fetched(bench, out, 2)?;
    ensure!(third == 5, "{third} was copied");
    let span = bench.end_span().map_err(text)?;
    ensure!(
        span.duration.is_some_and(|d| !d.is_zero()) == bench.is_gpu(),
        "a span of {:?}",
        span.duration
    );
    let words = bench.words(out)?;
    let expected: Vec<u32> = [1128, 1129, 5, 6].into_iter().chain(1004..1128).collect();
    ensure!(words == expected, "{words:?}");
    Ok(())
}

pub fn of_nothing(bench: &mut Bench) -> Outcome {
    ensure!(bench.issue(&[]).is_err(), "work outside of a span");
    for is_measured in [false, true] {
        bench.begin_span(is_measured).map_err(text)?;
        let span = bench.end_span().map_err(text)?;
        ensure!(
            span.duration.is_none_or(|d| d < Duration::from_millis(1)),
            "{span:?}"
        );
    }
    ensure!(bench.end_span().is_err(), "the end of no span");
    Ok(())
}

/// More than a queue holds, and one operation at a time.
pub fn many_segments(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "out")?;
    bench.begin_span(true).map_err(text)?;
    for round in 0..1000 {
        bench.issue(&[filled(module, out, round)]).map_err(text)?;
        if round % 100 == 99 {
            let first = fetched(bench, out, 0)?;
            ensure!(first == round, "{first} in round {round}");
        }
    }
    let span = bench.end_span().map_err(text)?;
    ensure!(span.duration.is_some() == bench.is_gpu(), "{span:?}");
    Ok(())
}

pub fn refused_part(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "out")?;
    bench.begin_span(false).map_err(text)?;
    bench.issue(&[filled(module, out, 7)]).map_err(text)?;
    let spec = LaunchSpec {
        block: [2048, 1, 1],
        ..launch(module, "empty", Vec::new())
    };
    let refused = bench.issue(&[Operation::Launch(spec)]);
    super::bench::fault(refused, VerdictKind::LaunchConfig)?;
    // The span goes on, is ended, and the device is as before.
    let first = fetched(bench, out, 0)?;
    ensure!(first == 7, "{first}");
    bench.end_span().map_err(text)?;
    bench.time(&[filled(module, out, 9)]).map_err(text)?;
    ensure!(bench.words(out)?[0] == 9, "nothing runs after a span");
    Ok(())
}

/// The time in which the host decides is the span's.
pub fn gaps_count(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "out")?;
    let gap = Duration::from_millis(3);
    let started = Instant::now();
    bench.begin_span(true).map_err(text)?;
    bench.issue(&[filled(module, out, 1)]).map_err(text)?;
    fetched(bench, out, 0)?;
    std::thread::sleep(gap);
    bench.issue(&[filled(module, out, 2)]).map_err(text)?;
    let span = bench.end_span().map_err(text)?.duration.unwrap_or_default();
    let wall = started.elapsed();
    ensure!(span >= gap && span <= wall, "{span:?} within {wall:?}");
    // Round trips one by one: what a convergence loop pays.
    bench.begin_span(true).map_err(text)?;
    for _ in 0..100 {
        bench.issue(&[filled(module, out, 1)]).map_err(text)?;
        fetched(bench, out, 0)?;
    }
    let span = bench.end_span().map_err(text)?.duration.unwrap_or_default();
    println!("     a launch and a read-back: {:?}", span / 100);
    ensure!(span < Duration::from_millis(50), "{span:?} for 100 rounds");
    Ok(())
}

/// Rounds without end are over when the limit of one run is.
pub fn limit_holds(bench: &mut Bench) -> Outcome {
    let module = bench.load("plain")?;
    let out = bench.buffer(512, "out")?;
    let bounds = Bounds {
        memory_bytes: 1 << 20,
        reserve_bytes: 0,
        instruction_fuel: 0,
        run_limit: Duration::from_millis(100),
        checking: Checking::Bounds,
    };
    bench.device.bound(&bounds).map_err(text)?;
    let started = Instant::now();
    bench.begin_span(false).map_err(text)?;
    let ended = loop {
        let round = bench.issue(&[filled(module, out, 1)]).and_then(|()| {
            let mut bytes = [0; 4];
            bench.fetch(at(out, 0), &mut bytes)
        });
        if let Err(error) = round {
            break error;
        }
        ensure!(started.elapsed() < Duration::from_secs(5), "no limit");
    };
    ensure!(
        matches!(&ended, DeviceError::TimeLimit(fault) if fault.kind == VerdictKind::WallClock),
        "{ended}"
    );
    let _ended = bench.end_span(); // whether the last round was over is a matter of luck
    Ok(())
}
