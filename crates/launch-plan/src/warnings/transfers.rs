//! Copies and fills that are legal and hardly what their author counts on.

use std::collections::BTreeMap;

use domain::{Diagnostic, Direction, ElementType, ParameterKind};

use super::{Planned, warning};
use crate::plan::{Buffer, Operation, Place};

impl Planned<'_> {
    /// One warning a line: what differs from shape to shape is no reason to say it again.
    pub(super) fn odd_transfers(&self) -> Vec<Diagnostic> {
        let mut found = BTreeMap::new();
        let operations = self.shapes.iter().flat_map(|(_, plan)| &plan.operations);
        for operation in operations {
            if let Some(warning) = self.odd_transfer(operation) {
                found.entry(warning.line).or_insert(warning);
            }
        }
        found.into_values().collect()
    }

    fn odd_transfer(&self, operation: &Operation) -> Option<Diagnostic> {
        let (destination, bytes, line) = match *operation {
            Operation::Memset {
                destination,
                bytes,
                line,
                ..
            }
            | Operation::Copy {
                destination,
                bytes,
                line,
                ..
            } => (destination, bytes, line),
            _ => return None,
        };
        let (name, element, direction) = self.tensor(destination)?;
        if direction == Direction::In {
            let message = format!("this writes `{name}`, which is an input");
            let hint =
                "inputs stay as they are; is the destination, which stands first, the wrong one?";
            return Some(warning(line, None, &message, hint));
        }
        let size = element.size_bytes();
        if !bytes.is_multiple_of(size) {
            let message = format!(
                "{bytes} bytes are no whole elements of `{name}`, which have {size} bytes each"
            );
            let hint = "sizes are counted in bytes: is a `* sizeof(...)` missing?";
            return Some(warning(line, None, &message, hint));
        }
        match *operation {
            Operation::Memset { value: 1, .. } if size > 1 => Some(warning(
                line,
                None,
                &format!("cudaMemset sets every byte of `{name}` to 1, not every element"),
                "fill it in a kernel; cudaMemset is of use for zeros",
            )),
            _ => None,
        }
    }

    /// The parameter behind a place.
    fn tensor(&self, place: Place) -> Option<(&str, ElementType, Direction)> {
        let Buffer::Parameter(position) = place.buffer else {
            return None;
        };
        let parameter = self.signature.0.get(usize::try_from(position).ok()?)?;
        match parameter.kind {
            ParameterKind::Tensor { element, direction } => {
                Some((&parameter.name, element, direction))
            }
            ParameterKind::Scalar { .. } => None,
        }
    }
}
