//! What a role can take for possible in a game with hidden information.

use std::collections::BTreeSet;

use agon_game::{Hidden, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use crate::News;

/// Worlds kept, joint moves tried for each of them in a step, and steps tried when all have died out and the history is gone
/// through again. Enough for the shipped games by far; a bound on memory and time for all others.
const MAX_WORLDS: usize = 64;
const MAX_TRIES: usize = 256;
const MAX_REPAIR: usize = 20_000;

/// States that fit all a role has done and perceived, or a sample of them if they are many. It is told nothing else, so nothing
/// that is worked out from it can give away what the role does not know.
pub struct Belief<P: Hidden> {
    role: Role,
    scratch: P,
    start: P::State,
    worlds: Vec<P::State>,
    /// What was done and perceived, from the start.
    history: Vec<News>,
    rng: Rng,
}

impl<P: Hidden> Belief<P> {
    /// Players know the initial state, at which `start` stands.
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

    /// Whose belief it is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Follows a step after which play goes on.
    pub fn learn(&mut self, news: &News) {
        self.history.push(news.clone());
        let mut keys = BTreeSet::new();
        let mut next = Vec::new();
        let worlds = std::mem::take(&mut self.worlds);
        let tries = (MAX_TRIES * MAX_WORLDS / worlds.len().max(1)).min(16 * MAX_TRIES);
        for world in &worlds {
            for (key, state) in self.successors(world, news, tries) {
                if keys.insert(key) {
                    next.push(state);
                }
            }
        }
        if next.is_empty() {
            next = self.repair();
        }
        // In no order, so that whoever looks at a few of them looks at a fair sample.
        for i in (1..next.len()).rev() {
            next.swap(i, self.rng.random_range(0..=i));
        }
        next.truncate(MAX_WORLDS);
        self.worlds = next;
    }

    /// A position that can be put at any of the worlds, and the worlds. None if no possible history was found in time.
    pub fn worlds(&mut self) -> (&mut P, &[P::State]) {
        (&mut self.scratch, &self.worlds)
    }

    /// The moves that the role may make in most of the worlds, in the order of the first of these: by the rules of the language a
    /// player knows its legal moves, so that they are the same in all.
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

    /// Where play goes on after a step that fits the news, with keys. Joint moves are tried all if they are few, else some
    /// drawn at random.
    fn successors(&mut self, world: &P::State, news: &News, tries: usize) -> Vec<(u64, P::State)> {
        self.scratch.go_to(world);
        let Some(own) = self.scratch.parse_move(self.role, &news.own) else { return Vec::new() };
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
            if self.scratch.percepts(&joint, self.role) == news.seen {
                self.scratch.advance(&joint);
                if !self.scratch.is_terminal() {
                    found.push((self.scratch.key(), self.scratch.state().clone()));
                }
                self.scratch.go_to(world);
            }
        }
        found
    }

    /// Goes through the whole history again, depth first and at random, until enough worlds are found or it takes too long.
    fn repair(&mut self) -> Vec<P::State> {
        let history = std::mem::take(&mut self.history);
        let mut keys = BTreeSet::new();
        let mut found = Vec::new();
        // By depth: states from which it was not tried yet.
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
