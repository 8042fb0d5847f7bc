//! Nested Monte Carlo search and nested rollout policy adaptation.

use agon_game::{Position, Rng, Role};
use rand::RngExt as _;

use crate::Meter;
use crate::choices::Choices;
use crate::hash::{self, Map, fold};

/// The state of one turn of either search.
pub(super) struct Nested<'r, 'b, P: Position> {
    pub(super) us: Role,
    /// The search ends when the meter has counted this many positions.
    pub(super) until: u64,
    pub(super) max_steps: usize,
    pub(super) most: f64,
    pub(super) rng: &'r mut Rng,
    pub(super) meter: &'r mut Meter<'b>,
    /// The best line so far: its payoff and the moves of the player.
    pub(super) best: Option<(f64, Vec<P::Move>)>,
}

/// Step size of the policy adaptation (value of Rosin 2011).
const ALPHA: f64 = 1.0;
/// Number of rounds on each level (value of Rosin 2011).
const N_ROUNDS: usize = 100;

/// The weights of moves by their code, which depends on the move before and the move. Missing
/// weights are 0.
type Policy = Map<u64, f64>;

/// A step of a playout: the codes of all legal moves, and the move that was made.
struct Played<M> {
    codes: Vec<u64>,
    chosen: usize,
    m: M,
}

impl<P: Position> Nested<'_, '_, P> {
    fn is_over(&mut self) -> bool {
        self.meter.n_nodes >= self.until
            || self.best.as_ref().is_some_and(|(payoff, _)| *payoff >= self.most)
            || self.meter.is_over(64)
    }

    fn step(&mut self, position: &mut P, m: &P::Move) {
        let mut joint = Choices::at(position).first_joint();
        joint[self.us.index()] = m.clone();
        position.advance(&joint);
        self.meter.n_nodes += 1;
    }

    /// Keeps a line if it is the best so far.
    fn record(&mut self, payoff: f64, moves: &[P::Move]) {
        if self.best.as_ref().is_none_or(|(before, _)| payoff > *before) {
            self.best = Some((payoff, moves.to_vec()));
        }
    }

    /// Runs nested Monte Carlo search of level 2 from the start, repeatedly.
    pub(super) fn nmcs(&mut self, position: &mut P) {
        let home = position.state().clone();
        while !self.is_over() {
            position.go_to(&home);
            let mut done = Vec::new();
            self.nested(position, 2, &mut done);
        }
    }

    /// Plays from the position to the end, at each step by the best line that searches of the level
    /// below found. Returns that line with `done` in front. The position afterwards is unspecified.
    fn nested(
        &mut self,
        position: &mut P,
        level: u32,
        done: &mut Vec<P::Move>,
    ) -> (f64, Vec<P::Move>) {
        let n_done = done.len();
        let mut best: Option<(f64, Vec<P::Move>)> = None;
        while !position.is_terminal() && done.len() < self.max_steps && !self.is_over() {
            let moves = position.legal_moves(self.us).to_vec();
            if level == 0 {
                let m = moves[self.rng.random_range(0..moves.len())].clone();
                self.step(position, &m);
                done.push(m);
                continue;
            }
            let here = position.state().clone();
            for m in moves {
                position.go_to(&here);
                self.step(position, &m);
                done.push(m);
                let (payoff, line) = self.nested(position, level - 1, done);
                done.pop();
                if best.as_ref().is_none_or(|(before, _)| payoff > *before) {
                    best = Some((payoff, line));
                }
                if self.is_over() {
                    break;
                }
            }
            position.go_to(&here);
            let Some(m) = best.as_ref().and_then(|(_, line)| line.get(done.len()).cloned()) else {
                break;
            };
            self.step(position, &m);
            done.push(m);
        }
        if position.is_terminal() {
            self.meter.n_iterations += u64::from(level == 0);
            let payoff = position.payoff(self.us);
            self.record(payoff, done);
            if best.as_ref().is_none_or(|(before, _)| payoff > *before) {
                best = Some((payoff, done.clone()));
            }
        }
        let found = best.unwrap_or_else(|| (f64::NEG_INFINITY, done.clone()));
        done.truncate(n_done);
        found
    }

    /// Runs nested rollout policy adaptation of level 2 from an empty policy, repeatedly.
    pub(super) fn nrpa(&mut self, position: &mut P) {
        let home = position.state().clone();
        while !self.is_over() {
            self.adapt(position, &home, 2, &Policy::default());
        }
    }

    fn adapt(
        &mut self,
        position: &mut P,
        home: &P::State,
        level: u32,
        policy: &Policy,
    ) -> (f64, Vec<Played<P::Move>>) {
        if level == 0 {
            return self.play(position, home, policy);
        }
        let mut policy = policy.clone();
        let mut best: (f64, Vec<Played<P::Move>>) = (f64::NEG_INFINITY, Vec::new());
        for _ in 0..N_ROUNDS {
            let found = self.adapt(position, home, level - 1, &policy);
            if found.0 >= best.0 {
                best = found;
            }
            // Moves the policy towards the best line and away from the alternatives.
            let before = policy.clone();
            let weight = |code: &u64| before.get(code).copied().unwrap_or(0.0);
            for played in &best.1 {
                let total: f64 = played.codes.iter().map(|code| libm::exp(weight(code))).sum();
                for code in &played.codes {
                    *policy.entry(*code).or_insert(0.0) -= ALPHA * libm::exp(weight(code)) / total;
                }
                *policy.entry(played.codes[played.chosen]).or_insert(0.0) += ALPHA;
            }
            if self.is_over() {
                break;
            }
        }
        best
    }

    /// Makes one playout by a policy.
    fn play(
        &mut self,
        position: &mut P,
        home: &P::State,
        policy: &Policy,
    ) -> (f64, Vec<Played<P::Move>>) {
        position.go_to(home);
        let mut line: Vec<Played<P::Move>> = Vec::new();
        let mut before = 0;
        while !position.is_terminal() && line.len() < self.max_steps {
            let moves = position.legal_moves(self.us).to_vec();
            let codes: Vec<u64> = moves.iter().map(|m| fold(before, hash::of(m))).collect();
            let weights: Vec<f64> = codes
                .iter()
                .map(|code| libm::exp(policy.get(code).copied().unwrap_or(0.0)))
                .collect();
            let mut left = self.rng.random::<f64>() * weights.iter().sum::<f64>();
            let chosen = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let chosen = chosen.unwrap_or(moves.len() - 1);
            before = hash::of(&moves[chosen]);
            self.step(position, &moves[chosen]);
            line.push(Played { codes, chosen, m: moves[chosen].clone() });
        }
        if !position.is_terminal() {
            return (f64::NEG_INFINITY, line);
        }
        self.meter.n_iterations += 1;
        let payoff = position.payoff(self.us);
        let moves: Vec<P::Move> = line.iter().map(|played| played.m.clone()).collect();
        self.record(payoff, &moves);
        (payoff, line)
    }
}
