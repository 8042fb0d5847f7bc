//! The kinds of players, one file each: options, construction, and what the player needs.

pub(crate) mod alphabeta;
pub(crate) mod auto;
pub(crate) mod best_first;
mod combined;
pub(crate) mod continuous;
mod evaluation;
mod goal_terms;
pub(crate) mod greedy;
pub(crate) mod hidden;
pub(crate) mod legal;
pub(crate) mod mcts;
pub(crate) mod minimax;
pub(crate) mod outside;
pub(crate) mod puzzle;
pub(crate) mod random;
pub(crate) mod solver;

use std::sync::Arc;

use agon_analysis::Analysis;
use agon_analysis::fuzzy::FuzzyOptions;
use agon_analysis::goal_formulas::RewritingAnalysis;
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Continuous, Hidden, Role};
use agon_learn::GameModel;
use agon_match::Player;
use agon_search::Search;
use agon_search::solve::Endgames;
use agon_toss::evaluation::EvaluationGames;

pub use alphabeta::AlphaBeta;
pub use auto::Auto;
pub use best_first::BestFirst;
pub use continuous::{ContinuousGames, move_evaluator};
pub use greedy::Greedy;
pub use hidden::HiddenSearch;
pub use legal::FirstLegal;
pub use mcts::Mcts;
pub use minimax::Minimax;
pub use puzzle::Puzzle;
pub use random::Random;
pub use solver::Solver;

use crate::{
    Combinations, CombinedOptions, GoalTermOptions, HiddenSearchPlayer, SearchPlayer, Threads,
};

/// What a built-in player is built for: a role in a match.
#[derive(Clone)]
pub struct BuildContext<P> {
    /// The start position of the match.
    pub start: P,
    /// The role that the player plays.
    pub role: Role,
    /// The seed of the player's random generators.
    pub seed: u64,
    /// The rules of the game, for players that analyse them.
    pub rules: Rules,
}

/// The rules of a game, for players that analyse them. A player whose options ask for an analysis
/// that is missing here plays without it.
#[derive(Clone, Default)]
pub struct Rules {
    /// The game in GDL. A structure rewriting game has this too if it was translated; the fluents
    /// of the translation are the facts of its states.
    pub gdl: Option<Analysis>,
    /// The game as a structure rewriting game.
    pub rewriting: Option<RewritingAnalysis>,
    /// The evaluation games that the player asks for.
    pub evaluation: Option<EvaluationGames>,
    /// An evaluation that was learnt before the match.
    pub model: Option<Arc<GameModel>>,
    /// What was learnt about how to combine heuristics of the game.
    pub combinations: Combinations,
    /// Positions whose payoffs under perfect play are known.
    pub endgames: Option<Arc<Endgames>>,
}

/// A kind of built-in player.
pub(crate) trait Kind {
    /// Builds the player.
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player>
    where
        Self: Sized;

    /// Returns the options of fuzzy evaluation, if the player evaluates positions by fuzzy logic.
    fn fuzzy_options(&self) -> Option<&FuzzyOptions> {
        None
    }

    /// Returns the terms made of the goals of a structure rewriting game by which the player
    /// evaluates positions or moves, if it does.
    fn goal_terms(&self) -> Option<&GoalTermOptions> {
        None
    }

    /// Returns how the player combines heuristics, if it does.
    fn combined(&self) -> Option<&CombinedOptions> {
        None
    }

    /// Returns the paths of the evaluation games that the player uses, with `+` between them.
    fn evaluation_files(&self) -> Option<&str> {
        None
    }

    /// Returns the path of the file from which the player takes its concepts, if it does.
    fn concepts_file(&self) -> Option<&str> {
        None
    }

    /// Returns which goals are regressed, if the player evaluates moves by regressed goals.
    fn action_heuristic(&self) -> Option<HeuristicRequest> {
        None
    }

    /// Returns the number of threads that the player uses.
    fn threads(&self) -> Threads {
        Threads::Fixed(1)
    }
}

/// The streams of random numbers of a player and of its belief are separated by this value.
const BELIEF_STREAM: u64 = 0x005e_ed0f_be11_ef00;

impl<P: Hidden + Continuous + 'static> BuildContext<P> {
    /// Makes a player of a search. In games with hidden information it searches the states that the
    /// role believes possible.
    fn seat(self, search: impl Search<P> + 'static) -> Box<dyn Player> {
        let BuildContext { start, role, seed, .. } = self;
        if start.shape().hidden {
            Box::new(HiddenSearchPlayer::new(start, role, search, seed ^ BELIEF_STREAM))
        } else {
            Box::new(SearchPlayer::new(start, role, search))
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_analysis::fuzzy::FuzzyOptions;
    use agon_search::continuous::ContinuousOptions;
    use agon_search::hidden::HiddenOptions;
    use agon_search::{
        AlphaBetaOptions, BestFirstOptions, MctsOptions, MinimaxOptions, PuzzleOptions,
    };

    use super::*;
    use crate::PlayerKind;
    use crate::option::Settings;

    #[test]
    fn defaults_are_those_of_the_searches() {
        let settings = |name: &str| Settings::new(PlayerKind::named(name).expect(name));
        let adaptive = MctsOptions { threads: 0, ..MctsOptions::default() };
        assert_eq!(mcts::search_options(&settings("mcts")), adaptive);
        assert_eq!(mcts::search_options(&settings("uct")), MctsOptions::plain());
        assert_eq!(alphabeta::search_options(&settings("alphabeta")), AlphaBetaOptions::default());
        assert_eq!(best_first::search_options(&settings("bestfirst")), BestFirstOptions::default());
        assert_eq!(evaluation::fuzzy_options(&settings("alphabeta")), FuzzyOptions::default());
        let adaptive = MinimaxOptions { threads: 0, ..MinimaxOptions::default() };
        assert_eq!(minimax::search_options(&settings("minimax")), adaptive);
        assert_eq!(puzzle::search_options(&settings("puzzle")), PuzzleOptions::default());
        let continuous_options = continuous::search_options(&settings("continuous"));
        assert_eq!(continuous_options, ContinuousOptions::default());
        assert_eq!(hidden::search_options(&settings("hidden")), HiddenOptions::default());
    }
}
