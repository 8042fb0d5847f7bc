//! Graphs for Graphviz: the dependency graph of a rulesheet, and the game graph of a structure
//! rewriting game.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use agon_gdl::check::CheckedRules;
use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;
use agon_toss::arena::CheckedArena;

/// Draws the dependency graph of a rulesheet. The nodes are relations and fluent names.
///
/// An arrow leads from a condition to the head that depends on it. It is dashed where the condition
/// is negated, and blue where it leads from one state to the next.
pub fn dependencies(rules: &CheckedRules) -> String {
    let sheet = rules.sheet();
    let node = |atom: &RuleAtom| -> (String, bool) {
        let name = |symbol| sheet.symbols.name(symbol).to_owned();
        let about_state = [keyword::TRUE, keyword::INIT, keyword::NEXT].contains(&atom.relation);
        match atom.arguments.first() {
            Some(RuleTerm::Function(fluent, arguments)) if about_state => {
                (format!("{}/{}", name(*fluent), arguments.len()), true)
            }
            Some(RuleTerm::Variable(_)) if about_state => ("any fluent".to_owned(), true),
            _ => (format!("{}/{}", name(atom.relation), atom.arguments.len()), false),
        }
    };
    // For each pair of nodes: is some condition negated, is some condition positive, does the arrow
    // lead to the next state.
    let mut arrows: BTreeMap<(String, String), (bool, bool, bool)> = BTreeMap::new();
    let (mut fluents, mut relations): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    let mut place = |(name, is_fluent): (String, bool)| {
        if is_fluent {
            fluents.insert(name.clone())
        } else {
            relations.insert(name.clone())
        };
        // A fluent and a relation may have the same name.
        if is_fluent { format!("fluent {name}") } else { name }
    };
    for rule in rules.rules() {
        let head = place(node(&rule.head));
        for condition in &rule.body {
            let Some(atom) = condition.atom() else { continue };
            let arrow = arrows.entry((place(node(atom)), head.clone())).or_default();
            match condition {
                Condition::Fails(_) => arrow.0 = true,
                Condition::Holds(_) | Condition::Differ(..) => arrow.1 = true,
            }
            arrow.2 |= rule.head.relation == keyword::NEXT;
        }
    }
    let mut text =
        String::from("digraph rules {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
    for name in &fluents {
        let id = quoted(&format!("fluent {name}"));
        let _ = writeln!(text, "  {id} [shape=box, style=rounded, label={}];", quoted(name));
    }
    for name in &relations {
        let _ = writeln!(text, "  {} [shape=ellipse];", quoted(name));
    }
    for ((from, to), (negated, plain, passes)) in arrows {
        let colour = if passes { "blue" } else { "black" };
        for (is_drawn, style) in [(plain, "solid"), (negated, "dashed")] {
            if is_drawn {
                let (from, to) = (quoted(&from), quoted(&to));
                let _ = writeln!(text, "  {from} -> {to} [style={style}, color={colour}];");
            }
        }
    }
    text.push_str("}\n");
    text
}

/// Draws the game graph of a structure rewriting game: locations with their payoffs, and edges with
/// the player and the rule.
pub fn arena(arena: &CheckedArena) -> String {
    let mut text = String::from("digraph arena {\n  node [fontname=\"sans-serif\", shape=box];\n");
    for (index, location) in arena.locations().iter().enumerate() {
        let mut label = location.name.clone();
        for (player, payoff) in location.payoffs.iter().enumerate() {
            if Some(player) != arena.nature() {
                let _ = write!(label, "\n{}: {payoff}", arena.players()[player]);
            }
        }
        let border = if index == arena.start_location().index() { ", peripheries=2" } else { "" };
        let _ = writeln!(text, "  l{index} [label={}{border}];", quoted(&label));
    }
    let mut n_chances = 0;
    for (index, location) in arena.locations().iter().enumerate() {
        for (player, edges) in location.edges.iter().enumerate() {
            for edge in edges {
                let mut label =
                    format!("{}: {}", arena.players()[player], arena.rule(edge.rule).name);
                if let Some(weight) = edge.weight {
                    let _ = write!(label, " : {weight}");
                }
                let label = quoted(&label);
                if let [(target, _)] = edge.outcomes.as_slice() {
                    let _ = writeln!(text, "  l{index} -> l{} [label={label}];", target.index());
                    continue;
                }
                let _ = writeln!(text, "  c{n_chances} [shape=diamond, label=\"\"];");
                let _ = writeln!(text, "  l{index} -> c{n_chances} [label={label}];");
                for (target, chance) in &edge.outcomes {
                    let chance = quoted(&chance.to_string());
                    let _ = writeln!(
                        text,
                        "  c{n_chances} -> l{} [label={chance}, style=dotted];",
                        target.index()
                    );
                }
                n_chances += 1;
            }
        }
    }
    text.push_str("}\n");
    text
}

/// Quotes a text for Graphviz.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
