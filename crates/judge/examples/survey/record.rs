//! What an answer computed on one device, short enough to carry to where another device's is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use domain::{Direction, ElementType, ParameterKind, Signature, Verdict, VerdictKind};
use problems::element;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::outcome::{Line, Stage};

/// Elements that are kept from the start of a tensor, and as many spread evenly over it: small problems
/// write the start only.
const SAMPLE: usize = 1024;

/// One answer on one device.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// Name of the file.
    pub file: String,
    /// Value of the integers.
    pub size: Option<i64>,
    /// Whether it ran to its end.
    pub ran: bool,
    /// What the judge says.
    pub verdict: Option<Verdict>,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// In words.
    pub message: String,
    /// Tensors that it may write, if it ran.
    pub outputs: Vec<Output>,
}

/// One tensor after a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Name of the parameter.
    pub name: String,
    /// Type of each element.
    pub element: ElementType,
    /// Of all bytes.
    pub sha256: String,
    /// Over the finite elements.
    pub sum: f64,
    /// Over the finite elements.
    pub sum_of_magnitudes: f64,
    /// The least finite element.
    pub min: f64,
    /// The greatest finite element.
    pub max: f64,
    /// Elements that are not finite.
    pub not_finite: usize,
    /// Some elements to nine digits; nothing for one that is not finite.
    pub sample: Vec<Option<f64>>,
}

impl Record {
    /// Of an answer that was judged; its outputs are taken from `folder`, which is empty afterwards.
    pub fn new(line: &Line, signature: Option<&Signature>, folder: &Path) -> Result<Self, String> {
        let outputs = match signature {
            Some(signature) => taken(signature, folder)?,
            None => Vec::new(),
        };
        let ran = line.stage == Stage::Ran;
        Ok(Self {
            file: line.file.clone(),
            size: line.size,
            ran,
            verdict: line.verdict,
            kind: line.kind,
            message: line.message.clone(),
            outputs: if ran { outputs } else { Vec::new() },
        })
    }
}

/// All records of a file, by the answer's name.
pub fn read(path: &Path) -> Result<BTreeMap<String, Record>, String> {
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(|e| told(&e))?;
    let lines = BufReader::new(file).lines();
    lines
        .map(|line| {
            let line = line.map_err(|e| told(&e))?;
            let record: Record = serde_json::from_str(&line).map_err(|e| told(&e))?;
            Ok((record.file.clone(), record))
        })
        .collect()
}

fn taken(signature: &Signature, folder: &Path) -> Result<Vec<Output>, String> {
    let mut outputs = Vec::new();
    for (position, parameter) in signature.0.iter().enumerate() {
        let ParameterKind::Tensor { element, direction } = parameter.kind else {
            continue;
        };
        let file = folder.join(format!("survey.p{position}.bin"));
        if direction == Direction::In || !file.exists() {
            continue;
        }
        let bytes = std::fs::read(&file).map_err(|e| e.to_string())?;
        std::fs::remove_file(&file).map_err(|e| e.to_string())?;
        let unnamed = || format!("p{position}");
        let name = Some(parameter.name.clone()).filter(|name| !name.is_empty());
        outputs.push(Output::of(name.unwrap_or_else(unnamed), element, &bytes));
    }
    Ok(outputs)
}

impl Output {
    fn of(name: String, element: ElementType, bytes: &[u8]) -> Self {
        let values = element::widen(bytes, element);
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let spread = (values.len() / SAMPLE).max(1);
        let sample = values.iter().take(SAMPLE);
        let sample = sample.chain(values.iter().step_by(spread).take(SAMPLE));
        Self {
            name,
            element,
            sha256: hex::encode(Sha256::digest(bytes)),
            sum: finite().sum(),
            sum_of_magnitudes: finite().map(f64::abs).sum(),
            min: finite().reduce(f64::min).unwrap_or(0.0),
            max: finite().reduce(f64::max).unwrap_or(0.0),
            not_finite: values.len() - finite().count(),
            sample: sample.map(|&value| nine_digits(value, element)).collect(),
        }
    }
}

/// Enough to tell two `float`s apart.
fn nine_digits(value: f64, element: ElementType) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    if !element.is_float() {
        return Some(value);
    }
    format!("{value:.8e}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_the_finite_elements() {
        let values = [1.5_f32, f32::NAN, -4.0, f32::INFINITY];
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let output = Output::of("y".to_owned(), ElementType::F32, &bytes);
        assert_eq!((output.sum, output.sum_of_magnitudes), (-2.5, 5.5));
        assert_eq!((output.min, output.max, output.not_finite), (-4.0, 1.5, 2));
        let start = [Some(1.5), None, Some(-4.0), None];
        assert_eq!(output.sample, [start, start].concat());
    }

    #[test]
    fn the_sample_has_the_start_and_the_whole_of_a_large_tensor() {
        let bytes: Vec<u8> = (0..4096_i32).flat_map(i32::to_le_bytes).collect();
        let output = Output::of("y".to_owned(), ElementType::I32, &bytes);
        let sample = |index: usize| output.sample[index];
        assert_eq!((sample(0), sample(1023)), (Some(0.0), Some(1023.0)));
        assert_eq!((sample(1024), sample(1025)), (Some(0.0), Some(4.0)));
        assert_eq!((output.sample.len(), sample(2047)), (2048, Some(4092.0)));
    }
}
