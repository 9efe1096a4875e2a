//! Columns of text, coloured or not.

use console::{Alignment, measure_text_width, pad_str};

/// Rows of cells under a header; numbers to the right.
pub(crate) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Columns by name; a name that begins with `>` is a column of numbers.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let alignments = columns
            .iter()
            .map(|name| {
                if name.starts_with('>') {
                    Alignment::Right
                } else {
                    Alignment::Left
                }
            })
            .collect();
        let header = columns
            .iter()
            .map(|name| crate::terminal::dim(name.trim_start_matches('>')).to_string())
            .collect();
        Self {
            alignments,
            rows: vec![header],
        }
    }

    /// Adds a row; it must have a cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.alignments.len());
        self.rows.push(cells);
    }

    /// Whether no row was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The text, each line indented by two. A column without any content is left out.
    pub(crate) fn render(&self) -> String {
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| measure_text_width(&row[column]));
            widths.max().unwrap_or(0)
        };
        let shown: Vec<usize> = (0..self.alignments.len())
            .filter(|&column| {
                self.is_empty() || self.rows[1..].iter().any(|r| !r[column].is_empty())
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<String> = shown
                .iter()
                .map(|&c| pad_str(&row[c], width(c), self.alignments[c], None).into_owned())
                .collect();
            text.push_str(format!("  {}", cells.join("  ")).trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        console::set_colors_enabled(false);
        let mut table = Table::new(&["name", "nothing", ">n"]);
        table.row(vec!["long name".into(), String::new(), "7".into()]);
        table.row(vec!["x".into(), String::new(), "1234".into()]);
        assert_eq!(
            table.render(),
            "  name          n\n  long name     7\n  x          1234\n"
        );
    }
}
