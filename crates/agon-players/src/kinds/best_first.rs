//! `bestfirst`: unbounded best-first minimax search.

use agon_analysis::fuzzy::FuzzyOptions;
use agon_game::{Continuous, Hidden};
use agon_match::Player;
use agon_search::BestFirstOptions;

use super::{BuildContext, Kind, combined, evaluation, goal_terms};
use crate::evaluation::{Evaluation, WithEvaluator};
use crate::option::Settings;
use crate::registry::Origin;
use crate::{BuiltIn, CombinedOptions, GoalTermOptions, OptionKind, PlayerKind};

pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "bestfirst",
    form: "bestfirst(OPTIONS)",
    summary: "unbounded best-first minimax search that expands all children of a position at once",
    options: &[
        &[
            evaluation::PLAYOUTS,
            OptionKind::integer("nodes", 16..=100_000_000, 1 << 20, "number of positions kept"),
        ],
        &evaluation::SELECTION,
        &goal_terms::OPTIONS,
        &evaluation::OPTIONS,
        &combined::OPTIONS,
    ],
    origin: Origin::BuiltIn(|settings| {
        BuiltIn::BestFirst(Box::new(BestFirst::from_settings(settings)))
    }),
};

/// A player by best-first minimax search.
#[derive(Clone, Debug, PartialEq)]
pub struct BestFirst {
    /// The seed is set when the player is built.
    options: BestFirstOptions,
    evaluation: Evaluation,
}

impl BestFirst {
    fn from_settings(settings: &Settings) -> BestFirst {
        BestFirst {
            options: search_options(settings),
            evaluation: evaluation::from_settings(settings),
        }
    }
}

pub(super) fn search_options(settings: &Settings) -> BestFirstOptions {
    BestFirstOptions { max_nodes: settings.integer_usize("nodes"), seed: 0 }
}

impl Kind for BestFirst {
    fn build<P: Hidden + Continuous + 'static>(&self, context: BuildContext<P>) -> Box<dyn Player> {
        let seed = context.seed;
        let options = BestFirstOptions { seed, ..self.options.clone() };
        let make =
            move |evaluator| agon_search::BestFirst::with_evaluator(options.clone(), evaluator);
        let evaluation = self.evaluation.clone();
        let (rules, start) = (context.rules.clone(), context.start.clone());
        let search = WithEvaluator::new(evaluation, rules, seed, start, make);
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
