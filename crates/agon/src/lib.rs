//! General game playing: give it the rules of any game, and play it, search it, explain it.
//!
//! Rules come in the Game Description Language (GDL, and GDL-II with chance and hidden
//! information) or as structure rewriting games in the language of Toss. This crate is the front
//! door: it opens games of either language with the engine that suits them, and ties together
//! players, matches and analysis.
//!
//! ```
//! use agon::prelude::*;
//!
//! let game = Game::open("connect-four")?; // shipped name, path, or text; GDL, GDL-II or Toss
//! let mut position = game.start(); // text moves, checked
//! position.play("(drop 4)")?;
//! let report = game.player("mcts")?.think(&position, Budget::seconds(1.0));
//! println!("{} {:.1}", report.best_move, report.value);
//! let explanation = game.explain(&position)?;
//! # assert!(report.best_move.starts_with("(drop"));
//! # assert!(!explanation.sections.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - [`shipped`]: the games that are part of the library.
//! - [`open`]: from a name, path or text to a game; errors that say what is wrong.
//! - [`engine`]: the engines, and [`GameTask`](engine::GameTask) for code that is generic over
//!   them.
//! - [`match_setup`]: matches between players of any kind.
//! - [`assess`]: how a game plays, for its author.
//! - [`explain`]: what the rules say about a game and a position.
//! - [`factory`]: players for rules that arrive over a network.
//! - [`mod@format`]: the layout of a rulesheet.
//! - [`learn`]: learning by self-play, with checkpoints; [`models`]: the store of what was learnt.
//! - [`numbered`]: moves and facts as numbers.
//! - [`survey`]: what holds in every state of a small game.
//! - [`batch`]: thousands of games at once.
//! - [`prove`]: temporal formulas, termination, playability, winnability.
//! - [`diff`]: whether two rulesheets define the same game.
//! - [`profile`]: what each rule costs, and which are never used.
//! - [`selection`]: games by glob and by tag.
//! - [`templates`]: small games to start from.
//! - [`reports`]: checks, proofs, solutions and translations as JSON.
//! - [`tournament`]: plans of tournaments, match by match.
//! - [`experiment`]: experiments of published papers, as tournaments.
#![forbid(unsafe_code)]

pub mod assess;
pub mod batch;
pub mod diff;
pub mod engine;
pub mod experiment;
pub mod explain;
pub mod factory;
pub mod files;
pub mod format;
mod game;
mod layout;
pub mod learn;
pub mod match_setup;
pub mod models;
pub mod numbered;
pub mod open;
mod player;
mod position;
pub mod profile;
pub mod prove;
pub mod reports;
pub mod selection;
pub mod shipped;
pub mod survey;
pub mod templates;
pub mod tournament;

mod concepts;
mod evaluation_games;

pub use agon_game::{Budget, IllegalMove, Rng, Role, Shape};
pub use agon_match::{Ending, Match, PlayerError};
pub use agon_players::PlayerSpec;
pub use concepts::{ConceptsError, load_concepts};
pub use evaluation_games::{
    EvaluationFileError, EvaluationLearner, FormulaPolicy, LearnError, load_evaluation_games,
};
pub use game::{Game, NoAnalysis};
pub use match_setup::{MatchLimits, MatchSetup, SetupError, play_match};
pub use open::{OpenError, OpenOptions};
pub use player::{Player, Report, SpecError, parse_players};
pub use position::{PlayError, Position};

/// The names that most programs need.
pub mod prelude {
    pub use crate::{Budget, Game, MatchLimits, Position, Report, Role, play_match};
}
