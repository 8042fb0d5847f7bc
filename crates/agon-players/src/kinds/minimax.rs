//! `minimax`: principal variation search with an evaluation that is learnt in the start clock.

use agon_game::{Continuous, Hidden};
use agon_match::Player;
use agon_search::MinimaxOptions;

use super::{BuildContext, Kind};
use crate::learnt::{LearnPlan, LearntSearch, Method};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, OptionKind, PlayerKind, Threads};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "minimax",
    form: "minimax(OPTIONS)",
    summary: "principal variation search for two players, with an evaluation that \
              is learnt by self-play before the first move; other games: as alphabeta",
    options: &[&[
        OptionKind::integer(
            "learn",
            0..=95,
            85,
            "part of the start clock for learning an evaluation, in percent; 0: nothing is learnt",
        ),
        OptionKind::integer(
            "games",
            0..=100_000_000,
            20_000,
            "number of games to learn from if the match counts iterations",
        ),
        OptionKind::flag(
            "model",
            true,
            "what `agon learn` has stored for the game is used, and nothing is learnt",
        ),
        OptionKind::integer("depth", 1..=1000, 200, "maximum depth"),
        OptionKind::integer(
            "table",
            1 << 10..=1 << 30,
            1 << 21,
            "number of entries of the transposition table",
        ),
        OptionKind::flag("reductions", true, "late moves are searched with a smaller depth first"),
        OptionKind::flag(
            "replies",
            true,
            "a position at the horizon is lost if the reply to it wins at once",
        ),
        OptionKind::integer(
            "threads",
            0..=256,
            0,
            "number of threads; 0: a number that suits the match",
        ),
    ]],
    origin: Origin::BuiltIn(|settings| BuiltIn::Minimax(Minimax::from_settings(settings))),
};

/// A player by minimax search with a learnt evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimax {
    plan: LearnPlan,
    /// Whether a stored model is used.
    uses_model: bool,
    /// 0 threads means a number that suits the match.
    options: MinimaxOptions,
}

impl Minimax {
    fn from_settings(settings: &Settings) -> Minimax {
        Minimax {
            plan: LearnPlan {
                percent: settings.integer_u32("learn"),
                n_games: settings.integer("games"),
            },
            uses_model: settings.flag("model"),
            options: search_options(settings),
        }
    }
}

pub(super) fn search_options(settings: &Settings) -> MinimaxOptions {
    MinimaxOptions {
        max_depth: settings.integer_u32("depth"),
        table_entries: settings.integer_usize("table"),
        late_move_reductions: settings.flag("reductions"),
        looks_for_replies: settings.flag("replies"),
        threads: settings.integer_usize("threads"),
    }
}

impl Kind for Minimax {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let search = LearntSearch::new(
            self.plan.clone(),
            Method::Minimax(self.options.clone()),
            context.rules.model.clone().filter(|_| self.uses_model),
            context.seed,
        );
        context.seat(search)
    }

    fn threads(&self) -> Threads {
        Threads::of_option(self.options.threads)
    }
}
