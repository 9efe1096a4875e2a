//! The forms, family by family. What NVRTC 13.5 has no spelling for on sm_90 is not here.

mod conversions;
mod floats;
mod halves;
mod integers;

use super::forms::Form;

/// Families by name; each becomes one source.
pub fn all() -> Vec<(&'static str, Vec<Form>)> {
    vec![
        ("integers", integers::forms()),
        ("floats", floats::forms()),
        ("halves", halves::forms()),
        ("conversions", conversions::forms()),
    ]
}
