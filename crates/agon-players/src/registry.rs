//! The registry of players: the table of all kinds, and the enum of the built-in ones.
//!
//! To add a built-in player, write its file in `kinds/`, and add its row to [`KINDS`] and its
//! variant to [`BuiltIn`].

use agon_game::{Continuous, Hidden};
use agon_match::Player;
use serde_json::json;

use crate::kinds::{
    AlphaBeta, Auto, BestFirst, BuildContext, ContinuousGames, FirstLegal, Greedy, HiddenSearch,
    Kind, Mcts, Minimax, Puzzle, Random, Solver, alphabeta, auto, best_first, continuous, greedy,
    hidden, legal, mcts, minimax, outside, puzzle, random, solver,
};
use crate::option::Settings;
use crate::{OptionKind, Threads};

/// A kind of player.
#[derive(Debug)]
pub struct PlayerKind {
    /// The name, as it is written in a specification.
    pub name: &'static str,
    /// The form of a specification.
    pub form: &'static str,
    /// What the player does.
    pub summary: &'static str,
    /// The options, in groups that several kinds share.
    pub(crate) options: &'static [&'static [OptionKind]],
    pub(crate) origin: Origin,
}

/// Where a player runs.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Origin {
    /// In this process. The function makes the player of its settings.
    BuiltIn(fn(&Settings) -> BuiltIn),
    /// At the terminal of this process.
    Terminal,
    /// Outside of this process. The specification has another syntax than that of the others.
    Elsewhere,
}

/// All kinds of players, in the order in which they are listed.
pub static KINDS: &[&PlayerKind] = &[
    &auto::KIND,
    &random::KIND,
    &legal::KIND,
    &greedy::KIND,
    &mcts::MCTS,
    &mcts::UCT,
    &minimax::KIND,
    &alphabeta::KIND,
    &best_first::KIND,
    &puzzle::KIND,
    &continuous::KIND,
    &hidden::KIND,
    &solver::KIND,
    &outside::HUMAN,
    &outside::HTTP,
    &outside::COMMAND,
];

impl PlayerKind {
    /// Returns the kind of a name, without regard to case.
    pub fn named(name: &str) -> Option<&'static PlayerKind> {
        KINDS.iter().copied().find(|kind| kind.name.eq_ignore_ascii_case(name))
    }

    /// Returns the options, in the order in which they are listed.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionKind> + Clone + use<> {
        self.options.iter().copied().flatten()
    }

    /// Returns the option of a name, without regard to case.
    pub fn option(&self, name: &str) -> Option<&'static OptionKind> {
        self.options().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Returns the kind with its options as JSON, with the keys of `agon players --json`.
    pub fn to_json(&self) -> serde_json::Value {
        let options: Vec<serde_json::Value> = self.options().map(OptionKind::to_json).collect();
        json!({
            "name": self.name, "form": self.form, "summary": self.summary,
            "built_in": self.is_built_in(), "options": options,
        })
    }

    /// Returns whether the player runs in this process, without a person.
    pub fn is_built_in(&self) -> bool {
        match self.origin {
            Origin::BuiltIn(_) => true,
            Origin::Terminal | Origin::Elsewhere => false,
        }
    }
}

/// A built-in player with its options. It is made by parsing a specification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuiltIn {
    /// `auto`
    Auto(Auto),
    /// `random`
    Random(Random),
    /// `legal`
    FirstLegal(FirstLegal),
    /// `greedy`
    Greedy(Greedy),
    /// `mcts` and `uct`
    Mcts(Box<Mcts>),
    /// `minimax`
    Minimax(Minimax),
    /// `alphabeta`
    AlphaBeta(Box<AlphaBeta>),
    /// `bestfirst`
    BestFirst(Box<BestFirst>),
    /// `puzzle`
    Puzzle(Puzzle),
    /// `continuous`
    Continuous(ContinuousGames),
    /// `hidden`
    Hidden(HiddenSearch),
    /// `solver`
    Solver(Solver),
}

impl BuiltIn {
    /// Returns the player as a trait object, which answers what the player needs.
    pub(crate) fn as_kind(&self) -> &dyn Kind {
        match self {
            BuiltIn::Auto(kind) => kind,
            BuiltIn::Random(kind) => kind,
            BuiltIn::FirstLegal(kind) => kind,
            BuiltIn::Greedy(kind) => kind,
            BuiltIn::Mcts(kind) => kind.as_ref(),
            BuiltIn::Minimax(kind) => kind,
            BuiltIn::AlphaBeta(kind) => kind.as_ref(),
            BuiltIn::BestFirst(kind) => kind.as_ref(),
            BuiltIn::Puzzle(kind) => kind,
            BuiltIn::Continuous(kind) => kind,
            BuiltIn::Hidden(kind) => kind,
            BuiltIn::Solver(kind) => kind,
        }
    }

    /// Builds the player for a role of a match.
    pub fn build<P: Hidden + Continuous + 'static>(
        &self,
        context: BuildContext<P>,
    ) -> Box<dyn Player> {
        match self {
            BuiltIn::Auto(kind) => kind.build(context),
            BuiltIn::Random(kind) => kind.build(context),
            BuiltIn::FirstLegal(kind) => kind.build(context),
            BuiltIn::Greedy(kind) => kind.build(context),
            BuiltIn::Mcts(kind) => kind.build(context),
            BuiltIn::Minimax(kind) => kind.build(context),
            BuiltIn::AlphaBeta(kind) => kind.build(context),
            BuiltIn::BestFirst(kind) => kind.build(context),
            BuiltIn::Puzzle(kind) => kind.build(context),
            BuiltIn::Continuous(kind) => kind.build(context),
            BuiltIn::Hidden(kind) => kind.build(context),
            BuiltIn::Solver(kind) => kind.build(context),
        }
    }

    /// Returns the number of threads that the player uses.
    pub fn threads(&self) -> Threads {
        self.as_kind().threads()
    }
}
