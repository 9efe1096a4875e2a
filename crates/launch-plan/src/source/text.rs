//! The submitted text and its lines.

use serde::{Deserialize, Serialize};

/// A byte offset in the submitted text (after a byte-order mark).
pub(crate) type At = u32;

/// The text without its byte-order mark, with lines found once.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    text: String,
    lines: Lines,
}

/// Where the lines of a text begin; enough to speak of places in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Lines {
    starts: Vec<At>,
}

impl SourceText {
    /// Positions are those that an editor shows: a byte-order mark takes no column.
    pub(crate) fn new(submitted: &str) -> Self {
        let text = submitted
            .strip_prefix('\u{feff}')
            .unwrap_or(submitted)
            .to_owned();
        let mut starts = vec![0];
        starts.extend(
            text.bytes()
                .enumerate()
                .filter(|&(_, byte)| byte == b'\n')
                .map(|(offset, _)| offset as At + 1),
        );
        Self {
            text,
            lines: Lines { starts },
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    pub(crate) fn line(&self, at: At) -> u32 {
        self.lines.line(at)
    }
}

impl Lines {
    /// Line and column, both from 1; columns count bytes. Lines that somebody else wrote down may lie:
    /// any place has some position in them.
    pub(crate) fn position(&self, at: At) -> (u32, u32) {
        let line = self.starts.partition_point(|&start| start <= at).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line as u32, at.saturating_sub(start).saturating_add(1))
    }

    pub(crate) fn line(&self, at: At) -> u32 {
        self.position(at).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_ignore_the_byte_order_mark() {
        let text = SourceText::new("\u{feff}ab\r\ncd\n");
        let text = text.lines();
        assert_eq!(text.position(0), (1, 1));
        assert_eq!(text.position(1), (1, 2));
        assert_eq!(text.position(4), (2, 1));
        assert_eq!(text.position(7), (3, 1));
    }
}
