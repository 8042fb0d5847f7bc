//! Searches fitted to a match: to its clock, or to one another.

use std::sync::Arc;
use std::time::Instant;

use agon_analysis::Subject;
use agon_analysis::goal_formulas::{GoalOptions, RewritingGame};
use agon_analysis::regression::Wanted;
use agon_game::{Notation, Position, Rng, Role};
use agon_search::solve::{Solution, SolveOptions, Solver};
use agon_search::{ActionHeuristic, Budget, Candidate, Mcts, MctsOptions, Puzzle, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use crate::MethodChoice;
use crate::regressed::Regressed;
use crate::stepwise::Stepwise;

/// Monte Carlo tree search with as many threads as suit the budget of its first move: under a clock two if there are so
/// many processors and players take turns, and one where iterations are counted, so that the match can be repeated.
pub(crate) struct Fitted<P: Position> {
    options: MctsOptions,
    seed: u64,
    search: Option<Mcts<P>>,
    /// Where moves are to be judged before they are tried: by what.
    insight: Option<Insight>,
}

/// What moves are judged by before they are tried.
pub(crate) enum Insight {
    /// Regressed goals of a game in GDL: how.
    Regressed(Subject, Wanted),
    /// Terms made of the goals of a structure rewriting game.
    Stepwise(Arc<RewritingGame>, MethodChoice, GoalOptions),
}

impl Insight {
    /// The heuristic, if there is one for the game.
    fn heuristic<P: Notation + 'static>(
        &self,
        position: &P,
        budget: &Budget,
    ) -> Option<Box<dyn ActionHeuristic<P>>> {
        match self {
            Insight::Regressed(subject, wanted) => {
                Some(Box::new(Regressed::new(subject, *wanted, position, budget)?))
            }
            Insight::Stepwise(game, choice, options) => {
                let method = choice.decide(game, options, position, budget);
                Some(Box::new(Stepwise::new(game, method, options)?))
            }
        }
    }
}

/// More are not worth it by themselves: somebody else wants to think, too.
const MAX_THREADS: usize = 2;

impl<P: Position> Fitted<P> {
    /// With 0 threads in the options, their number is found out.
    pub(crate) fn new(options: MctsOptions, seed: u64) -> Fitted<P> {
        Fitted { options, seed, search: None, insight: None }
    }

    /// The same with what can be read out of the rules.
    pub(crate) fn with_insight(self, insight: Insight) -> Fitted<P> {
        Fitted { insight: Some(insight), ..self }
    }
}

impl<P: Notation + 'static> Search<P> for Fitted<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let (options, seed, insight) = (&self.options, self.seed, &self.insight);
        let search = self.search.get_or_insert_with(|| {
            let n_processors = || std::thread::available_parallelism().map_or(1, usize::from);
            // Where several think at the same time, the processors are busy as it is.
            let is_alone = position.shape().turn_taking || position.shape().players().count() == 1;
            let threads = match (options.threads, budget.deadline) {
                (0, Some(_)) if is_alone => n_processors().min(MAX_THREADS),
                (0, _) => 1,
                (n, _) => n,
            };
            let options = MctsOptions { threads, ..options.clone() };
            let judge = insight.as_ref().and_then(|insight| insight.heuristic(position, budget));
            match judge {
                Some(judge) => Mcts::with_heuristic(options, seed, judge),
                None => Mcts::new(options, seed),
            }
        });
        search.think(position, us, budget)
    }
}

/// A search that counts positions where a match counts iterations.
pub(crate) struct ByNodes<S>(pub(crate) S);

impl<P: Position, S: Search<P>> Search<P> for ByNodes<S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let nodes = budget.nodes.or(budget.iterations);
        self.0.think(position, us, &Budget { nodes, iterations: None, ..budget.clone() })
    }
}

/// For games of one player: a plan, and as long as none pays all there is, another opinion.
pub(crate) struct Alone<P: Position, S> {
    puzzle: Puzzle<P>,
    other: Option<S>,
}

impl<P: Position, S: Search<P>> Alone<P, S> {
    pub(crate) fn new(puzzle: Puzzle<P>, other: Option<S>) -> Alone<P, S> {
        Alone { puzzle, other }
    }
}

impl<P: Position, S: Search<P>> Search<P> for Alone<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let Some(other) = &mut self.other else {
            return self.puzzle.think(position, us, &by_nodes(budget));
        };
        let plan = self.puzzle.think(position, us, &by_nodes(&part(budget, 75)));
        if plan.is_proven || plan.value >= *position.shape().payoffs.end() {
            return plan;
        }
        let opinion = other.think(position, us, &counted_part(budget, 25));
        // A plan is known to pay what it pays; an opinion is an average of what was tried.
        let has_plan = plan.lines.first().is_some_and(|line| !line.joints.is_empty());
        if has_plan && plan.value >= opinion.value { plan } else { opinion }
    }
}

/// Positions instead of iterations: only some of the ways to a plan make playouts.
fn by_nodes(budget: &Budget) -> Budget {
    let nodes = budget.iterations.map(|n| n.saturating_mul(NODES_PER_ITERATION));
    Budget { nodes: nodes.or(budget.nodes), iterations: None, ..budget.clone() }
}

/// So many hundredths of what is left of a budget.
fn part(budget: &Budget, percent: u32) -> Budget {
    let now = Instant::now();
    let deadline = budget.deadline.map(|deadline| {
        let left = deadline.saturating_duration_since(now);
        now + left / 100 * percent
    });
    Budget { deadline, ..counted_part(budget, percent) }
}

/// So many hundredths of what is counted, and all the time that is left.
fn counted_part(budget: &Budget, percent: u32) -> Budget {
    let count = |amount: u64| (amount.saturating_mul(percent.into()) / 100).max(1);
    Budget {
        iterations: budget.iterations.map(count),
        nodes: budget.nodes.map(count),
        ..budget.clone()
    }
}

/// Perfect play where the rest of the game can be solved within a part of the budget.
///
/// A win is played as it was proved. Where no more than a draw or a loss is left, the other search chooses among the moves
/// that lose nothing: whoever is not perfect may still go wrong.
pub(crate) struct Perfect<S> {
    solver: Solver,
    /// The part of a budget that is for solving.
    percent: u32,
    other: S,
    rng: Rng,
}

/// Positions that may be looked at for an iteration, which is a playout elsewhere.
const NODES_PER_ITERATION: u64 = 100;

/// So many of the moves that the other search likes best are looked at before the one that was proved is made.
const MAX_CHECKED: usize = 8;

impl<S> Perfect<S> {
    pub(crate) fn new(bytes: usize, percent: u32, other: S, seed: u64) -> Perfect<S> {
        let options = SolveOptions { bytes, ..SolveOptions::default() };
        Perfect { solver: Solver::new(options), percent, other, rng: Rng::seed_from_u64(seed) }
    }

    /// Whether a move keeps what we can make sure of, if that can be found out.
    fn keeps<P: Position>(
        &mut self,
        position: &P,
        us: Role,
        m: &P::Move,
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
        let solution = self.solver.solve(&after, &by_nodes(&part(budget, self.percent))).ok()?;
        Some(solution.values[us.index()] >= value)
    }

    /// A move of the solution; drawn if it is a mixture.
    fn draw<P: Position>(
        &mut self,
        solution: Solution<P::Move>,
        position: &P,
        us: Role,
    ) -> Report<P::Move> {
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

impl<P: Position, S: Search<P>> Search<P> for Perfect<S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let solution = match self.solver.solve(position, &by_nodes(&part(budget, self.percent))) {
            Ok(solution) => solution,
            Err(unsolved) => {
                let report =
                    self.other.think(position, us, &counted_part(budget, 100 - self.percent));
                return Report { nodes: report.nodes + unsolved.nodes, ..report };
            }
        };
        let value = solution.values[us.index()];
        let proved = self.draw(solution, position, us);
        let place = position.legal_moves(us).iter().position(|m| *m == proved.best);
        place.into_iter().for_each(|move_idx| budget.hint.tell(move_idx));
        let only_we_choose = position.choosers().eq([us]);
        if value >= *position.shape().payoffs.end() || !only_we_choose {
            return proved;
        }
        // Its own hints are not: what it likes may give something away.
        let quietly = Budget { hint: Arc::default(), ..part(budget, 50) };
        let liked = self.other.think(position, us, &quietly);
        for candidate in liked.candidates.iter().take(MAX_CHECKED) {
            match self.keeps(position, us, &candidate.m, value, budget) {
                Some(true) => {
                    return Report { best: candidate.m.clone(), value, is_proven: true, ..liked };
                }
                Some(false) => {}
                None => break,
            }
        }
        proved
    }
}
