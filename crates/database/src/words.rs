//! Between columns and the contract's words. The spelling is serde's, so it exists once.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::DatabaseError;

/// Reads a word from a column.
pub(crate) fn read<T: DeserializeOwned>(
    column: &'static str,
    text: &str,
) -> Result<T, DatabaseError> {
    serde_json::from_value(Value::String(text.to_owned())).map_err(|_| {
        DatabaseError::Inconsistent {
            column,
            value: text.to_owned(),
        }
    })
}

/// Reads a word from a column that may be NULL.
pub(crate) fn read_option<T: DeserializeOwned>(
    column: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, DatabaseError> {
    text.map(|text| read(column, text)).transpose()
}

/// Spells a word for a column.
pub(crate) fn write<T: Serialize>(word: T) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(text)) => text,
        other => unreachable!("a word of the contract serialises to a string, not {other:?}"),
    }
}

/// Reads a count or number that a constraint keeps within `u32`.
pub(crate) fn count(column: &'static str, value: i32) -> Result<u32, DatabaseError> {
    u32::try_from(value).map_err(|_| DatabaseError::Inconsistent {
        column,
        value: value.to_string(),
    })
}

/// Reads a 64-bit count that is never negative.
pub(crate) fn big_count(column: &'static str, value: i64) -> Result<u64, DatabaseError> {
    u64::try_from(value).map_err(|_| DatabaseError::Inconsistent {
        column,
        value: value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use domain::{DeviceName, Verdict};

    use super::*;

    #[test]
    fn words_round_trip_and_strangers_are_named() {
        assert_eq!(write(Verdict::WrongAnswer), "wrong_answer");
        assert_eq!(
            read::<DeviceName>("judgings.device", "a100-40gb").unwrap(),
            DeviceName::A100_40gb
        );
        let error = read::<Verdict>("judgings.verdict", "nice").unwrap_err();
        assert_eq!(error.to_string(), "column judgings.verdict holds `nice`");
    }
}
