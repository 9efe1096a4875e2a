//! The forms, family by family. What NVRTC 13.5 has no spelling for on sm_90 is not here.

mod atomics;
mod conversions;
mod exchanges;
mod floats;
mod fragments;
mod halves;
mod integers;
mod matrices;
mod memory;

use super::forms::Form;

/// Families by name; each becomes one source.
pub fn all() -> Vec<(&'static str, Vec<Form>)> {
    vec![
        ("integers", integers::forms()),
        ("floats", floats::forms()),
        ("halves", halves::forms()),
        ("conversions", conversions::forms()),
        ("memory", memory::forms()),
        ("atomics", atomics::forms()),
        ("exchanges", exchanges::forms()),
        ("matrices", matrices::forms()),
        ("fragments", fragments::forms()),
    ]
}
