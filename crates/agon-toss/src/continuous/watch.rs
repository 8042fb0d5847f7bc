//! The limits of evaluation with real numbers that all formulas of one state share.

use std::cell::Cell;

use agon_reals::elimination::EliminationLimits;
use agon_reals::interrupt::Interrupt;

use super::ContinuousError;

/// Steps that the elimination of one quantifier counts as. Most take less time than that, hard ones
/// take more; they have limits of their own.
const ELIMINATION: u64 = 10_000;

/// Number of steps between two readings of the clock.
const CLOCK_PERIOD: u64 = 1 << 10;

/// Counts the evaluation steps of one state, and ends them at a deadline or when they are
/// cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    interrupt: Interrupt,
    /// The steps that are left, and the number that was allowed.
    left: Cell<u64>,
    allowed: Cell<u64>,
}

impl Watch {
    /// Returns a watch that only heeds interrupts.
    pub(crate) fn new(interrupt: Interrupt) -> Watch {
        Watch { interrupt, left: Cell::new(u64::MAX), allowed: Cell::new(u64::MAX) }
    }

    /// Allows this number of steps from now on.
    pub(crate) fn allow(&self, steps: u64) {
        self.left.set(steps);
        self.allowed.set(steps);
    }

    /// Returns the number of steps that are left.
    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Returns what ends evaluation in time.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Counts steps.
    pub(crate) fn spend(&self, steps: u64) -> Result<(), ContinuousError> {
        let before = self.left.get();
        let Some(left) = before.checked_sub(steps) else {
            return Err(ContinuousError::Steps(self.allowed.get()));
        };
        self.left.set(left);
        if before / CLOCK_PERIOD != left / CLOCK_PERIOD && self.interrupt.is_due() {
            return Err(ContinuousError::Interrupted);
        }
        Ok(())
    }

    /// Returns the limits of the elimination of one quantifier, which counts as many steps.
    pub(super) fn elimination(&self) -> Result<EliminationLimits, ContinuousError> {
        self.spend(ELIMINATION)?;
        Ok(EliminationLimits { interrupt: self.interrupt.clone(), ..Default::default() })
    }
}
