//! Tables of figures, for people as Markdown and for programs as JSON.

use serde::{Deserialize, Serialize};

/// What an experiment found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Headers.
    pub columns: Vec<Column>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// How to read it.
    pub notes: Vec<String>,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// With the unit of its numbers.
    pub name: String,
    /// Digits shown after the point.
    pub digits: usize,
}

/// One figure, or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A figure, in the column's unit.
    Number(f64),
    /// A word.
    Text(String),
    /// Nothing was measured.
    None,
}

impl Table {
    /// A table without rows. A column is a name and the digits of its numbers.
    pub(super) fn new(columns: &[(&str, usize)]) -> Self {
        let column = |(name, digits): &(&str, usize)| Column {
            name: (*name).to_owned(),
            digits: *digits,
        };
        Self {
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The table and its notes.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|c| c.name.clone()).collect());
        text += &line(self.columns.iter().map(|_| "---".to_owned()).collect());
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns);
            text += &line(
                cells
                    .map(|(cell, column)| cell.text(column.digits))
                    .collect(),
            );
        }
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }
}

impl Cell {
    fn text(&self, digits: usize) -> String {
        match self {
            Self::Number(value) => format!("{value:.digits$}"),
            Self::Text(text) => text.clone(),
            Self::None => "-".to_owned(),
        }
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// Seconds as microseconds.
pub(super) fn us(seconds: f64) -> f64 {
    seconds * 1e6
}

/// How far `value` is above `reference`, in percent.
pub(super) fn percent_above(value: f64, reference: f64) -> f64 {
    (value / reference - 1.0) * 100.0
}

/// `4 KiB`, `1 MiB`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{} KiB", b >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_columns_digits() {
        let mut table = Table::new(&[("what", 0), ("t us", 2), ("slope us", 2)]);
        table.row(vec!["copy".into(), 1.234_5.into(), Cell::None]);
        table.note("warm");
        let expected = "| what | t us | slope us |\n| --- | --- | --- |\n\
                        | copy | 1.23 | - |\n\nwarm\n";
        assert_eq!(table.markdown(), expected);
        let json = serde_json::to_value(&table).unwrap();
        assert_eq!(serde_json::from_value::<Table>(json).unwrap(), table);
    }

    #[test]
    fn sizes_and_shares_read_as_people_write_them() {
        assert_eq!(
            (size(4 << 10), size(64 << 20)),
            ("4 KiB".into(), "64 MiB".into())
        );
        assert!((percent_above(1.1, 1.0) - 10.0).abs() < 1e-9);
    }
}
