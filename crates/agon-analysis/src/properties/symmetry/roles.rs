//! Interchangeable roles, proved on the text of the rules.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::Symmetry;
use crate::properties::Known;

/// Returns the pairs of interchangeable roles.
pub(super) fn roles(game: &Game) -> Vec<Symmetry> {
    let rules = game.rules().rules();
    let symbols = &game.rules().sheet().symbols;
    let identity = |symbol: Symbol| symbol;
    let all: BTreeSet<String> = rules.iter().map(|rule| canonical(rule, &identity)).collect();
    let mut found = Vec::new();
    let players: Vec<Symbol> =
        game.shape().players().map(|role| game.rules().roles()[role.index()]).collect();
    for (place, &a) in players.iter().enumerate() {
        for &b in &players[place + 1..] {
            let exchange = exchange(rules, a, b);
            let to = |symbol: Symbol| exchange.get(&symbol).copied().unwrap_or(symbol);
            // The exchange must be its own inverse, and it must not change numbers.
            let is_exchange = exchange.iter().all(|(from, to)| {
                exchange.get(to) == Some(from)
                    && (from == to || symbols.name(*from).parse::<i64>().is_err())
            });
            if !is_exchange {
                continue;
            }
            let is_same = |rule: &&Rule| all.contains(&canonical(rule, &to));
            let (initial, others): (Vec<&Rule>, Vec<&Rule>) =
                rules.iter().partition(|rule| rule.head.relation == keyword::INIT);
            if !others.iter().all(is_same) {
                continue;
            }
            let but = if initial.iter().all(is_same) { "" } else { " but for the initial state" };
            let with: Vec<String> = exchange
                .iter()
                .filter(|(from, to)| from < to && **from != a && **from != b)
                .map(|(&from, &to)| format!("{} and {}", symbols.name(from), symbols.name(to)))
                .collect();
            let with = if with.is_empty() {
                String::new()
            } else {
                format!(", with {},", with.join(", "))
            };
            let (a, b) = (symbols.name(a), symbols.name(b));
            found.push(Symmetry {
                text: format!("{a} and {b}{with} are interchangeable{but}"),
                known: Known::Proved,
                images: None,
            });
        }
    }
    found
}

/// Returns the symbols that must be exchanged together with two roles, as far as the facts leave
/// only one choice.
fn exchange(rules: &[Rule], a: Symbol, b: Symbol) -> BTreeMap<Symbol, Symbol> {
    let mut map = BTreeMap::from([(a, b), (b, a)]);
    let facts: Vec<(Symbol, Vec<Symbol>)> = rules
        .iter()
        .filter(|rule| rule.body.is_empty() && rule.head.relation != keyword::INIT)
        .filter_map(|rule| {
            let constants: Option<Vec<Symbol>> =
                rule.head.arguments.iter().map(RuleTerm::as_constant).collect();
            Some((rule.head.relation, constants?))
        })
        .collect();
    loop {
        let n_before = map.len();
        for (relation, fact) in &facts {
            let is_touched =
                fact.iter().any(|symbol| map.get(symbol).is_some_and(|to| to != symbol));
            if !is_touched || fact.iter().all(|symbol| map.contains_key(symbol)) {
                continue;
            }
            let fits = |other: &&(Symbol, Vec<Symbol>)| {
                other.0 == *relation
                    && other.1.len() == fact.len()
                    && fact
                        .iter()
                        .zip(&other.1)
                        .all(|(from, to)| map.get(from).is_none_or(|known| known == to))
            };
            let images: Vec<&(Symbol, Vec<Symbol>)> = facts.iter().filter(fits).collect();
            if let [(_, image)] = images.as_slice() {
                for (&from, &to) in fact.iter().zip(image) {
                    map.entry(from).or_insert(to);
                    map.entry(to).or_insert(from);
                }
            }
        }
        if map.len() == n_before {
            return map;
        }
    }
}

/// Returns a rule as a text that does not depend on the names of variables and, mostly, not on the
/// order of conditions.
fn canonical(rule: &Rule, to: &dyn Fn(Symbol) -> Symbol) -> String {
    let mut body: Vec<&Condition> = rule.body.iter().collect();
    body.sort_by_cached_key(|condition| condition_text(condition, to, &|_| "?".to_owned()));
    let mut names: BTreeMap<u32, usize> = BTreeMap::new();
    let mut number = |v: u32| {
        let n_known = names.len();
        names.entry(v).or_insert(n_known);
    };
    rule.head.each_variable(&mut number);
    body.iter().for_each(|condition| condition.each_variable(&mut number));
    let name = |v: u32| format!("?{}", names[&v]);
    // Conditions are sorted again after the variables have their names, because some may differ
    // only in their variables.
    let mut texts: Vec<String> =
        body.iter().map(|condition| condition_text(condition, to, &name)).collect();
    texts.sort();
    format!("{} <= {}", atom_text(&rule.head, to, &name), texts.join(" "))
}

fn condition_text(
    condition: &Condition,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    match condition {
        Condition::Holds(atom) => atom_text(atom, to, name),
        Condition::Fails(atom) => format!("not {}", atom_text(atom, to, name)),
        Condition::Differ(a, b, _) => {
            let mut sides = [term_text(a, to, name), term_text(b, to, name)];
            sides.sort();
            format!("distinct {} {}", sides[0], sides[1])
        }
    }
}

fn atom_text(
    atom: &RuleAtom,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    let arguments: Vec<String> =
        atom.arguments.iter().map(|argument| term_text(argument, to, name)).collect();
    // Relations keep their names: only their arguments are exchanged.
    format!("({:?} {})", atom.relation, arguments.join(" "))
}

fn term_text(
    term: &RuleTerm,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    match term {
        RuleTerm::Variable(v) => name(*v),
        RuleTerm::Function(symbol, arguments) => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| term_text(argument, to, name)).collect();
            format!("({:?} {})", to(*symbol), arguments.join(" "))
        }
    }
}
