//! The file of recorded bits: `# ...` lines of where they come from, then a line a form:
//! its name, a tab, its results as hexadecimal numbers of the result's width, one after the other.
//! Whole kernels stand there as forms do, under the names of their entries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::forms::Class;

/// Results by form.
pub struct Record {
    /// Where they come from.
    pub heading: Vec<String>,
    pub results: BTreeMap<String, String>,
}

impl Record {
    pub fn parse(text: &str) -> Self {
        let (heading, forms): (Vec<_>, Vec<_>) =
            text.lines().partition(|line| line.starts_with('#'));
        let results = forms.into_iter().filter_map(|line| line.split_once('\t'));
        Self {
            heading: heading.into_iter().map(str::to_owned).collect(),
            results: results
                .map(|(name, bits)| (name.to_owned(), bits.to_owned()))
                .collect(),
        }
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for line in &self.heading {
            text += line;
            text.push('\n');
        }
        for (name, bits) in &self.results {
            let _ = writeln!(text, "{name}\t{bits}");
        }
        text
    }

    pub fn insert(&mut self, name: &str, class: Class, results: &[u64]) {
        let digits = digits(class);
        let mut text = String::with_capacity(results.len() * digits);
        for bits in results {
            let _ = write!(text, "{bits:0digits$x}");
        }
        self.results.insert(name.to_owned(), text);
    }

    pub fn of(&self, name: &str, class: Class) -> Option<Vec<u64>> {
        let text = self.results.get(name)?;
        let digits = digits(class);
        let numbers = text.as_bytes().chunks(digits);
        numbers
            .map(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
            .collect()
    }
}

fn digits(class: Class) -> usize {
    class.bits() as usize / 4
}
