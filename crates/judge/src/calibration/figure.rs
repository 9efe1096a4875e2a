//! The figures of a calibration: names, units, and the datasheet's word on each.

use domain::MachineState;
use domain::report::Ceilings;
use scoring::{Device, Pipe};
use serde::{Deserialize, Serialize};

use super::Row;

/// Bytes that shared memory delivers to one multiprocessor a clock: 32 banks of 4, on every card.
const SHARED_BYTES_PER_CLOCK: f64 = 128.0;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Figure {
    Copy,
    Read,
    L2Read,
    SharedRead,
    LaunchFloor,
    Rate(Pipe),
}

/// One figure, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub figure: Figure,
    pub reading: Result<Reading, String>,
}

/// What one child found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Findings {
    pub findings: Vec<Finding>,
    /// Sensors right after.
    pub state: Option<MachineState>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub value: f64,
    /// Distance of the quartiles over the median, of the times behind it.
    pub spread: f64,
    /// How it was reached.
    pub way: String,
}

impl Figure {
    /// As it is called in files, with its unit.
    pub fn name(self) -> String {
        match self {
            Self::Copy => "copy_bytes_per_s".to_owned(),
            Self::Read => "read_bytes_per_s".to_owned(),
            Self::L2Read => "l2_read_bytes_per_s".to_owned(),
            Self::SharedRead => "shared_read_bytes_per_s".to_owned(),
            Self::LaunchFloor => "launch_floor_s".to_owned(),
            Self::Rate(pipe) => format!("{pipe}_flop_per_s"),
        }
    }

    /// As it is called in text.
    pub fn label(self) -> String {
        match self {
            Self::Copy => "copy".to_owned(),
            Self::Read => "read".to_owned(),
            Self::L2Read => "L2 read".to_owned(),
            Self::SharedRead => "shared memory read".to_owned(),
            Self::LaunchFloor => "launch floor".to_owned(),
            Self::Rate(pipe) => pipe.to_string(),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Copy | Self::Read | Self::L2Read | Self::SharedRead => "byte/s",
            Self::LaunchFloor => "s",
            Self::Rate(Pipe::Int8) => "op/s",
            Self::Rate(_) => "FLOP/s",
        }
    }

    /// Puts the figure where reports have it.
    pub fn put(self, value: f64, ceilings: &mut Ceilings) {
        match self {
            Self::Copy => ceilings.copy_bytes_per_s = Some(value),
            Self::Read => ceilings.read_bytes_per_s = Some(value),
            Self::L2Read => ceilings.l2_read_bytes_per_s = Some(value),
            Self::SharedRead => ceilings.shared_read_bytes_per_s = Some(value),
            Self::LaunchFloor => ceilings.launch_floor_s = Some(value),
            Self::Rate(pipe) => {
                ceilings.flop_per_s.insert(pipe.as_str().to_owned(), value);
            }
        }
    }

    fn of(self, ceilings: &Ceilings) -> Option<f64> {
        match self {
            Self::Copy => ceilings.copy_bytes_per_s,
            Self::Read => ceilings.read_bytes_per_s,
            Self::L2Read => ceilings.l2_read_bytes_per_s,
            Self::SharedRead => ceilings.shared_read_bytes_per_s,
            Self::LaunchFloor => ceilings.launch_floor_s,
            Self::Rate(pipe) => ceilings.flop_per_s.get(pipe.as_str()).copied(),
        }
    }

    /// The datasheet's word, or what follows from clock and width where it has none.
    fn peak(self, device: &Device) -> Option<f64> {
        match self {
            Self::Copy | Self::Read => Some(device.peak_bytes_per_s),
            Self::L2Read => None,
            Self::SharedRead => {
                let multiprocessors = f64::from(device.limits.multiprocessors);
                Some(multiprocessors * SHARED_BYTES_PER_CLOCK * device.max_clock_hz)
            }
            Self::LaunchFloor => None,
            Self::Rate(pipe) => device.peak(pipe),
        }
    }
}

/// Every figure that is there, in the order of the documents.
pub(super) fn rows(ceilings: &Ceilings, device: &Device) -> Vec<Row> {
    use Figure as F;
    let fixed = [F::Copy, F::Read, F::L2Read, F::SharedRead];
    let rates = Pipe::ALL.into_iter().map(F::Rate);
    let figures = fixed.into_iter().chain(rates).chain([F::LaunchFloor]);
    let row = |figure: Figure| {
        Some(Row {
            what: figure.label(),
            unit: figure.unit(),
            measured: figure.of(ceilings)?,
            peak: figure.peak(device),
        })
    };
    figures.filter_map(row).collect()
}

impl Row {
    /// Measured over peak.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        self.peak.map(|peak| self.measured / peak)
    }

    /// The figure with its unit, in three digits or so.
    #[must_use]
    pub fn measured_text(&self) -> String {
        in_words(self.measured, self.unit)
    }

    /// The datasheet's figure with its unit.
    #[must_use]
    pub fn peak_text(&self) -> Option<String> {
        self.peak.map(|peak| in_words(peak, self.unit))
    }
}

fn in_words(value: f64, unit: &str) -> String {
    match unit {
        "s" => format!("{:.2} us", value * 1e6),
        "byte/s" => format!("{:.2} TB/s", value / 1e12),
        _ => format!("{:.1} T{unit}", value / 1e12),
    }
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;

    use super::*;

    #[test]
    fn figures_stand_beside_the_datasheets() {
        let mut ceilings = Ceilings::default();
        Figure::Copy.put(4.32e12, &mut ceilings);
        Figure::Rate(Pipe::Bf16).put(742e12, &mut ceilings);
        Figure::LaunchFloor.put(0.52e-6, &mut ceilings);
        let rows = rows(&ceilings, scoring::device(DeviceName::H200));
        let texts: Vec<String> = rows.iter().map(Row::measured_text).collect();
        assert_eq!(texts, ["4.32 TB/s", "742.0 TFLOP/s", "0.52 us"]);
        assert!((rows[0].share().unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(rows[1].peak_text().as_deref(), Some("989.0 TFLOP/s"));
        assert_eq!(rows[2].share(), None);
    }

    #[test]
    fn names_carry_their_units() {
        assert_eq!(
            Figure::Rate(Pipe::Fp16Acc16).name(),
            "fp16_acc16_flop_per_s"
        );
        assert_eq!(Figure::L2Read.name(), "l2_read_bytes_per_s");
    }
}
