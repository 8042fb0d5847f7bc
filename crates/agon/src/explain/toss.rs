//! Explanations of structure rewriting games: their goals as evaluation terms (Kaiser & Stafiniak
//! 2011).

use std::sync::Arc;
use std::time::Instant;

use agon_analysis::goal_formulas::words::{addends, in_words};
use agon_analysis::goal_formulas::{
    Change, GoalEvaluator, GoalOptions, GoalTerms, Method, RewritingGame, changes, goal_terms,
    recommended_method,
};
use agon_game::{Notation as _, Position as _};
use agon_reals::real::Real;
use agon_toss::arena::{ArenaRule, Equation};
use agon_toss::interpreter::Interpreter;
use serde_json::{Map, Value, json};

use super::{ExplainOptions, Explanation, Section};

const METHODS: [(Method, &str); 3] = [
    (Method::Existential, "tnf"),
    (Method::Descriptions, "descriptions"),
    (Method::RuleConditions, "rule-conditions"),
];

/// The terms made by one method, or why there are none.
struct MethodTerms {
    word: &'static str,
    method: Method,
    terms: Result<GoalTerms, String>,
}

/// What is shown in place of a result once the time is over.
const TIME_IS_OVER: &str = "the time is over";

/// A position to explain, and the moment until which something new is computed. Every single
/// computation is bounded by the limits of the game.
struct Subject<'a> {
    game: &'a Arc<RewritingGame>,
    position: &'a Interpreter,
    end: Option<Instant>,
}

impl Subject<'_> {
    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Explains a structure rewriting game and a position of it.
pub fn explain_toss(
    game: &Arc<RewritingGame>,
    position: &Interpreter,
    options: &ExplainOptions,
) -> Explanation {
    // A time beyond the range of the clock never ends.
    let subject = Subject { game, position, end: Instant::now().checked_add(options.time) };
    let start = game.start();
    let n_moves = start.choosers().map(|role| start.legal_moves(role).len()).max().unwrap_or(0);
    let best = recommended_method(game.arena(), n_moves);
    let made: Vec<MethodTerms> = METHODS
        .iter()
        .map(|&(method, word)| {
            if subject.is_late() {
                return MethodTerms { word, method, terms: Err(TIME_IS_OVER.to_owned()) };
            }
            let terms = goal_terms(game.arena(), method, &GoalOptions::default());
            MethodTerms { word, method, terms: terms.map_err(|why| why.to_string()) }
        })
        .collect();
    let mut sections = vec![changes_section(game)];
    sections.extend(made.iter().map(|made| method_section(&subject, made, best)));
    Explanation { sections, json: as_json(&subject, &made, best) }
}

fn changes_section(game: &Arc<RewritingGame>) -> Section {
    let arena = game.arena();
    let mut lines = Vec::new();
    for (relation, change) in changes(arena) {
        let how = match change {
            Change::Added => "tuples are only ever added",
            Change::Removed => "tuples are only ever removed",
            Change::Both => "tuples come and go",
        };
        lines.push(format!("{relation}: {how}"));
    }
    let vocabulary = arena.vocabulary();
    let stable: Vec<String> = vocabulary
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| vocabulary.relation_name(relation).to_string())
        .collect();
    let stable = if stable.is_empty() { "none".to_owned() } else { stable.join(", ") };
    lines.push(format!("{stable}: nothing changes them"));
    for function in vocabulary.functions() {
        let by = |select: fn(&ArenaRule) -> &[Equation], verb: &str| {
            let sets = |rule: &&ArenaRule| select(rule).iter().any(|e| e.function == function);
            let names: Vec<&str> =
                arena.rules().iter().filter(sets).map(|rule| rule.name.as_str()).collect();
            (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
        };
        let moves = by(|rule| &rule.dynamics, "moves in time by");
        let jumps = by(|rule| &rule.updates, "is set by");
        let inertia = arena.derivative(function).filter(|_| moves.is_none()).map(|derivative| {
            format!("follows its derivative {}", vocabulary.function_name(derivative))
        });
        let how: Vec<String> = [moves, inertia, jumps].into_iter().flatten().collect();
        let how = if how.is_empty() { "never changes".to_owned() } else { how.join("; ") };
        lines.push(format!("the value {}: {how}", vocabulary.function_name(function)));
    }
    Section::new("What changes", lines)
}

fn method_section(subject: &Subject<'_>, made: &MethodTerms, best: Method) -> Section {
    let arena = subject.game.arena();
    let fits = if made.method == best { ", which suits the game best" } else { "" };
    let title = format!("What a position is worth by eval={}{fits}", made.word);
    let terms = match &made.terms {
        Ok(terms) => terms,
        Err(why) => return Section::new(&title, [format!("none: {why}")]),
    };
    let location = subject.position.state().location();
    let mut lines = Vec::new();
    for (player, name) in arena.players().iter().enumerate() {
        if arena.nature() == Some(player) {
            continue;
        }
        let term = &terms.terms[location.index()][player];
        lines.push(format!("{name}: {}", worth(subject, terms, player)));
        lines.push(format!("  {term}"));
        lines.extend(in_words(term).into_iter().map(|line| format!("    {line}")));
        let parts = parts(subject, term);
        lines.extend(parts.into_iter().map(|(text, value)| format!("  {value:>10}  {text}")));
    }
    Section::new(&title, lines)
}

/// The value of a player's term at the position, and as searches see it.
fn worth(subject: &Subject<'_>, terms: &GoalTerms, player: usize) -> String {
    if subject.is_late() {
        return format!("not evaluated: {TIME_IS_OVER}");
    }
    let state = subject.position.state();
    if subject.game.arena().is_continuous() {
        // Searches evaluate terms exactly, which is not possible with real numbers.
        return match subject.position.value(&terms.terms[state.location().index()][player]) {
            Ok(Some(value)) => format!("{value} here"),
            Ok(None) => "no value here".to_owned(),
            Err(why) => format!("not evaluated: {why}"),
        };
    }
    let evaluator = GoalEvaluator::for_search(subject.game, terms);
    let value = evaluator.and_then(|mut evaluator| {
        let value = evaluator.value(state.structure(), state.location(), player)?;
        let estimate = evaluator.estimate(state.structure(), state.location(), player);
        Ok((value, estimate))
    });
    match value {
        Ok((Some(value), estimate)) => {
            format!("{value} here, {estimate:.3} within the range of payoffs")
        }
        Ok((None, _)) => "no value here".to_owned(),
        Err(why) => format!("not evaluated: {why}"),
    }
}

/// The addends of a term with what each of them is at the position.
fn parts(subject: &Subject<'_>, term: &agon_structures::formula::Term) -> Vec<(String, String)> {
    addends(term)
        .into_iter()
        .map(|(factor, addend)| {
            if subject.is_late() {
                return (addend.to_string(), TIME_IS_OVER.to_owned());
            }
            let value = match subject.position.value(addend) {
                Ok(Some(value)) => (Real::Exact(factor) * value).to_string(),
                Ok(None) => "no value".to_owned(),
                Err(why) => why,
            };
            (addend.to_string(), value)
        })
        .collect()
}

fn as_json(subject: &Subject<'_>, made: &[MethodTerms], best: Method) -> Map<String, Value> {
    let (arena, position) = (subject.game.arena(), subject.position);
    let location = position.state().location();
    let mut by_method = serde_json::Map::new();
    let mut refused = serde_json::Map::new();
    for MethodTerms { word, terms, .. } in made {
        match terms {
            Err(why) => drop(refused.insert((*word).to_owned(), json!(why))),
            Ok(terms) => {
                let players = arena
                    .players()
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| arena.nature() != Some(*at));
                let players: Vec<Value> = players
                    .map(|(player, name)| {
                        let term = &terms.terms[location.index()][player];
                        let parts: Vec<Value> = parts(subject, term)
                            .into_iter()
                            .map(|(text, value)| json!({"term": text, "value": value}))
                            .collect();
                        json!({
                            "player": name, "term": term.to_string(),
                            "words": in_words(term), "parts": parts,
                        })
                    })
                    .collect();
                by_method.insert((*word).to_owned(), json!(players));
            }
        }
    }
    for key in ["fuzzy", "action_heuristic", "concepts"] {
        refused.insert(key.to_owned(), json!("for GDL; structure rewriting games have goal_terms"));
    }
    let changed: serde_json::Map<String, Value> = changes(arena)
        .into_iter()
        .map(|(relation, change)| {
            let word = match change {
                Change::Added => "added",
                Change::Removed => "removed",
                Change::Both => "both",
            };
            (relation.to_string(), json!(word))
        })
        .collect();
    let best = METHODS.iter().find(|(method, _)| *method == best).map(|(_, word)| *word);
    let object = json!({
        "state": position.state_text(), "properties": {"fluents": changed},
        "goal_terms": by_method, "suitable": best, "refused": refused,
    });
    match object {
        Value::Object(object) => object,
        _ => unreachable!("an object was written"),
    }
}
