//! Prints syntax trees in the canonical form: blocks per player, `START`, boards with aligned
//! columns.
//!
//! Printed games are parsed back as the same game. Comments are lost.

mod formula;
mod structure;

use std::fmt::Write as _;

use crate::syntax::{
    Change, Draw, Edge, Equation, Formula, GameSheet, JointEdge, Location, Multiplicity, Name,
    Rule, Structure, Term,
};

/// Prints a game in canonical form.
pub fn print_sheet(sheet: &GameSheet) -> String {
    let mut text = String::new();
    if !sheet.players.is_empty() {
        line(&mut text, &format!("PLAYERS {}", names(&sheet.players)));
    }
    if !sheet.data.is_empty() {
        let pairs: Vec<String> =
            sheet.data.iter().map(|(key, value)| format!("{}: {value}", key.text)).collect();
        line(&mut text, &format!("DATA {}", pairs.join(", ")));
    }
    for relation in &sheet.relations {
        let (name, parameters) = (&relation.name.text, names(&relation.parameters));
        line(&mut text, &format!("REL {name}({parameters}) = {}", print_formula(&relation.body)));
    }
    for rule in &sheet.rules {
        print_rule(rule, &mut text);
    }
    for location in &sheet.locations {
        print_location(location, sheet, &mut text);
    }
    if let Some(model) = &sheet.model {
        line(&mut text, &format!("START {}", print_structure(model)));
    }
    if let Some(start) = &sheet.start {
        line(&mut text, &format!("STATE LOC {}", start.text));
    }
    text
}

/// Prints a formula on one line.
pub fn print_formula(formula: &Formula) -> String {
    let mut text = String::new();
    formula::write_formula(formula, &mut text);
    text
}

/// Prints a term on one line.
fn print_term(term: &Term) -> String {
    let mut text = String::new();
    formula::write_term(term, &mut text);
    text
}

/// Prints a structure. Its board takes several lines.
pub fn print_structure(structure: &Structure) -> String {
    let mut text = String::new();
    structure::write_structure(structure, &mut text);
    text
}

fn line(text: &mut String, what: &str) {
    text.push_str(what);
    text.push('\n');
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn print_rule(rule: &Rule, text: &mut String) {
    line(text, &format!("RULE {}:", rule.name.text));
    match &rule.change {
        Change::Rewrite { left, right, map } => {
            let map = map.as_ref().map_or(String::new(), |pairs| {
                let pairs: Vec<String> =
                    pairs.iter().map(|(r, l)| format!("{} <- {}", r.text, l.text)).collect();
                format!(" with [{}]", pairs.join(", "))
            });
            line(text, &format!("  {} -> {}{map}", print_structure(left), print_structure(right)));
        }
        Change::Formula { elements, condition, effects } => {
            line(text, format!("  ELEMS {}", names(elements)).trim_end());
            line(text, &format!("  MATCH {}", print_formula(condition)));
            let effects: Vec<String> = effects
                .iter()
                .map(|effect| {
                    let not = if effect.holds { "" } else { "not " };
                    format!("{not}{}({})", effect.relation.text, names(&effect.arguments))
                })
                .collect();
            if !effects.is_empty() {
                line(text, &format!("  RELS {}", effects.join("; ")));
            }
        }
    }
    if !rule.embedded.is_empty() {
        line(text, &format!("  emb {}", names(&rule.embedded)));
    }
    if let Some(pre) = &rule.pre {
        line(text, &format!("  pre {}", print_formula(pre)));
    }
    if let Some(inv) = &rule.inv {
        line(text, &format!("  inv {}", print_formula(inv)));
    }
    if let Some(post) = &rule.post {
        line(text, &format!("  post {}", print_formula(post)));
    }
    for (word, equations) in [("dynamics", &rule.dynamics), ("update", &rule.updates)] {
        if !equations.is_empty() {
            let equations: Vec<String> = equations.iter().map(print_equation).collect();
            line(text, &format!("  {word} {}", equations.join("; ")));
        }
    }
    if !rule.history.is_empty() {
        let history: Vec<String> = rule
            .history
            .iter()
            .map(|(name, holds)| format!("{}{}", if *holds { "" } else { "not " }, name.text))
            .collect();
        line(text, &format!("  before {}", history.join(", ")));
    }
}

/// Prints a location in blocks per player. Global payoffs are repeated in every location.
fn print_location(location: &Location, sheet: &GameSheet, text: &mut String) {
    line(text, &format!("LOC {} {{", location.name.text));
    let mentioned = |name: &str| {
        location.payoffs.iter().any(|payoff| payoff.player.text == name)
            || location.moves.iter().any(|moves| moves.player.text == name)
    };
    // Undeclared players are printed too, because printing does not check.
    let undeclared =
        location.payoffs.iter().map(|p| &p.player).chain(location.moves.iter().map(|m| &m.player));
    let mut players: Vec<&str> = sheet.players.iter().map(|player| player.text.as_str()).collect();
    for name in undeclared {
        if !players.contains(&name.text.as_str()) {
            players.push(&name.text);
        }
    }
    for player in players {
        let own = location.payoffs.iter().find(|payoff| payoff.player.text == player);
        let payoff =
            own.or_else(|| sheet.payoffs.iter().find(|payoff| payoff.player.text == player));
        if payoff.is_none() && !mentioned(player) {
            continue;
        }
        let _ = write!(text, "  PLAYER {player} {{");
        if let Some(payoff) = payoff {
            let _ = write!(text, " PAYOFF {}", print_term(&payoff.value));
        }
        let edges: Vec<String> = location
            .moves
            .iter()
            .filter(|moves| moves.player.text == player)
            .flat_map(|moves| &moves.edges)
            .map(print_edge)
            .collect();
        if !edges.is_empty() {
            let _ = write!(text, " MOVES {}", edges.join("; "));
        }
        line(text, " }");
    }
    if !location.joint.is_empty() {
        let edges: Vec<String> = location.joint.iter().map(print_joint_edge).collect();
        line(text, &format!("  EDGES {}", edges.join("; ")));
    }
    line(text, "}");
}

fn print_equation(equation: &Equation) -> String {
    let (function, element) = (&equation.function.text, &equation.element.text);
    let strokes = "'".repeat(equation.order as usize);
    format!(":{function}({element}){strokes} = {}", print_term(&equation.term))
}

fn print_edge(edge: &Edge) -> String {
    let mut text = format!("[{}", edge.rule.text);
    match edge.multiplicity {
        Multiplicity::One => {}
        Multiplicity::Some => text.push_str(" *"),
        Multiplicity::All => text.push_str(" inf"),
    }
    if let Some(label) = &edge.label {
        let _ = write!(text, " as {}", label.text);
    }
    for interval in &edge.intervals {
        let (low, high) = (print_term(&interval.low), print_term(&interval.high));
        let _ = write!(text, ", {}: {low} -- {high}", interval.parameter.text);
    }
    text.push_str(&print_draws(&edge.draws));
    if let Some(target) = &edge.target {
        let _ = write!(text, " -> {}", target.text);
    }
    text.push_str(&print_probability(edge.probability.as_ref()));
    text.push(']');
    text
}

fn print_joint_edge(edge: &JointEdge) -> String {
    let probability = print_probability(edge.probability.as_ref());
    let draws = print_draws(&edge.draws);
    format!("[{}{draws} -> {}{probability}]", names(&edge.labels), edge.target.text)
}

fn print_draws(draws: &[Draw]) -> String {
    let mut text = String::new();
    for draw in draws {
        let arguments: Vec<String> = draw.arguments.iter().map(print_term).collect();
        let (name, distribution) = (&draw.name.text, &draw.distribution.text);
        let _ = write!(text, ", {name} ~ {distribution}({})", arguments.join(", "));
    }
    text
}

fn print_probability(probability: Option<&Term>) -> String {
    probability.map_or(String::new(), |term| format!(" : {}", print_term(term)))
}
