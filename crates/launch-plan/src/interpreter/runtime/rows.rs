//! `cudaMemcpy2D` and `cudaMemset2D`: row by row, or at once where the rows touch.

use std::rc::Rc;

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{HostRef, Target, Value};
use crate::plan::Place;
use crate::source::text::At;

/// Rows of so many bytes, so far apart.
#[derive(Clone, Copy, Debug)]
struct Rows {
    width: u64,
    height: u64,
}

impl Interpreter<'_> {
    /// `cudaMemset2D(destination, pitch, value, width, height)`.
    pub(super) fn memset_rows(
        &mut self,
        destination: &Value,
        pitch: &Value,
        value: &Value,
        size: [&Value; 2],
        at: At,
    ) -> Fallible<Value> {
        let rows = self.rows(size, at)?;
        let pitch = self.pitch(pitch, rows, "cudaMemset2D", at)?;
        if pitch == rows.width {
            return self.memset(destination, value, rows.width * rows.height, at);
        }
        for row in 0..rows.height {
            let destination = self.further(destination, pitch, row, at)?;
            self.memset(&destination, value, rows.width, at)?;
        }
        Ok(Value::SUCCESS)
    }

    /// `cudaMemcpy2D(destination, pitch, source, pitch, width, height, direction)`.
    pub(super) fn memcpy_rows(
        &mut self,
        [destination, destination_pitch]: [&Value; 2],
        [source, source_pitch]: [&Value; 2],
        size: [&Value; 2],
        direction: Option<i128>,
        at: At,
    ) -> Fallible<Value> {
        let rows = self.rows(size, at)?;
        let to = self.pitch(destination_pitch, rows, "cudaMemcpy2D", at)?;
        let from = self.pitch(source_pitch, rows, "cudaMemcpy2D", at)?;
        if to == rows.width && from == rows.width {
            let bytes = rows.width * rows.height;
            return self.memcpy(destination, source, bytes, direction, at);
        }
        for row in 0..rows.height {
            let destination = self.further(destination, to, row, at)?;
            let source = self.further(source, from, row, at)?;
            self.memcpy(&destination, &source, rows.width, direction, at)?;
        }
        Ok(Value::SUCCESS)
    }

    fn rows(&mut self, [width, height]: [&Value; 2], at: At) -> Fallible<Rows> {
        let rows = Rows {
            width: self.count_of(width, at)?,
            height: self.count_of(height, at)?,
        };
        if rows.width.checked_mul(rows.height).is_none() {
            let message = format!("{} rows of {} bytes", rows.height, rows.width);
            return Err(Fault::host(at, message));
        }
        Ok(rows)
    }

    fn pitch(&mut self, pitch: &Value, rows: Rows, what: &str, at: At) -> Fallible<u64> {
        let pitch = self.count_of(pitch, at)?;
        if pitch < rows.width {
            let message = format!(
                "{what} of rows of {} bytes that start {pitch} bytes apart",
                rows.width
            );
            return Err(Fault::host(at, message).hint("the pitch counts bytes, not elements"));
        }
        Ok(pitch)
    }

    /// So many rows or slices further on.
    pub(super) fn further(
        &mut self,
        first: &Value,
        pitch: u64,
        row: u64,
        at: At,
    ) -> Fallible<Value> {
        self.spend(1, at)?;
        let outside = || Fault::host(at, format!("row {row} lies outside its memory"));
        let bytes = pitch
            .checked_mul(row)
            .and_then(|bytes| i64::try_from(bytes).ok())
            .ok_or_else(outside)?;
        let Value::Pointer(pointee, target) = first else {
            return Err(Fault::host(at, "rows of something that is no pointer"));
        };
        let target = match target {
            Target::Device(place) => Target::Device(Place {
                offset_bytes: place.offset_bytes.checked_add(bytes).ok_or_else(outside)?,
                ..*place
            }),
            Target::Host(place) if place.fields.is_empty() => {
                let size = self.memory.type_at(place, at)?.size_bytes().unwrap_or(1);
                let size = i64::try_from(size.max(1)).map_err(|_| outside())?;
                if bytes % size != 0 {
                    return Err(Fault::unsupported(
                        at,
                        "rows of host memory that start within an element",
                        "let the pitch be a multiple of the element's size",
                    ));
                }
                Target::Host(HostRef {
                    index: place.index.saturating_add(bytes / size),
                    ..place.clone()
                })
            }
            Target::Host(_) | Target::Symbol(_) => {
                return Err(Fault::unsupported(
                    at,
                    "rows within this variable",
                    "copy it with cudaMemcpy",
                ));
            }
        };
        Ok(Value::Pointer(Rc::clone(pointee), target))
    }
}
