//! All heuristics that can be derived from the rules of a game, with learnt weights.

use std::sync::Arc;

use agon_game::Budget;
pub use agon_learn::combination::{
    Combination, CombinationTest, CombineOptions, Prediction, WeightMethod,
};
pub use agon_players::{CombinedOptions, HeuristicFamily};

use crate::engine::{GamePosition, GameTask};
use crate::game::{Game, RulesNeeded};

/// Learns how to combine the heuristics of a game, from plays that begin at its start. Players of
/// the same game that ask for the same combination use it. Returns `None` if no play came to an end
/// within the budget, if all had the same result, or if the game has no heuristics.
pub fn combine_heuristics(
    game: &Game,
    options: &CombinedOptions,
    budget: &Budget,
) -> Option<Arc<Combination>> {
    struct Learn<'a>(&'a Game, &'a CombinedOptions, &'a Budget);
    impl GameTask for Learn<'_> {
        type Output = Option<Arc<Combination>>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            let rules = self.0.rules(RulesNeeded::Gdl);
            agon_players::learn_combination(&rules, self.1, &start, self.2)
        }
    }
    game.run(Learn(game, options, budget))
}
