//! The states that a role considers possible in a game with hidden information.

use std::collections::BTreeSet;

use agon_game::{Hidden, Observation, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

// These limits bound memory and time. All shipped games stay far below them.

/// Maximum number of states kept.
const MAX_WORLDS: usize = 64;

/// Number of joint moves tried from each state in a step, when `MAX_WORLDS` states are kept.
const MAX_TRIES: usize = 256;

/// Maximum number of steps tried when no state is left and the whole history is searched again.
const MAX_REPAIR: usize = 20_000;

/// The states that are consistent with everything a role has done and perceived, or a sample of
/// them if there are many.
///
/// A belief receives nothing but the observations of the role. So nothing that is computed from it
/// can reveal what the role does not know.
pub struct Belief<P: Hidden> {
    role: Role,
    scratch: P,
    start: P::State,
    worlds: Vec<P::State>,
    /// The observations since the start.
    history: Vec<Observation>,
    rng: Rng,
}

impl<P: Hidden> Belief<P> {
    /// Returns the belief at the start of a match. `start` is at the initial state, which all
    /// players know.
    pub fn new(start: P, role: Role, seed: u64) -> Belief<P> {
        let state = start.state().clone();
        Belief {
            role,
            worlds: vec![state.clone()],
            start: state,
            scratch: start,
            history: Vec::new(),
            rng: Rng::seed_from_u64(seed),
        }
    }

    /// Returns the role whose belief it is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Updates the belief by the observation of a step after which play goes on.
    pub fn learn(&mut self, observation: &Observation) {
        self.history.push(observation.clone());
        let mut keys = BTreeSet::new();
        let mut next = Vec::new();
        let worlds = std::mem::take(&mut self.worlds);
        let tries = (MAX_TRIES * MAX_WORLDS / worlds.len().max(1)).min(16 * MAX_TRIES);
        for world in &worlds {
            for (key, state) in self.successors(world, observation, tries) {
                if keys.insert(key) {
                    next.push(state);
                }
            }
        }
        if next.is_empty() {
            next = self.repair();
        }
        // Shuffled, so that the first few states are a fair sample.
        for i in (1..next.len()).rev() {
            next.swap(i, self.rng.random_range(0..=i));
        }
        next.truncate(MAX_WORLDS);
        self.worlds = next;
    }

    /// Returns the possible states, and a position that can be moved to any of them. There are no
    /// states if the search for a consistent history exceeded its limit.
    pub fn worlds(&mut self) -> (&mut P, &[P::State]) {
        (&mut self.scratch, &self.worlds)
    }

    /// Returns the moves that are legal for the role in most of the possible states, in the order
    /// of the first of these states. GDL-II requires that a player knows its legal moves, so in
    /// well-formed games they are the same in all possible states.
    pub fn legal_moves(&mut self) -> Vec<String> {
        let mut counted: Vec<(String, usize)> = Vec::new();
        for world in &self.worlds {
            self.scratch.go_to(world);
            for m in self.scratch.legal_moves(self.role) {
                let text = self.scratch.move_text(m);
                match counted.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, n)) => *n += 1,
                    None => counted.push((text, 1)),
                }
            }
        }
        let most = counted.iter().map(|(_, n)| *n).max().unwrap_or(0);
        counted.into_iter().filter(|(_, n)| *n == most).map(|(text, _)| text).collect()
    }

    /// Returns the non-terminal states that follow a state by a step with this observation, each
    /// with its key. Tries all joint moves if there are at most `tries`, and random ones otherwise.
    fn successors(
        &mut self,
        world: &P::State,
        observation: &Observation,
        tries: usize,
    ) -> Vec<(u64, P::State)> {
        self.scratch.go_to(world);
        let Some(own) = self.scratch.parse_move(self.role, &observation.own) else {
            return Vec::new();
        };
        let choices: Vec<Vec<P::Move>> = self
            .scratch
            .shape()
            .roles()
            .map(|role| {
                if role == self.role {
                    vec![own.clone()]
                } else {
                    self.scratch.legal_moves(role).to_vec()
                }
            })
            .collect();
        let n_all = choices.iter().fold(1_usize, |n, moves| n.saturating_mul(moves.len()));
        let mut found = Vec::new();
        for attempt in 0..n_all.min(tries) {
            let mut number = if n_all <= tries { attempt } else { self.rng.random_range(0..n_all) };
            let joint: Vec<P::Move> = choices
                .iter()
                .map(|moves| {
                    let chosen = moves[number % moves.len()].clone();
                    number /= moves.len();
                    chosen
                })
                .collect();
            if self.scratch.percepts(&joint, self.role) == observation.seen {
                self.scratch.advance(&joint);
                if !self.scratch.is_terminal() {
                    found.push((self.scratch.key(), self.scratch.state().clone()));
                }
                self.scratch.go_to(world);
            }
        }
        found
    }

    /// Searches for states that are consistent with the whole history: a randomised depth-first
    /// search that ends when enough states are found, or at its limit.
    fn repair(&mut self) -> Vec<P::State> {
        let history = std::mem::take(&mut self.history);
        let mut keys = BTreeSet::new();
        let mut found = Vec::new();
        // By depth: the states that have not been expanded yet.
        let mut open: Vec<Vec<P::State>> = vec![vec![self.start.clone()]];
        for _ in 0..MAX_REPAIR {
            let Some(level) = open.last_mut() else { break };
            let Some(state) = level.pop() else {
                open.pop();
                continue;
            };
            let depth = open.len() - 1;
            let mut next = self.successors(&state, &history[depth], MAX_TRIES);
            for i in (1..next.len()).rev() {
                next.swap(i, self.rng.random_range(0..=i));
            }
            if depth + 1 < history.len() {
                open.push(next.into_iter().map(|(_, state)| state).collect());
                continue;
            }
            found.extend(
                next.into_iter().filter(|(key, _)| keys.insert(*key)).map(|(_, state)| state),
            );
            if found.len() >= MAX_WORLDS {
                break;
            }
        }
        self.history = history;
        found
    }
}
