//! Exact solutions of small games.
//!
//! The input is a position. The result is the payoff of every role under perfect play with a line
//! of moves, or a typed refusal with a reason and the bounds that are known. The method depends on
//! the game:
//!
//! - One player: breadth-first search (`one_player`) until a line to the highest possible payoff is
//!   found or all positions are known.
//! - Two players that take turns, without chance: proof-number search (`proof`), which decides
//!   whether a player can guarantee a payoff. Bisection over the payoffs (`thresholds`) gives the
//!   value. This alternates with Monte Carlo tree search that backs up proved bounds (`tree`), which
//!   needs fewer positions where playouts show what matters, and with the next method, which is
//!   faster in games with few positions.
//! - All other games: retrograde analysis. All positions are enumerated (`graph`) and valued from
//!   the end backwards (`values`), with expectations where nature moves, and matrix games where two
//!   players of a constant-sum game move at the same time. With more than two players, or if
//!   payoffs do not add up to a constant, every player maximises its own payoff (max^n). Of moves
//!   that are equally good for their player, the first legal one counts.
//!
//! Positions may repeat. If a player does best by never letting the game end, the rules do not
//! define the value, and the refusal is [`UnsolvedReason::Endless`]. A single player that plays
//! forever gets nothing.
//!
//! Positions are identified by their 64-bit keys. Two positions with the same key count as one.

mod endgames;
mod graph;
pub(crate) mod matrix;
pub(crate) mod numbering;
mod one_player;
mod proof;
#[cfg(test)]
mod tests;
mod thresholds;
mod tree;
mod values;

pub use endgames::{Endgames, EndgamesError, FactPlaces};
pub use matrix::{MatrixSolution, matrix_game};

use std::sync::Arc;

use agon_game::{Position, Role};

use crate::{Budget, Line, Meter};
use proof::{Prover, Stop};
use tree::TreeProver;
use values::ValuedGraph;

/// The options of a solver, besides its [`Budget`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// Approximate limit of the memory for tables and positions, in bytes.
    pub bytes: usize,
    /// The treatment of games with hidden information.
    pub hidden: HiddenGames,
    /// Whether Monte Carlo tree search is among the methods. A player whose own search backs up
    /// proved bounds does not need it.
    pub tree_search: bool,
}

/// The treatment of games with hidden information.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HiddenGames {
    /// Refuses such games, because perfect play means something else there.
    Refuse,
    /// Solves the game as if every role saw everything. This is right where players do see all that
    /// matters, which the shape of a game does not tell.
    AsIfOpen,
}

impl Default for SolveOptions {
    fn default() -> SolveOptions {
        SolveOptions { bytes: 512 << 20, hidden: HiddenGames::Refuse, tree_search: true }
    }
}

/// The solution of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<M> {
    /// By role: the payoff under perfect play; 0 for nature.
    pub values: Vec<f64>,
    /// A line of perfect play from the position to the end. Where strategies are mixed or nature
    /// moves, it has the most likely moves.
    pub line: Line<M>,
    /// By role: the probability of each of its moves at the position in perfect play. One move has
    /// probability 1 where a pure strategy is optimal.
    pub strategies: Vec<Vec<(M, f64)>>,
    /// The method that solved the game.
    pub method: Method,
    /// Whether positions can repeat, so that play may go on forever.
    pub can_repeat: bool,
    /// Number of positions visited.
    pub nodes: u64,
    /// The duration in seconds.
    pub seconds: f64,
}

/// A method to solve a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Breadth-first search, for one player.
    BreadthFirst,
    /// Proof-number search.
    ProofNumbers,
    /// Monte Carlo tree search that backs up proved bounds.
    TreeSearch,
    /// Retrograde analysis: all positions, valued from the end backwards.
    Retrograde,
}

/// A game that was not solved.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsolved {
    /// The reason.
    pub reason: UnsolvedReason,
    /// By role: the proved lower and upper bound of its payoff under perfect play.
    pub bounds: Vec<(f64, f64)>,
    /// Number of positions visited.
    pub nodes: u64,
    /// The duration in seconds.
    pub seconds: f64,
}

/// The reason why a game was not solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsolvedReason {
    /// The budget of nodes or time was used up.
    Budget,
    /// There are more positions than fit into memory.
    Memory,
    /// The game has hidden information.
    Hidden,
    /// Moves have real parameters, so that the listed moves are only a sample.
    Continuous,
    /// Players move at the same time, and it is not a game of two players whose payoffs add up to a
    /// constant.
    Simultaneous,
    /// A player does best by playing forever, and the rules do not say what that is worth.
    Endless,
    /// A position could not be computed.
    Fault(String),
}

impl std::fmt::Display for UnsolvedReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnsolvedReason::Budget => f.write_str("the budget is used up"),
            UnsolvedReason::Memory => f.write_str("the positions do not fit into memory"),
            UnsolvedReason::Hidden => f.write_str("players do not know the position"),
            UnsolvedReason::Continuous => f.write_str(
                "moves have real parameters, and only games with finitely many moves are solved",
            ),
            UnsolvedReason::Simultaneous => f.write_str(
                "players move at the same time, and it is not a game of two players \
                 whose payoffs add up to a constant",
            ),
            UnsolvedReason::Endless => f.write_str(
                "a player does best by never letting the game end, \
                 and the rules do not say what that is worth",
            ),
            UnsolvedReason::Fault(fault) => write!(f, "a position cannot be computed: {fault}"),
        }
    }
}

impl std::fmt::Display for Unsolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the game is not solved: {}", self.reason)
    }
}

impl std::error::Error for Unsolved {}

/// Solves the game that starts at a position. The budget limits the number of positions visited;
/// iterations are ignored.
///
/// # Errors
/// The reason why it was not solved, with the bounds that are known.
pub fn solve<P: Position>(
    start: &P,
    budget: &Budget,
    options: &SolveOptions,
) -> Result<Solution<P::Move>, Unsolved> {
    Solver::new(options.clone()).solve(start, budget)
}

/// Lists all positions that can follow a position, and returns the solution with a table of their
/// payoffs. If there are too many, the table has the latest ones. There is no table if positions
/// repeat, or the game is not one of two players whose payoffs add up to a constant.
///
/// # Errors
/// The reason why the game was not solved, with the bounds that are known.
pub fn solve_with_table<P: Position>(
    start: &P,
    budget: &Budget,
    options: &SolveOptions,
    places: FactPlaces,
) -> Result<(Solution<P::Move>, Option<Endgames>), Unsolved> {
    let shape = start.shape();
    let mut meter = budget.start();
    let widest = (*shape.payoffs.start(), *shape.payoffs.end());
    let mut bounds = vec![widest; shape.role_names.len()];
    let refusal = |reason: UnsolvedReason, bounds, meter: &Meter<'_>| Unsolved {
        reason,
        bounds,
        nodes: meter.n_nodes,
        seconds: meter.seconds(),
    };
    if shape.hidden || shape.continuous {
        let hidden = if shape.hidden { UnsolvedReason::Hidden } else { UnsolvedReason::Continuous };
        return Err(refusal(hidden, bounds, &meter));
    }
    let mut table = Endgames::new(places);
    let mut fingerprints = Vec::new();
    let mut note = |state: &P::State| fingerprints.push(table.fingerprint::<P>(state));
    let valued = values::value_all(start, &mut meter, options.bytes, &mut bounds, &mut note)
        .map_err(|why| refusal(why, bounds.clone(), &meter))?;
    let solution = valued
        .solution(start, &meter)
        .ok_or_else(|| refusal(UnsolvedReason::Endless, bounds, &meter))?;
    let players: Vec<Role> = shape.players().collect();
    let mut insert = |number: u32, payoffs| table.insert(fingerprints[number as usize], payoffs);
    let is_table = valued.visit(shape.role_names.len(), &players, &mut insert);
    Ok((solution, is_table.then_some(table)))
}

/// A solver for positions of one game. It keeps its results, so that after the first position of a
/// match the others are solved quickly.
pub struct Solver<P: Position> {
    options: SolveOptions,
    valued: Option<ValuedGraph>,
    prover: Option<Prover>,
    tree: Option<TreeProver<P>>,
    endgames: Option<Arc<Endgames>>,
}

impl<P: Position> Solver<P> {
    /// Returns a solver without results.
    pub fn new(options: SolveOptions) -> Solver<P> {
        Solver { options, valued: None, prover: None, tree: None, endgames: None }
    }

    /// Adds an endgame table of the game.
    #[must_use]
    pub fn with_endgames(self, endgames: Option<Arc<Endgames>>) -> Solver<P> {
        Solver { endgames, ..self }
    }

    /// Solves the game that starts at a position, as [`solve`] does.
    ///
    /// # Errors
    /// The reason why it was not solved, with the bounds that are known.
    pub fn solve(&mut self, start: &P, budget: &Budget) -> Result<Solution<P::Move>, Unsolved> {
        let options = &self.options;
        let shape = start.shape();
        let mut meter = budget.start();
        let players: Vec<Role> = shape.players().collect();
        let widest = vec![(*shape.payoffs.start(), *shape.payoffs.end()); shape.role_names.len()];
        let refusal = |reason: UnsolvedReason, bounds, meter: &Meter<'_>| Unsolved {
            reason,
            bounds,
            nodes: meter.n_nodes,
            seconds: meter.seconds(),
        };
        if shape.hidden && options.hidden == HiddenGames::Refuse {
            return Err(refusal(UnsolvedReason::Hidden, widest, &meter));
        }
        if shape.continuous {
            return Err(refusal(UnsolvedReason::Continuous, widest, &meter));
        }
        if let [_] = players[..]
            && shape.nature.is_none()
        {
            return one_player::solve(start, &mut meter, options.bytes)
                .map_err(|(why, bounds)| refusal(why, bounds, &meter));
        }
        if let Some(solution) =
            self.valued.as_ref().and_then(|valued| valued.solution(start, &meter))
        {
            return Ok(solution);
        }
        let mut bounds = widest;
        let mut methods = Methods {
            proof: players.len() == 2,
            tree: options.tree_search && players.len() == 2 && TreeProver::suits(start),
            retrograde: true,
        };
        let mut turn = FIRST_TURN;
        loop {
            if methods.proof
                && let [first, second] = players[..]
            {
                let prover = self.prover.get_or_insert_with(|| {
                    let endgames = self.endgames.clone();
                    Prover::new(shape.role_names.len(), options.bytes / 2, endgames)
                });
                let is_alone = !methods.retrograde && !methods.tree;
                let some = share(budget, &meter, (!is_alone).then_some(turn));
                let mut some_meter = some.start();
                let proved =
                    thresholds::solve(start, [first, second], prover, &mut some_meter, &mut bounds);
                meter.n_nodes += some_meter.n_nodes;
                match proved {
                    Ok(solution) => return Ok(Solution { nodes: meter.n_nodes, ..solution }),
                    // The other method may still succeed.
                    Err(Stop::Unsuitable) => methods.proof = false,
                    Err(Stop::Reason(UnsolvedReason::Budget)) if !is_alone && !meter.is_over(1) => {
                    }
                    Err(Stop::Reason(why)) => return Err(refusal(why, bounds, &meter)),
                }
            }
            if methods.tree
                && let [first, second] = players[..]
            {
                let tree = self.tree.get_or_insert_with(|| TreeProver::new(options.bytes / 4));
                let some = share(budget, &meter, Some(turn));
                let mut some_meter = some.start();
                let proved = tree.solve(start, [first, second], &some, &mut some_meter);
                meter.n_nodes += some_meter.n_nodes;
                match proved {
                    Ok(solution) => return Ok(Solution { nodes: meter.n_nodes, ..solution }),
                    Err(UnsolvedReason::Budget) if !meter.is_over(1) => {}
                    Err(why) => return Err(refusal(why, bounds, &meter)),
                }
            }
            if methods.retrograde {
                let is_alone = !methods.proof && !methods.tree;
                let some = share(budget, &meter, (!is_alone).then_some(turn));
                let mut some_meter = some.start();
                let bytes = match (methods.proof, methods.tree) {
                    (false, false) => options.bytes,
                    (true, false) => options.bytes / 2,
                    (_, true) => options.bytes / 4,
                };
                let valued =
                    values::value_all(start, &mut some_meter, bytes, &mut bounds, &mut |_| ());
                meter.n_nodes += some_meter.n_nodes;
                match valued {
                    Ok(valued) => {
                        let solution = valued.solution(start, &meter);
                        self.valued = Some(valued);
                        return solution
                            .ok_or_else(|| refusal(UnsolvedReason::Endless, bounds, &meter));
                    }
                    Err(UnsolvedReason::Memory) if !is_alone => methods.retrograde = false,
                    Err(UnsolvedReason::Budget) if !is_alone && !meter.is_over(1) => {}
                    Err(why) => return Err(refusal(why, bounds, &meter)),
                }
            }
            turn = turn.saturating_mul(2);
        }
    }
}

/// The methods that may still succeed.
struct Methods {
    proof: bool,
    tree: bool,
    retrograde: bool,
}

/// Number of positions for each method in its first turn, and then twice as many in each later one.
/// It is not known in advance which method suits a game.
const FIRST_TURN: u64 = 20_000;

/// Returns the rest of a budget, limited to a turn.
fn share(budget: &Budget, meter: &Meter<'_>, turn: Option<u64>) -> Budget {
    let left = budget.nodes.map(|nodes| nodes.saturating_sub(meter.n_nodes));
    Budget { nodes: [left, turn].into_iter().flatten().min(), ..budget.clone() }
}
