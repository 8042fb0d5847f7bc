//! Options of the combination of heuristics, shared by several kinds of players.

use agon_learn::combination::{CombineOptions, WeightMethod};

use crate::evaluation::LEARNING_SEED;
use crate::option::Settings;
use crate::{CombinedOptions, HeuristicFamily, OptionKind};

/// Options beside the one that selects the combination.
pub(super) static OPTIONS: [OptionKind; 4] = [
    OptionKind::word(
        "combined-weights",
        &["logistic", "boosting"],
        "combined: weights are learnt by logistic regression, or by boosting of thresholds \
         (Freund & Schapire 1995)",
    ),
    OptionKind::integer(
        "combined-plays",
        10..=1_000_000,
        200,
        "combined: number of plays from which weights are learnt",
    ),
    OptionKind::word(
        "combined-heuristics",
        &[
            "all",
            "only-goals",
            "only-fuzzy",
            "only-terms",
            "only-regression",
            "only-concepts",
            "only-mobility",
            "only-material",
        ],
        "combined: heuristics that take part, to compare each of them with all",
    ),
    OptionKind::integer(
        "combined-formulas",
        0..=40,
        0,
        "combined: number of concepts in first-order logic that are found, by beam search, and \
         added; for two players and a board",
    ),
];

/// Reads the options.
pub(super) fn from_settings(settings: &Settings) -> CombinedOptions {
    let chosen = settings.word("combined-heuristics").strip_prefix("only-");
    CombinedOptions {
        only: HeuristicFamily::ALL.into_iter().find(|family| Some(family.name()) == chosen),
        n_formulas: settings.integer_usize("combined-formulas"),
        learning: CombineOptions {
            method: match settings.word("combined-weights") {
                "boosting" => WeightMethod::Boosting,
                _ => WeightMethod::Logistic,
            },
            n_plays: settings.integer_usize("combined-plays"),
            seed: LEARNING_SEED,
        },
    }
}
