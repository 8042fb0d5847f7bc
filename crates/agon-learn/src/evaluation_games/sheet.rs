//! Evaluation games as text in the language of structure rewriting games.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use agon_structures::formula::{Formula, Term};
use agon_toss::interpreter::Game as Rules;

use super::construction::{Construction, Finding, Game, GameId, Structure, element_name};
use super::view::OLD;

/// Writes an evaluation game that was constructed for a location of a game. `name` is the name of
/// the evaluated game and `findings` are what a policy has to say about it.
pub fn sheet(
    sets: &Construction,
    selected: GameId,
    rules: &Rules,
    name: &str,
    location: &str,
    findings: &[Finding],
) -> String {
    let arena = rules.arena();
    let players = arena.players().iter().enumerate();
    let players: Vec<&str> = players
        .filter(|(player, _)| Some(*player) != arena.nature())
        .map(|(_, name)| name.as_str())
        .collect();
    let at = arena.locations().iter().find(|known| known.name == location);
    let edges = at.map_or(&[][..], |at| &at.edges);
    let mover = edges
        .iter()
        .zip(arena.players())
        .enumerate()
        .find(|(player, (edges, _))| !edges.is_empty() && Some(*player) != arena.nature());
    let mover = mover.map_or(players[0], |(_, (_, name))| name.as_str());
    let mut writer = Writer {
        sets,
        players: &players,
        rules: String::new(),
        locations: Vec::new(),
        relations: BTreeSet::new(),
        functions: BTreeSet::new(),
        ends: BTreeMap::new(),
        n_rules: 0,
        n_locations: 0,
    };
    writer.game(selected, "assess", mover);
    let mut text =
        format!("// An evaluation game for moves at the location `{location}` of {name}.\n");
    for finding in findings {
        let [of, all] = finding.n_moves;
        let [then, otherwise] = finding.means;
        let sentence = format!(
            "{}: {mover} gets {then:.1} on average, otherwise {otherwise:.1} ({of} of {all} \
             moves).",
            finding.words
        );
        comment(&mut text, &sentence);
    }
    let _ = writeln!(text, "\nPLAYERS {}", players.join(", "));
    let _ = writeln!(text, "DATA game: {name}\nDATA location: {location}\n");
    text.push_str(&writer.rules);
    text.push('\n');
    writer.locations.iter().for_each(|location| text.push_str(location));
    let vocabulary = arena.vocabulary();
    let relations = writer.relations.iter().filter_map(|used| {
        let base = vocabulary.relation(used).map_or(used.strip_suffix(OLD), |_| Some(used));
        let arity = vocabulary.arity(vocabulary.relation(base?)?);
        Some(format!("{used}:{arity} {{}}"))
    });
    let functions = writer.functions.iter().map(|used| format!("{used} {{ a -> 0 }}"));
    let or_dash =
        |list: Vec<String>| if list.is_empty() { "-".to_owned() } else { list.join("; ") };
    let _ = writeln!(
        text,
        "\nSTART [a | {} | {}]",
        or_dash(relations.collect()),
        or_dash(functions.collect())
    );
    text
}

/// Writes a sentence as a comment, in lines of at most 100 columns.
fn comment(text: &mut String, sentence: &str) {
    let mut line = String::from("//");
    for word in sentence.split_whitespace() {
        if line.len() + word.len() >= 100 {
            let _ = writeln!(text, "{line}");
            line = String::from("//  ");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

struct Writer<'a> {
    sets: &'a Construction,
    players: &'a [&'a str],
    rules: String,
    /// The first one is where play starts.
    locations: Vec<String>,
    relations: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// The locations where play ends, by the bits of the payoffs.
    ends: BTreeMap<Vec<u64>, String>,
    n_rules: usize,
    n_locations: usize,
}

impl Writer<'_> {
    /// Writes a game that begins at the location with this name, where the mover has the moves if
    /// nobody else is named.
    fn game(&mut self, id: GameId, at: &str, mover: &str) {
        let mut moves = Vec::new();
        let sets = self.sets;
        let place = self.locations.len();
        self.locations.push(String::new());
        let player = match sets.game(id) {
            Game::Lottery(_) | Game::Test { .. } => {
                self.tests(id, Vec::new(), mover, &mut moves);
                mover
            }
            Game::Choice { player, games } => {
                for game in games {
                    let to = self.place(*game, mover);
                    let rule = self.rule("ELEMS MATCH true");
                    moves.push(format!("[{rule} -> {to}]"));
                }
                player
            }
            Game::Rewrite { player, left, right, updates, then } => {
                let to = self.place(*then, mover);
                let mut body = format!("{} -> {}", self.side(left), self.side(right));
                for (number, update) in updates.iter().enumerate() {
                    self.functions.insert(update.function.clone());
                    self.use_term(&update.term);
                    let keyword = if number == 0 { " update" } else { ";" };
                    let _ = write!(
                        body,
                        "{keyword} :{}({}) = {}",
                        update.function, update.element, update.term
                    );
                }
                let rule = self.rule(&body);
                moves.push(format!("[{rule} -> {to}]"));
                player
            }
        };
        let mut text = format!("LOC {at} {{\n");
        for name in self.players {
            if *name == player {
                let moves = moves.join(";\n      ");
                let _ = writeln!(
                    text,
                    "  PLAYER {name} {{\n    PAYOFF 0\n    MOVES\n      {moves}\n  }}"
                );
            } else {
                let _ = writeln!(text, "  PLAYER {name} {{ PAYOFF 0 }}");
            }
        }
        text.push_str("}\n");
        self.locations[place] = text;
    }

    /// Returns the location of a game, which is written if it is not a payoff.
    fn place(&mut self, id: GameId, mover: &str) -> String {
        if let Game::Lottery(outcomes) = self.sets.game(id)
            && let [(payoffs, _)] = &outcomes[..]
        {
            return self.end(payoffs);
        }
        self.n_locations += 1;
        let name = format!("part{}", self.n_locations);
        self.game(id, &name, mover);
        name
    }

    /// Adds moves for a tree of tests. `context` has the conditions on the way to it.
    fn tests(&mut self, id: GameId, context: Vec<Formula>, mover: &str, moves: &mut Vec<String>) {
        let sets = self.sets;
        match sets.game(id) {
            Game::Test { condition, then, otherwise } => {
                let with = |last: Formula| [&context[..], &[last]].concat();
                self.tests(*then, with(condition.clone()), mover, moves);
                self.tests(*otherwise, with(Formula::not(condition.clone())), mover, moves);
            }
            Game::Lottery(outcomes) => {
                let rule = self.match_rule(&context);
                let is_certain = outcomes.len() == 1;
                for (payoffs, share) in outcomes {
                    let to = self.end(payoffs);
                    let chance = f64::from(*share) / 1000.0;
                    let chance = if is_certain { String::new() } else { format!(" : {chance}") };
                    moves.push(format!("[{rule} -> {to}{chance}]"));
                }
            }
            Game::Choice { .. } | Game::Rewrite { .. } => {
                let to = self.place(id, mover);
                let rule = self.match_rule(&context);
                moves.push(format!("[{rule} -> {to}]"));
            }
        }
    }

    fn match_rule(&mut self, context: &[Formula]) -> String {
        context.iter().for_each(|formula| self.use_formula(formula));
        let texts: Vec<String> = context.iter().map(|formula| format!("({formula})")).collect();
        let condition = if texts.is_empty() { "true".to_owned() } else { texts.join("\n  and ") };
        self.rule(&format!("ELEMS MATCH {condition}"))
    }

    fn rule(&mut self, body: &str) -> String {
        self.n_rules += 1;
        let name = format!("Case{}", self.n_rules);
        let _ = writeln!(self.rules, "RULE {name}: {body}");
        name
    }

    /// Returns the location where play ends with payoffs.
    fn end(&mut self, payoffs: &[f64]) -> String {
        let bits: Vec<u64> = payoffs.iter().map(|payoff| payoff.to_bits()).collect();
        if let Some(name) = self.ends.get(&bits) {
            return name.clone();
        }
        let name = format!("end{}", self.ends.len() + 1);
        let players = self.players.iter().zip(payoffs);
        let players: Vec<String> =
            players.map(|(name, payoff)| format!("PLAYER {name} {{ PAYOFF {payoff} }}")).collect();
        self.locations.push(format!("LOC {name} {{ {} }}\n", players.join(" ")));
        self.ends.insert(bits, name.clone());
        name
    }

    fn side(&mut self, structure: &Structure) -> String {
        let elements: Vec<String> = (0..structure.n_elements).map(element_name).collect();
        let tuples = structure.tuples.iter().map(|(relation, tuple)| {
            self.relations.insert(relation.clone());
            let names: Vec<String> = tuple.iter().map(|&element| element_name(element)).collect();
            format!("{relation}({})", names.join(", "))
        });
        let tuples: Vec<String> = tuples.collect();
        let tuples = if tuples.is_empty() { "-".to_owned() } else { tuples.join("; ") };
        format!("[{} | {tuples} | -]", elements.join(", "))
    }

    fn use_formula(&mut self, formula: &Formula) {
        match formula {
            Formula::Relation(name, _) => {
                self.relations.insert(name.to_string());
            }
            Formula::Not(inner) | Formula::Exists(_, inner) | Formula::All(_, inner) => {
                self.use_formula(inner);
            }
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| self.use_formula(part));
            }
            Formula::Compare(left, _, right) => {
                self.use_term(left);
                self.use_term(right);
            }
            Formula::Equal(..)
            | Formula::Member(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => {}
        }
    }

    fn use_term(&mut self, term: &Term) {
        match term {
            Term::Function(name, _) => {
                self.functions.insert(name.to_string());
            }
            Term::Binary(_, left, right) => {
                self.use_term(left);
                self.use_term(right);
            }
            _ => {}
        }
    }
}
