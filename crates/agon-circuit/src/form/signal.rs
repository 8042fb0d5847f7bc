//! Wires of a circuit, plain or inverted.

use std::fmt;
use std::ops::Not;

/// A wire or its negation.
///
/// Stored as twice the number of the gate that drives it, plus one if inverted.
///
/// Prints as `g17` or `!g17`, the constants as `0` and `1`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u32);

impl Signal {
    /// The constant false: the output of gate 0.
    pub const FALSE: Signal = Signal(0);
    /// The constant true.
    pub const TRUE: Signal = Signal(1);

    /// Returns the output of a gate, not inverted.
    ///
    /// # Panics
    /// If the number is not below 2^31.
    #[inline]
    pub fn of_gate(gate: usize) -> Signal {
        Signal(
            u32::try_from(gate)
                .ok()
                .filter(|&gate| gate < 1 << 31)
                .expect("a circuit has fewer than 2^31 gates")
                << 1,
        )
    }

    /// Returns the gate that drives it.
    #[inline]
    pub fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns whether it is the negation of the output of its gate.
    #[inline]
    pub fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns its negation if `invert`, else itself.
    #[inline]
    #[must_use]
    pub fn inverted_if(self, invert: bool) -> Signal {
        Signal(self.0 ^ u32::from(invert))
    }

    /// Returns the wire without inversion.
    #[inline]
    #[must_use]
    pub fn plain(self) -> Signal {
        Signal(self.0 & !1)
    }

    /// Returns whether it is one of the two constants.
    #[inline]
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// Returns the constant with this value.
    #[inline]
    pub fn constant(value: bool) -> Signal {
        Signal(value.into())
    }

    /// Returns twice the gate, plus one if inverted: an index into tables of literals.
    #[inline]
    pub fn literal(self) -> usize {
        self.0 as usize
    }
}

impl Not for Signal {
    type Output = Signal;

    #[inline]
    fn not(self) -> Signal {
        Signal(self.0 ^ 1)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Signal::FALSE => f.write_str("0"),
            Signal::TRUE => f.write_str("1"),
            _ if self.is_inverted() => write!(f, "!g{}", self.gate()),
            _ => write!(f, "g{}", self.gate()),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
