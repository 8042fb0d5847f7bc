//! Millions of random playouts, for puzzles that a random playout solves now and then.
//!
//! An engine returns statistics of playouts, not their moves. So when a playout from some position
//! had the highest payoff, playouts are made from its children until one of them has it again, and
//! so on to the end. A solution that one playout in `n` finds takes about `n` playouts for the
//! first step and fewer for each later one, because each right move makes the rest more likely.

use agon_game::{Batch, PlayoutRequest, Position, Rng, Role, play_out_in_time};

use super::PuzzleOptions;
use crate::Meter;
use crate::choices::Choices;

/// Number of playouts that measure the payoffs and the length of playouts.
const N_TRIAL_PLAYOUTS: usize = 64;
/// Maximum number of playouts of one request. A single one with the highest payoff must be visible
/// in the sum of squares.
const MAX_EACH: f64 = 64.0;
/// Approximate number of playouts at a time: a few times the number of lanes of an engine.
const AT_ONCE: usize = 2048;
/// Number of playouts that count as one visited position.
pub(super) const PER_NODE: u64 = 64;
/// A step that takes this many times the playouts of the first one is given up, and the search
/// starts again.
const RESTART_FACTOR: u64 = 8;

/// A search by playouts of an engine that makes many at once.
pub(super) struct Sampler<P: Position> {
    us: Role,
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    home: P::State,
    most: f64,
    /// The highest payoff below `most` among the trial playouts.
    next_most: f64,
    max_steps: usize,
    mean_steps: f64,
    /// The moves of the player so far, and the state they lead to.
    moves: Vec<P::Move>,
    state: P::State,
    /// Number of playouts for the first step, and for the current one.
    n_first: u64,
    n_now: u64,
    /// Duration in seconds of the last [`AT_ONCE`] playouts.
    seconds: f64,
}

impl<P: Position> Sampler<P> {
    /// Returns `None` if the game has no batch engine or if payoffs may be negative.
    pub(super) fn new(
        position: &mut P,
        us: Role,
        options: &PuzzleOptions,
        rng: &mut Rng,
        meter: &mut Meter<'_>,
    ) -> Option<Sampler<P>> {
        let (payoffs, max_steps) = (position.shape().payoffs.clone(), options.max_steps);
        let batch = position.batch(options.seed).filter(|_| *payoffs.start() >= 0.0)?;
        let home = position.state().clone();
        let (mut next_most, mut n_steps) = (0.0_f64, 0);
        for _ in 0..N_TRIAL_PLAYOUTS {
            position.go_to(&home);
            n_steps += play_out_in_time(position, rng, max_steps, meter.deadline(), meter.stop());
            let payoff = position.payoff(us);
            if payoff < *payoffs.end() {
                next_most = next_most.max(payoff);
            }
            if meter.is_over(1) {
                break;
            }
        }
        position.go_to(&home);
        Some(Sampler {
            us,
            batch,
            state: home.clone(),
            home,
            most: *payoffs.end(),
            next_most,
            max_steps,
            mean_steps: n_steps as f64 / N_TRIAL_PLAYOUTS as f64,
            moves: Vec::new(),
            n_first: 0,
            n_now: 0,
            seconds: 0.0,
        })
    }

    /// Makes `n_plays` playouts. Returns a line with the highest payoff if one was found. The
    /// position afterwards is unspecified.
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
                self.restart();
                continue;
            }
            self.step(&open, until, meter);
        }
        None
    }

    /// Makes playouts from the children until one has the highest payoff or the budget is used up.
    fn step(&mut self, open: &[(P::Move, P::State)], until: u64, meter: &mut Meter<'_>) {
        let each = (self.most * self.most - 1.0) / (self.next_most * self.next_most).max(1e-9);
        let each = each.clamp(1.0, MAX_EACH) as u64;
        let n_requests = (AT_ONCE / each as usize).next_multiple_of(open.len());
        let requests: Vec<PlayoutRequest<P::State>> = open
            .iter()
            .cycle()
            .take(n_requests)
            .map(|(_, state)| PlayoutRequest {
                state: state.clone(),
                n_playouts: each,
                expected_steps: 0,
            })
            .collect();
        let n_played = n_requests as u64 * each;
        while meter.n_nodes < until && !meter.is_over(1) && self.has_time(meter) {
            let began = meter.seconds();
            let results = self.batch.play_out(&requests, self.max_steps as u64);
            self.seconds = meter.seconds() - began;
            meter.n_nodes += n_played.div_ceil(PER_NODE);
            meter.n_iterations += n_played;
            self.n_now += n_played;
            let unsolved = each as f64 * self.next_most * self.next_most;
            let solved = results
                .iter()
                .position(|stats| stats.square_sums[self.us.index()] > unsolved + 1e-6);
            if let Some(at) = solved {
                let (m, state) = &open[at % open.len()];
                if self.moves.is_empty() {
                    self.n_first = self.n_now;
                }
                self.moves.push(m.clone());
                self.state = state.clone();
                self.n_now = 0;
                return;
            }
            if !self.moves.is_empty()
                && self.n_now > RESTART_FACTOR * self.n_first.max(AT_ONCE as u64)
            {
                // A payoff between `next_most` and `most` was mistaken for the highest one.
                self.restart();
                return;
            }
        }
    }

    /// Starts at another position.
    pub(super) fn start_at(&mut self, home: &P::State) {
        self.home = home.clone();
        self.restart();
    }

    fn restart(&mut self) {
        self.moves.clear();
        self.state = self.home.clone();
        self.n_now = 0;
    }

    /// Returns whether another round is likely to end before the deadline. A running engine cannot
    /// be stopped. Before the first round a few steps measure its speed.
    fn has_time(&mut self, meter: &Meter<'_>) -> bool {
        let Some(deadline) = meter.deadline() else { return true };
        if self.seconds == 0.0 {
            const FEW: u64 = 4;
            let request =
                PlayoutRequest { state: self.state.clone(), n_playouts: 1, expected_steps: 0 };
            self.batch.play_out(std::slice::from_ref(&request), 1);
            let began = meter.seconds();
            self.batch.play_out(std::slice::from_ref(&request), FEW);
            let fills = AT_ONCE as f64 / 256.0;
            self.seconds = (meter.seconds() - began) / FEW as f64 * fills * 2.0 * self.mean_steps;
        }
        let left = deadline.saturating_duration_since(std::time::Instant::now()).as_secs_f64();
        left > 3.0 * self.seconds
    }

    /// Returns the moves of the player and what they lead to.
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
    /// Play continues.
    Open(S),
    /// A terminal position with the highest payoff.
    Solved,
    /// Any other terminal position.
    Failed,
}
