//! `alphabeta`: alpha-beta search.

use agon_analysis::fuzzy::FuzzyOptions;
use agon_game::{Continuous, Hidden};
use agon_match::Player;
use agon_search::{AlphaBetaOptions, OpponentModel, TieBreak};

use super::{BuildContext, Kind, combined, evaluation, goal_terms};
use crate::evaluation::{Evaluation, alphabeta_with};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, CombinedOptions, GoalTermOptions, OptionKind, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "alphabeta",
    form: "alphabeta(OPTIONS)",
    summary: "alpha-beta search with iterative deepening, or max^n if that does not fit the game; \
              --iterations counts positions",
    options: &[
        &[
            OptionKind::integer("depth", 1..=10_000, 100, "maximum depth"),
            evaluation::PLAYOUTS,
            OptionKind::integer(
                "table",
                1..=100_000_000,
                1 << 20,
                "number of positions in the transposition table",
            ),
            OptionKind::word(
                "view",
                &["auto", "paranoid", "maxn"],
                "model of the other roles: by the game, all against us, each for itself",
            ),
            OptionKind::integer(
                "extension",
                0..=100,
                4,
                "maximum number of steps beyond the depth while the evaluation is unstable",
            ),
            OptionKind::real(
                "unstable",
                0.0..=1.0,
                0.1,
                "change of the evaluation by a step that is unstable, as a fraction of the range \
                 of payoffs",
            ),
            OptionKind::flag("reductions", true, "late moves are searched less deeply at first"),
            OptionKind::word(
                "ties",
                &["reachable", "random", "first"],
                "choice among moves of equal value: what can be reached within the horizon if all \
                 help, then at random; at random; the first searched",
            ),
        ],
        &evaluation::SELECTION,
        &goal_terms::OPTIONS,
        &evaluation::OPTIONS,
        &combined::OPTIONS,
    ],
    origin: Origin::BuiltIn(|settings| {
        BuiltIn::AlphaBeta(Box::new(AlphaBeta::from_settings(settings)))
    }),
};

/// A player by alpha-beta search.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaBeta {
    /// The seed is set when the player is built.
    options: AlphaBetaOptions,
    evaluation: Evaluation,
}

impl AlphaBeta {
    fn from_settings(settings: &Settings) -> AlphaBeta {
        AlphaBeta {
            options: search_options(settings),
            evaluation: evaluation::from_settings(settings),
        }
    }
}

pub(super) fn search_options(settings: &Settings) -> AlphaBetaOptions {
    AlphaBetaOptions {
        max_depth: settings.integer_u32("depth"),
        table_entries: settings.integer_usize("table"),
        opponents: match settings.word("view") {
            "paranoid" => OpponentModel::Paranoid,
            "maxn" => OpponentModel::MaxN,
            _ => OpponentModel::Auto,
        },
        max_extension: settings.integer_u32("extension"),
        unstable: settings.real("unstable"),
        late_move_reductions: settings.flag("reductions"),
        ties: match settings.word("ties") {
            "random" => TieBreak::Random,
            "first" => TieBreak::First,
            _ => TieBreak::Reachable,
        },
        seed: 0,
    }
}

impl Kind for AlphaBeta {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let options = AlphaBetaOptions { seed: context.seed, ..self.options.clone() };
        let (rules, start) = (context.rules.clone(), context.start.clone());
        let search = alphabeta_with(self.evaluation.clone(), rules, start, options);
        context.seat(search)
    }

    fn fuzzy_options(&self) -> Option<&FuzzyOptions> {
        self.evaluation.fuzzy_options()
    }

    fn goal_terms(&self) -> Option<&GoalTermOptions> {
        self.evaluation.goal_terms()
    }

    fn combined(&self) -> Option<&CombinedOptions> {
        self.evaluation.combined()
    }

    fn concepts_file(&self) -> Option<&str> {
        self.evaluation.concepts_file()
    }
}
