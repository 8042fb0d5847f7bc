//! Options of players that can evaluate positions in several ways.

use agon_analysis::ConceptSource;
use agon_analysis::concepts::{HeuristicKind, LearnOptions};
use agon_analysis::fuzzy::{
    Cardinality, DistanceAggregation, Features, FuzzyOptions, Logic, TNorm,
};

use super::{combined, goal_terms};
use crate::OptionKind;
use crate::evaluation::{Evaluation, LEARNING_SEED};
use crate::option::Settings;

/// The option that selects the evaluation. [`goal_terms::OPTIONS`], [`OPTIONS`] and
/// [`combined::OPTIONS`] follow it.
pub(super) static SELECTION: [OptionKind; 1] = [OptionKind::word(
    "eval",
    &["goals", "fuzzy", "concepts", "combined", "terms", "tnf", "descriptions", "rule-conditions"],
    "evaluation of positions: the goals as they stand; all heuristics that can be derived from the \
     rules, with weights learnt by self-play (combined); GDL: fuzzy logic over the goals, or \
     concepts learned from random playouts; structure rewriting: terms made of the goals, by the \
     method that suits the game (terms): steps towards the goals (tnf), the same with a \
     description of what the goals forbid (descriptions), or ways to the goals that are still \
     open (rule-conditions)",
)];

pub(super) static OPTIONS: [OptionKind; 18] = [
    OptionKind::word(
        "fuzzy-norm",
        &["product", "yager"],
        "fuzzy: product and probabilistic sum, or Yager's norms",
    ),
    OptionKind::real("fuzzy-q", 1.0..=100.0, 15.0, "fuzzy: parameter of Yager's norms"),
    OptionKind::real(
        "fuzzy-truth",
        0.5..=1.0,
        0.9,
        "fuzzy: truth value of a fluent that holds; the default with yager is 0.775",
    ),
    OptionKind::word(
        "fuzzy-count",
        &["disjunction", "graded", "share"],
        "fuzzy: solutions of a formula form a disjunction (Michulke 2011), grade its truth, or \
         count in proportion",
    ),
    OptionKind::flag("fuzzy-cardinality", true, "fuzzy: solutions are counted"),
    OptionKind::flag("fuzzy-order", true, "fuzzy: comparisons have degrees"),
    OptionKind::flag("fuzzy-between", true, "fuzzy: distances between fluents"),
    OptionKind::flag("fuzzy-natural", true, "fuzzy: distances to a fluent along a line of numbers"),
    OptionKind::flag("fuzzy-graph", true, "fuzzy: distances to a fluent along any other graph"),
    OptionKind::flag(
        "fuzzy-persistence",
        true,
        "fuzzy: a fluent that never changes again is wholly true or false",
    ),
    OptionKind::word(
        "fuzzy-several",
        &["nearest", "mean"],
        "fuzzy: of several distances the shortest, or their mean",
    ),
    OptionKind::integer("fuzzy-depth", 1..=64, 8, "fuzzy: depth of the tree of a goal"),
    OptionKind::integer(
        "fuzzy-size",
        1..=1_000_000,
        500,
        "fuzzy: number of nodes in the tree of a goal",
    ),
    OptionKind::word(
        "concepts-kind",
        &["pairs", "triples", "sets"],
        "concepts: instances of concepts of two or of three facts, or frequent sets of facts",
    ),
    OptionKind::integer(
        "concepts-size",
        1..=3,
        2,
        "concepts: maximum number of facts in a frequent set",
    ),
    OptionKind::integer(
        "concepts-plays",
        1..=1_000_000,
        1000,
        "concepts: number of random playouts that each role has to win",
    ),
    OptionKind::word(
        "concepts-from",
        &["own", "tic-tac-toe"],
        "concepts: learned from the game itself, or from tic-tac-toe",
    ),
    OptionKind::text(
        "concepts-file",
        "concepts: read from a file written by `agon explain GAME --concepts FILE`",
    ),
];

/// The option of evaluation by playouts, which each kind lists among its own.
pub(super) const PLAYOUTS: OptionKind = OptionKind::integer(
    "playouts",
    0..=100_000,
    0,
    "number of random playouts by which a position is evaluated; 0: as eval says",
);

/// Reads the evaluation that the settings select.
pub(super) fn from_settings(settings: &Settings) -> Evaluation {
    if let Some(terms) = goal_terms::selected_by(settings, "eval") {
        return Evaluation::GoalTerms(terms);
    }
    match (settings.word("eval"), settings.integer("playouts")) {
        ("fuzzy", _) => Evaluation::Fuzzy(fuzzy_options(settings)),
        ("combined", _) => Evaluation::Combined(combined::from_settings(settings)),
        ("concepts", _) => {
            let (options, source) = concept_options(settings);
            Evaluation::Concepts(options, source)
        }
        (_, 0) => Evaluation::Goals,
        (_, n_playouts) => Evaluation::Playouts(n_playouts),
    }
}

pub(super) fn fuzzy_options(settings: &Settings) -> FuzzyOptions {
    let mut logic = match settings.word("fuzzy-norm") {
        "yager" => Logic { norm: TNorm::Yager { q: settings.real("fuzzy-q") }, ..Logic::YAGER },
        _ => Logic::PRODUCT,
    };
    if settings.is_set("fuzzy-truth") {
        logic.truth = settings.real("fuzzy-truth");
    }
    logic.cardinality = match settings.word("fuzzy-count") {
        "graded" => Cardinality::Graded,
        "share" => Cardinality::Share,
        _ => Cardinality::Disjunction,
    };
    FuzzyOptions {
        logic,
        features: Features {
            cardinality: settings.flag("fuzzy-cardinality"),
            order: settings.flag("fuzzy-order"),
            between: settings.flag("fuzzy-between"),
            natural: settings.flag("fuzzy-natural"),
            graph: settings.flag("fuzzy-graph"),
            persistence: settings.flag("fuzzy-persistence"),
        },
        aggregation: match settings.word("fuzzy-several") {
            "mean" => DistanceAggregation::Mean,
            _ => DistanceAggregation::Nearest,
        },
        max_depth: settings.integer_usize("fuzzy-depth"),
        max_size: settings.integer_usize("fuzzy-size"),
        ..FuzzyOptions::default()
    }
}

fn concept_options(settings: &Settings) -> (LearnOptions, ConceptSource) {
    let kind = match settings.word("concepts-kind") {
        "sets" => HeuristicKind::Statistical,
        "triples" => HeuristicKind::Ternary,
        _ => HeuristicKind::Concepts,
    };
    let options = LearnOptions {
        kind,
        max_size: settings.integer_usize("concepts-size"),
        n_wins: settings.integer_usize("concepts-plays"),
        seed: LEARNING_SEED,
    };
    let source = match (settings.text("concepts-file"), settings.word("concepts-from")) {
        ("", "tic-tac-toe") => ConceptSource::TicTacToe,
        ("", _) => ConceptSource::Own,
        (file, _) => ConceptSource::Given(file.to_owned()),
    };
    (options, source)
}
