//! Whether two devices computed the same.

use std::fmt;
use std::path::Path;

use domain::ElementType;

use crate::record::{self, Output, Record};

/// Relative difference that rounding in another order explains.
const CLOSE: f64 = 1e-5;
/// The same for types of 16 bits and fewer.
const CLOSE_IN_HALF: f64 = 1e-2;

/// What became of one answer on two devices.
#[derive(Debug, PartialEq)]
enum Agreement {
    /// All bytes are equal.
    BitEqual,
    /// Rounded differently.
    Close(String),
    /// Something else.
    Different(String),
    /// Ran on one device only.
    OnlyIn(char, String),
    /// Ran on neither.
    Neither,
    /// On inputs that cannot be compared.
    OtherSizes,
}

/// The answers of two records, file by file.
pub struct Comparison(Vec<(String, Agreement)>);

impl Comparison {
    /// Reads both.
    pub fn of(a: &Path, b: &Path) -> Result<Self, String> {
        let (a, b) = (record::read(a)?, record::read(b)?);
        let both = a
            .iter()
            .filter_map(|(file, a)| Some((file, a, b.get(file)?)));
        Ok(Self(
            both.map(|(file, a, b)| (file.clone(), agreement(a, b)))
                .collect(),
        ))
    }
}

fn agreement(a: &Record, b: &Record) -> Agreement {
    let why = |record: &Record| {
        let verdict = record.verdict.map(|verdict| verdict.to_string());
        let verdict = verdict.unwrap_or_default();
        format!("the other: {verdict}: {}", record.message)
    };
    match (a.ran, b.ran) {
        (false, false) => return Agreement::Neither,
        (true, false) => return Agreement::OnlyIn('A', why(b)),
        (false, true) => return Agreement::OnlyIn('B', why(a)),
        (true, true) => {}
    }
    if a.size != b.size {
        return Agreement::OtherSizes;
    }
    if a.outputs.len() != b.outputs.len() {
        return Agreement::Different("not the same outputs".to_owned());
    }
    let mut close = None;
    for (a, b) in a.outputs.iter().zip(&b.outputs) {
        if a.sha256 == b.sha256 {
            continue;
        }
        match furthest(a, b) {
            Apart::Within(text) => close = close.or(Some(text)),
            Apart::Beyond(text) => return Agreement::Different(text),
        }
    }
    close.map_or(Agreement::BitEqual, Agreement::Close)
}

/// Two tensors that are not bit-equal.
enum Apart {
    Within(String),
    Beyond(String),
}

fn furthest(a: &Output, b: &Output) -> Apart {
    let name = &a.name;
    if a.not_finite != b.not_finite {
        return Apart::Beyond(format!(
            "`{name}`: {} and {} elements are not finite",
            a.not_finite, b.not_finite
        ));
    }
    let close = tolerance(a.element);
    // Terms that cancel leave an error of their own size.
    let kept = a.sample.iter().flatten().count().max(1) as f64;
    let mean = a.sample.iter().flatten().map(|v| v.abs()).sum::<f64>() / kept;
    let mut worst = (0.0, String::new());
    let mut see = |what: String, a: Option<f64>, b: Option<f64>, scale: f64| {
        let apart = match (a, b) {
            (Some(a), Some(b)) if a == b => 0.0,
            (Some(a), Some(b)) => (a - b).abs() / a.abs().max(b.abs()).max(scale),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        };
        if apart > worst.0 {
            worst = (apart, format!("`{name}` {what}: {a:?} and {b:?}"));
        }
    };
    for (index, (&a, &b)) in a.sample.iter().zip(&b.sample).enumerate() {
        see(format!("sample {index}"), a, b, mean);
    }
    let magnitudes = a.sum_of_magnitudes;
    see("sum".to_owned(), Some(a.sum), Some(b.sum), magnitudes);
    see("least".to_owned(), Some(a.min), Some(b.min), mean);
    see("greatest".to_owned(), Some(a.max), Some(b.max), mean);
    match worst {
        (apart, text) if apart > close => Apart::Beyond(format!("{text} ({apart:.1e})")),
        (apart, text) => Apart::Within(format!("{text} ({apart:.1e})")),
    }
}

fn tolerance(element: ElementType) -> f64 {
    match element {
        _ if !element.is_float() => 0.0,
        ElementType::F64 | ElementType::F32 => CLOSE,
        _ => CLOSE_IN_HALF,
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of = |title: &str, told: &dyn Fn(&Agreement) -> Option<String>| {
            let files = self.0.iter();
            let files: Vec<_> = files
                .filter_map(|(file, a)| Some((file, told(a)?)))
                .collect();
            writeln!(f, "{title:<44} {:>4} of {:>4}", files.len(), self.0.len())?;
            files
                .iter()
                .filter(|(_, text)| !text.is_empty())
                .try_for_each(|(file, text)| writeln!(f, "    {file}: {text}"))
        };
        let nothing = String::new();
        of("bit-equal", &|a| {
            (*a == Agreement::BitEqual).then(|| nothing.clone())
        })?;
        of("ran on neither", &|a| {
            (*a == Agreement::Neither).then(|| nothing.clone())
        })?;
        of("close", &|a| match a {
            Agreement::Close(text) => Some(text.clone()),
            _ => None,
        })?;
        of("different", &|a| match a {
            Agreement::Different(text) => Some(text.clone()),
            _ => None,
        })?;
        of("only on one", &|a| match a {
            Agreement::OnlyIn(which, text) => Some(format!("only {which}; {text}")),
            _ => None,
        })?;
        of("at other sizes", &|a| {
            (*a == Agreement::OtherSizes).then(|| "not compared".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(element: ElementType, values: &[f64]) -> Record {
        Record {
            file: "a.cu".to_owned(),
            size: Some(512),
            ran: true,
            verdict: None,
            kind: None,
            message: String::new(),
            outputs: vec![Output {
                name: "y".to_owned(),
                element,
                sha256: format!("{values:?}"),
                sum: values.iter().sum(),
                sum_of_magnitudes: values.iter().map(|v| v.abs()).sum(),
                min: values.iter().copied().fold(f64::INFINITY, f64::min),
                max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                not_finite: 0,
                sample: values.iter().copied().map(Some).collect(),
            }],
        }
    }

    #[test]
    fn rounding_is_close_and_more_than_that_is_different() {
        let of = |element, b: &[f64]| agreement(&record(element, &[1.0, 2.0]), &record(element, b));
        let f32s = |b: &[f64]| of(ElementType::F32, b);
        assert_eq!(f32s(&[1.0, 2.0]), Agreement::BitEqual);
        assert!(matches!(f32s(&[1.0, 2.00001]), Agreement::Close(_)));
        assert!(matches!(f32s(&[1.0, 2.0001]), Agreement::Different(_)));
        let half = of(ElementType::F16, &[1.0, 2.0001]);
        assert!(matches!(half, Agreement::Close(_)));
        let integers = of(ElementType::I32, &[1.0, 3.0]);
        assert!(matches!(integers, Agreement::Different(_)));
    }

    #[test]
    fn an_element_that_is_finite_on_one_device_only_is_different() {
        let (a, mut b) = (
            record(ElementType::F32, &[1.0]),
            record(ElementType::F32, &[1.0]),
        );
        b.outputs[0].sha256 = "other".to_owned();
        b.outputs[0].sample = vec![None];
        assert!(matches!(agreement(&a, &b), Agreement::Different(_)));
    }

    #[test]
    fn other_inputs_are_not_compared() {
        let (a, mut b) = (
            record(ElementType::F32, &[1.0]),
            record(ElementType::F32, &[2.0]),
        );
        b.size = Some(64);
        assert_eq!(agreement(&a, &b), Agreement::OtherSizes);
        b.ran = false;
        assert!(matches!(agreement(&a, &b), Agreement::OnlyIn('A', _)));
    }
}
