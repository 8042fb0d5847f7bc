//! Built-in players: their specifications, the registry of all kinds, their construction, and
//! trials between them.
//!
//! A player is specified by a short text, such as `mcts(rave,c=0.4)`. [`parse_spec`] reads it, and
//! [`PlayerSpec::build`] builds the player for a role of a match.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_game::{Budget, Position as _, Role};
//! use agon_gdl::{check::check, interpreter::{Game, Options}};
//! use agon_players::{BuildContext, Rules, parse_spec};
//! use agon_text::Source;
//!
//! let rules = "(role you) (init (step 1)) (legal you wait) (legal you stop)
//!     (<= (next (step 2)) (does you stop)) (<= (next (step 3)) (does you wait))
//!     (<= terminal (true (step 2))) (<= terminal (true (step 3)))
//!     (<= (goal you 100) (true (step 2))) (<= (goal you 0) (not (true (step 2))))";
//! let rules = check(Arc::new(Source::new("stop.kif", rules))).rules.expect("the rules are valid");
//! let game = Game::open(rules, Options::default()).expect("the game can be interpreted");
//!
//! let spec = parse_spec("greedy(replies=10)").expect("the specification is valid");
//! let context = BuildContext {
//!     start: game.start(),
//!     role: Role::new(0),
//!     seed: 1,
//!     rules: Rules::default(),
//! };
//! let mut player = spec.build(context).expect("greedy is a built-in player");
//! let choice = player.choose(&Budget::iterations(10)).expect("the game has not ended");
//! assert_eq!(choice.text, "stop");
//! ```
//!
//! # Modules
//!
//! 1. `spec`: the syntax of specifications, and [`PlayerSpec`].
//! 2. `option`: types, defaults and values of options.
//! 3. `registry`: the table [`KINDS`] and the enum [`BuiltIn`].
//! 4. [`kinds`]: one file for each kind of player, with its options and its construction.
//! 5. `search_player`, `percept_player`: a search in the seat of a player, with and without
//!    complete information.
//! 6. `evaluation`, `goal_terms`, `heuristics`: what searches get from an analysis of the rules.
//! 7. `combined`: all of these heuristics as one evaluation with learnt weights.
//! 8. `adaptive_mcts`, `learnt`, `trial`, `budget`: searches that adapt to the match.
//! 9. `evaluation_match`: matches between two evaluations of the same search.
//! 10. `thought`: reports of searches as text.
#![forbid(unsafe_code)]

mod adaptive_mcts;
mod budget;
mod combined;
mod evaluation;
mod evaluation_match;
mod goal_terms;
mod heuristics;
pub mod kinds;
mod learnt;
mod option;
mod percept_player;
mod registry;
mod search_player;
mod spec;
#[cfg(test)]
mod test_games;
mod thought;
mod trial;

pub use adaptive_mcts::Threads;
pub use combined::{
    Combinations, CombinedOptions, FormulaBase, FormulaMatch, HeuristicFamily, learn_combination,
};
pub use evaluation_match::EvaluationMatch;
pub use goal_terms::{GoalTermOptions, MethodChoice};
pub use heuristics::{RegressedGoalOptions, action_heuristic};
pub use kinds::{BuildContext, Rules, move_evaluator};
pub use option::{InvalidValue, OptionKind, OptionType, Value};
pub use percept_player::PerceptPlayer;
pub use registry::{BuiltIn, KINDS, PlayerKind};
pub use search_player::{HiddenSearchPlayer, SearchPlayer};
pub use spec::{PlayerSource, PlayerSpec, parse_list, parse_spec};
pub use thought::thought_of;
