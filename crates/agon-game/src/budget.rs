//! Limits of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::{Position, Rng};

/// The limits of a search. It stops at whichever limit it reaches first. With only iterations or
/// nodes limited, a search does the same on every machine.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// The time at which the search must have stopped.
    pub deadline: Option<Instant>,
    /// Maximum number of iterations, such as the iterations of a Monte Carlo tree search.
    /// Depth-first searches count nodes instead.
    pub iterations: Option<u64>,
    /// Maximum number of positions visited.
    pub nodes: Option<u64>,
    /// Set by another thread to stop the search.
    pub stop: Arc<AtomicBool>,
    /// The best move so far of a search with a deadline.
    pub hint: Arc<Hint>,
}

/// The best move so far of a running search, for a caller that cannot wait any longer. It is an
/// index into the legal moves of the searching role at the position of the search.
#[derive(Debug, Default)]
pub struct Hint(AtomicU32);

impl Hint {
    /// Sets the index of the best move so far.
    pub fn set(&self, move_idx: usize) {
        self.0.store(u32::try_from(move_idx + 1).unwrap_or(0), Ordering::Relaxed);
    }

    /// Returns the index that was set last, if any.
    pub fn get(&self) -> Option<usize> {
        (self.0.load(Ordering::Relaxed) as usize).checked_sub(1)
    }
}

impl Budget {
    /// Returns a budget of `n` iterations.
    pub fn iterations(n: u64) -> Budget {
        Budget { iterations: Some(n), ..Budget::default() }
    }

    /// Returns a budget of `n` positions.
    pub fn nodes(n: u64) -> Budget {
        Budget { nodes: Some(n), ..Budget::default() }
    }

    /// Returns a budget that ends at a deadline.
    pub fn until(deadline: Instant) -> Budget {
        Budget { deadline: Some(deadline), ..Budget::default() }
    }

    /// A budget of a number of seconds from now. Negative numbers and NaN count as 0.
    pub fn seconds(seconds: f64) -> Budget {
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        Budget { deadline: Instant::now().checked_add(time), ..Budget::default() }
    }

    /// Stops the search that has this budget, or a clone of it.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether the search was told to stop. Deadlines and counts are not looked at.
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns a meter that measures this budget from now on.
    pub fn start(&self) -> Meter<'_> {
        let now = Instant::now();
        Meter {
            budget: self,
            began: now,
            n_iterations: 0,
            n_nodes: 0,
            calls_left: 0,
            last_reading: now,
            interval: 1,
            is_over: false,
        }
    }
}

/// The part of a budget that has been used.
#[derive(Debug)]
pub struct Meter<'b> {
    budget: &'b Budget,
    began: Instant,
    /// Number of iterations so far.
    pub n_iterations: u64,
    /// Number of positions visited so far.
    pub n_nodes: u64,
    /// Number of calls until the clock is read again.
    calls_left: u32,
    last_reading: Instant,
    /// Number of calls between two readings of the clock.
    interval: u32,
    is_over: bool,
}

/// Longest time that may pass between two readings of the clock before it is read more often.
const LONG: Duration = Duration::from_millis(1);

impl Meter<'_> {
    /// Returns whether the search must stop.
    ///
    /// The clock is read once in `stride` calls, or more often if the calls are far apart. In some
    /// games a step takes milliseconds, and the search must still meet its deadline.
    pub fn is_over(&mut self, stride: u32) -> bool {
        let Budget { deadline, iterations, nodes, .. } = self.budget;
        if self.is_over
            || iterations.is_some_and(|n| self.n_iterations >= n)
            || nodes.is_some_and(|n| self.n_nodes >= n)
        {
            self.is_over = true;
            return true;
        }
        if self.calls_left > 0 {
            self.calls_left -= 1;
            return false;
        }
        let mut is_late = false;
        self.interval = match deadline {
            None => stride,
            Some(deadline) => {
                let now = Instant::now();
                is_late = now >= *deadline;
                let since = now - self.last_reading;
                self.last_reading = now;
                if since > LONG {
                    (self.interval / 4).max(1)
                } else {
                    self.interval.saturating_mul(2).min(stride)
                }
            }
        };
        self.calls_left = self.interval.saturating_sub(1);
        self.is_over = is_late || self.budget.is_cancelled();
        self.is_over
    }

    /// Returns the share of the budget that has been used, from 0 to 1: of the iterations, of the
    /// positions or of the time, whichever is the greatest. It is 0 without any limit.
    pub fn share_used(&self) -> f64 {
        let Budget { deadline, iterations, nodes, .. } = self.budget;
        let share = |used: u64, all: u64| used as f64 / all.max(1) as f64;
        let of_time = deadline.map_or(0.0, |deadline| {
            let all = deadline.saturating_duration_since(self.began).as_secs_f64();
            if all > 0.0 { self.seconds() / all } else { 1.0 }
        });
        let counts = [(self.n_iterations, *iterations), (self.n_nodes, *nodes)];
        let of_counts = counts.into_iter().filter_map(|(used, all)| Some(share(used, all?)));
        let cancelled = f64::from(self.budget.is_cancelled());
        of_counts.fold(of_time.max(cancelled), f64::max).min(1.0)
    }

    /// Returns the deadline, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.budget.deadline
    }

    /// Returns the flag that another thread sets to stop the search.
    pub fn stop(&self) -> &AtomicBool {
        &self.budget.stop
    }

    /// Publishes the best move so far, as an index into the legal moves of the searching role.
    pub fn suggest(&self, move_idx: usize) {
        self.budget.hint.set(move_idx);
    }

    /// Returns the seconds since the start, for reports.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

/// Plays random moves until play ends, at most `max_steps` of them. If there is a deadline, it stops
/// soon after the deadline or after `stop` is set. Returns the number of steps that were made.
pub fn play_out_in_time<P: Position>(
    position: &mut P,
    rng: &mut Rng,
    max_steps: usize,
    deadline: Option<Instant>,
    stop: &AtomicBool,
) -> usize {
    let Some(deadline) = deadline else { return position.play_out(rng, max_steps) };
    let (mut n_made, mut stretch, mut before) = (0, FIRST_STRETCH, Instant::now());
    while n_made < max_steps {
        let wanted = stretch.min(max_steps - n_made);
        let made = position.play_out(rng, wanted);
        n_made += made;
        let now = Instant::now();
        if made < wanted || now >= deadline || stop.load(Ordering::Relaxed) {
            break;
        }
        stretch = if now - before > LONG { (stretch / 4).max(1) } else { stretch * 2 };
        before = now;
    }
    n_made
}

/// Number of steps of a playout before the clock is read for the first time.
const FIRST_STRETCH: usize = 4;
