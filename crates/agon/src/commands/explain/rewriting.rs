//! What can be read out of the goals of a structure rewriting game.

use std::sync::Arc;

use agon_analysis::goal_formulas::words::{addends, in_words};
use agon_analysis::goal_formulas::{
    Change, GoalJudge, GoalOptions, GoalTerms, Method, RewritingGame, changes, goal_terms, suitable,
};
use agon_game::{Notation as _, Position as _};
use agon_toss::interpreter::Interpreter;
use serde_json::{Value, json};

use super::super::why::go_on;
use super::Args;
use crate::failure::Failure;
use crate::terminal;
use crate::terminal::say;

const METHODS: [(Method, &str); 3] = [
    (Method::Existential, "tnf"),
    (Method::Descriptions, "descriptions"),
    (Method::RuleConditions, "rule-conditions"),
];

pub(super) fn run(args: &Args, name: &str, game: &Arc<RewritingGame>) -> Result<(), Failure> {
    if args.state.is_some() {
        return Err(Failure::wrong(
            "--state is for GDL; tell the moves that lead to the position with --after",
        ));
    }
    let mut position = game.start();
    go_on(&mut position, &args.after)?;
    let n_moves =
        game.start().choosers().map(|role| game.start().legal_moves(role).len()).max().unwrap_or(0);
    let best = suitable(game.arena(), n_moves);
    let made: Vec<(&str, Method, Result<GoalTerms, String>)> = METHODS
        .iter()
        .map(|&(method, word)| {
            let terms = goal_terms(game.arena(), method, &GoalOptions::default());
            (word, method, terms.map_err(|why| why.to_string()))
        })
        .collect();
    if args.json {
        say!("{}", as_json(name, game, &position, &made, best));
    } else {
        in_text(game, &position, &made, best);
    }
    Ok(())
}

fn in_text(
    game: &Arc<RewritingGame>,
    position: &Interpreter,
    made: &[(&str, Method, Result<GoalTerms, String>)],
    best: Method,
) {
    let arena = game.arena();
    say!("{}", terminal::bold("What changes"));
    for (relation, change) in changes(arena) {
        let how = match change {
            Change::Added => "tuples are only ever added",
            Change::Removed => "tuples are only ever removed",
            Change::Both => "tuples come and go",
        };
        say!("  {relation}: {how}");
    }
    let vocabulary = arena.vocabulary();
    let stable: Vec<String> = vocabulary
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| vocabulary.relation_name(relation).to_string())
        .collect();
    say!(
        "  {}: nothing changes them",
        if stable.is_empty() { "none".to_owned() } else { stable.join(", ") }
    );
    let location = position.state().location();
    for (word, method, terms) in made {
        say!("");
        let fits = if *method == best { ", which suits the game best" } else { "" };
        say!("{}", terminal::bold(&format!("What a position is worth by eval={word}{fits}")));
        let terms = match terms {
            Ok(terms) => terms,
            Err(why) => {
                say!("  none: {why}");
                continue;
            }
        };
        for (player, name) in arena.players().iter().enumerate() {
            if arena.nature() == Some(player) {
                continue;
            }
            let term = &terms.terms[location.index()][player];
            say!("  {name}: {}", worth(game, position, terms, player));
            say!("    {term}");
            for line in in_words(term) {
                say!("      {line}");
            }
            for (text, value) in parts(game, position, term) {
                say!("    {value:>10}  {text}");
            }
        }
    }
}

/// The value of a player's term at the position, and as searches see it.
fn worth(
    game: &Arc<RewritingGame>,
    position: &Interpreter,
    terms: &GoalTerms,
    player: usize,
) -> String {
    let state = position.state();
    let judge = GoalJudge::for_search(game, terms);
    let value = judge.and_then(|mut judge| {
        let value = judge.value(state.structure(), state.location(), player)?;
        let estimate = judge.estimate(state.structure(), state.location(), player);
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
fn parts(
    game: &Arc<RewritingGame>,
    position: &Interpreter,
    term: &agon_structures::formula::Term,
) -> Vec<(String, String)> {
    let structure = position.state().structure();
    addends(term)
        .into_iter()
        .map(|(factor, addend)| {
            let value = match game.value(structure, addend) {
                Ok(Some(value)) => match factor.times(value) {
                    Ok(value) => value.to_string(),
                    Err(why) => why.to_string(),
                },
                Ok(None) => "no value".to_owned(),
                Err(why) => why.to_string(),
            };
            (addend.to_string(), value)
        })
        .collect()
}

fn as_json(
    name: &str,
    game: &Arc<RewritingGame>,
    position: &Interpreter,
    made: &[(&str, Method, Result<GoalTerms, String>)],
    best: Method,
) -> Value {
    let arena = game.arena();
    let location = position.state().location();
    let mut by_method = serde_json::Map::new();
    let mut refused = serde_json::Map::new();
    for (word, _, terms) in made {
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
                        let parts: Vec<Value> = parts(game, position, term)
                            .into_iter()
                            .map(|(text, value)| json!({"term": text, "value": value}))
                            .collect();
                        json!({
                            "player": name, "term": term.to_string(), "words": in_words(term), "parts": parts,
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
    json!({
        "game": name, "state": position.state_text(), "properties": {"fluents": changed},
        "goal_terms": by_method, "suitable": best, "refused": refused,
    })
}
