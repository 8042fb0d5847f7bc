//! How long to think.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// When to stop thinking: whatever comes first. Under a budget of iterations or nodes alone, a search does the same on
/// every machine.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Not later than this.
    pub deadline: Option<Instant>,
    /// Iterations: playouts for Monte Carlo searches, deepenings count nodes instead.
    pub iterations: Option<u64>,
    /// Positions looked at.
    pub nodes: Option<u64>,
    /// Set by somebody else who wants the answer now.
    pub stop: Arc<AtomicBool>,
}

impl Budget {
    /// So many iterations.
    pub fn iterations(n: u64) -> Budget {
        Budget { iterations: Some(n), ..Budget::default() }
    }

    /// So many positions looked at.
    pub fn nodes(n: u64) -> Budget {
        Budget { nodes: Some(n), ..Budget::default() }
    }

    /// Until then.
    pub fn until(deadline: Instant) -> Budget {
        Budget { deadline: Some(deadline), ..Budget::default() }
    }

    /// Starts counting.
    pub fn start(&self) -> Meter<'_> {
        Meter {
            budget: self,
            began: Instant::now(),
            n_iterations: 0,
            n_nodes: 0,
            until_look: 0,
            is_over: false,
        }
    }
}

/// What has been used of a budget.
#[derive(Debug)]
pub struct Meter<'b> {
    budget: &'b Budget,
    began: Instant,
    /// Iterations so far.
    pub n_iterations: u64,
    /// Positions looked at so far.
    pub n_nodes: u64,
    /// The clock is not read every time.
    until_look: u32,
    is_over: bool,
}

impl Meter<'_> {
    /// Whether it is time to stop. The clock is looked at once in `stride` calls.
    pub fn is_over(&mut self, stride: u32) -> bool {
        let Budget { deadline, iterations, nodes, stop } = self.budget;
        if self.is_over
            || iterations.is_some_and(|n| self.n_iterations >= n)
            || nodes.is_some_and(|n| self.n_nodes >= n)
        {
            self.is_over = true;
            return true;
        }
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        self.until_look = stride.saturating_sub(1);
        self.is_over =
            stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.is_over
    }

    /// Seconds since the start: for reports.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
