//! How long to think.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agon_game::{Position, Rng};

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
    /// Where a search under a deadline says what it would answer now.
    pub hint: Arc<Hint>,
}

/// The best move so far, for whoever cannot wait for the answer any longer: its place among our legal moves where the search
/// was asked.
#[derive(Debug, Default)]
pub struct Hint(AtomicU32);

impl Hint {
    /// Tells it.
    pub fn tell(&self, move_idx: usize) {
        self.0.store(u32::try_from(move_idx + 1).unwrap_or(0), Ordering::Relaxed);
    }

    /// What was told last, if anything was.
    pub fn told(&self) -> Option<usize> {
        (self.0.load(Ordering::Relaxed) as usize).checked_sub(1)
    }
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
        let now = Instant::now();
        Meter {
            budget: self,
            began: now,
            n_iterations: 0,
            n_nodes: 0,
            until_look: 0,
            last_look: now,
            pace: 1,
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
    last_look: Instant,
    /// Calls between two looks at the clock.
    pace: u32,
    is_over: bool,
}

/// The clock is looked at more often if more time than this goes by between two looks.
const LONG: Duration = Duration::from_millis(1);

impl Meter<'_> {
    /// Whether it is time to stop. The clock is looked at once in `stride` calls, or more often if the calls come slowly: some
    /// games take milliseconds for a step, and nobody may be late for that.
    pub fn is_over(&mut self, stride: u32) -> bool {
        let Budget { deadline, iterations, nodes, stop, .. } = self.budget;
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
        let mut is_late = false;
        self.pace = match deadline {
            None => stride,
            Some(deadline) => {
                let now = Instant::now();
                is_late = now >= *deadline;
                let since = now - self.last_look;
                self.last_look = now;
                if since > LONG {
                    (self.pace / 4).max(1)
                } else {
                    self.pace.saturating_mul(2).min(stride)
                }
            }
        };
        self.until_look = self.pace.saturating_sub(1);
        self.is_over = is_late || stop.load(Ordering::Relaxed);
        self.is_over
    }

    /// Until when, if the clock counts.
    pub fn deadline(&self) -> Option<Instant> {
        self.budget.deadline
    }

    /// Tells whoever cannot wait which of our legal moves is the best so far.
    pub fn tell(&self, move_idx: usize) {
        self.budget.hint.tell(move_idx);
    }

    /// Seconds since the start: for reports.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// Plays random moves to the end, at most `max_steps` of them, and not much beyond the deadline if there is one. Returns how many
/// were made.
pub(crate) fn play_out_in_time<P: Position>(
    position: &mut P,
    rng: &mut Rng,
    max_steps: usize,
    deadline: Option<Instant>,
) -> usize {
    let Some(deadline) = deadline else { return position.play_out(rng, max_steps) };
    let (mut n_made, mut stretch, mut before) = (0, FIRST_STRETCH, Instant::now());
    while n_made < max_steps {
        let wanted = stretch.min(max_steps - n_made);
        let made = position.play_out(rng, wanted);
        n_made += made;
        let now = Instant::now();
        if made < wanted || now >= deadline {
            break;
        }
        stretch = if now - before > LONG { (stretch / 4).max(1) } else { stretch * 2 };
        before = now;
    }
    n_made
}

/// Steps of a playout before the first look at the clock.
const FIRST_STRETCH: usize = 4;
