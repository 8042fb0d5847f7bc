//! Exact answers for games that are small enough.
//!
//! In goes a position, out comes what every role gets when all play perfectly, with a line of moves, or a typed refusal that
//! says why not and between which bounds the answer lies. Three ways are taken, whichever suits the game:
//!
//! - one player: breadth-first over all positions, until a line to the highest payoff that there can be is found, or all
//!   positions are known;
//! - two players who take turns, no chance: proof-number search (`proof`), which asks whether a player can make sure of
//!   at least so much, and halves the range of the payoffs that can be had until the answer is known;
//!   In turns with that all positions are listed, as below: where they are few, that is sooner done;
//! - everything else: all positions are listed (`graph`) and valued from the end backwards (`values`): expectations where
//!   nature moves, matrix games where two players of a constant-sum game move at once, and with more than two players, or
//!   where payoffs do not add up to a constant, everybody's own best (max^n; of moves that are equally good for
//!   their player the first in the order of legal moves counts).
//!
//! Positions may repeat. If that matters, because somebody does better by never letting the game end, the rules do not say
//! what that is worth, and the refusal says so ([`Why::Endless`]). A lone player who plays for ever gets nothing.
//!
//! Positions are told apart by their keys: two positions of the same 64 bits are taken for one.

mod alone;
mod graph;
mod matrix;
mod proof;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod thresholds;
mod values;

pub use matrix::{MatrixSolution, matrix_game};

use agon_game::{Position, Role};

use crate::{Budget, Line, Meter};
use proof::{Prover, Stop};
use values::Listed;

/// What a solver may use, beside its [`Budget`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// Memory for tables and positions, in bytes, as far as it can be counted.
    pub bytes: usize,
    /// What to do about games in which players do not know the position.
    pub hidden: HiddenGames,
}

/// What to do about games in which players do not know the position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HiddenGames {
    /// Refuse: what perfect play is worth there is another question.
    Refuse,
    /// Answer as if everybody saw everything. Right where the players do see all that matters, which the shape of
    /// a game does not tell.
    AsIfOpen,
}

impl Default for SolveOptions {
    fn default() -> SolveOptions {
        SolveOptions { bytes: 512 << 20, hidden: HiddenGames::Refuse }
    }
}

/// A game solved.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<M> {
    /// By role: what it gets under perfect play; 0 for nature.
    pub values: Vec<f64>,
    /// A line of perfect play from the position to the end. Where players mix or nature moves, the likeliest moves.
    pub line: Line<M>,
    /// By role: how likely each of its moves is in perfect play at the position. Everything on one move where mixing is of no use.
    pub strategies: Vec<Vec<(M, f64)>>,
    /// The way it was solved.
    pub method: Method,
    /// Whether positions were found to repeat, so that play could go on for ever if somebody wanted.
    pub can_repeat: bool,
    /// Positions looked at.
    pub nodes: u64,
    /// How long it took.
    pub seconds: f64,
}

/// A way to solve a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Breadth-first, for one player.
    BreadthFirst,
    /// Proof-number search.
    ProofNumbers,
    /// All positions, valued from the end backwards.
    Retrograde,
}

/// A game that was not solved.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsolved {
    /// Why.
    pub why: Why,
    /// By role: at least and at most what it gets under perfect play, as far as was found out.
    pub bounds: Vec<(f64, f64)>,
    /// Positions looked at.
    pub nodes: u64,
    /// How long it took.
    pub seconds: f64,
}

/// Why a game was not solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The budget of nodes or time was used up.
    Budget,
    /// There are more positions than fit into memory.
    Memory,
    /// Players do not know the position.
    Hidden,
    /// Moves have real parameters.
    Continuous,
    /// Two players move at once and their payoffs do not add up to a constant, or more than two do.
    Simultaneous,
    /// Somebody does best by playing for ever, and the rules do not say what that is worth.
    Endless,
    /// A position could not be worked out.
    Fault(String),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Budget => f.write_str("the budget is used up"),
            Why::Memory => f.write_str("there are more positions than fit into memory"),
            Why::Hidden => f.write_str("players do not know the position"),
            Why::Continuous => f.write_str("moves have real parameters"),
            Why::Simultaneous => f.write_str(
                "players move at the same time, and it is not a game of two whose payoffs add up to a constant",
            ),
            Why::Endless => f.write_str(
                "a player does best by never letting the game end, and the rules do not say what that is worth",
            ),
            Why::Fault(fault) => write!(f, "a position cannot be worked out: {fault}"),
        }
    }
}

/// Solves the game that starts at a position. The budget counts positions looked at; iterations mean nothing here.
///
/// # Errors
/// Why it was not solved, and what is known nevertheless.
pub fn solve<P: Position>(
    start: &P,
    budget: &Budget,
    options: &SolveOptions,
) -> Result<Solution<P::Move>, Unsolved> {
    Solver::new(options.clone()).solve(start, budget)
}

/// Solves positions of one game and remembers what it found out, so that after the first position of a match the others are
/// soon solved.
pub struct Solver {
    options: SolveOptions,
    listed: Option<Listed>,
    prover: Option<Prover>,
}

impl Solver {
    /// Nothing known yet.
    pub fn new(options: SolveOptions) -> Solver {
        Solver { options, listed: None, prover: None }
    }

    /// Solves the game that starts at a position, as [`solve`] does.
    ///
    /// # Errors
    /// Why it was not solved, and what is known nevertheless.
    pub fn solve<P: Position>(
        &mut self,
        start: &P,
        budget: &Budget,
    ) -> Result<Solution<P::Move>, Unsolved> {
        let options = &self.options;
        let shape = start.shape();
        let mut meter = budget.start();
        let players: Vec<Role> = shape.players().collect();
        let widest = vec![(*shape.payoffs.start(), *shape.payoffs.end()); shape.role_names.len()];
        let refusal = |why: Why, bounds, meter: &Meter<'_>| Unsolved {
            why,
            bounds,
            nodes: meter.n_nodes,
            seconds: meter.seconds(),
        };
        if shape.continuous {
            return Err(refusal(Why::Continuous, widest, &meter));
        }
        if shape.hidden && options.hidden == HiddenGames::Refuse {
            return Err(refusal(Why::Hidden, widest, &meter));
        }
        if let [_] = players[..]
            && shape.nature.is_none()
        {
            return alone::solve(start, &mut meter, options.bytes)
                .map_err(|(why, bounds)| refusal(why, bounds, &meter));
        }
        if let Some(solution) =
            self.listed.as_ref().and_then(|listed| listed.solution(start, &meter))
        {
            return Ok(solution);
        }
        let mut bounds = widest;
        let mut ways = Ways { proving: players.len() == 2, listing: true };
        let mut turn = FIRST_TURN;
        loop {
            if ways.proving
                && let [first, second] = players[..]
            {
                let prover = self
                    .prover
                    .get_or_insert_with(|| Prover::new(shape.role_names.len(), options.bytes / 2));
                let some = share(budget, &meter, ways.listing.then_some(turn));
                let mut some_meter = some.start();
                let proved =
                    thresholds::solve(start, [first, second], prover, &mut some_meter, &mut bounds);
                meter.n_nodes += some_meter.n_nodes;
                match proved {
                    Ok(solution) => return Ok(Solution { nodes: meter.n_nodes, ..solution }),
                    // Another way may still do it.
                    Err(Stop::NotForProofs) => ways.proving = false,
                    Err(Stop::Why(Why::Budget)) if ways.listing && !meter.is_over(1) => {}
                    Err(Stop::Why(why)) => return Err(refusal(why, bounds, &meter)),
                }
            }
            if ways.listing {
                let some = share(budget, &meter, ways.proving.then_some(turn));
                let mut some_meter = some.start();
                let bytes = if ways.proving { options.bytes / 2 } else { options.bytes };
                let listed = values::list_all(start, &mut some_meter, bytes, &mut bounds);
                meter.n_nodes += some_meter.n_nodes;
                match listed {
                    Ok(listed) => {
                        let solution = listed.solution(start, &meter);
                        self.listed = Some(listed);
                        return solution.ok_or_else(|| refusal(Why::Endless, bounds, &meter));
                    }
                    Err(Why::Memory) if ways.proving => ways.listing = false,
                    Err(Why::Budget) if ways.proving && !meter.is_over(1) => {}
                    Err(why) => return Err(refusal(why, bounds, &meter)),
                }
            }
            turn = turn.saturating_mul(2);
        }
    }
}

/// The ways that are still worth trying.
struct Ways {
    proving: bool,
    listing: bool,
}

/// Positions for a proof, and for listing, before the other way has its turn; then twice as many. Nobody knows which of the two
/// suits a game.
const FIRST_TURN: u64 = 20_000;

/// What is left of a budget, and no more than a turn.
fn share(budget: &Budget, meter: &Meter<'_>, turn: Option<u64>) -> Budget {
    let left = budget.nodes.map(|nodes| nodes.saturating_sub(meter.n_nodes));
    Budget { nodes: [left, turn].into_iter().flatten().min(), ..budget.clone() }
}
