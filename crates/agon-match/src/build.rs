//! From a player's name to the player.

mod options;

use std::sync::Arc;

use agon_analysis::Subject;
use agon_analysis::fuzzy::FuzzyOptions;
use agon_analysis::goal_formulas::{GoalOptions, RewritingGame};
use agon_analysis::regression::Wanted;
use agon_game::{Hidden, Role, Shape};
use agon_search::hidden::HiddenOptions;
use agon_search::{AlphaBeta, BestFirst, GoalValues, MctsOptions, Playouts, Puzzle, Search};

use crate::judged::{ByGoals, Judged, Taught};
use crate::searches::{Alone, ByNodes, Fitted, Insight, Perfect};
use crate::trial::Tried;
use crate::{
    FirstLegal, Greedy, HiddenSearchPlayer, Kind, MethodChoice, PerceptPlayer, Player, Random,
    SearchPlayer, Settings, Spec, SpecKind, parse_spec,
};

/// Makes a player of our own, for a role in a match that begins where `start` stands. `None` if the player lives outside.
///
/// To add one: a row in [`crate::KINDS`] and an arm here.
pub fn build<P: Hidden + 'static>(
    spec: &Spec,
    start: P,
    role: Role,
    seed: u64,
) -> Option<Box<dyn Player>> {
    build_with_insight(spec, start, role, seed, Rules::Unknown)
}

/// The rules of a game, for those players who look into them.
#[derive(Copy, Clone, Default)]
pub enum Rules<'a> {
    /// Players do as well as they can without.
    #[default]
    Unknown,
    /// GDL.
    Gdl(&'a Subject),
    /// Structure rewriting.
    Rewriting(&'a Arc<RewritingGame>),
    /// Structure rewriting, and the same game in GDL, whose fluents are the facts that its states tell.
    Both(&'a Arc<RewritingGame>, &'a Subject),
}

/// The same, with the rules.
pub fn build_with_insight<P: Hidden + 'static>(
    spec: &Spec,
    start: P,
    role: Role,
    seed: u64,
    rules: Rules<'_>,
) -> Option<Box<dyn Player>> {
    let (kind, settings) = match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => (*kind, settings.clone()),
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => return None,
    };
    let (name, settings) = match kind.name {
        "auto" => match auto(start.shape(), role).kind {
            SpecKind::BuiltIn(kind, settings) => (kind.name, settings),
            SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => {
                unreachable!("the automatic choice is one of our own")
            }
        },
        name => (name, settings),
    };
    Some(named(name, &settings, start, role, seed, rules))
}

/// How a player wants the goals judged by fuzzy logic, if it does.
pub fn fuzzy_options(spec: &Spec) -> Option<FuzzyOptions> {
    match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => {
            let has_choice = matches!(kind.name, "alphabeta" | "bestfirst");
            (has_choice && settings.word("eval") == "fuzzy").then(|| options::fuzzy(settings))
        }
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => None,
    }
}

/// By what terms, made of the goals of a structure rewriting game, a player wants positions or moves judged, if by any.
pub fn goal_options(spec: &Spec) -> Option<(MethodChoice, GoalOptions)> {
    match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => match kind.name {
            "alphabeta" | "bestfirst" => options::goals_of(settings, "eval"),
            "mcts" | "uct" => options::goals_in_tree(settings),
            _ => None,
        },
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => None,
    }
}

/// The file from which a player wants its concepts, if it wants any.
pub fn concepts_file(spec: &Spec) -> Option<&'static str> {
    match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => {
            let has_choice = matches!(kind.name, "alphabeta" | "bestfirst");
            let is_wanted = has_choice && settings.word("eval") == "concepts";
            is_wanted.then(|| settings.text("concepts-file")).filter(|file| !file.is_empty())
        }
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => None,
    }
}

/// How a player wants moves judged by regressed goals before they are tried, if it does.
pub fn action_heuristic_wanted(spec: &Spec) -> Option<Wanted> {
    match &spec.kind {
        SpecKind::BuiltIn(kind, settings) => {
            let has_choice = matches!(kind.name, "mcts" | "uct");
            (has_choice && settings.word("action-heuristic") != "none")
                .then(|| options::wanted(settings))
        }
        SpecKind::Human | SpecKind::Http(_) | SpecKind::Command(_) => None,
    }
}

/// The player of our own that suits a game best.
pub fn auto(shape: &Shape, _: Role) -> Spec {
    let is_alone = shape.players().count() == 1 && shape.nature.is_none();
    let name = match () {
        () if shape.hidden => "hidden",
        () if is_alone => "puzzle",
        // What perfect play is among three is a matter of opinion.
        () if shape.players().count() == 2 => "solver(insight=trial)",
        () => "mcts",
    };
    parse_spec(name).expect("the automatic choice is in the table")
}

fn named<P: Hidden + 'static>(
    name: &str,
    settings: &Settings,
    start: P,
    role: Role,
    seed: u64,
    rules: Rules<'_>,
) -> Box<dyn Player> {
    let (subject, rewriting) = match rules {
        Rules::Unknown => (None, None),
        Rules::Gdl(subject) => (Some(subject), None),
        Rules::Rewriting(game) => (None, Some(game)),
        Rules::Both(game, subject) => (Some(subject), Some(game)),
    };
    let is_hidden = start.shape().hidden;
    let by_percepts = |start, options: HiddenOptions| -> Box<dyn Player> {
        Box::new(PerceptPlayer::new(start, role, options))
    };
    match name {
        "random" => seated(start, role, Random::new(seed), seed),
        "legal" => seated(start, role, FirstLegal, seed),
        "greedy" => {
            seated(start, role, Greedy::new(GoalValues, settings.integer("replies"), seed), seed)
        }
        "hidden" if is_hidden => by_percepts(start, options::hidden(settings, seed)),
        "hidden" => seated(start, role, default_search(seed), seed),
        "mcts" | "uct" if is_hidden => {
            let steps = settings.integer("max-steps").try_into().unwrap_or(usize::MAX);
            let options = HiddenOptions { seed, max_steps: steps, ..HiddenOptions::default() };
            by_percepts(start, options)
        }
        "mcts" | "uct" => {
            let options = options::mcts(settings);
            let is_judged = options.heuristic.playout || options.heuristic.tree;
            let search = Fitted::new(options, seed);
            let insight = match (options::goals_in_tree(settings), rewriting, subject) {
                (Some((choice, options)), Some(game), _) => {
                    Some(Insight::Stepwise(Arc::clone(game), choice, options))
                }
                (None, _, Some(subject)) if is_judged => {
                    Some(Insight::Regressed(subject.clone(), options::wanted(settings)))
                }
                (Some(_), None, _) | (None, _, _) => None,
            };
            match insight {
                Some(insight) => seated(start, role, search.with_insight(insight), seed),
                None => seated(start, role, search, seed),
            }
        }
        "alphabeta" if let Some(goals) = options::goals_of(settings, "eval") => {
            let options = options::alphabeta(settings, seed);
            let make = move |judge| ByNodes(AlphaBeta::with_evaluator(options.clone(), judge));
            seated(start, role, ByGoals::new(rewriting, goals, make), seed)
        }
        "bestfirst" if let Some(goals) = options::goals_of(settings, "eval") => {
            let options = options::best_first(settings, seed);
            let make = move |judge| BestFirst::with_evaluator(options.clone(), judge);
            seated(start, role, ByGoals::new(rewriting, goals, make), seed)
        }
        "alphabeta" if settings.word("eval") == "fuzzy" => {
            let options = options::alphabeta(settings, seed);
            let make = move |judge| ByNodes(AlphaBeta::with_evaluator(options.clone(), judge));
            seated(start, role, Judged::new(subject, options::fuzzy(settings), make), seed)
        }
        "bestfirst" if settings.word("eval") == "fuzzy" => {
            let options = options::best_first(settings, seed);
            let make = move |judge| BestFirst::with_evaluator(options.clone(), judge);
            seated(start, role, Judged::new(subject, options::fuzzy(settings), make), seed)
        }
        "alphabeta" if settings.word("eval") == "concepts" => {
            let options = options::alphabeta(settings, seed);
            let make = move |judge| ByNodes(AlphaBeta::with_evaluator(options.clone(), judge));
            // Learnt once for all matches, so the seed is no match's.
            seated(
                start,
                role,
                Taught::new(subject, options::concepts(settings, LEARNING), make),
                seed,
            )
        }
        "bestfirst" if settings.word("eval") == "concepts" => {
            let options = options::best_first(settings, seed);
            let make = move |judge| BestFirst::with_evaluator(options.clone(), judge);
            seated(
                start,
                role,
                Taught::new(subject, options::concepts(settings, LEARNING), make),
                seed,
            )
        }
        "alphabeta" => {
            let options = options::alphabeta(settings, seed);
            match settings.integer("playouts") {
                0 => seated(start, role, ByNodes(AlphaBeta::new(options)), seed),
                n => {
                    let judge = Playouts::new(n, MAX_JUDGED_STEPS, seed);
                    seated(start, role, ByNodes(AlphaBeta::with_evaluator(options, judge)), seed)
                }
            }
        }
        "bestfirst" => {
            let options = options::best_first(settings, seed);
            match settings.integer("playouts") {
                0 => seated(start, role, BestFirst::new(options), seed),
                n => {
                    let judge = Playouts::new(n, MAX_JUDGED_STEPS, seed);
                    seated(start, role, BestFirst::with_evaluator(options, judge), seed)
                }
            }
        }
        "puzzle" => {
            let puzzle = Puzzle::new(options::puzzle(settings, seed));
            let other = settings.flag("mcts").then(|| default_search(seed));
            seated(start, role, Alone::new(puzzle, other), seed)
        }
        "solver" => {
            let bytes = (settings.integer("megabytes") as usize).saturating_mul(1 << 20);
            let percent = settings.integer("percent") as u32;
            let is_known = subject.is_some() || rewriting.is_some();
            if is_known && settings.word("insight") == "trial" {
                let other =
                    Tried::new(subject.cloned(), rewriting.cloned(), default_options(), seed);
                seated(start, role, Perfect::new(bytes, percent, other, seed), seed)
            } else {
                seated(start, role, Perfect::new(bytes, percent, default_search(seed), seed), seed)
            }
        }
        other => {
            unreachable!("the table of players has `{other}`, and there is no arm for it here")
        }
    }
}

/// The seed of the random plays that players learn from.
const LEARNING: u64 = 1;

/// Plays by which positions are judged are cut off after so many steps.
const MAX_JUDGED_STEPS: u64 = 1000;

/// What `mcts` is when nobody sets anything.
fn default_search<P: Hidden>(seed: u64) -> Fitted<P> {
    Fitted::new(default_options(), seed)
}

fn default_options() -> MctsOptions {
    let kind = Kind::named("mcts").expect("the table has it");
    options::mcts(&Settings::new(kind))
}

/// A search in a seat: as it is where everybody sees everything, else over the worlds that the role takes for possible.
fn seated<P, S>(start: P, role: Role, search: S, seed: u64) -> Box<dyn Player>
where
    P: Hidden + 'static,
    S: Search<P> + 'static,
{
    if start.shape().hidden {
        Box::new(HiddenSearchPlayer::new(start, role, search, seed ^ BELIEF))
    } else {
        Box::new(SearchPlayer::new(start, role, search))
    }
}

/// What a player believes is drawn from another stream than what it plays.
const BELIEF: u64 = 0x005e_ed0f_be11_ef00;
