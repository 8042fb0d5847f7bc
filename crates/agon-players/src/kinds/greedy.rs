//! `greedy`: the best move by a search of one step.

use std::time::Instant;

use agon_game::{Continuous, Hidden, Position, Rng, Role};
use agon_match::Player;
use agon_search::continuous::{ContinuousOptions, ContinuousSearch, CurrentPayoffs, Method};
use agon_search::{Budget, Candidate, Evaluate, GoalValues, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use super::{BuildContext, Kind};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, OptionKind, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "greedy",
    form: "greedy",
    summary: "the move with the highest payoff by the goals of the rules, one step ahead",
    options: &[&[OptionKind::integer(
        "replies",
        1..=100_000,
        64,
        "number of joint moves tried for each own move if other roles choose at the same time",
    )]],
    origin: Origin::BuiltIn(|settings| BuiltIn::Greedy(Greedy::from_settings(settings))),
};

/// A player that makes the move with the highest payoff by the goals of the rules, one step ahead.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Greedy {
    n_replies: u64,
}

impl Greedy {
    fn from_settings(settings: &Settings) -> Greedy {
        Greedy { n_replies: settings.integer("replies") }
    }
}

impl Kind for Greedy {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        if context.start.shape().continuous {
            // The listed moves are only a sample, so the parameters are optimised.
            let options = ContinuousOptions { method: Method::Basic, ..Default::default() };
            let seed = context.seed;
            return context.seat(ContinuousSearch::new(options, CurrentPayoffs, seed));
        }
        let search = GreedySearch {
            evaluator: GoalValues,
            n_replies: self.n_replies.max(1),
            rng: Rng::seed_from_u64(context.seed),
        };
        context.seat(search)
    }
}

/// A search of one step. Other roles that choose at the same time are assumed to choose at random.
/// Ties between moves are broken at random.
struct GreedySearch<E> {
    evaluator: E,
    n_replies: u64,
    rng: Rng,
}

impl<P: Position, E: Evaluate<P>> Search<P> for GreedySearch<E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let began = Instant::now();
        let mut meter = budget.start();
        let here = position.state().clone();
        let ours = position.legal_moves(us).to_vec();
        let others_choose = position.choosers().any(|role| role != us);
        let n_replies = if others_choose { self.n_replies } else { 1 };
        let mut candidates: Vec<Candidate<P::Move>> = Vec::with_capacity(ours.len());
        let mut joint = Vec::new();
        for m in ours {
            let (mut sum, mut n_tried, mut all_ended) = (0.0, 0, true);
            // Every move is tried once, whatever the budget, because a move must be returned.
            while n_tried < n_replies && (n_tried == 0 || !meter.is_over(16)) {
                position.draw(&mut self.rng, &mut joint);
                joint[us.index()] = m.clone();
                position.advance(&joint);
                all_ended &= position.is_terminal();
                sum += self.evaluator.value(position, us);
                position.go_to(&here);
                n_tried += 1;
                meter.n_iterations += 1;
                meter.n_nodes += 1;
            }
            let is_proven = all_ended && !others_choose;
            let value = sum / n_tried as f64;
            candidates.push(Candidate { m, visits: n_tried, value, probability: 0.0, is_proven });
        }
        // The shuffle breaks ties, because the sort is stable.
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

    /// Does nothing, because this search remembers nothing from call to call.
    fn ponder(&mut self, _: &mut P, _: Role, _: &Budget) {}
}
