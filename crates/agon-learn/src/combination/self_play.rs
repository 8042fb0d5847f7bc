//! Plays from which a combination is learnt.

use std::time::Instant;

use agon_game::{Budget, Position, Rng, Role};
use agon_search::{Mcts, MctsOptions, Search as _};
use rand::{RngExt as _, SeedableRng as _};

use super::{Examples, Experts, Model, Prediction};
use crate::train::Players;

/// The probability of a random move in plays that are not random as a whole.
const EXPLORATION: f64 = 0.3;
/// Number of random steps at the beginning of such a play, at most.
const MAX_OPENING: u32 = 6;
/// Number of iterations of a search, and of nodes of its tree.
const N_ITERATIONS: u64 = 48;
const MAX_NODES: usize = 4000;
/// Maximum number of steps of a play. A play that is not over then has no result.
const MAX_STEPS: usize = 300;
/// Positions of a play are this many steps apart, because neighbours say the same.
const STRIDE: usize = 3;
/// Maximum number of moves that are compared at a position. The best of a few drawn ones is good
/// enough for learning, and much cheaper.
const MAX_COMPARED: usize = 8;

/// Plays a game by a combination of experts.
pub(super) struct SelfPlay<'e, P: Position> {
    start: P,
    pub(super) experts: &'e mut Experts<P>,
    players: &'e Players,
    roles: Vec<Role>,
    rng: Rng,
    seen: Seen,
    /// Whether the engine is fast enough for searches.
    has_batches: bool,
}

/// Positions of plays: what the experts said, and what came of it.
#[derive(Clone, Default)]
pub(super) struct Seen {
    /// By position: the number of the play.
    plays: Vec<usize>,
    /// By position: the features of all heads.
    rows: Vec<Vec<f64>>,
    /// By position: the result, by head.
    results: Vec<Vec<f64>>,
    /// Number of plays that came to an end.
    pub(super) n_plays: usize,
}

impl<'e, P: Position + 'static> SelfPlay<'e, P> {
    pub(super) fn new(
        start: &P,
        experts: &'e mut Experts<P>,
        players: &'e Players,
        seed: u64,
    ) -> SelfPlay<'e, P> {
        SelfPlay {
            start: start.clone(),
            experts,
            players,
            roles: start.shape().players().collect(),
            rng: Rng::seed_from_u64(seed),
            seen: Seen::default(),
            has_batches: start.batch(seed).is_some(),
        }
    }

    /// Plays by a policy, or by searches if the engine is fast, or at random.
    pub(super) fn run(
        &mut self,
        n_plays: usize,
        policy: Option<&[Model]>,
        deadline: Option<Instant>,
    ) {
        for _ in 0..n_plays {
            if deadline.is_some_and(|end| Instant::now() >= end) {
                return;
            }
            self.play(policy);
        }
    }

    /// Returns the positions of some plays, by their numbers.
    pub(super) fn chosen(&self, is_chosen: impl Fn(usize) -> bool) -> Seen {
        let Seen { plays, rows, results, n_plays } = &self.seen;
        let n_chosen = (0..*n_plays).filter(|&play| is_chosen(play)).count();
        let mut chosen = Seen { n_plays: n_chosen, ..Seen::default() };
        for (at, &play) in plays.iter().enumerate().filter(|(_, play)| is_chosen(**play)) {
            chosen.plays.push(play);
            chosen.rows.push(rows[at].clone());
            chosen.results.push(results[at].clone());
        }
        chosen
    }

    fn play(&mut self, policy: Option<&[Model]>) {
        let mut position = self.start.clone();
        let n_heads = self.players.n_heads();
        // By position: what the experts said, and by head the value of a search.
        let mut rows: Vec<(Vec<f64>, Option<Vec<f64>>)> = Vec::new();
        let mut joint = Vec::new();
        let mut n_random = self.rng.random_range(0..=MAX_OPENING);
        let phase = self.rng.random_range(0..STRIDE);
        for step in 0..MAX_STEPS {
            if position.is_terminal() {
                break;
            }
            if step % STRIDE == phase {
                let mut row = Vec::new();
                self.experts.read(&position, n_heads, &mut row);
                rows.push((row, None));
            }
            position.draw(&mut self.rng, &mut joint);
            let explores = n_random > 0 || self.rng.random::<f64>() < EXPLORATION;
            n_random = n_random.saturating_sub(1);
            match policy {
                Some(models) if !explores => self.choose(&mut position, models, &mut joint),
                None if self.has_batches && (!explores || step % STRIDE == phase) => {
                    let drawn = joint.clone();
                    let values = self.search(&mut position, &mut joint);
                    if let Some((_, value)) = rows.last_mut().filter(|_| step % STRIDE == phase) {
                        *value = values;
                    }
                    if explores {
                        joint = drawn;
                    }
                }
                Some(_) | None => {}
            }
            position.advance(&joint);
        }
        if position.fault().is_some() || !position.is_terminal() {
            return;
        }
        let roles = position.shape().roles();
        let nature = position.shape().nature;
        let payoff = |role: Role| if Some(role) == nature { 0.0 } else { position.payoff(role) };
        let payoffs: Vec<f64> = roles.map(payoff).collect();
        let result = |head: usize| f64::from(self.players.result(&payoffs, head)).clamp(0.0, 1.0);
        let results: Vec<f64> = (0..n_heads).map(result).collect();
        for (row, values) in rows {
            self.seen.plays.push(self.seen.n_plays);
            self.seen.rows.push(row);
            let values = values.as_ref().unwrap_or(&results);
            let mean = results.iter().zip(values).map(|(result, value)| (result + value) / 2.0);
            self.seen.results.push(mean.collect());
        }
        self.seen.n_plays += 1;
    }

    /// Replaces the move of the player who chooses alone by that of a search. Returns the value of
    /// the position by head, if the search knows it for all of them.
    fn search(&mut self, position: &mut P, joint: &mut [P::Move]) -> Option<Vec<f64>> {
        let (player, role) = self.chooser(position)?;
        let options = MctsOptions { max_nodes: MAX_NODES, ..MctsOptions::default() };
        let budget = Budget::iterations(N_ITERATIONS);
        let report = Mcts::new(options, self.rng.random()).think(position, role, &budget);
        joint[role.index()] = report.best;
        let value = f64::from(self.players.part(report.value));
        // What one of two players gains, the other loses. Of more players, one value is known.
        let value = if player == 0 { value } else { 1.0 - value };
        (self.players.n_heads() == 1).then(|| vec![value])
    }

    /// Returns the player who chooses alone, if there is one.
    fn chooser(&self, position: &P) -> Option<(usize, Role)> {
        let mut choosers =
            (0..self.roles.len()).filter(|&n| position.legal_moves(self.roles[n]).len() > 1);
        let player = choosers.next().filter(|_| choosers.next().is_none())?;
        Some((player, self.roles[player]))
    }

    /// Replaces the move of the player who chooses alone by the best of a few. Where several
    /// choose, the drawn moves remain, because the value of a move depends on the others.
    fn choose(&mut self, position: &mut P, models: &[Model], joint: &mut [P::Move]) {
        let Some((player, role)) = self.chooser(position) else { return };
        let home = position.state().clone();
        let mut moves = position.legal_moves(role).to_vec();
        let n_compared = moves.len().min(MAX_COMPARED);
        for at in 0..n_compared {
            let other = self.rng.random_range(at..moves.len());
            moves.swap(at, other);
        }
        let mut best: Option<f64> = None;
        let mut row = Vec::new();
        let mut chosen = joint[role.index()].clone();
        for m in moves.into_iter().take(n_compared) {
            joint[role.index()] = m.clone();
            position.advance(joint);
            let head = if models.len() == 1 { 0 } else { player };
            let value = if position.is_terminal() {
                f64::from(self.players.part(position.payoff(role)))
            } else {
                self.experts.read(position, models.len(), &mut row);
                let n = row.len() / models.len();
                let value = models[head].value(&row[head * n..(head + 1) * n]);
                let is_second = models.len() == 1 && player == 1;
                if is_second { 1.0 - value } else { value }
            };
            position.go_to(&home);
            if best.is_none_or(|best| value > best) {
                best = Some(value);
                chosen = m;
            }
        }
        joint[role.index()] = chosen;
    }
}

impl Seen {
    pub(super) fn n_positions(&self) -> usize {
        self.rows.len()
    }

    /// Returns the examples of a head.
    pub(super) fn examples(&self, head: usize, n_features: usize) -> Examples<'_> {
        let rows = self.rows.iter().map(|row| &row[head * n_features..(head + 1) * n_features]);
        Examples {
            rows: rows.collect(),
            results: self.results.iter().map(|result| result[head]).collect(),
        }
    }

    /// Returns the same positions with other features, made of those of each head.
    pub(super) fn mapped(&self, map: impl Fn(&[f64]) -> Vec<f64>) -> Seen {
        let mut mapped = self.clone();
        for (row, results) in mapped.rows.iter_mut().zip(&self.results) {
            let n = row.len() / results.len();
            *row = row.chunks(n).flat_map(&map).collect();
        }
        mapped
    }

    /// Measures how well models predict the results of these positions, from features that are made
    /// of those of each head.
    pub(super) fn prediction(
        &self,
        models: &[Model],
        n_heads: usize,
        map: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Prediction {
        let (mut bits, mut n_decided, mut n_hits) = (0.0, 0.0, 0.0);
        for (row, results) in self.rows.iter().zip(&self.results) {
            for (head, features) in row.chunks(row.len() / n_heads).enumerate() {
                let (result, value) = (results[head], models[head].value(&map(features)));
                // No prediction counts as certain, so that one error is not infinitely bad.
                let value = value.clamp(1e-6, 1.0 - 1e-6);
                bits -= result * libm::log2(value) + (1.0 - result) * libm::log2(1.0 - value);
                if result != 0.5 {
                    n_decided += 1.0;
                    // A model that does not commit itself is right half of the time.
                    n_hits += match ((value - 0.5) * (result - 0.5)).partial_cmp(&0.0) {
                        Some(std::cmp::Ordering::Greater) => 1.0,
                        Some(std::cmp::Ordering::Equal) => 0.5,
                        Some(std::cmp::Ordering::Less) | None => 0.0,
                    };
                }
            }
        }
        let n = (self.rows.len() * n_heads).max(1) as f64;
        Prediction { weight: 0.0, hits: n_hits / f64::max(n_decided, 1.0), bits: bits / n }
    }
}
