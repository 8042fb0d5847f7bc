//! From what a user has set to the options of a search.

use agon_analysis::ConceptsFrom;
use agon_analysis::concepts::{self, LearnOptions};
use agon_analysis::fuzzy::{Cardinality, Features, FuzzyOptions, Logic, Several, TNorm};
use agon_analysis::goal_formulas::{GoalOptions, Method, Rational, Weights};
use agon_analysis::regression::{Goals, Wanted};
use agon_search::hidden::{self, HiddenOptions};
use agon_search::{
    AlphaBetaOptions, Amaf, Bandit, BestFirstOptions, Choice, FirstPlay, HeuristicUse, Leaves,
    MctsOptions, Others, PlayoutPolicy, PuzzleOptions, Simultaneous, ViewChoice,
};

use crate::{MethodChoice, Settings};

/// Of `mcts` and `uct`. Threads may be 0: to be decided.
pub(super) fn mcts(settings: &Settings) -> MctsOptions {
    let small = |name: &str| settings.integer(name).try_into().unwrap_or(u32::MAX);
    let size = |name: &str| settings.integer(name).try_into().unwrap_or(usize::MAX);
    let part = settings.real("first-play-part");
    let c = settings.real("c");
    MctsOptions {
        bandit: match settings.word("bandit") {
            "tuned" if !settings.is_set("c") => Bandit::TUNED,
            "tuned" => Bandit::Ucb1Tuned { c },
            _ => Bandit::Ucb1 { c },
        },
        first_play: match settings.word("first-play") {
            "below" => FirstPlay::BelowMean(part),
            "urgency" => FirstPlay::Urgency(part),
            _ => FirstPlay::First,
        },
        amaf: match settings.word("amaf") {
            "rave" => Amaf::Rave { k: settings.real("rave-k") },
            "grave" => {
                Amaf::Grave { reference: small("grave-visits"), bias: settings.real("grave-bias") }
            }
            _ => Amaf::Off,
        },
        policy: match settings.word("policy") {
            "mast" => PlayoutPolicy::Mast,
            "past" => PlayoutPolicy::Past { min_samples: small("past-samples") },
            "nst" => PlayoutPolicy::Nst {
                max_length: small("nst-length"),
                min_samples: small("nst-samples"),
            },
            _ => PlayoutPolicy::Uniform,
        },
        choice: match settings.word("choice") {
            "greedy" => Choice::EpsilonGreedy { epsilon: settings.real("epsilon") },
            _ => Choice::Gibbs { temperature: settings.real("temperature") },
        },
        transpositions: settings.flag("transpositions"),
        solver: settings.flag("solver"),
        look_ahead: settings.flag("look-ahead"),
        simultaneous: match settings.word("simultaneous") {
            "rm" => Simultaneous::RegretMatching { exploration: settings.real("exploration") },
            "irm" => Simultaneous::IteratedRegret { c: settings.real("simultaneous-c") },
            _ => Simultaneous::Decoupled { c: settings.real("simultaneous-c") },
        },
        others: if settings.flag("paranoid") { Others::Paranoid } else { Others::MaxN },
        heuristic: HeuristicUse {
            playout: matches!(settings.word("action-heuristic"), "playout" | "combined"),
            tree: matches!(settings.word("action-heuristic"), "tree" | "combined")
                || goals_of(settings, "prior").is_some(),
            implicit: match goals_of(settings, "implicit-minimax") {
                Some(_) => settings.real("alpha"),
                None => 0.0,
            },
            temperature: settings.real("heuristic-temperature"),
            scale: settings.real("heuristic-scale"),
            divisor: settings.real("heuristic-divisor"),
            abreast: small("heuristic-abreast"),
        },
        leaves: Leaves {
            at_once: small("leaves"),
            playouts: small("playouts"),
            siblings: small("siblings"),
        },
        virtual_loss: settings.real("virtual-loss"),
        threads: size("threads"),
        max_nodes: size("nodes"),
        max_playout_steps: settings.integer("max-steps"),
        keep_tree: settings.flag("keep"),
    }
}

/// Which goals are regressed, and how far.
pub(super) fn wanted(settings: &Settings) -> Wanted {
    let goals = match settings.word("heuristic-goals") {
        "all" => Goals::All,
        _ => Goals::Highest,
    };
    Wanted { goals, n_steps: settings.integer("heuristic-steps").try_into().unwrap_or(usize::MAX) }
}

/// Of those who judge positions by fuzzy logic.
pub(super) fn fuzzy(settings: &Settings) -> FuzzyOptions {
    let size = |name: &str| settings.integer(name).try_into().unwrap_or(usize::MAX);
    let mut logic = match settings.word("fuzzy-norm") {
        "yager" => Logic { norm: TNorm::Yager { q: settings.real("fuzzy-q") }, ..Logic::YAGER },
        _ => Logic::PRODUCT,
    };
    if settings.is_set("fuzzy-truth") {
        logic.truth = settings.real("fuzzy-truth");
    }
    logic.cardinality = match settings.word("fuzzy-count") {
        "disjunction" => Cardinality::Disjunction,
        "share" => Cardinality::Share,
        _ => Cardinality::Graded,
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
        several: match settings.word("fuzzy-several") {
            "mean" => Several::Mean,
            _ => Several::Nearest,
        },
        max_depth: size("fuzzy-depth"),
        max_size: size("fuzzy-size"),
        ..FuzzyOptions::default()
    }
}

/// Of those who judge positions by what random plays taught, and where concepts come from.
pub(super) fn concepts(settings: &Settings, seed: u64) -> (LearnOptions, ConceptsFrom) {
    let size = |name: &str| settings.integer(name).try_into().unwrap_or(usize::MAX);
    let kind = match settings.word("concepts-kind") {
        "sets" => concepts::Kind::Statistical,
        "triples" => concepts::Kind::Ternary,
        _ => concepts::Kind::Concepts,
    };
    let options = LearnOptions {
        kind,
        max_size: size("concepts-size"),
        n_wins: size("concepts-plays"),
        seed,
    };
    let from = match (settings.text("concepts-file"), settings.word("concepts-from")) {
        ("", "tic-tac-toe") => ConceptsFrom::TicTacToe,
        ("", _) => ConceptsFrom::Own,
        (file, _) => ConceptsFrom::Given(file.to_owned()),
    };
    (options, from)
}

/// The terms, made of the goals of a structure rewriting game, that an option chooses, if it does.
pub(super) fn goals_of(settings: &Settings, option: &str) -> Option<(MethodChoice, GoalOptions)> {
    let choice = match settings.word(option) {
        "tnf" => MethodChoice::Given(Method::Existential),
        "descriptions" => MethodChoice::Given(Method::Descriptions),
        "rule-conditions" => MethodChoice::Given(Method::RuleConditions),
        "terms" if settings.word("terms-choice") == "trial" => MethodChoice::Trial,
        "terms" => MethodChoice::Suitable,
        _ => return None,
    };
    let millionths =
        |name: &str| Rational::fraction((settings.real(name) * 1e6).round() as i128, 1_000_000);
    let alpha = if choice == MethodChoice::Given(Method::Existential) {
        "tnf-alpha"
    } else {
        "descriptions-alpha"
    };
    let weights = match millionths(alpha) {
        Some(alpha) if settings.word("tnf-weights") == "powers" => Weights::Powers(alpha),
        Some(_) | None => Weights::of_the_example(),
    };
    let power = settings.integer("rule-conditions-m").try_into().unwrap_or(u32::MAX);
    Some((choice, GoalOptions { weights, power, ..GoalOptions::default() }))
}

/// Those by which a tree search judges positions or moves.
pub(super) fn goals_in_tree(settings: &Settings) -> Option<(MethodChoice, GoalOptions)> {
    goals_of(settings, "implicit-minimax").or_else(|| goals_of(settings, "prior"))
}

pub(super) fn alphabeta(settings: &Settings, seed: u64) -> AlphaBetaOptions {
    AlphaBetaOptions {
        max_depth: settings.integer("depth").try_into().unwrap_or(u32::MAX),
        table_entries: settings.integer("table").try_into().unwrap_or(usize::MAX),
        view: match settings.word("view") {
            "paranoid" => ViewChoice::Paranoid,
            "maxn" => ViewChoice::MaxN,
            _ => ViewChoice::Auto,
        },
        max_extension: settings.integer("extension").try_into().unwrap_or(u32::MAX),
        unstable: settings.real("unstable"),
        late_move_reductions: settings.flag("reductions"),
        seed,
    }
}

pub(super) fn best_first(settings: &Settings, seed: u64) -> BestFirstOptions {
    BestFirstOptions { max_nodes: settings.integer("nodes").try_into().unwrap_or(usize::MAX), seed }
}

pub(super) fn puzzle(settings: &Settings, seed: u64) -> PuzzleOptions {
    let size = |name: &str| settings.integer(name).try_into().unwrap_or(usize::MAX);
    PuzzleOptions { seed, max_positions: size("nodes"), max_steps: size("max-steps") }
}

pub(super) fn hidden(settings: &Settings, seed: u64) -> HiddenOptions {
    let size = |name: &str| settings.integer(name).try_into().unwrap_or(usize::MAX);
    HiddenOptions {
        seed,
        max_particles: size("particles"),
        max_proposals: size("proposals"),
        repair_nodes: settings.integer("repair"),
        bandit: match settings.word("bandit") {
            "ucb" => hidden::Bandit::Ucb,
            _ => hidden::Bandit::Smooth,
        },
        exploration: settings.real("exploration"),
        choice: match settings.word("choice") {
            "mixed" => hidden::Choice::Mixed,
            _ => hidden::Choice::MostVisited,
        },
        max_steps: size("max-steps"),
        max_nodes: size("nodes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn the_defaults_are_those_of_the_searches() {
        let settings = |name: &str| Settings::new(Kind::named(name).expect(name));
        assert_eq!(mcts(&settings("mcts")), MctsOptions { threads: 0, ..MctsOptions::default() });
        assert_eq!(mcts(&settings("uct")), MctsOptions::plain());
        assert_eq!(alphabeta(&settings("alphabeta"), 0), AlphaBetaOptions::default());
        assert_eq!(best_first(&settings("bestfirst"), 0), BestFirstOptions::default());
        assert_eq!(fuzzy(&settings("alphabeta")), FuzzyOptions::default());
        assert_eq!(puzzle(&settings("puzzle"), 0), PuzzleOptions::default());
        assert_eq!(hidden(&settings("hidden"), 0), HiddenOptions::default());
    }
}
