//! The text of a submission, once it is known to be text of an admissible size.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The largest source that is read at all, in bytes.
pub const MAX_SOURCE_BYTES: usize = 262_144;

/// Why bytes are not a source. Refused before any judging.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nothing, or only white space.
    #[error("the source is empty")]
    Empty,
    /// A NUL byte: a binary file, or UTF-16.
    #[error("the source contains a NUL byte at offset {0}: is it a binary file?")]
    Nul(usize),
    /// Not UTF-8.
    #[error("the source is not UTF-8 (first bad byte at offset {0})")]
    NotUtf8(usize),
    /// Over [`MAX_SOURCE_BYTES`].
    #[error("the source has {0} bytes; the limit is {MAX_SOURCE_BYTES}")]
    TooLarge(usize),
}

impl SourceError {
    /// The contract's error code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "source_too_large",
            _ => "invalid_source",
        }
    }
}

/// UTF-8 text of 1 to [`MAX_SOURCE_BYTES`] bytes without NUL, exactly as submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Source(String);

impl Source {
    /// Checks the bytes. A byte-order mark and CRLF line ends are legal.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SourceError> {
        if bytes.len() > MAX_SOURCE_BYTES {
            return Err(SourceError::TooLarge(bytes.len()));
        }
        if let Some(offset) = bytes.iter().position(|&b| b == 0) {
            return Err(SourceError::Nul(offset));
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| SourceError::NotUtf8(e.utf8_error().valid_up_to()))?;
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(SourceError::Empty);
        }
        Ok(Self(text))
    }

    /// The text as submitted, byte-order mark and all.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lower-case hexadecimal SHA-256 of the submitted bytes.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex::encode(Sha256::digest(self.0.as_bytes()))
    }
}

impl TryFrom<String> for Source {
    type Error = SourceError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::from_bytes(text.into_bytes())
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_bytes_are_named() {
        assert_eq!(Source::from_bytes(vec![]), Err(SourceError::Empty));
        assert_eq!(
            Source::from_bytes(b"\xef\xbb\xbf \r\n".to_vec()),
            Err(SourceError::Empty)
        );
        assert_eq!(
            Source::from_bytes(b"ab\0c".to_vec()),
            Err(SourceError::Nul(2))
        );
        assert_eq!(
            Source::from_bytes(b"ab\xff".to_vec()),
            Err(SourceError::NotUtf8(2))
        );
        let large = vec![b'x'; 300 * 1024];
        assert_eq!(
            Source::from_bytes(large),
            Err(SourceError::TooLarge(307_200))
        );
    }

    #[test]
    fn digest_is_of_the_submitted_bytes() {
        let source = Source::from_bytes(b"abc".to_vec()).unwrap();
        assert_eq!(
            source.sha256(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
