//! Action heuristics by goal regression (Trutman 2015): what must hold now so that a move reaches
//! the goal.
//!
//! The goal of a role is regressed by one step. Every fluent in it is replaced by the condition
//! that makes the fluent true in the next state, under the assumption that the move is made. The
//! result is a formula about the current state for each move. Evaluated in fuzzy logic, it
//! estimates how close the move brings the role to the goal, and that guides a search.
//!
//! # From the rules to formulas
//!
//! Regression works on the circuit before optimisation, whose shape is that of the rules, because
//! in fuzzy logic equivalent formulas can have different values. The goal after the step is
//! computed over the next state, and the next state over the current one: first as if the role made
//! no move, then for each move only where the move makes a difference ([`regress`]).
//!
//! [`Formulas`] are n-ary conjunctions with signed operands, shared structurally. If they exceed
//! the size budget, which is estimated from a few moves, the deepest levels of goals and next state
//! are left unknown. In three-valued logic this is never wrong. If no move makes a difference to
//! the goal, the terminal condition is added, the worst goal is avoided instead, or two steps are
//! regressed ([`Extent`]).
//!
//! # From formulas to values
//!
//! A [`Network`] holds the formulas of all moves for evaluation. Wide conjunctions are trees in it,
//! whose branches are shared between moves.
//!
//! - [`Evaluator`] follows one state. It recomputes only what a step has changed, only on demand,
//!   and stops a conjunction at the first operand with value 0.
//! - [`BatchEvaluator`] evaluates 16 states at once. It recomputes everything that the moves of a
//!   role depend on, as products in lanes ([`agon_circuit::Products`]), with conjunctions of the
//!   width that gives the fewest operands.
//!
//! Values are scaled for each state, so that small differences count as much as large ones. Two
//! things keep noise from becoming certainty: moves that a symmetry of the state maps onto each
//! other get equal values ([`equalise`]), and values that differ by less than a threshold count as
//! equal ([`normalise_above`]).
//!
//! [`Reader`] translates the states and moves of any engine to the numbering of the formulas.

mod batch;
mod evaluator;
mod fold;
mod formula;
mod game;
mod knowledge;
mod layer;
mod network;
mod orbits;
mod print;
mod prune;
mod reader;
mod regress;
mod role;

pub use batch::{BatchEvaluator, Lane};
pub use evaluator::Evaluator;
pub use formula::{Formula, Formulas, Shape};
pub use knowledge::Knowledge;
pub use network::{EQUAL_BELOW, Logic, Network, normalise, normalise_above};
pub use orbits::{StateSymmetry, equalise};
pub(crate) use print::flat_operands;
pub use print::formula_text;
pub use reader::Reader;
pub use regress::{
    ActionHeuristics, Aim, Extent, Goals, HeuristicRequest, RegressError, RegressOptions,
    RoleHeuristic, regress,
};

#[cfg(test)]
mod tests;
