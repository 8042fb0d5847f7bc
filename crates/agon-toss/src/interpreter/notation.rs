//! Texts of moves and states. They are written in KIF, so that records and protocols can carry them
//! without conversion.

use agon_game::{Hidden, Notation, Position as _, Role};

use super::position::{Interpreter, Move};

/// The move of a player that has nothing to do.
const NOOP: &str = "noop";

impl Notation for Interpreter {
    /// Writes a move as the rule and its elements in the order of the left side: `(Cross a1)`. If a
    /// role may apply one rule on the way to several locations, the location comes last:
    /// `(Cross a1 (to 2))`.
    fn move_text(&self, m: &Move) -> String {
        let arena = self.game.arena();
        match m {
            Move::Noop => NOOP.to_owned(),
            Move::Outcome { edge, outcome } => {
                let outcomes = &edge.edge(arena).outcomes;
                let target = outcomes[*outcome as usize].0;
                // Two outcomes may lead to the same location.
                let n_before =
                    outcomes[..*outcome as usize].iter().filter(|other| other.0 == target).count();
                let name = &arena.location(target).name;
                if n_before == 0 {
                    format!("(to {name})")
                } else {
                    format!("(to {name} {})", n_before + 1)
                }
            }
            Move::Apply { edge, elements } => {
                let way = edge.edge(arena);
                let structure = self.state().structure();
                let mut text = arena.rule(way.rule).name.clone();
                for &element in elements.iter() {
                    text.push(' ');
                    if structure.has(element) {
                        text.push_str(structure.name(element));
                    } else {
                        // The move belongs to another position, so the name of the element is
                        // unknown here.
                        text.push_str(&format!("element-{}", element.id()));
                    }
                }
                let edges = &arena.location(edge.location).edges[edge.player as usize];
                if edges.iter().filter(|other| other.rule == way.rule).count() > 1 {
                    let target =
                        way.outcomes.first().map_or("", |outcome| &arena.location(outcome.0).name);
                    text.push_str(&format!(" (to {target})"));
                }
                format!("({text})")
            }
        }
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Move> {
        let wanted = normal(text);
        self.legal_moves(role).iter().find(|m| normal(&self.move_text(m)) == wanted).cloned()
    }

    /// Lists `(P a1)` for each tuple of a changing relation, `(location 0)`, and everything else
    /// that the rest of the play depends on.
    fn state_text(&self) -> Vec<String> {
        let arena = self.game.arena();
        let structure = self.state().structure();
        let vocabulary = arena.vocabulary();
        let mut texts =
            vec![format!("(location {})", arena.location(self.state().location()).name)];
        for relation in vocabulary.relations().filter(|&relation| arena.is_fluent(relation)) {
            let name = vocabulary.relation_name(relation);
            for tuple in structure.tuples(relation).iter() {
                let elements: String =
                    tuple.iter().map(|&element| format!(" {}", structure.name(element))).collect();
                texts.push(if tuple.is_empty() {
                    name.to_string()
                } else {
                    format!("({name}{elements})")
                });
            }
        }
        if !self.game.keeps_universe {
            texts.extend(
                structure
                    .elements()
                    .map(|element| format!("(element {})", structure.name(element))),
            );
        }
        let history = self.state().history().iter();
        texts.extend(history.map(|rule| format!("(applied {})", arena.rule(*rule).name)));
        if let Some(edge) = self.state().pending() {
            texts.push(format!("(pending {})", arena.rule(edge.edge(arena).rule).name));
        }
        texts.sort();
        texts
    }
}

impl Hidden for Interpreter {
    /// Returns the texts of all moves, because all players see all moves.
    fn percepts(&self, joint: &[Move], _role: Role) -> Vec<String> {
        let mut moves: Vec<String> = joint.iter().map(|m| self.move_text(m)).collect();
        moves.sort();
        moves
    }
}

/// Converts a text to lower case, with single spaces between its parts.
fn normal(text: &str) -> String {
    let spaced = text.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}
