//! What a launch looks for beyond bounds, and the order in which it runs blocks and warps.

/// Checks that cost time and memory. A launch with any of them runs on one host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checks {
    /// Values that nobody wrote, when they decide something: a branch, an address, a result.
    pub undefined_values: bool,
    /// Accesses of two threads, one of them a write, that nothing orders.
    pub races: bool,
    /// Which bytes of each allocation are read and written, for [`crate::Outcome::footprints`].
    pub footprints: bool,
}

impl Checks {
    /// Bounds, alignment, use after free, protected memory and barriers: they are always checked.
    pub const BOUNDS: Self = Self {
        undefined_values: false,
        races: false,
        footprints: false,
    };
    /// Everything.
    pub const FULL: Self = Self {
        undefined_values: true,
        races: true,
        footprints: true,
    };
}

/// The order of blocks, warps and their slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By index, in slices of equal length.
    #[default]
    Index,
    /// Drawn from a generator with this seed; the same seed gives the same order. The launch runs on
    /// one host thread. Blocks begin in any order within the window of those that may be resident.
    Seeded(u64),
}

/// Which bytes of an allocation a launch touched, each counted once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    /// Label of the allocation.
    pub allocation: String,
    /// Its address.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// Distinct bytes read, by atomics too.
    pub read_bytes: u64,
    /// Distinct bytes written, by atomics too.
    pub written_bytes: u64,
}
