//! Lockstep comparison: two engines of the same game are played with the same random moves.
//!
//! At every step both engines must agree on the end of play, the state, the payoffs, the legal
//! moves and the percepts. The result is a count of what was compared, or the first
//! [`Difference`]. [`Options`] says which answers are compared and how the moves of the second game
//! are named in the first, so a game can also be compared with its translation.
//!
//! [`compare`] plays random games. A caller that chooses the moves itself uses a [`Comparator`].
//!
//! ```
//! # use agon_game::{Hidden, laws};
//! use agon_game::lockstep::{self, Options};
//!
//! fn test_engine<A: Hidden, B: Hidden>(oracle: &A, engine: &B) {
//!     let plan = laws::Plan { plays: 3, max_steps: 120, ..laws::Plan::default() };
//!     let options = Options { plan, ..Options::default() }.with_percepts();
//!     let agreement = lockstep::compare(oracle, engine, &options)
//!         .unwrap_or_else(|difference| panic!("{difference}"));
//!     assert_eq!(agreement.plays, 3);
//! }
//! ```

mod comparator;
mod mismatch;

use std::fmt;

use rand::{RngExt as _, SeedableRng as _};

pub use comparator::Comparator;
pub use mismatch::{Mismatch, Side, TextDifference};

use crate::laws::Plan;
use crate::{Hidden, Notation, Position, Rng, Role};

/// How two engines are compared. The default is the strictest comparison of two engines that play
/// the same rules: equal texts in the same order, with states and with payoffs at every position.
pub struct Options<'o, A: Position, B: Position> {
    /// The random games to play.
    pub plan: Plan,
    /// How moves are drawn.
    pub draw: Draw,
    /// Ends the comparison when it returns true. It is called once for each position; the game in
    /// progress is not counted.
    pub stop: Option<&'o dyn Fn() -> bool>,
    /// Changes the text of a move of the first game before it is compared.
    pub first_move: Option<FirstMoveText<'o>>,
    /// Returns the text in the first game for a move of the second, or `None` if there is no such
    /// move.
    pub second_move: Option<SecondMoveText<'o>>,
    /// Whether the text of a move depends on the position.
    pub move_texts: MoveTexts,
    /// Whether the order of legal moves is compared.
    pub move_order: MoveOrder,
    /// Whether the chances of nature's moves are compared.
    pub chances: Chances,
    /// Whether the texts of states are compared.
    pub states: bool,
    /// Where payoffs are compared.
    pub payoffs: Payoffs,
    /// Returns the payoff values of a role in the first game, in place of [`Position::payoff`].
    /// Nothing is compared where it returns `None`.
    pub first_payoffs: Option<PayoffValues<'o, A>>,
    /// Returns the payoff values of a role in the second game, in place of [`Position::payoff`].
    /// Nothing is compared where it returns `None`.
    pub second_payoffs: Option<PayoffValues<'o, B>>,
    /// Largest difference between payoffs that count as equal.
    pub tolerance: f64,
    /// How positions with a [`crate::Fault`] are compared.
    pub faults: Faults,
    /// The percepts of both games, if they are compared. See [`Options::with_percepts`].
    pub percepts: Option<(Percepts<A>, Percepts<B>)>,
}

/// A function that changes the text of a role's move in the first game.
pub type FirstMoveText<'o> = &'o dyn Fn(Role, &str) -> String;

/// A function that returns the text in the first game for a role's move of the second.
pub type SecondMoveText<'o> = &'o dyn Fn(Role, &str) -> Option<String>;

/// A function that returns all values that an engine gives as the payoff of a role. A GDL engine
/// may have no goal value or several.
pub type PayoffValues<'o, P> = &'o (dyn Fn(&P, Role) -> Option<Vec<f64>> + 'o);

/// A function that returns what a role perceives of a joint move at a position.
pub type Percepts<P> = fn(&P, &[<P as Position>::Move], Role) -> Vec<String>;

/// How the moves of random games are drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Each role draws uniformly, including nature. Unlikely moves are tested as well.
    Uniform,
    /// By [`Position::draw`] of the first game: nature draws by its chances.
    ByChance,
}

/// Whether the text of a move depends on the position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MoveTexts {
    /// Equal moves always have the same text. Each move is asked for its text once.
    Fixed,
    /// Equal moves may have different texts at different positions, as in games whose rules create
    /// elements.
    ByPosition,
}

/// Whether both engines must list legal moves in the same order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MoveOrder {
    /// Both lists have the same order.
    Same,
    /// The lists may be permuted.
    Any,
}

/// Whether the chances of nature's moves are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Chances {
    /// Chances are not compared.
    Ignored,
    /// Chances are compared. Several moves of nature in the second game may stand for one in the
    /// first: then the sum of their chances counts.
    Compared,
}

/// Where payoffs are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Payoffs {
    /// At every position.
    Always,
    /// At terminal positions.
    AtEnd,
}

/// How positions with a [`crate::Fault`] are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Both engines must have the same fault. A game is abandoned where an engine has exceeded its
    /// budget, because its answers are then unknown.
    Compared,
    /// A game is abandoned where the first engine has a fault. A fault of the second engine alone
    /// is a difference.
    FirstMayFail,
    /// Every fault is a difference.
    Rejected,
}

impl<A: Position, B: Position> Default for Options<'_, A, B> {
    fn default() -> Self {
        Options {
            plan: Plan::default(),
            draw: Draw::ByChance,
            stop: None,
            first_move: None,
            second_move: None,
            move_texts: MoveTexts::Fixed,
            move_order: MoveOrder::Same,
            chances: Chances::Ignored,
            states: true,
            payoffs: Payoffs::Always,
            first_payoffs: None,
            second_payoffs: None,
            tolerance: 0.0,
            faults: Faults::Compared,
            percepts: None,
        }
    }
}

impl<A: Position, B: Position> Clone for Options<'_, A, B> {
    fn clone(&self) -> Self {
        Options { plan: self.plan.clone(), ..*self }
    }
}

impl<A: Hidden, B: Hidden> Options<'_, A, B> {
    /// Returns the options with percepts compared at every step.
    pub fn with_percepts(mut self) -> Self {
        self.percepts = Some((A::percepts, B::percepts));
        self
    }
}

/// What was compared without a difference.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Games played.
    pub plays: usize,
    /// Positions compared, including the first position of every game.
    pub states: usize,
    /// Games that were played to their end.
    pub ended: usize,
}

impl Agreement {
    /// Returns the number of joint moves made in all games together.
    pub fn steps(&self) -> usize {
        self.states - self.plays
    }
}

/// The place where two engines differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The game, counted from 0.
    pub play: usize,
    /// The joint moves of that game up to the difference, as texts of the first game.
    pub moves: Vec<Vec<String>>,
    /// What differs.
    pub mismatch: Mismatch,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (play {}, after {} steps)", self.mismatch, self.play + 1, self.moves.len())
    }
}

impl std::error::Error for Difference {}

/// The result of games in which differences are collected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The games without a difference.
    pub agreement: Agreement,
    /// One difference for each of the other games.
    pub differences: Vec<Difference>,
}

/// Plays two engines with the same random moves.
///
/// # Errors
/// The first difference.
pub fn compare<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    options: &Options<'_, A, B>,
) -> Result<Agreement, Difference> {
    let comparison = differences(first, second, options, 1);
    match comparison.differences.into_iter().next() {
        Some(difference) => Err(difference),
        None => Ok(comparison.agreement),
    }
}

/// Plays two engines with the same random moves until `max_differences` games had a difference. A
/// game is abandoned at its first difference.
pub fn differences<A: Notation, B: Notation>(
    first: &A,
    second: &B,
    options: &Options<'_, A, B>,
    max_differences: usize,
) -> Comparison {
    // Clones share what the original has computed, so lazy engines compute the start once.
    let _ = (first.is_terminal(), second.is_terminal());
    let mut comparison = Comparison::default();
    let mut rng = Rng::seed_from_u64(options.plan.seed);
    let mut comparator = Comparator::new(first, options);
    for play in 0..options.plan.plays {
        if comparison.differences.len() >= max_differences {
            break;
        }
        let mut moves = Vec::new();
        let start = (first.clone(), second.clone());
        match play_once(start, &mut comparator, &mut rng, &mut moves) {
            Ok(Outcome::Stopped) => break,
            // What made the caller stop may have interrupted an evaluation as well.
            Err(mismatch) if mismatch.is_fault() && options.stop.is_some_and(|stop| stop()) => {
                break;
            }
            Ok(outcome) => {
                comparison.agreement.plays += 1;
                comparison.agreement.states += moves.len() + 1;
                comparison.agreement.ended += usize::from(outcome == Outcome::Ended);
            }
            Err(mismatch) => comparison.differences.push(Difference { play, moves, mismatch }),
        }
    }
    comparison
}

/// How a game without a difference ended.
#[derive(PartialEq, Eq)]
enum Outcome {
    Ended,
    /// After `max_steps` steps or at a fault.
    Abandoned,
    /// The caller has stopped the comparison.
    Stopped,
}

fn play_once<A: Notation, B: Notation>(
    (mut a, mut b): (A, B),
    comparator: &mut Comparator<'_, A, B>,
    rng: &mut Rng,
    moves: &mut Vec<Vec<String>>,
) -> Result<Outcome, Mismatch> {
    let options = comparator.options();
    loop {
        if options.stop.is_some_and(|stop| stop()) {
            return Ok(Outcome::Stopped);
        }
        if comparator.is_abandoned(&a, &b) {
            return Ok(Outcome::Abandoned);
        }
        if options.move_texts == MoveTexts::ByPosition {
            comparator.forget_texts();
        }
        comparator.compare_position(&a, &b)?;
        if a.is_terminal() {
            return Ok(Outcome::Ended);
        }
        if moves.len() >= options.plan.max_steps {
            return Ok(Outcome::Abandoned);
        }
        let (joint_a, joint_b) = draw(&a, &b, comparator, rng)?;
        comparator.compare_percepts(&a, &b, &joint_a, &joint_b)?;
        moves.push(joint_a.iter().map(|m| a.move_text(m)).collect());
        a.advance(&joint_a);
        b.advance(&joint_b);
    }
}

/// A joint move of both games.
type JointPair<A, B> = (Vec<<A as Position>::Move>, Vec<<B as Position>::Move>);

fn draw<A: Notation, B: Notation>(
    a: &A,
    b: &B,
    comparator: &mut Comparator<'_, A, B>,
    rng: &mut Rng,
) -> Result<JointPair<A, B>, Mismatch> {
    let (mut joint_a, mut joint_b) = (Vec::new(), Vec::new());
    match comparator.options().draw {
        Draw::Uniform => {
            for role in a.shape().roles() {
                let partners = comparator.compare_moves(a, b, role)?;
                let drawn = rng.random_range(0..partners.len());
                joint_a.push(a.legal_moves(role)[drawn].clone());
                joint_b.push(b.legal_moves(role)[partners[drawn]].clone());
            }
        }
        Draw::ByChance => {
            a.draw(rng, &mut joint_a);
            joint_b = comparator.joint(a, b, &joint_a)?;
        }
    }
    Ok((joint_a, joint_b))
}
