//! The canary after idling: when its time has come within half a percent of where it stays.

use std::time::{Duration, Instant};

use device::DeviceError;
use scoring::median;

use super::table::{Table, us};
use crate::measuring::rig::Rig;

const IDLE_S: [f64; 4] = [0.0, 1.0, 3.0, 8.0];
/// The canary runs this long after each pause.
const BUSY: Duration = Duration::from_millis(800);
/// Samples that must agree in a row, and those at the end that tell the steady value.
const STEADY_RUNS: usize = 20;
const LAST: usize = 100;
const BAND: f64 = 0.005;

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("idle s", 0),
        ("steady after ms", 1),
        ("samples until then", 0),
        ("first us", 2),
        ("slowest us", 2),
        ("steady us", 2),
        ("first over steady %", 2),
        ("SM clock at first MHz", 0),
        ("SM clock at last MHz", 0),
        ("power at last W", 0),
        ("n", 0),
    ]);
    for idle_s in IDLE_S {
        let pause_s = idle_s * rig.extent.pause;
        std::thread::sleep(Duration::from_secs_f64(pause_s));
        let canary = [rig.kernels.canary()];
        let begin = Instant::now();
        let mut times = vec![rig.time(&canary)?];
        let at_first = rig.device.state()?;
        let mut moments_s = vec![begin.elapsed().as_secs_f64()];
        while begin.elapsed() < BUSY && times.len() < rig.samples(100_000) {
            times.push(rig.time(&canary)?);
            moments_s.push(begin.elapsed().as_secs_f64());
        }
        let at_last = rig.device.state()?;
        let steady = steady_from(&times);
        let last = median(&times[times.len().saturating_sub(LAST)..]).unwrap_or(times[0]);
        let clock = |state: &Option<domain::MachineState>| {
            let hertz = state.as_ref().and_then(|state| state.sm_clock_hz);
            hertz.map(|hertz| hertz as f64 / 1e6)
        };
        table.row(vec![
            idle_s.into(),
            steady.map(|at| moments_s[at] * 1e3).into(),
            steady.into(),
            us(times[0]).into(),
            us(times.iter().copied().fold(0.0, f64::max)).into(),
            us(last).into(),
            ((times[0] / last - 1.0) * 100.0).into(),
            clock(&at_first).into(),
            clock(&at_last).into(),
            at_last.as_ref().and_then(|state| state.power_w).into(),
            times.len().into(),
        ]);
    }
    table.note("Steady: twenty times in a row within 0.5 % of the median of the last hundred.");
    Ok(table)
}

/// The first of so many times in a row that are where the times stay.
fn steady_from(times: &[f64]) -> Option<usize> {
    let last = median(&times[times.len().saturating_sub(LAST)..])?;
    let is_near = |t: &f64| (t / last - 1.0).abs() <= BAND;
    times
        .windows(STEADY_RUNS)
        .position(|window| window.iter().all(is_near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_begins_with_twenty_times_where_they_stay() {
        let mut times = vec![2.0, 1.5, 1.0, 1.3];
        times.extend([1.0; 30]);
        assert_eq!(steady_from(&times), Some(4));
        assert_eq!(steady_from(&[1.0; 5]), None);
    }
}
