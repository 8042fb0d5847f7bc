//! Explanations of structure rewriting games: their goals as evaluation terms (Kaiser & Stafiniak
//! 2011).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use agon_analysis::goal_formulas::words::{addend_in_words, addends, in_words};
use agon_analysis::goal_formulas::{
    Change, GoalEvaluator, GoalOptions, GoalTerms, Method, RewritingGame, changes, goal_terms,
    recommended_method,
};
use agon_game::{Notation as _, Position as _};
use agon_reals::interrupt::Interrupt;
use agon_reals::real::Real;
use agon_structures::formula::Term;
use agon_structures::rational::Rational;
use agon_toss::arena::{ArenaRule, Equation};
use agon_toss::interpreter::Interpreter;
use serde_json::{Map, Value, json};

use super::position::{View, describe};
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
    /// The values of addends that are known, by factor and text: text and JSON show the same ones.
    known: RefCell<BTreeMap<(String, String), String>>,
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
    let end = Instant::now().checked_add(options.time);
    let subject = Subject { game, position, end, known: RefCell::default() };
    let start = game.start();
    let n_moves = start.choosers().map(|role| start.legal_moves(role).len()).max().unwrap_or(0);
    let best = recommended_method(game.arena(), n_moves);
    let make = |(method, word): (Method, &'static str)| {
        if subject.is_late() {
            return MethodTerms { word, method, terms: Err(TIME_IS_OVER.to_owned()) };
        }
        let terms = goal_terms(game.arena(), method, &GoalOptions::default());
        MethodTerms { word, method, terms: terms.map_err(|why| why.to_string()) }
    };
    // The method that suits the game comes first, while there is time.
    let until = Instant::now().checked_add(options.time / 10);
    let layout = crate::layout::find_toss(game);
    let (section, soon) = describe(position, &layout, View::Open, until);
    let mut sections = vec![section, changes_section(game)];
    let mut made: Vec<MethodTerms> = Vec::new();
    for method in METHODS.into_iter().filter(|(method, _)| *method == best) {
        let terms = make(method);
        sections.push(method_section(&subject, &terms));
        made.push(terms);
    }
    made.extend(METHODS.into_iter().filter(|(method, _)| *method != best).map(make));
    sections.push(others_section(&subject, &made, best));
    let mut json = as_json(&subject, &made, best);
    json.insert("soon".to_owned(), soon);
    Explanation { sections, json }
}

/// Joins names with commas and a final "and".
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

fn changes_section(game: &Arc<RewritingGame>) -> Section {
    let arena = game.arena();
    let vocabulary = arena.vocabulary();
    let mut by_change: [Vec<String>; 3] = Default::default();
    for (relation, change) in changes(arena) {
        let kind = match change {
            Change::Added => 0,
            Change::Removed => 1,
            Change::Both => 2,
        };
        by_change[kind].push(relation.to_string());
    }
    let stable: Vec<String> = vocabulary
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| vocabulary.relation_name(relation).to_string())
        .collect();
    let [added, removed, both] = by_change;
    let how = [
        (added, "what is in it stays in it", "what is in them stays in them"),
        (removed, "what has left it never comes back", "what has left them never comes back"),
        (both, "elements enter and leave it", "elements enter and leave them"),
        (stable, "never changes", "never change"),
    ];
    let mut lines = Vec::new();
    for (names, one, many) in how.into_iter().filter(|(names, ..)| !names.is_empty()) {
        let how = if names.len() == 1 { one } else { many };
        lines.push(format!("{}: {how}", listed(&names)));
    }
    for function in vocabulary.functions() {
        let by = |select: fn(&ArenaRule) -> &[Equation], verb: &str| {
            let sets = |rule: &&ArenaRule| select(rule).iter().any(|e| e.function == function);
            let names: Vec<String> =
                arena.rules().iter().filter(sets).map(|rule| rule.name.to_string()).collect();
            (!names.is_empty()).then(|| format!("{verb} {}", listed(&names)))
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

/// Describes what a position is worth by the method that suits the game best.
fn method_section(subject: &Subject<'_>, made: &MethodTerms) -> Section {
    let arena = subject.game.arena();
    let title = format!("What a position is worth by the goals (eval={})", made.word);
    let terms = match &made.terms {
        Ok(terms) => terms,
        Err(why) => return Section::new(&title, [format!("none: {why}")]),
    };
    let location = subject.position.state().location();
    let mut lines = Vec::new();
    let mut shown: Vec<(&str, &Term)> = Vec::new();
    let worths = worths(subject, terms);
    let of_location = &terms.terms[location.index()];
    let has_steps = |term: &Term| {
        let parts = addends(term);
        parts.into_iter().any(|(factor, part)| addend_in_words(factor, part).len() > 1)
    };
    if of_location.iter().any(has_steps) {
        lines.push(ABOUT_STEPS.to_owned());
    }
    for (player, name) in arena.players().iter().enumerate() {
        if arena.nature() == Some(player) {
            continue;
        }
        let term = &terms.terms[location.index()][player];
        let worth = &worths[player];
        // A goal that does not look at the board has the same value wherever play ends.
        if let [(_, Term::Number(_))] = addends(term).as_slice()
            && let [(_, value)] = parts(subject, term).as_slice()
            && value != TIME_IS_OVER
        {
            lines.push(format!(
                "{name}: {value} if play ended here, whatever the board; so the goals do not tell \
                 such positions apart"
            ));
            continue;
        }
        let alike = shown.iter().find_map(|(other, known)| likeness(other, known, term));
        match alike {
            Some(alike) => lines.push(format!("{name}: {worth}; {alike}")),
            None => {
                lines.push(format!("{name}: {worth}"));
                lines.extend(addend_lines(subject, term));
                shown.push((name, term));
            }
        }
    }
    Section::new(&title, lines)
}

/// Says that a term is like that of another player: the same, or with opposite signs. `None` if it
/// is neither.
fn likeness(other: &str, known: &Term, term: &Term) -> Option<String> {
    let parts = |term: &Term, sign: i64| -> Option<Vec<(String, Rational)>> {
        let own = addends(term).into_iter().filter(|(_, part)| !matches!(part, Term::Number(_)));
        let own = own.map(|(factor, part)| {
            Some((part.to_string(), factor.times(Rational::whole(sign)).ok()?))
        });
        let mut own = own.collect::<Option<Vec<_>>>()?;
        own.sort_by(|a, b| a.0.cmp(&b.0));
        Some(own)
    };
    if known == term {
        return Some(format!("counted like {other}"));
    }
    let negated = parts(term, -1)?;
    let is_opposite = !negated.is_empty() && Some(negated) == parts(known, 1);
    is_opposite.then(|| format!("the same parts count with the opposite sign as for {other}"))
}

/// Describes the addends of a term, each with what it is at the position.
fn addend_lines(subject: &Subject<'_>, term: &Term) -> Vec<String> {
    let own = addends(term);
    let mut lines = Vec::new();
    let parts = parts(subject, term);
    if parts.iter().any(|(_, value)| value == TIME_IS_OVER) {
        lines.push(
            "  parts without a value were not evaluated, because the time was over".to_owned(),
        );
    }
    for ((factor, addend), (_, value)) in own.into_iter().zip(parts) {
        let value = if value == TIME_IS_OVER { "?".to_owned() } else { value };
        let words = match addend {
            Term::Number(_) => vec!["always".to_owned()],
            _ => addend_in_words(factor, addend),
        };
        for (at, text) in words.into_iter().enumerate() {
            let value = if at == 0 { value.as_str() } else { "" };
            lines.push(format!("  {value:>10}  {}", cut(&text)));
        }
    }
    lines
}

/// Maximum number of characters of a condition of a term. Longer ones cannot be read.
const MAX_CONDITION: usize = 160;

/// Cuts a long text at the end of a word.
fn cut(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_CONDITION) else { return text.to_owned() };
    let end = text[..end].rfind(' ').unwrap_or(end);
    format!("{} …", &text[..end])
}

/// Says how to read parts that count ways with several steps.
const ABOUT_STEPS: &str = "a part counts every way to begin what a goal asks for, the more the further \
                           it goes; the number before it is what it adds here";

/// Names the other methods and what they make of the position.
fn others_section(subject: &Subject<'_>, made: &[MethodTerms], best: Method) -> Section {
    let arena = subject.game.arena();
    let mut lines = Vec::new();
    for made in made.iter().filter(|made| made.method != best) {
        let players = arena.players().iter().enumerate();
        let players = players.filter(|(at, _)| arena.nature() != Some(*at));
        let what = match &made.terms {
            Err(why) => format!("none: {why}"),
            Ok(terms) => {
                let worths = worths(subject, terms);
                let players = players.map(|(player, name)| format!("{name}: {}", worths[player]));
                players.collect::<Vec<_>>().join("; ")
            }
        };
        lines.push(format!("by eval={}, {what}", made.word));
    }
    lines.push("--json has the terms of all methods".to_owned());
    Section::new("What it is worth by other methods", lines)
}

/// The value of each player's term at the position, and as searches see it.
fn worths(subject: &Subject<'_>, terms: &GoalTerms) -> Vec<String> {
    let players = 0..subject.game.arena().players().len();
    let late = || format!("not evaluated: {TIME_IS_OVER}");
    let state = subject.position.state();
    if subject.game.arena().is_continuous() {
        // Searches evaluate terms exactly, which is not possible with real numbers.
        let worth = |player: usize| {
            if subject.is_late() {
                return late();
            }
            match subject.position.value(&terms.terms[state.location().index()][player]) {
                Ok(Some(value)) => format!("{} here", decimal(&value)),
                Ok(None) => "no value here".to_owned(),
                Err(why) => format!("not evaluated: {why}"),
            }
        };
        return players.map(worth).collect();
    }
    if subject.is_late() {
        return players.map(|_| late()).collect();
    }
    // Preparing the evaluator takes longer than all that follows, so it is done once.
    match GoalEvaluator::for_search_until(subject.game, terms, subject.end) {
        Ok(mut evaluator) => {
            evaluator.set_interrupt(Interrupt::at(subject.end));
            players
                .map(|player| match subject.is_late() {
                    true => late(),
                    false => worth(subject, &mut evaluator, player),
                })
                .collect()
        }
        Err(why) => players.map(|_| format!("not evaluated: {why}")).collect(),
    }
}

/// The value of a player's term at the position, and as searches see it.
fn worth(subject: &Subject<'_>, evaluator: &mut GoalEvaluator, player: usize) -> String {
    let state = subject.position.state();
    let value = evaluator.value(state.structure(), state.location(), player);
    let value = value.map(|value| {
        let estimate = evaluator.estimate(state.structure(), state.location(), player);
        (value, estimate)
    });
    match value {
        Ok((Some(value), estimate)) => {
            let value = decimal(&Real::Exact(value));
            let shown = format!("{estimate:.2}");
            if shown.trim_end_matches('0').trim_end_matches('.') == value {
                return format!("{value} here");
            }
            let payoffs = subject.position.shape().payoffs.clone();
            let (low, high) = (payoffs.start(), payoffs.end());
            format!("{value} here, which a search counts as {shown} of {low} to {high}")
        }
        Ok((None, _)) => "no value here".to_owned(),
        Err(why) => format!("not evaluated: {why}"),
    }
}

/// Writes a number with at most three decimals. Exact numbers that need more say so.
fn decimal(value: &Real) -> String {
    let text = value.to_string();
    if !text.contains('/') && text.len() <= 8 {
        return text;
    }
    let rounded = format!("{:.3}", value.midpoint());
    let rounded = rounded.trim_end_matches('0').trim_end_matches('.');
    if rounded == "0" || rounded == "-0" {
        format!("{:.1e}", value.midpoint())
    } else {
        rounded.to_owned()
    }
}

/// The addends of a term with what each of them is at the position.
fn parts(subject: &Subject<'_>, term: &Term) -> Vec<(String, String)> {
    addends(term)
        .into_iter()
        .map(|(factor, addend)| {
            let key = (factor.to_string(), addend.to_string());
            if let Some(known) = subject.known.borrow().get(&key) {
                return (key.1, known.clone());
            }
            if subject.is_late() {
                return (key.1, TIME_IS_OVER.to_owned());
            }
            let value = match subject.position.value(addend) {
                Ok(Some(value)) => decimal(&(Real::Exact(factor) * value)),
                Ok(None) => "no value".to_owned(),
                Err(why) => why,
            };
            let text = key.1.clone();
            subject.known.borrow_mut().insert(key, value.clone());
            (text, value)
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

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn long_conditions_end_with_a_word() {
        assert_eq!(cut("A(x) and B(x)"), "A(x) and B(x)");
        let long = "some y has Next(x, y) and ".repeat(20);
        let short = cut(&long);
        assert!(short.chars().count() <= super::MAX_CONDITION + 2, "{short}");
        assert!(short.ends_with(" …") && long.starts_with(short.trim_end_matches(" …")), "{short}");
    }
}
