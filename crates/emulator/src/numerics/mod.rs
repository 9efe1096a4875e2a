//! Scalar arithmetic as the hardware defines it: rounding modes, flushing, saturation, NaNs.
//!
//! [`exact`] is slow and right for every format and mode; the other modules are fast paths that
//! must agree with it bit for bit, which property tests check. Nothing here depends on the host's
//! rounding mode or on its mathematical library, save where [`approximate`] says so.

pub(crate) mod approximate;
pub(crate) mod convert;
pub(crate) mod double;
pub(crate) mod exact;
pub(crate) mod fp8;
pub(crate) mod half;
pub(crate) mod single;
pub(crate) mod tensor;

/// Direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// [`Rounding`] as a constant parameter, for closures that may not capture.
pub(crate) const NEAREST: u8 = 0;
pub(crate) const ZERO: u8 = 1;
pub(crate) const DOWN: u8 = 2;
pub(crate) const UP: u8 = 3;

impl Rounding {
    #[inline(always)]
    pub(crate) const fn from_const(mode: u8) -> Self {
        match mode {
            NEAREST => Self::Nearest,
            ZERO => Self::Zero,
            DOWN => Self::Down,
            _ => Self::Up,
        }
    }
}
