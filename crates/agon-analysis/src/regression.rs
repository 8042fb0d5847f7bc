//! Action heuristics: what must hold now so that a goal is reached by this very move (003).
//!
//! The goal of a role is regressed by one step: every fluent in it is replaced by what makes it true in the next state,
//! with the move at hand taken for made. What is left is a formula about the present state for each move. In fuzzy logic it
//! says how near the move brings the goal, and that guides a search.

mod abreast;
mod evaluator;
mod fold;
mod formula;
mod knowledge;
mod layer;
mod network;
mod of_game;
mod print;
mod prune;
mod regress;
mod role_work;

pub use abreast::{Abreast, Lane};
pub use evaluator::Evaluator;
pub use formula::{Formula, Formulas, Shape};
pub use knowledge::Knowledge;
pub use network::{Logic, Network, normalise};
pub use of_game::Reader;
pub use print::formula_text;
pub use regress::{
    ActionHeuristics, Aim, Extent, Goals, Refusal, RegressOptions, RoleHeuristic, Wanted, regress,
};

#[cfg(test)]
mod tests;
