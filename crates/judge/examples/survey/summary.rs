//! Shares, times and failures of all files.

use std::collections::BTreeMap;
use std::fmt;

use domain::Verdict;

use crate::outcome::{Line, Stage};

/// All lines so far.
#[derive(Default)]
pub struct Summary(Vec<Line>);

impl Summary {
    /// Counts one more.
    pub fn add(&mut self, line: Line) {
        self.0.push(line);
    }

    fn share(&self, f: &mut fmt::Formatter<'_>, name: &str, of: fn(&Line) -> bool) -> fmt::Result {
        let (count, all) = (self.0.iter().filter(|line| of(line)).count(), self.0.len());
        let percent = 100.0 * count as f64 / all.max(1) as f64;
        writeln!(f, "{name:<44} {count:>4} of {all:>4}  {percent:5.1} %")
    }

    fn times(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        of: fn(&Line) -> Option<f64>,
    ) -> fmt::Result {
        let mut times: Vec<f64> = self.0.iter().filter_map(of).filter(|&s| s > 0.0).collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * times.len() as f64).ceil() as usize;
            times.get(index.saturating_sub(1)).copied().unwrap_or(0.0) * 1e3
        };
        writeln!(
            f,
            "{name:<16} median {:8.2} ms   p95 {:8.2} ms   most {:8.2} ms",
            at(0.5),
            at(0.95),
            at(1.0)
        )
    }

    /// Failures by what is wrong, names and numbers left out; the most frequent first.
    fn groups(&self) -> Vec<(String, Vec<&Line>)> {
        let mut groups: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
        for line in self.0.iter().filter(|line| line.stage < Stage::Ran) {
            groups.entry(group(line)).or_default().push(line);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.len()));
        groups
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share(f, "with an entry function", |l| l.stage > Stage::Signature)?;
        self.share(f, "interpreted", |l| l.interpreted)?;
        self.share(f, "compiled", |l| l.compiled)?;
        self.share(f, "interpreted and compiled", |l| {
            l.interpreted && l.compiled
        })?;
        self.share(f, "ran, or ended by a fault or limit of its own", |l| {
            l.stage >= Stage::Started
        })?;
        self.share(f, "ran to the end", |l| l.stage == Stage::Ran)?;
        self.share(f, "\"unsupported\"", |l| {
            l.verdict == Some(Verdict::Unsupported)
        })?;
        self.times(f, "parse and plan", |l| l.plan_s)?;
        self.times(f, "compile", |l| l.compile_s)?;
        for (what, lines) in self.groups() {
            writeln!(f, "\n{} x {what}", lines.len())?;
            for line in lines {
                let (at, message) = (line.line.unwrap_or(0), &line.message);
                writeln!(f, "    {}:{at}: {message}", line.file)?;
            }
        }
        Ok(())
    }
}

fn group(line: &Line) -> String {
    let verdict = match line.verdict {
        Some(verdict) => verdict.to_string(),
        None => format!("{:?}", line.stage).to_lowercase(),
    };
    let kind = line
        .kind
        .map(|kind| format!(" ({kind})"))
        .unwrap_or_default();
    format!("{verdict}{kind}: {}", without_names(&line.message))
}

/// `parameter 2 (`n`) is ...` and `parameter 3 (`m`) is ...` are one.
fn without_names(message: &str) -> String {
    let quoted = message.split('`').enumerate();
    let unquoted: String = quoted
        .map(|(index, part)| if index % 2 == 1 { "_" } else { part })
        .collect();
    let mut text = String::new();
    for c in unquoted.chars().take(90) {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            _ => text.push(c),
        }
    }
    text
}
