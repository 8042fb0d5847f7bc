//! Search for puzzles: games with one player and without chance.
//!
//! A line with the highest payoff is a plan: it is kept and followed as long as the position is on
//! it. Four methods take turns, because it is not known in advance which one suits a puzzle. In
//! each round a method may visit twice as many positions as in the round before:
//! 1. Best-first search with a table of positions ([`frontier`]), ordered by the payoffs of the
//!    rules on the way and by moves that become legal for the first time. Every other position is
//!    taken breadth-first. At first, counters of steps are ignored ([`step_counters`]).
//! 2. Millions of random playouts, if there is an engine that makes many at once ([`sampled`]).
//! 3. Nested Monte Carlo search (NMCS; Cazenave 2009), in [`nested`].
//! 4. Nested rollout policy adaptation (NRPA; Rosin 2011), in [`nested`].
//!
//! Before that, a puzzle that consists of independent sub-games is planned in each of them alone
//! ([`sub_games`]).
//!
//! If nature or other players take part, they are assumed to make their first move. A plan is
//! dropped when the position leaves it.

mod frontier;
mod nested;
mod sampled;
mod step_counters;
mod sub_games;
#[cfg(test)]
mod tests;

use std::time::Instant;

use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use frontier::Frontier;
use nested::Nested;
use sampled::Sampler;
use step_counters::StepCounters;
pub use sub_games::SubGames;

use crate::choices::Choices;
use crate::{Budget, Candidate, Line, Meter, Report, Search};

/// The options of a puzzle search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PuzzleOptions {
    /// The seed. Equal seeds and node budgets give equal plans.
    pub seed: u64,
    /// Maximum number of remembered positions.
    pub max_positions: usize,
    /// Maximum number of steps of a playout.
    pub max_steps: usize,
}

impl Default for PuzzleOptions {
    fn default() -> PuzzleOptions {
        PuzzleOptions { seed: 0, max_positions: 4_000_000, max_steps: 1000 }
    }
}

/// A line of play from some position to a terminal one.
#[derive(Clone, Debug)]
struct Plan<M> {
    /// By step: the key of the position before it.
    keys: Vec<u64>,
    joints: Vec<Vec<M>>,
    payoff: f64,
}

/// A search that finds a plan and follows it.
pub struct Puzzle<P: Position> {
    options: PuzzleOptions,
    rng: Rng,
    plan: Option<Plan<P::Move>>,
    /// The frontier of the last search. Freeing it takes time, so this is done at the beginning of
    /// the next search rather than just before the answer is due.
    frontier: Option<Frontier<P>>,
    /// `None` before the first search, `Some(None)` if playouts cannot be sampled.
    sampler: Option<Option<Sampler<P>>>,
    /// The independent sub-games, until they were looked at.
    sub_games: Option<Box<dyn SubGames<P>>>,
}

/// Number of positions for each method in the first round.
const FIRST_TURN: u64 = 2000;

impl<P: Position> Puzzle<P> {
    /// Returns a search that has no plan yet.
    pub fn new(options: PuzzleOptions) -> Puzzle<P> {
        Puzzle {
            rng: Rng::seed_from_u64(options.seed),
            options,
            plan: None,
            frontier: None,
            sampler: None,
            sub_games: None,
        }
    }

    /// Tells the search that the puzzle consists of independent sub-games. The next search looks at
    /// them first.
    pub fn set_sub_games(&mut self, sub_games: Box<dyn SubGames<P>>) {
        self.sub_games = Some(sub_games);
    }

    /// Makes a line of moves of the player the plan if it is better than the current plan.
    fn consider(&mut self, position: &mut P, us: Role, moves: &[P::Move]) {
        let home = position.state().clone();
        let mut plan = Plan { keys: Vec::new(), joints: Vec::new(), payoff: 0.0 };
        for m in moves {
            if position.is_terminal() {
                break;
            }
            let mut joint = Choices::at(position).first_joint();
            joint[us.index()] = m.clone();
            plan.keys.push(position.key());
            position.advance(&joint);
            plan.joints.push(joint);
        }
        plan.payoff = position.payoff(us);
        let is_end = position.is_terminal() && position.fault().is_none();
        position.go_to(&home);
        if is_end && self.plan.as_ref().is_none_or(|old| plan.payoff > old.payoff) {
            self.plan = Some(plan);
        }
    }

    /// Keeps the plan from the position with this key on, or drops it if the position is not on it.
    fn resume_plan(&mut self, key: u64) {
        self.plan = self.plan.take().and_then(|mut plan| {
            let step = plan.keys.iter().position(|&other| other == key)?;
            plan.keys.drain(..step);
            plan.joints.drain(..step);
            Some(plan)
        });
    }

    fn has_full_score(&self, most: f64) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.payoff >= most)
    }

    fn begin(&mut self, position: &mut P, us: Role, meter: &mut Meter<'_>) -> Run<P> {
        let home = position.state().clone();
        let most = *position.shape().payoffs.end();
        let mut counters = None;
        if !self.has_full_score(most) {
            // Made in the first search, so that its code is compiled before time is short.
            if self.sampler.is_none() {
                let sampler = Sampler::new(position, us, &self.options, &mut self.rng, meter);
                self.sampler = Some(sampler);
            }
            counters = StepCounters::find(position, &mut self.rng, meter);
        }
        if let Some(Some(sampler)) = &mut self.sampler {
            sampler.start_at(&home);
        }
        let frontier = Frontier::new(position, us, self.options.max_positions, counters);
        Run { us, home, most, frontier, is_complete: false }
    }

    /// Lets one method visit `n_nodes` positions. Returns the best line of moves that it found.
    fn take_turn(
        &mut self,
        run: &mut Run<P>,
        method: Method,
        n_nodes: u64,
        position: &mut P,
        meter: &mut Meter<'_>,
    ) -> Option<Vec<P::Move>> {
        let until = meter.n_nodes + n_nodes;
        let nested_method = match method {
            Method::BestFirst => {
                let is_done = run.frontier.run(position, until, meter);
                let line = run.frontier.best_line(position, &run.home);
                let is_approximate = run.frontier.is_approximate();
                run.is_complete = is_done && !is_approximate;
                if is_done && is_approximate && !run.frontier.has_full_score() {
                    position.go_to(&run.home);
                    let max_positions = self.options.max_positions;
                    run.frontier = Frontier::new(position, run.us, max_positions, None);
                }
                return line;
            }
            Method::Sampling => {
                let sampler = self.sampler.as_mut()?.as_mut()?;
                return sampler.run(position, n_nodes * sampled::PER_NODE, meter);
            }
            Method::NestedMonteCarlo => Nested::nmcs,
            Method::PolicyAdaptation => Nested::nrpa,
        };
        position.go_to(&run.home);
        let mut nested = Nested {
            us: run.us,
            until,
            max_steps: self.options.max_steps,
            most: run.most,
            rng: &mut self.rng,
            meter,
            best: None,
        };
        nested_method(&mut nested, position);
        nested.best.map(|(_, moves)| moves)
    }

    /// Returns the index of the plan's first move among the legal moves.
    fn planned_move(&self, position: &P, us: Role) -> Option<usize> {
        let joint = self.plan.as_ref()?.joints.first()?;
        position.legal_moves(us).iter().position(|m| *m == joint[us.index()])
    }

    fn report(&self, position: &P, run: &Run<P>, meter: &Meter<'_>) -> Report<P::Move> {
        let us = run.us;
        let plan = self.plan.as_ref();
        let best = plan
            .and_then(|plan| plan.joints.first())
            .map_or_else(|| position.legal_moves(us)[0].clone(), |joint| joint[us.index()].clone());
        let value = plan.map_or(*position.shape().payoffs.start(), |plan| plan.payoff);
        // No line has a higher payoff, or all lines are known.
        let is_alone = position.shape().role_names.len() == 1;
        let is_best = self.has_full_score(run.most) || run.is_complete && plan.is_some();
        let is_proven = is_alone && is_best;
        let joints = plan.map_or_else(Vec::new, |plan| plan.joints.clone());
        let (m, visits, probability) = (best.clone(), 1, 1.0);
        Report {
            candidates: vec![Candidate { m, visits, value, probability, is_proven }],
            best,
            us,
            value,
            is_proven,
            depth: joints.len() as u32,
            lines: vec![Line { joints, value }],
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: meter.n_iterations,
            seconds: meter.seconds(),
        }
    }
}

/// A method that searches for a plan.
#[derive(Copy, Clone)]
enum Method {
    BestFirst,
    Sampling,
    NestedMonteCarlo,
    PolicyAdaptation,
}

/// The methods in the order of their turns.
const METHODS: [Method; 4] =
    [Method::BestFirst, Method::Sampling, Method::NestedMonteCarlo, Method::PolicyAdaptation];

/// Returns a quarter of the rest of a budget.
fn quarter_of(budget: &Budget) -> Budget {
    let now = Instant::now();
    let left = |deadline: Instant| now + deadline.saturating_duration_since(now) / 4;
    Budget {
        deadline: budget.deadline.map(left),
        nodes: budget.nodes.map(|nodes| nodes / 4),
        iterations: budget.iterations.map(|iterations| iterations / 4),
        ..budget.clone()
    }
}

/// The state of one search.
struct Run<P: Position> {
    us: Role,
    home: P::State,
    most: f64,
    frontier: Frontier<P>,
    /// Whether all lines are known.
    is_complete: bool,
}

impl<P: Position> Search<P> for Puzzle<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let mut meter = budget.start();
        self.frontier = None;
        self.resume_plan(position.key());
        if let Some(sub_games) = self.sub_games.take() {
            let max_steps = self.options.max_steps;
            let quarter = quarter_of(budget);
            let mut own = quarter.start();
            let lines = sub_games::lines(&*sub_games, position, us, max_steps, &mut own);
            meter.n_nodes += own.n_nodes;
            lines.iter().for_each(|line| self.consider(position, us, line));
        }
        let mut run = self.begin(position, us, &mut meter);
        let mut n_nodes = FIRST_TURN;
        'search: while !self.has_full_score(run.most) && !run.is_complete && !meter.is_over(1) {
            for method in METHODS {
                let found = self.take_turn(&mut run, method, n_nodes, position, &mut meter);
                position.go_to(&run.home);
                if let Some(moves) = found {
                    self.consider(position, us, &moves);
                }
                if let Some(move_idx) = self.planned_move(position, us) {
                    meter.suggest(move_idx);
                }
                if self.has_full_score(run.most) || run.is_complete {
                    break 'search;
                }
            }
            n_nodes *= 2;
        }
        position.go_to(&run.home);
        let report = self.report(position, &run, &meter);
        self.frontier = Some(run.frontier);
        report.with_proofs_of(position.shape())
    }
}
