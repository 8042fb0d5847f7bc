//! Evaluation games that are learnt from plays (Kaiser & Stafiniak 2010, "Learning Evaluation
//! Games").
//!
//! The players of a game search by UCT. [`collect`] takes over the moves of their trees through
//! which many plays went, with the payoffs of these plays. A [`Policy`] constructs an evaluation
//! game for each location that models these payoffs: formulas about the move, and a lottery over
//! payoffs for each. [`learn`] writes it as a structure rewriting game that a person can read.
//! Plays between players that use it give the training set of the next one.
//!
//! Formulas speak about structures, so the evaluated game must be a structure rewriting game. GDL
//! games take part through their translation.
//!
//! # Modules in reading order
//! - `training`, `collect`: training sets and how plays fill them.
//! - `view`, `conjunction`, `condition`: formulas that are evaluated on the bits of states.
//! - `examples`: the moves at one location.
//! - `construction`: the operations that make formulas, structures and games; [`Policy`].
//! - `grow`, `apriori`, `information`: policies.
//! - `words`, `sheet`: games as text.
//! - `evaluator`: assessment of moves by such games without playing them.

mod apriori;
mod collect;
mod condition;
mod conjunction;
mod construction;
mod evaluator;
mod examples;
mod grow;
mod information;
mod sheet;
#[cfg(test)]
mod tests;
mod training;
mod view;
mod words;

pub use apriori::Apriori;
pub use collect::{CollectOptions, collect};
pub use construction::{
    Construction, EquationId, Finding, FormulaId, GameId, Policy, StructureId, TermId,
};
pub use evaluator::DecisionEvaluator;
pub use examples::Examples;
pub use grow::GrowthLimits;
pub use information::Information;
pub use sheet::sheet;
pub use training::{NotTraining, TrainingSet};
pub use view::{CannotView, View};

use agon_toss::interpreter::Game;

/// A learnt evaluation game for one location.
#[derive(Clone, Debug, PartialEq)]
pub struct LearntGame {
    /// The location of the evaluated game.
    pub location: String,
    /// The text of the evaluation game.
    pub text: String,
    /// What it says, in the order of its tests.
    pub findings: Vec<Finding>,
    /// The number of moves that it was learnt from.
    pub n_moves: usize,
}

/// Learns an evaluation game for each location at which a player chooses.
///
/// # Errors
/// [`CannotView`] if the game is not of a kind for which formulas can be learnt.
pub fn learn(
    set: &TrainingSet,
    game: &Game,
    policy: &mut dyn Policy,
) -> Result<Vec<LearntGame>, CannotView> {
    let mut learnt = Vec::new();
    for examples in Examples::by_location(set, game)? {
        let mut sets = Construction::new(set.players.len());
        let selected = policy.construct(&mut sets, &examples);
        let findings = policy.findings().to_vec();
        let location = examples.location.clone();
        let text = sheet(&sets, selected, game, &set.game, &location, &findings);
        learnt.push(LearntGame { location, text, findings, n_moves: examples.len() });
    }
    Ok(learnt)
}
