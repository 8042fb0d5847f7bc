//! Random plays, and visits to all reachable states.

use std::time::Instant;

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::evaluate::{Evaluator, State};
use super::{Explorer, Line, Outcome, Problem, Reason, SafetyLimits, Visited, shortest_way};

/// Maximum number of steps of a random play.
const MAX_PLAY: usize = 500;

/// The result of visiting states.
pub(super) enum Search {
    Decided(Outcome),
    /// There are too many states. Plays of this length have no bad state.
    GaveUp {
        complete_steps: usize,
    },
}

impl Problem<'_> {
    /// Returns the values of each base bit at the states of random plays, packed into words. `None`
    /// if a play reaches a bad state.
    pub(crate) fn histories(&self, limits: &SafetyLimits) -> Option<Vec<Vec<u64>>> {
        let mut histories = vec![Vec::new(); self.circuit.base.len()];
        let mut n_states = 0;
        let found = self.watched_plays(limits, &mut |state| {
            let (word, place) = (n_states / 64, n_states % 64);
            for (bit, history) in histories.iter_mut().enumerate() {
                history.resize(word + 1, 0);
                history[word] |= (state[bit / 64] >> (bit % 64) & 1) << place;
            }
            n_states += 1;
        });
        found.is_none().then_some(histories)
    }

    /// Plays at random and returns a play that reaches a bad state, if one does.
    pub(super) fn random_plays(&self, limits: &SafetyLimits) -> Option<Line> {
        self.watched_plays(limits, &mut |_| ())
    }

    fn watched_plays(&self, limits: &SafetyLimits, watch: &mut dyn FnMut(&State)) -> Option<Line> {
        let mut rng = Rng::seed_from_u64(limits.seed);
        let mut evaluator = Evaluator::new(self.circuit);
        let initial = evaluator.initial();
        // A tenth of the time at most: the other methods find shorter plays.
        let now = Instant::now();
        let deadline = limits.deadline.map(|end| now + end.saturating_duration_since(now) / 10);
        for _ in 0..limits.plays {
            let mut state = initial.clone();
            let mut line = Vec::new();
            for _ in 0..MAX_PLAY {
                if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                    return None;
                }
                evaluator.go_to(&state);
                watch(&state);
                if evaluator.holds(self.bad) {
                    return Some(line);
                }
                let legal = evaluator.legal();
                let is_over = evaluator.holds(self.stop)
                    || evaluator.holds(self.circuit.outputs.terminal)
                    || legal.iter().any(Vec::is_empty);
                if is_over {
                    break;
                }
                let joint: Vec<usize> =
                    legal.iter().map(|moves| moves[rng.random_range(0..moves.len())]).collect();
                line.push(evaluator.texts(&joint));
                evaluator.moves(std::slice::from_ref(&joint));
                state = evaluator.next(0);
            }
        }
        None
    }

    /// Visits the reachable states, breadth first, within the limits and half of the time.
    pub(super) fn all_states(&self, limits: &SafetyLimits) -> Search {
        let mut explorer = Explorer::new(self.circuit, limits);
        // By state: the pending signals as bits, and the successors.
        let mut pending: Vec<u64> = Vec::new();
        let mut successors: Vec<Vec<u32>> = Vec::new();
        let needs_end = self.needs_end();
        loop {
            let state = match explorer.go_on() {
                Visited::State(state) => state,
                Visited::All => break,
                Visited::GaveUp => {
                    return Search::GaveUp { complete_steps: explorer.complete_steps() };
                }
            };
            if explorer.holds(self.bad) {
                let line = explorer.line(state);
                return Search::Decided(Outcome::Reached(line, true));
            }
            let is_over = explorer.holds(self.stop) || explorer.is_terminal();
            let bits = self.pending.iter().enumerate();
            let bits = bits.filter(|&(_, &signal)| explorer.holds(signal));
            pending.push(bits.fold(0, |all, (bit, _)| all | 1 << bit));
            let targets = if is_over { Some(Vec::new()) } else { explorer.successors() };
            let Some(targets) = targets else {
                return Search::GaveUp { complete_steps: explorer.complete_steps() };
            };
            if needs_end {
                successors.push(targets);
            }
        }
        for bit in (0..self.pending.len()).filter(|_| needs_end) {
            let is_pending = |state: usize| pending[state] >> bit & 1 == 1;
            if let Some(state) = on_cycle(&successors, &is_pending) {
                let back = |other: usize| other == state;
                let cycle = shortest_way(&successors, state, &is_pending, &back)
                    .expect("the state lies on a cycle");
                let mut play = explorer.line(state);
                let start = play.len();
                play.extend(explorer.line_along(&cycle));
                return Search::Decided(Outcome::Repeats(play, start));
            }
        }
        Search::Decided(Outcome::Never(Reason::AllStates(explorer.n_states())))
    }
}

/// Returns a state on a cycle of states that all satisfy a condition, if there is one.
fn on_cycle(successors: &[Vec<u32>], is_allowed: &dyn Fn(usize) -> bool) -> Option<usize> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut mark = vec![NEW; successors.len()];
    for first in 0..successors.len() {
        if mark[first] != NEW || !is_allowed(first) {
            continue;
        }
        mark[first] = OPEN;
        let mut stack = vec![(first, 0_usize)];
        while let Some(top) = stack.last_mut() {
            let state = top.0;
            let Some(&to) = successors[state].get(top.1) else {
                mark[state] = DONE;
                stack.pop();
                continue;
            };
            top.1 += 1;
            let to = to as usize;
            match mark[to] {
                NEW if is_allowed(to) => {
                    mark[to] = OPEN;
                    stack.push((to, 0));
                }
                // States are numbered breadth first: the smallest number is nearest to the start.
                OPEN => {
                    let open = stack.iter().map(|&(state, _)| state);
                    return open.skip_while(|&state| state != to).min();
                }
                _ => {}
            }
        }
    }
    None
}
