//! Names as numbers.

use std::fmt;

/// The name of a constant, a function or a relation. Dense within the table that created it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

impl Symbol {
    /// Returns the symbol with this number.
    pub const fn new(index: u32) -> Symbol {
        Symbol(index)
    }

    /// Returns the number of the symbol.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn raw(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}
