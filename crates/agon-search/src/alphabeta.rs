//! Alpha-beta: depth-first search with iterative deepening and a transposition table.
//!
//! With two players the opponent is assumed to minimise the payoff of the searching role
//! ([`paranoid`]). This is right if payoffs add up to a constant, and a lower bound otherwise.
//! Whether they do is taken from the shape, or guessed from random games. If they do not, or with
//! more than two players, every player is assumed to maximise its own payoff ([`max_n`]). With one
//! player this is a depth-first search for the highest payoff.
//!
//! Simultaneous moves are treated pessimistically: the opponents are assumed to see the move of the
//! searching role before they choose theirs. Moves of nature are averaged (expectimax).
//!
//! A value is *proved* if it is based on terminal positions alone. Two bounds are tracked: that the
//! true value is at least the estimate, and that it is at most the estimate. So a win is proved as
//! soon as one winning line against every defence is known, even if the values of other moves are
//! only estimated.

mod line;
mod max_n;
mod order;
mod paranoid;
mod table;
#[cfg(test)]
mod tests;
mod ties;

use agon_game::{Position, Rng, Role};
use rand::SeedableRng as _;

use crate::{Budget, Evaluate, GoalValues, Meter, Report, Search};
pub use ties::TieBreak;

/// Alpha-beta search. It keeps its transposition table from move to move.
pub struct AlphaBeta<P: Position, E = GoalValues> {
    options: AlphaBetaOptions,
    evaluator: E,
    paranoid: paranoid::Memory<P>,
    max_n: max_n::Memory<P>,
    /// Decided once per game.
    algorithm: Option<Algorithm>,
    tie_breaker: ties::TieBreaker,
}

/// The options of an alpha-beta search.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaBetaOptions {
    /// Maximum depth.
    pub max_depth: u32,
    /// Maximum number of entries of the transposition table.
    pub table_entries: usize,
    /// The assumption about the other players.
    pub opponents: OpponentModel,
    /// Maximum number of steps beyond the depth while the evaluation is unstable.
    pub max_extension: u32,
    /// The evaluation is unstable where a step changes it by at least this fraction of the range of
    /// payoffs.
    pub unstable: f64,
    /// Whether late moves in the order are searched with a smaller depth first.
    pub late_move_reductions: bool,
    /// How a move is chosen among those with the highest value.
    pub ties: TieBreak,
    /// The seed of the random games that decide [`OpponentModel::Auto`], and of random choices among
    /// equal moves.
    pub seed: u64,
}

impl Default for AlphaBetaOptions {
    fn default() -> AlphaBetaOptions {
        AlphaBetaOptions {
            max_depth: 100,
            table_entries: 1 << 20,
            opponents: OpponentModel::Auto,
            max_extension: 4,
            unstable: 0.1,
            late_move_reductions: true,
            ties: TieBreak::default(),
            seed: 0,
        }
    }
}

/// The assumption about what the other players want.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OpponentModel {
    /// Like `Paranoid` if there is one player, or two players whose payoffs add up to a constant.
    /// Otherwise like `MaxN`.
    Auto,
    /// All other players minimise the payoff of the searching role.
    Paranoid,
    /// Every player maximises its own payoff.
    MaxN,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Algorithm {
    Paranoid,
    MaxN,
}

/// What both algorithms need for one decision.
struct Tools<'t, 'b, E> {
    options: &'t AlphaBetaOptions,
    evaluator: &'t mut E,
    meter: &'t mut Meter<'b>,
    tie_breaker: &'t ties::TieBreaker,
}

impl<P: Position> AlphaBeta<P, GoalValues> {
    /// Returns a search that evaluates positions by the payoffs that the rules give there.
    pub fn new(options: AlphaBetaOptions) -> AlphaBeta<P, GoalValues> {
        AlphaBeta::with_evaluator(options, GoalValues)
    }
}

impl<P: Position, E: Evaluate<P>> AlphaBeta<P, E> {
    /// Returns a search that evaluates positions by an evaluator.
    pub fn with_evaluator(options: AlphaBetaOptions, evaluator: E) -> AlphaBeta<P, E> {
        AlphaBeta {
            paranoid: paranoid::Memory::new(options.table_entries),
            max_n: max_n::Memory::new(options.table_entries),
            tie_breaker: ties::TieBreaker::new(options.seed),
            options,
            evaluator,
            algorithm: None,
        }
    }

    fn algorithm(&mut self, position: &P) -> Algorithm {
        let opponents = self.options.opponents;
        let seed = self.options.seed;
        *self.algorithm.get_or_insert_with(|| match opponents {
            OpponentModel::Paranoid => Algorithm::Paranoid,
            OpponentModel::MaxN => Algorithm::MaxN,
            OpponentModel::Auto => guess_algorithm(position, seed),
        })
    }
}

/// Number of random games that must all have the same sum of payoffs for a game to count as
/// constant-sum.
const N_PLAYS: usize = 32;
/// Maximum number of steps of these games.
const MAX_STEPS: usize = 300;

fn guess_algorithm<P: Position>(position: &P, seed: u64) -> Algorithm {
    let players: Vec<Role> = position.shape().players().collect();
    match players.len() {
        1 => Algorithm::Paranoid,
        2 if position.shape().constant_sum.is_some() => Algorithm::Paranoid,
        2 => {
            let mut rng = Rng::seed_from_u64(seed);
            let mut sum = None;
            let mut runner = position.clone();
            let is_constant = (0..N_PLAYS).all(|_| {
                runner.go_to(position.state());
                runner.play_out(&mut rng, MAX_STEPS);
                let here: f64 = players.iter().map(|&player| runner.payoff(player)).sum();
                !runner.is_terminal() || *sum.get_or_insert(here) == here
            });
            if is_constant { Algorithm::Paranoid } else { Algorithm::MaxN }
        }
        _ => Algorithm::MaxN,
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for AlphaBeta<P, E> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let mut meter = budget.start();
        let algorithm = self.algorithm(position);
        self.tie_breaker.next_decision();
        let tools = Tools {
            options: &self.options,
            evaluator: &mut self.evaluator,
            meter: &mut meter,
            tie_breaker: &self.tie_breaker,
        };
        let report = match algorithm {
            Algorithm::Paranoid => self.paranoid.think(position, us, tools),
            Algorithm::MaxN => self.max_n.think(position, us, tools),
        };
        report.with_proofs_of(position.shape())
    }
}
