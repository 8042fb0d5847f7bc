//! Search in games whose moves have real parameters and whose players move at the same time.
//!
//! The input is a position of any game that is [`Continuous`]. The methods follow Kaiser &
//! Stafiniak (2010), "Playing General Structure Rewriting Games":
//!
//! - Moves are assessed by an evaluation game ([`MoveEvaluator`]).
//! - Where players choose at the same time, actions are chosen by iterated regret minimisation on
//!   a matrix ([`NormalForm`]).
//! - A tree is grown by generalised UCT ([`Method::Uct`]).
//!
//! Payoffs are polynomials in the parameters where the game knows them
//! ([`Continuous::payoff_along`]). Elsewhere, parameters are sampled and refined: by the double oracle method where several players choose at the root, by progressive
//! widening where one player chooses, and by regret matching on a few values inside the tree. A
//! single player without chance optimises whole lines of play.
//!
//! # Modules in reading order
//! - `regret`, `equilibrium`: games in normal form and their solutions.
//! - `evaluation`: [`MoveEvaluator`] and simple evaluation games.
//! - `forecast`: payoffs predicted from the margins of positions.
//! - `actions`, `optimise`: the actions of a role, and points of their parameters.
//! - `pieces`: payoffs that are polynomials in the parameters.
//! - `play`: plays to the end, with the basic choice of actions.
//! - `statistics`, `widening`, `tree`: generalised UCT.
//! - `surface`, `oracle`: the double oracle method. `plan`: lines of play of a single player.
//!
//! # Example
//! The traveller's dilemma: both players name a price from 2 to 100 and get the lower one. The
//! player with the lower price gets 2 more, the other one 2 less.
//!
//! ```
//! use agon_search::continuous::NormalForm;
//!
//! let game = NormalForm::new(vec![99, 99], |actions| {
//!     let prices = [actions[0] as f64 + 2.0, actions[1] as f64 + 2.0];
//!     let lower = prices[0].min(prices[1]);
//!     let bonus = 2.0 * (prices[1] - prices[0]).clamp(-1.0, 1.0);
//!     vec![lower + bonus, lower - bonus]
//! });
//! // Action 95 is the price 97.
//! assert_eq!(game.minimise_regret(), vec![vec![95], vec![95]]);
//! ```

mod actions;
mod equilibrium;
mod evaluation;
mod forecast;
mod optimise;
mod oracle;
mod pieces;
mod plan;
mod play;
mod polynomial;
mod regret;
mod statistics;
mod surface;
#[cfg(test)]
mod tests;
mod tree;
mod widening;

pub use evaluation::{
    CurrentPayoffs, MoveEvaluator, NoEvaluationGame, RandomPlays, TerminalPayoffs, ZeroOutcome,
};
pub use regret::NormalForm;

use agon_game::{Continuous, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use crate::{Budget, Candidate, Line, Report, Search};
use actions::{Actions, Arm, draw_joint};
use equilibrium::proportional;
use forecast::Forecaster;
use oracle::{Oracle, Valuation, chooser_of};
use plan::Plan;
use play::Play;
use tree::Tree;

/// Draws a move of a role: a discrete choice uniformly, and then its parameters uniformly. The
/// position must not be terminal.
pub fn draw_move<P: Continuous>(position: &P, role: Role, rng: &mut Rng) -> P::Move {
    Actions::at(position, role).draw(position, role, rng).m
}

/// The options of a [`ContinuousSearch`].
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuousOptions {
    /// The method.
    pub method: Method,
    /// The constant C of the upper confidence bounds.
    pub exploration: f64,
    /// Maximum number K of iterations for a move, besides the budget.
    pub max_iterations: Option<u64>,
    /// Number E of plays of the evaluation game for each new child, at least 1.
    pub assessments: u32,
    /// Number E' of plays that they count as, from 1 to E.
    pub assessment_weight: u32,
    /// The solution of concurrent choices whose payoffs do not add up to a constant.
    pub general_sum: GeneralSum,
    /// Number of values of parameters by family among which best responses are searched.
    pub candidates: usize,
    /// Number of values by parameter that are tried to refine a best response.
    pub refinements: usize,
    /// The factor f of progressive widening: a node gets f n^0.4 arms in n plays.
    pub widening: f64,
    /// Number of values of parameters by family that a node starts with where one player chooses.
    pub first_points: usize,
    /// Number of values of parameters by family where several players choose inside the tree.
    pub inner_points: usize,
    /// Number of values of parameters by family in each step of a play to the end.
    pub playout_points: usize,
    /// Maximum number of joint actions of a node that are all tried.
    pub max_cells: usize,
    /// Maximum number of nodes of the tree.
    pub max_nodes: usize,
    /// Maximum number of steps of a play to the end.
    pub max_steps: usize,
    /// Number of plays from which on the moves of a tree are recorded for
    /// [`ContinuousSearch::take_visited`]. `None`: nothing is recorded.
    pub record_from: Option<u64>,
}

impl Default for ContinuousOptions {
    fn default() -> ContinuousOptions {
        ContinuousOptions {
            method: Method::Auto,
            exploration: 1.0,
            max_iterations: None,
            assessments: 1,
            assessment_weight: 1,
            general_sum: GeneralSum::Regret,
            candidates: 32,
            refinements: 12,
            widening: 2.0,
            first_points: 2,
            inner_points: 5,
            playout_points: 3,
            max_cells: 10_000,
            max_nodes: 200_000,
            max_steps: 500,
            record_from: None,
        }
    }
}

/// The method of a [`ContinuousSearch`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Where several players choose: the double oracle method over plays through a tree. A single
    /// player without chance: lines of play with all parameters optimised. Otherwise
    /// [`Method::Uct`].
    Auto,
    /// Generalised UCT as in the paper. Parameters are sampled.
    Uct,
    /// Payoffs are predicted from the margins of positions, and the players choose one step ahead
    /// by the double oracle method.
    Margins,
    /// The basic choice of the paper: iterated regret minimisation over the outcomes of the
    /// evaluation game one step ahead, with optimised parameters.
    Basic,
}

/// The solution of concurrent choices whose payoffs do not add up to a constant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GeneralSum {
    /// Iterated regret minimisation over pure strategies, as in the paper.
    Regret,
    /// The average strategies of regret matching.
    Matching,
}

/// A move in the tree of a search, with the payoffs of the plays through it. Such moves are what
/// evaluation games are learnt from (Kaiser & Stafiniak 2010).
#[derive(Clone, Debug, PartialEq)]
pub struct VisitedMove<S, M> {
    /// The state before the move.
    pub before: S,
    /// The joint move, nature included.
    pub joint: Vec<M>,
    /// The state after the move, which is not terminal.
    pub after: S,
    /// The payoffs of each role, nature included, with the number of plays that gave them.
    pub payoffs: Vec<(Vec<f64>, u64)>,
}

/// A search in games with real parameters and concurrent moves. It can play all other games too.
///
/// Under a budget of iterations or nodes, equal seeds give equal reports. An iteration is a play,
/// or the assessment of a joint action.
pub struct ContinuousSearch<P: Continuous, E> {
    options: ContinuousOptions,
    evaluator: E,
    rng: Rng,
    /// The plan of a single player.
    plan: Option<Plan<P::Move>>,
    /// The predictions of payoffs.
    forecaster: Forecaster,
    visited: Vec<VisitedMove<P::State, P::Move>>,
}

impl<P: Continuous, E: MoveEvaluator<P>> ContinuousSearch<P, E> {
    /// Returns a search with an evaluation game.
    pub fn new(options: ContinuousOptions, evaluator: E, seed: u64) -> ContinuousSearch<P, E> {
        let rng = Rng::seed_from_u64(seed);
        let options = ContinuousOptions {
            assessments: options.assessments.max(1),
            assessment_weight: options.assessment_weight.clamp(1, options.assessments.max(1)),
            candidates: options.candidates.max(3),
            ..options
        };
        let (forecaster, visited) = (Forecaster::default(), Vec::new());
        ContinuousSearch { options, evaluator, rng, plan: None, forecaster, visited }
    }

    /// Takes the moves that the last search recorded, in a fixed order
    /// ([`ContinuousOptions::record_from`]).
    pub fn take_visited(&mut self) -> Vec<VisitedMove<P::State, P::Move>> {
        std::mem::take(&mut self.visited)
    }

    /// Returns the evaluation game.
    pub fn evaluator(&self) -> &E {
        &self.evaluator
    }
}

impl<P: Continuous, E: MoveEvaluator<P>> Search<P> for ContinuousSearch<P, E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let limits = [budget.iterations, self.options.max_iterations];
        let budget = Budget { iterations: limits.into_iter().flatten().min(), ..budget.clone() };
        self.evaluator.begin(&budget);
        let home = position.state().clone();
        let actions = Actions::at(position, us);
        let fallback = actions.draw(position, us, &mut self.rng);
        let kept = self.plan.take().and_then(|plan| plan.rest(position.key()));
        let mut play = Play {
            after: position.clone(),
            before: position,
            evaluator: &mut self.evaluator,
            predicted: None,
            rng: &mut self.rng,
            meter: budget.start(),
            max_iterations: budget.iterations,
            options: &self.options,
            n_playouts: 0,
            depth: 0,
            visited: Vec::new(),
        };
        let answer = if actions.has_choice() {
            answer(&mut play, us, kept, &mut self.forecaster)
        } else {
            None
        };
        let (answer, plan) = answer.map_or((None, None), |(answer, plan)| (Some(answer), plan));
        let Play { meter, n_playouts, depth, visited, .. } = play;
        position.go_to(&home);
        self.plan = plan;
        self.visited = visited;
        let answer = answer.unwrap_or_else(|| Answer::of_arm(fallback, position.payoff(us)));
        if let Some(move_idx) = actions.nearest_listed(position, us, &answer.best) {
            meter.suggest(move_idx);
        }
        Report {
            best: answer.best.m,
            us,
            candidates: answer.candidates,
            value: answer.value,
            is_proven: false,
            lines: answer.lines,
            iterations: meter.n_iterations,
            nodes: meter.n_nodes,
            playouts: n_playouts,
            depth: depth.max(1),
            seconds: meter.seconds(),
        }
    }

    /// Does nothing, because only the plan of a single player is kept from move to move.
    fn ponder(&mut self, _: &mut P, _: Role, _: &Budget) {}
}

/// The parts of a report that depend on the method.
struct Answer<M> {
    best: Arm<M>,
    candidates: Vec<Candidate<M>>,
    value: f64,
    lines: Vec<Line<M>>,
}

impl<M: Clone> Answer<M> {
    /// Returns the answer of an arm that was not searched.
    fn of_arm(best: Arm<M>, value: f64) -> Answer<M> {
        let m = best.m.clone();
        let candidates =
            vec![Candidate { m, visits: 0, value, probability: 1.0, is_proven: false }];
        Answer { best, candidates, value, lines: Vec::new() }
    }

    /// Returns the answer of candidates with their arms. The chosen one comes first, then those
    /// with the highest probabilities and values.
    fn of_candidates(
        mut all: Vec<(Arm<M>, Candidate<M>)>,
        chosen: usize,
        value: f64,
        lines: Vec<Line<M>>,
    ) -> Answer<M> {
        let first = all.remove(chosen);
        all.sort_by(|(_, a), (_, b)| {
            b.probability.total_cmp(&a.probability).then(b.value.total_cmp(&a.value))
        });
        let best = first.0.clone();
        let candidates = std::iter::once(first).chain(all).map(|(_, candidate)| candidate);
        Answer { best, candidates: candidates.collect(), value, lines }
    }
}

type Answered<P> =
    (Answer<<P as agon_game::Position>::Move>, Option<Plan<<P as agon_game::Position>::Move>>);

/// Chooses a move by the method of the options. Returns `None` if the budget ends before anything
/// is known.
fn answer<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    kept: Option<Plan<P::Move>>,
    forecaster: &mut Forecaster,
) -> Option<Answered<P>> {
    let shape = play.before.shape();
    let is_alone = shape.players().count() == 1 && shape.nature.is_none();
    let is_continuous = shape.continuous;
    let mut tree = Tree::new(&*play.before, play.options.exploration);
    let root = tree.add_node(&*play.before, 0.0);
    let n_choosers = tree.nodes[root].choosers.len();
    let method = play.options.method;
    if method == Method::Basic {
        let drawn = draw_joint(&*play.before, play.rng);
        let here = play.before.state().clone();
        play.make(&here, &drawn);
        // Without an evaluation game, the caller draws the action and its parameters uniformly.
        play.assess(&drawn)?;
        return by_oracle(play, us, &mut tree, root, Valuation::Assess).map(without_plan);
    }
    if method == Method::Margins && forecaster.learn(play, LEARNING_SHARE).is_some() {
        return by_forecast(play, us, &mut tree, root, forecaster).map(without_plan);
    }
    if method == Method::Auto {
        if is_alone && is_continuous {
            return by_plan(play, us, kept);
        }
        let ends_at_once = ends_at_once(play, &tree, root);
        if n_choosers > 1 && !ends_at_once && is_predictable(play, us, forecaster) {
            return by_forecast(play, us, &mut tree, root, forecaster).map(without_plan);
        }
        if n_choosers > 1 || ends_at_once {
            return by_oracle(play, us, &mut tree, root, Valuation::Play).map(without_plan);
        }
    }
    by_tree(play, us, &mut tree, root).map(without_plan)
}

fn without_plan<M>(answer: Answer<M>) -> (Answer<M>, Option<Plan<M>>) {
    (answer, None)
}

/// Returns whether a drawn joint move ends the game and nature has no part in it. Then payoffs can
/// be maximised without a tree.
fn ends_at_once<P: Continuous>(play: &mut Play<'_, '_, P>, tree: &Tree<P>, root: usize) -> bool {
    let drawn = draw_joint(&*play.before, play.rng);
    play.make(&tree.nodes[root].state, &drawn);
    play.after.is_terminal() && play.after.shape().nature.is_none()
}

fn by_plan<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    kept: Option<Plan<P::Move>>,
) -> Option<Answered<P>> {
    let plan = plan::search(play, us, kept)?;
    play.depth = plan.arms.len() as u32;
    let best = plan.arms.first()?.clone();
    let mut answer = Answer::of_arm(best, plan.payoff);
    answer.candidates[0].visits = play.meter.n_iterations;
    Some((answer, Some(plan)))
}

/// Share of the budget that is used to learn predictions.
const LEARNING_SHARE: f64 = 0.65;
/// Shares of the budget after which predictions are tried, and after which trials end.
const TRIAL_SHARE: f64 = 0.35;
const TRIAL_END: f64 = 0.5;

/// Returns whether payoffs can be predicted from the margins of positions well enough to help a
/// role. Learns from plays to find out. A game that has an evaluation game is played by that.
fn is_predictable<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    forecaster: &mut Forecaster,
) -> bool {
    if forecaster.is_given_up()
        || !play.before.shape().continuous
        || !Forecaster::applies(&*play.before)
    {
        return false;
    }
    let drawn = draw_joint(&*play.before, play.rng);
    let here = play.before.state().clone();
    play.make(&here, &drawn);
    if !play.after.is_terminal() && play.assess(&drawn).is_some() {
        return false;
    }
    forecaster.learn(play, TRIAL_SHARE).is_some()
        && forecaster.helps(play, us, TRIAL_END) == Some(true)
        && forecaster.learn(play, LEARNING_SHARE).is_some()
}

/// Chooses by predicted payoffs one step ahead.
fn by_forecast<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    tree: &mut Tree<P>,
    root: usize,
    forecaster: &Forecaster,
) -> Option<Answer<P::Move>> {
    play.predicted = forecaster.evaluator();
    by_oracle(play, us, tree, root, Valuation::Assess)
}

fn by_oracle<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    tree: &mut Tree<P>,
    root: usize,
    valuation: Valuation,
) -> Option<Answer<P::Move>> {
    let player = chooser_of(&tree.nodes[root].choosers, us)?;
    let found = Oracle::new(tree, root, valuation, play).run(play);
    play.keep_visited(tree);
    let found = found?;
    let range = play.before.shape().payoffs.clone();
    let node = &tree.nodes[root];
    let mut all = Vec::new();
    for (at, &arm) in found.arms[player].iter().enumerate() {
        let edges = node.edges.iter().filter(|(key, _)| key[player] == arm);
        let n_plays: f64 = edges.map(|(_, edge)| edge.statistics.n()).sum();
        let arm = node.choosers[player].arms[arm as usize].clone();
        let candidate = Candidate {
            m: arm.m.clone(),
            visits: n_plays as u64,
            value: found.values[player][at].clamp(*range.start(), *range.end()),
            probability: found.profile.strategies[player][at],
            is_proven: false,
        };
        all.push((arm, candidate));
    }
    let chosen = draw_weighted(&found.profile.strategies[player], play.rng);
    let lines = vec![tree.line(root, us)];
    let value = found.profile.values[player].clamp(*range.start(), *range.end());
    Some(Answer::of_candidates(all, chosen, value, lines))
}

/// Arms with fewer plays than this share of the most played arm are not chosen where arms are
/// sampled, because the best of many poorly known means is too high.
const TRUSTED_SHARE: f64 = 0.2;
/// Arms with fewer plays than this share of the most played arm were only explored.
const EXPLORED_SHARE: f64 = 0.1;

fn by_tree<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    us: Role,
    tree: &mut Tree<P>,
    root: usize,
) -> Option<Answer<P::Move>> {
    while !play.meter.is_over(1) {
        if tree.play(play, root).is_none() {
            break;
        }
        play.meter.n_iterations += 1;
    }
    play.keep_visited(tree);
    let node = &tree.nodes[root];
    let player = chooser_of(&node.choosers, us)?;
    let n_arms = node.choosers[player].arms.len();
    let mut sums = vec![(0.0, 0.0); n_arms];
    for (key, edge) in &node.edges {
        let (n, sum) = &mut sums[key[player] as usize];
        *n += edge.statistics.n();
        *sum += edge.statistics.n() * edge.statistics.mean(us);
    }
    let most = sums.iter().fold(0.0_f64, |most, (n, _)| most.max(*n));
    if most == 0.0 {
        return None;
    }
    let mean = |arm: usize| sums[arm].1 / sums[arm].0;
    let has_parameters = node.choosers.iter().any(|c| c.actions.has_parameters());
    let is_complete = node.choosers.iter().map(|c| c.arms.len()).product::<usize>()
        == node.edges.len()
        && node.edges.values().all(|edge| edge.statistics.n() > 0.0);
    let strategy: Vec<f64> = if node.choosers.len() == 1 {
        let least = if has_parameters { TRUSTED_SHARE * most } else { f64::MIN_POSITIVE };
        let known = (0..n_arms).filter(|&arm| sums[arm].0 >= least);
        let best = known.max_by(|&a, &b| mean(a).total_cmp(&mean(b)))?;
        (0..n_arms).map(|arm| if arm == best { 1.0 } else { 0.0 }).collect()
    } else if !has_parameters && is_complete {
        let mean = |node: &tree::Node<P>, key: &[u32], role| node.edges[key].statistics.mean(role);
        let survivors = &tree.matrix(root, mean).minimise_regret()[player];
        let weights = (0..n_arms).map(|arm| f64::from(survivors.contains(&arm)));
        proportional(&weights.collect::<Vec<f64>>())
    } else {
        let weight = |&(n, _): &(f64, f64)| if n >= EXPLORED_SHARE * most { n } else { 0.0 };
        proportional(&sums.iter().map(weight).collect::<Vec<f64>>())
    };
    let mut all = Vec::new();
    let mut weights = Vec::new();
    for arm in (0..n_arms).filter(|&arm| sums[arm].0 > 0.0) {
        let candidate = Candidate {
            m: node.choosers[player].arms[arm].m.clone(),
            visits: sums[arm].0 as u64,
            value: mean(arm),
            probability: strategy[arm],
            is_proven: false,
        };
        all.push((node.choosers[player].arms[arm].clone(), candidate));
        weights.push(strategy[arm]);
    }
    let chosen = draw_weighted(&weights, play.rng);
    let value = all.iter().map(|(_, c)| c.probability * c.value).sum();
    let lines = vec![tree.line(root, us)];
    Some(Answer::of_candidates(all, chosen, value, lines))
}

/// Draws an index with these probabilities.
fn draw_weighted(weights: &[f64], rng: &mut Rng) -> usize {
    let mut left: f64 = rng.random();
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding may leave a small probability unassigned.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}
