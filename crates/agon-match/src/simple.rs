//! Players without much thought, as searches: what the others are measured against, and what can be relied on.

use std::time::Instant;

use agon_game::{Position, Rng, Role};
use agon_search::{Budget, Candidate, Evaluate, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

/// A legal move at random.
#[derive(Clone, Debug)]
pub struct Random {
    rng: Rng,
}

impl Random {
    /// The same seed, the same moves.
    pub fn new(seed: u64) -> Random {
        Random { rng: Rng::seed_from_u64(seed) }
    }
}

impl<P: Position> Search<P> for Random {
    fn think(&mut self, position: &mut P, us: Role, _: &Budget) -> Report<P::Move> {
        let moves = position.legal_moves(us);
        without_thought(moves[self.rng.random_range(0..moves.len())].clone(), us)
    }
}

/// The first legal move.
#[derive(Copy, Clone, Debug, Default)]
pub struct FirstLegal;

impl<P: Position> Search<P> for FirstLegal {
    fn think(&mut self, position: &mut P, us: Role, _: &Budget) -> Report<P::Move> {
        without_thought(position.legal_moves(us)[0].clone(), us)
    }
}

fn without_thought<M>(best: M, us: Role) -> Report<M> {
    Report {
        best,
        us,
        candidates: Vec::new(),
        value: 0.0,
        is_proven: false,
        lines: Vec::new(),
        iterations: 0,
        nodes: 0,
        playouts: 0,
        depth: 0,
        seconds: 0.0,
    }
}

/// The move after which an evaluation promises most, one step ahead. Where the others have a choice too, they are taken to
/// choose at random. Among moves that promise the same it chooses at random.
#[derive(Clone, Debug)]
pub struct Greedy<E> {
    evaluation: E,
    replies: u64,
    rng: Rng,
}

impl<E> Greedy<E> {
    /// At most so many joint moves are tried for each own move.
    pub fn new(evaluation: E, replies: u64, seed: u64) -> Greedy<E> {
        Greedy { evaluation, replies: replies.max(1), rng: Rng::seed_from_u64(seed) }
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for Greedy<E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let began = Instant::now();
        let mut meter = budget.start();
        let here = position.state().clone();
        let ours = position.legal_moves(us).to_vec();
        let others_choose = position.choosers().any(|role| role != us);
        let n_replies = if others_choose { self.replies } else { 1 };
        let mut candidates: Vec<Candidate<P::Move>> = Vec::with_capacity(ours.len());
        let mut joint = Vec::new();
        for m in ours {
            let (mut sum, mut n_tried, mut all_ended) = (0.0, 0, true);
            // Every move is tried once, whatever the budget: there must be an answer.
            while n_tried < n_replies && (n_tried == 0 || !meter.is_over(16)) {
                position.draw(&mut self.rng, &mut joint);
                joint[us.index()] = m.clone();
                position.advance(&joint);
                all_ended &= position.is_terminal();
                sum += self.evaluation.value(position, us);
                position.go_to(&here);
                n_tried += 1;
                meter.n_iterations += 1;
                meter.n_nodes += 1;
            }
            let is_proven = all_ended && !others_choose;
            let value = sum / n_tried as f64;
            candidates.push(Candidate { m, visits: n_tried, value, probability: 0.0, is_proven });
        }
        // A stable order: the shuffle decides among equals, and the sort keeps what it decided.
        for i in (1..candidates.len()).rev() {
            candidates.swap(i, self.rng.random_range(0..=i));
        }
        candidates.sort_by(|a, b| b.value.total_cmp(&a.value));
        candidates[0].probability = 1.0;
        let best = &candidates[0];
        let highest = *position.shape().payoffs.end();
        Report {
            best: best.m.clone(),
            us,
            value: best.value,
            is_proven: best.is_proven && best.value >= highest,
            candidates,
            lines: Vec::new(),
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: 0,
            depth: 1,
            seconds: began.elapsed().as_secs_f64(),
        }
    }
}
