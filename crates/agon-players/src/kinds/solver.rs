//! `solver`: optimal play where the rest of the game can be solved.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Continuous, Hidden, Position, Rng, Role};
use agon_match::Player;
use agon_search::solve::{Endgames, Solution, SolveOptions};
use agon_search::{Budget, Candidate, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use super::{BuildContext, Kind, mcts};
use crate::budget::{as_nodes, share, share_of_counts};
use crate::option::Settings;
use crate::registry::Origin;
use crate::trial::TrialSelected;
use crate::{BuiltIn, OptionKind, PlayerKind, Threads};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "solver",
    form: "solver(OPTIONS)",
    summary: "plays optimally if the rest of the game can be solved, else as mcts",
    options: &[&[
        OptionKind::integer("megabytes", 1..=1_000_000, 64, "memory for the tables of the solver"),
        OptionKind::integer(
            "percent",
            1..=99,
            10,
            "part of the time for solving, in percent; the rest is for mcts",
        ),
        OptionKind::word(
            "insight",
            &["off", "trial"],
            "trial: half of the start clock is for short matches that decide whether mcts with \
             goals regressed by a step, or alphabeta with fuzzy logic or concepts, replaces mcts \
             (structure rewriting: with terms made of the goals); only if time is limited by a \
             clock",
        ),
    ]],
    origin: Origin::BuiltIn(|settings| BuiltIn::Solver(Solver::from_settings(settings))),
};

/// A player that plays optimally if the rest of the game can be solved.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Memory for the tables of the solver, in bytes.
    n_bytes: usize,
    /// Part of the budget for solving.
    percent: u32,
    /// Whether short matches decide which search replaces Monte Carlo tree search.
    has_trial: bool,
}

impl Solver {
    fn from_settings(settings: &Settings) -> Solver {
        Solver {
            n_bytes: settings.integer_usize("megabytes").saturating_mul(1 << 20),
            percent: settings.integer_u32("percent"),
            has_trial: settings.word("insight") == "trial",
        }
    }
}

impl Kind for Solver {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let seed = context.seed;
        let endgames = context.rules.endgames.clone();
        let is_analysed = context.rules.gdl.is_some() || context.rules.rewriting.is_some();
        if self.has_trial && is_analysed {
            let rules = context.rules.clone();
            let other = TrialSelected::new(rules, mcts::default_options(), seed);
            context.seat(SolveThenSearch::new(self, other, seed, endgames))
        } else {
            let other = mcts::default_search(seed);
            context.seat(SolveThenSearch::new(self, other, seed, endgames))
        }
    }

    fn threads(&self) -> Threads {
        Threads::Adaptive
    }
}

/// Optimal play if the rest of the game can be solved within a part of the budget, else another
/// search.
///
/// A won position is played as it was solved. In a drawn or lost position the other search chooses
/// among the moves that keep the value, because an opponent that is not perfect may still go wrong.
struct SolveThenSearch<P: Position, S> {
    solver: agon_search::solve::Solver<P>,
    /// Part of the budget for solving.
    percent: u32,
    /// The time for solving in the last move.
    solving_time: Duration,
    other: S,
    rng: Rng,
}

/// Maximum number of moves, best first by the other search, that are checked by the solver before
/// the move of the solution is made.
const MAX_CHECKED: usize = 8;

impl<P: Position, S> SolveThenSearch<P, S> {
    fn new(
        kind: &Solver,
        other: S,
        seed: u64,
        endgames: Option<Arc<Endgames>>,
    ) -> SolveThenSearch<P, S> {
        // The other search proves results with the same bounds as the solver's tree search.
        let options =
            SolveOptions { bytes: kind.n_bytes, tree_search: false, ..SolveOptions::default() };
        SolveThenSearch {
            solver: agon_search::solve::Solver::new(options).with_endgames(endgames),
            percent: kind.percent,
            solving_time: Duration::ZERO,
            other,
            rng: Rng::seed_from_u64(seed),
        }
    }

    /// Returns whether a move keeps a value, or `None` if that cannot be decided.
    fn keeps_value(
        &mut self,
        position: &P,
        (us, m): (Role, &P::Move),
        value: f64,
        budget: &Budget,
    ) -> Option<bool> {
        let roles = position.shape().roles();
        let first = |role: Role| position.legal_moves(role)[0].clone();
        let joint: Vec<P::Move> =
            roles.map(|role| if role == us { m.clone() } else { first(role) }).collect();
        let mut after = position.clone();
        after.advance(&joint);
        if after.is_terminal() {
            return Some(after.payoff(us) >= value);
        }
        let solution = self.solver.solve(&after, &as_nodes(&share(budget, self.percent))).ok()?;
        Some(solution.values[us.index()] >= value)
    }

    /// Returns a move of the solution, drawn if the optimal strategy is mixed.
    fn draw(&mut self, solution: Solution<P::Move>, position: &P, us: Role) -> Report<P::Move> {
        let value = solution.values[us.index()];
        let strategy = &solution.strategies[us.index()];
        let candidates: Vec<Candidate<P::Move>> = strategy
            .iter()
            .filter(|(_, probability)| *probability > 0.0)
            .map(|(m, probability)| Candidate {
                m: m.clone(),
                visits: 1,
                value,
                probability: *probability,
                is_proven: true,
            })
            .collect();
        let mut mark = self.rng.random::<f64>();
        let drawn = candidates.iter().find(|candidate| {
            mark -= candidate.probability;
            mark < 0.0
        });
        let best = drawn.or(candidates.first()).map(|candidate| candidate.m.clone());
        Report {
            best: best.unwrap_or_else(|| position.legal_moves(us)[0].clone()),
            us,
            candidates,
            value,
            is_proven: true,
            depth: solution.line.joints.len() as u32,
            lines: vec![solution.line],
            iterations: 0,
            nodes: solution.nodes,
            playouts: 0,
            seconds: solution.seconds,
        }
    }
}

impl<P: Position, S: Search<P>> Search<P> for SolveThenSearch<P, S> {
    fn method(&self) -> Option<String> {
        self.other.method()
    }

    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let began = Instant::now();
        let solved = self.solver.solve(position, &as_nodes(&share(budget, self.percent)));
        self.solving_time = began.elapsed();
        let solution = match solved {
            Ok(solution) => solution,
            Err(unsolved) => {
                let rest = share_of_counts(budget, 100 - self.percent);
                let report = self.other.think(position, us, &rest);
                return Report { nodes: report.nodes + unsolved.nodes, ..report };
            }
        };
        let value = solution.values[us.index()];
        let proved = self.draw(solution, position, us);
        let place = position.legal_moves(us).iter().position(|m| *m == proved.best);
        place.into_iter().for_each(|move_idx| budget.hint.set(move_idx));
        let only_we_choose = position.choosers().eq([us]);
        if value >= *position.shape().payoffs.end() || !only_we_choose {
            return proved;
        }
        // The other search gets a hint of its own, because its best move may lose value.
        let without_hint = Budget { hint: Arc::default(), ..share(budget, 50) };
        let preferred = self.other.think(position, us, &without_hint);
        for candidate in preferred.candidates.iter().take(MAX_CHECKED) {
            match self.keeps_value(position, (us, &candidate.m), value, budget) {
                Some(true) => {
                    let best = candidate.m.clone();
                    return Report { best, value, is_proven: true, ..preferred };
                }
                Some(false) => {}
                None => break,
            }
        }
        proved
    }

    /// Goes on solving for as long as in the last move, because the prover keeps its table, and
    /// then lets the other search ponder. A position that is won needs no more thought.
    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        let until = Instant::now() + self.solving_time;
        let deadline = budget.deadline.map_or(until, |deadline| deadline.min(until));
        let solving = Budget { deadline: Some(deadline), ..as_nodes(budget) };
        let solved = self.solver.solve(position, &solving);
        if solved.is_ok_and(|solved| solved.values[us.index()] >= *position.shape().payoffs.end()) {
            return;
        }
        self.other.ponder(position, us, budget);
    }
}
