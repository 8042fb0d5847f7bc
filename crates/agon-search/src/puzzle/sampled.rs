//! Random plays by the million, where an engine makes many at once: for puzzles of which one play in so many pays in full.
//!
//! Engines tell only what plays came to, not how they went. So when one from some position paid in full, plays are made from its
//! children until one of those pays in full, and so on to the end. A solution that one play in `n` finds takes about `n` plays at the
//! first step and fewer and fewer later: each right move makes the others likelier.

use agon_game::{Batch, Order, Position, Rng, Role};

use super::PuzzleOptions;
use crate::Meter;
use crate::budget::play_out_in_time;
use crate::choices::Choices;

/// Plays that show which payoffs there are and how long plays take.
const N_SHOWN: usize = 64;
/// Plays of one order at most: a single one that pays in full must stand out in the sum of the squares.
const MAX_EACH: f64 = 64.0;
/// Plays that are made at a time, more or less: a few times what engines have lanes.
const AT_ONCE: usize = 2048;
/// Plays that count as much as a position looked at.
pub(super) const PER_NODE: u64 = 64;
/// A step that takes so many times the plays of the first one was a mistake: it begins anew.
const PATIENCE: u64 = 8;

/// An engine, and how far it has got.
pub(super) struct Sampled<P: Position> {
    us: Role,
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    home: P::State,
    most: f64,
    /// The highest payoff below that, as far as was seen.
    next_most: f64,
    max_steps: usize,
    mean_steps: f64,
    /// Our moves so far, and where they lead.
    moves: Vec<P::Move>,
    state: P::State,
    /// Plays for the first step, and for this one.
    n_first: u64,
    n_now: u64,
    /// Seconds that 2048 plays took the last time.
    seconds: f64,
}

impl<P: Position> Sampled<P> {
    /// None if there is no engine, or if payoffs may be negative.
    pub(super) fn new(
        position: &mut P,
        us: Role,
        options: &PuzzleOptions,
        rng: &mut Rng,
        meter: &mut Meter<'_>,
    ) -> Option<Sampled<P>> {
        let (payoffs, max_steps) = (position.shape().payoffs.clone(), options.max_steps);
        let batch = position.batch(options.seed).filter(|_| *payoffs.start() >= 0.0)?;
        let home = position.state().clone();
        let (mut next_most, mut n_steps) = (0.0_f64, 0);
        for _ in 0..N_SHOWN {
            position.go_to(&home);
            n_steps += play_out_in_time(position, rng, max_steps, meter.deadline());
            let payoff = position.payoff(us);
            if payoff < *payoffs.end() {
                next_most = next_most.max(payoff);
            }
            if meter.is_over(1) {
                break;
            }
        }
        position.go_to(&home);
        Some(Sampled {
            us,
            batch,
            state: home.clone(),
            home,
            most: *payoffs.end(),
            next_most,
            max_steps,
            mean_steps: n_steps as f64 / N_SHOWN as f64,
            moves: Vec::new(),
            n_first: 0,
            n_now: 0,
            seconds: 0.0,
        })
    }

    /// Makes so many plays, and returns a line that pays in full if one was found. Where the position stands afterwards does
    /// not matter.
    pub(super) fn run(
        &mut self,
        position: &mut P,
        n_plays: u64,
        meter: &mut Meter<'_>,
    ) -> Option<Vec<P::Move>> {
        let until = meter.n_nodes + n_plays / PER_NODE;
        while meter.n_nodes < until && !meter.is_over(1) {
            if !self.has_time(meter) {
                return None;
            }
            let children = self.children(position, meter);
            let mut open = Vec::new();
            for (m, child) in children {
                match child {
                    Child::Open(state) => open.push((m, state)),
                    Child::Solved => {
                        self.moves.push(m);
                        return Some(std::mem::take(&mut self.moves));
                    }
                    Child::Failed => {}
                }
            }
            if open.is_empty() {
                self.begin_anew();
                continue;
            }
            self.step(&open, until, meter);
        }
        None
    }

    /// Plays on from these children until one pays in full, or time is up.
    fn step(&mut self, open: &[(P::Move, P::State)], until: u64, meter: &mut Meter<'_>) {
        let each = (self.most * self.most - 1.0) / (self.next_most * self.next_most).max(1e-9);
        let each = each.clamp(1.0, MAX_EACH) as u64;
        let n_orders = (AT_ONCE / each as usize).next_multiple_of(open.len());
        let orders: Vec<Order<P::State>> = open
            .iter()
            .cycle()
            .take(n_orders)
            .map(|(_, state)| Order { state: state.clone(), n_playouts: each, expected_steps: 0 })
            .collect();
        let n_played = n_orders as u64 * each;
        while meter.n_nodes < until && !meter.is_over(1) && self.has_time(meter) {
            let began = meter.seconds();
            let tallies = self.batch.play_out(&orders, self.max_steps as u64);
            self.seconds = meter.seconds() - began;
            meter.n_nodes += n_played.div_ceil(PER_NODE);
            meter.n_iterations += n_played;
            self.n_now += n_played;
            let unpaid = each as f64 * self.next_most * self.next_most;
            let paid =
                tallies.iter().position(|tally| tally.square_sums[self.us.index()] > unpaid + 1e-6);
            if let Some(at) = paid {
                let (m, state) = &open[at % open.len()];
                if self.moves.is_empty() {
                    self.n_first = self.n_now;
                }
                self.moves.push(m.clone());
                self.state = state.clone();
                self.n_now = 0;
                return;
            }
            if !self.moves.is_empty() && self.n_now > PATIENCE * self.n_first.max(AT_ONCE as u64) {
                // Something between was taken for the full score: now it is known that there is more than was seen.
                self.begin_anew();
                return;
            }
        }
    }

    /// Begins at another position.
    pub(super) fn stand_at(&mut self, home: &P::State) {
        self.home = home.clone();
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        self.moves.clear();
        self.state = self.home.clone();
        self.n_now = 0;
    }

    /// Whether another round is likely to be over in time: nothing can stop an engine that is under way. Before the first
    /// a few steps tell how fast it is.
    fn has_time(&mut self, meter: &Meter<'_>) -> bool {
        let Some(deadline) = meter.deadline() else { return true };
        if self.seconds == 0.0 {
            const FEW: u64 = 4;
            let order = Order { state: self.state.clone(), n_playouts: 1, expected_steps: 0 };
            self.batch.play_out(std::slice::from_ref(&order), 1);
            let began = meter.seconds();
            self.batch.play_out(std::slice::from_ref(&order), FEW);
            let fills = AT_ONCE as f64 / 256.0;
            self.seconds = (meter.seconds() - began) / FEW as f64 * fills * 2.0 * self.mean_steps;
        }
        let left = deadline.saturating_duration_since(std::time::Instant::now()).as_secs_f64();
        left > 3.0 * self.seconds
    }

    /// What our moves lead to.
    fn children(&self, position: &mut P, meter: &mut Meter<'_>) -> Vec<(P::Move, Child<P::State>)> {
        position.go_to(&self.state);
        let choices = Choices::at(position);
        let mut joint = choices.first_joint();
        let mut children = Vec::new();
        for m in choices.of(self.us) {
            joint[self.us.index()] = m.clone();
            position.go_to(&self.state);
            position.advance(&joint);
            meter.n_nodes += 1;
            let child = match position.is_terminal() {
                false => Child::Open(position.state().clone()),
                true if position.payoff(self.us) >= self.most && position.fault().is_none() => {
                    Child::Solved
                }
                true => Child::Failed,
            };
            children.push((m.clone(), child));
        }
        children
    }
}

/// What a move leads to.
enum Child<S> {
    /// Play goes on.
    Open(S),
    /// An end that pays in full.
    Solved,
    /// Any other end.
    Failed,
}
