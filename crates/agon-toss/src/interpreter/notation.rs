//! Texts of moves and states. They are written in KIF, so that records and protocols can carry them
//! without conversion.

use agon_game::{Continuous, Family, Hidden, Notation, Position as _, Role, normal, split_numbers};
use agon_reals::real::Real;
use agon_structures::structure::Element;

use super::embedding::Embedding;
use super::families::chosen_names;
use super::moves::{Branch, EdgeId, Move, split_embeddings};
use super::position::Interpreter;
use super::state::Phase;
use crate::arena::{Edge, Multiplicity};

/// The move of a player that has nothing to do.
const NOOP: &str = "noop";

impl Notation for Interpreter {
    /// Writes a move as the rule and its elements in the order of the left side: `(Cross a1)`. If a
    /// role may apply one rule on the way to several locations, the location comes last:
    /// `(Cross a1 (to 2))`.
    ///
    /// The numbers of a move come last, with their names: `(Chase c (t 0.5) (px 1))`. A set of
    /// embeddings is written as lists, `(Push (a1 b1) (a2 b2))`, and all embeddings as `all`.
    fn move_text(&self, m: &Move) -> String {
        let arena = self.game.arena();
        match m {
            Move::Noop => NOOP.to_owned(),
            Move::Outcome { branch, outcome } => {
                let outcomes = branch.outcomes(arena);
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
            Move::Draw(numbers) => {
                let draws = &arena.location(self.state().location()).draws;
                let names = draws.iter().map(|draw| draw.name.name().trim_start_matches(':'));
                with_numbers("(draw)", names.zip(numbers.as_slice().iter().copied()))
            }
            Move::Apply { edge, elements, numbers } => {
                let label = edge.edge(arena);
                let names = chosen_names(label, arena.rule(label.rule));
                let numbers = names.iter().map(String::as_str).zip(numbers.as_slice());
                let family = self.family_text(*edge, elements);
                with_numbers(&family, numbers.map(|(name, &number)| (name, number)))
            }
        }
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Move> {
        let wanted = normal(text);
        let listed = self.legal_moves(role).iter();
        if let Some(m) = listed.clone().find(|m| normal(&self.move_text(m)) == wanted) {
            return Some(m.clone());
        }
        if !self.game.arena().is_continuous() && !wanted.contains(" ( ") {
            return None;
        }
        self.parse_unlisted(role, text)
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
        match self.state().content().phase {
            Phase::Outcome(Branch::Edge(edge)) => {
                texts.push(format!("(pending {})", arena.rule(edge.edge(arena).rule).name));
            }
            Phase::Outcome(Branch::Joint { index, .. }) => {
                texts.push(format!("(pending {index})"));
            }
            Phase::Choose | Phase::Draw => {}
        }
        self.push_numbers(&mut texts);
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

impl Interpreter {
    /// Returns the position that texts of a state describe, the inverse of
    /// [`Notation::state_text`]. Returns `None` if a text does not fit the game, and for games whose
    /// states are not determined by their texts: continuous ones, and those whose universe changes.
    pub fn at_texts(&self, texts: &[String]) -> Option<Interpreter> {
        let arena = self.game.arena();
        if arena.is_continuous() || !arena.keeps_universe() {
            return None;
        }
        let mut content = self.game.start_state().content().clone();
        let vocabulary = arena.vocabulary();
        for relation in vocabulary.relations().filter(|&relation| arena.is_fluent(relation)) {
            let tuples: Vec<Vec<Element>> =
                content.structure.tuples(relation).iter().map(<[Element]>::to_vec).collect();
            for tuple in tuples {
                content.structure.remove(relation, &tuple);
            }
        }
        let mut history = std::collections::BTreeSet::new();
        for text in texts {
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            let words: Vec<&str> = inner.unwrap_or(text).split_whitespace().collect();
            let (&first, rest) = words.split_first()?;
            let element = |name: &&str| content.structure.element(name);
            if let Some(relation) = vocabulary.relation(first) {
                let tuple: Vec<Element> = rest.iter().map(element).collect::<Option<_>>()?;
                content.structure.add(relation, &tuple).ok()?;
            } else if let (Some(function), [name, number]) = (vocabulary.function(first), rest) {
                let (element, value) = (element(name)?, number.parse().ok()?);
                content.structure.set_value(function, element, Some(value)).ok()?;
            } else {
                match (first, rest) {
                    ("location", [name]) => content.location = arena.location_named(name)?,
                    ("applied", [name]) => {
                        let rule = arena.rules().iter().position(|rule| rule.name == *name)?;
                        history.insert(crate::arena::RuleId::new(rule));
                    }
                    _ => return None,
                }
            }
        }
        content.history = std::sync::Arc::new(history);
        let mut position = self.clone();
        let content = self.entering(content);
        position.go_to(&self.new_state(content));
        Some(position)
    }

    /// Returns the text of a move without its numbers.
    pub(super) fn family_text(&self, edge: EdgeId, elements: &[Element]) -> String {
        let arena = self.game.arena();
        let label = edge.edge(arena);
        let rule = arena.rule(label.rule);
        let structure = self.state().structure();
        let name = |element: &Element| {
            if structure.has(*element) {
                structure.name(*element).to_string()
            } else {
                // The move belongs to another position, so the name of the element is unknown
                // here.
                format!("element-{}", element.id())
            }
        };
        let mut parts = vec![rule.name.clone()];
        match label.multiplicity {
            Multiplicity::One => parts.extend(elements.iter().map(name)),
            Multiplicity::Some => {
                for embedding in split_embeddings(elements, rule.elements.len()) {
                    let names: Vec<String> = embedding.iter().map(name).collect();
                    parts.push(format!("({})", names.join(" ")));
                }
            }
            Multiplicity::All => parts.push("all".to_owned()),
        }
        if let Some(label) = &label.label {
            parts.push(format!("(as {label})"));
        }
        let edges = &arena.location(edge.location).edges[edge.player as usize];
        let is_same = |other: &&Edge| other.rule == label.rule && other.label == label.label;
        if edges.iter().filter(is_same).count() > 1 {
            let target =
                label.outcomes.first().map_or("", |outcome| &arena.location(outcome.0).name);
            parts.push(format!("(to {target})"));
        }
        format!("({})", parts.join(" "))
    }

    /// Adds the texts of function values that may change, of random numbers and of time.
    fn push_numbers(&self, texts: &mut Vec<String>) {
        let arena = self.game.arena();
        let structure = self.state().structure();
        let vocabulary = arena.vocabulary();
        for function in vocabulary.functions().filter(|&f| arena.is_changing_function(f)) {
            let name = vocabulary.function_name(function);
            for element in structure.elements() {
                let value = match self.state().values() {
                    Some(values) => values.get(function, element),
                    None => structure.value(function, element).map_or(Real::ZERO, Real::Exact),
                };
                texts.push(format!("({name} {} {})", structure.name(element), number_text(&value)));
            }
        }
        let content = self.state().content();
        if arena.is_continuous() {
            texts.push(format!("(time {})", content.clock.now));
            let draws = &arena.location(content.location).draws;
            for (draw, number) in draws.iter().zip(content.drawn.iter()) {
                let name = draw.name.name().trim_start_matches(':');
                texts.push(format!("(drawn {name} {number})"));
            }
        }
    }

    /// Parses a move that is not in the list: with other numbers or with another set of
    /// embeddings.
    fn parse_unlisted(&self, role: Role, text: &str) -> Option<Move> {
        let names = self.number_names(role);
        let is_name = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let (family, numbers) = split_numbers(text, is_name);
        let take = |wanted: &[String]| -> Option<Vec<f64>> {
            if wanted.len() != numbers.len() {
                return None;
            }
            let find = |name: &String| {
                let is_named = |(given, _): &&(String, f64)| name.eq_ignore_ascii_case(given);
                numbers.iter().find(is_named).map(|(_, number)| *number)
            };
            wanted.iter().map(find).collect()
        };
        let arena = self.game.arena();
        if family == "( draw )" {
            let draws = &arena.location(self.state().location()).draws;
            let names: Vec<String> =
                draws.iter().map(|d| d.name.name().trim_start_matches(':').to_owned()).collect();
            let m = Move::Draw(take(&names)?.into());
            return self.is_legal(role, &m).then_some(m);
        }
        let families = Continuous::families(self, role);
        if let Some(place) = families.iter().position(|known| normal(&known.text) == family) {
            let names: Vec<String> =
                families[place].parameters.iter().map(|p| p.name.clone()).collect();
            return self.member(role, place, &take(&names)?);
        }
        let m = self.parse_set(role, &family, &take)?;
        self.is_legal(role, &m).then_some(m)
    }

    /// Returns the names of all numbers that moves of a role may have here.
    pub(crate) fn number_names(&self, role: Role) -> Vec<String> {
        let arena = self.game.arena();
        let location = arena.location(self.state().location());
        let edges = location.edges.get(role.index()).into_iter().flatten();
        let chosen = edges.flat_map(|label| chosen_names(label, arena.rule(label.rule)));
        let drawn = location.draws.iter().map(|draw| draw.name.name().trim_start_matches(':'));
        chosen.chain(drawn.map(str::to_owned)).collect()
    }

    /// Parses a move that applies its rule to a set of embeddings: `( push ( a1 b1 ) ( a2 b2 ) )`.
    fn parse_set(
        &self,
        role: Role,
        family: &str,
        take: &dyn Fn(&[String]) -> Option<Vec<f64>>,
    ) -> Option<Move> {
        let arena = self.game.arena();
        let location = self.state().location();
        let structure = self.state().structure();
        let mut lists: Vec<Vec<&str>> = vec![Vec::new()];
        let mut words = family.strip_prefix("( ")?.strip_suffix(" )")?.split_whitespace();
        let rule = words.next()?;
        for word in words {
            match word {
                "(" => lists.push(Vec::new()),
                ")" => {}
                word => lists.last_mut()?.push(word),
            }
        }
        let edges = arena.location(location).edges.get(role.index())?;
        for (index, label) in edges.iter().enumerate() {
            let known = arena.rule(label.rule);
            if label.multiplicity != Multiplicity::Some || !known.name.eq_ignore_ascii_case(rule) {
                continue;
            }
            let mut elements = Vec::new();
            for word in lists[1..].iter().filter(|l| l.first() != Some(&"as")).flatten() {
                let named = |&e: &Element| structure.name(e).eq_ignore_ascii_case(word);
                elements.push(structure.elements().find(named)?);
            }
            // The set is kept in the order of the embeddings.
            let mut set = split_embeddings(&elements, known.elements.len());
            set.sort();
            let elements: Embedding =
                set.iter().flat_map(|embedding| embedding.iter()).copied().collect();
            let edge = EdgeId { location, player: role.index() as u32, index: index as u32 };
            let numbers = take(&chosen_names(label, known))?.into();
            return Some(Move::Apply { edge, elements, numbers });
        }
        None
    }
}

impl Continuous for Interpreter {
    fn families(&self, role: Role) -> &[Family] {
        self.families_here(role)
    }

    fn member(&self, role: Role, family: usize, parameters: &[f64]) -> Option<Move> {
        self.member_of(role, family, parameters)
    }

    fn coordinates(&self, role: Role, m: &Move) -> Option<(usize, Vec<f64>)> {
        self.coordinates_of(role, m)
    }

    fn margins(&self) -> Vec<f64> {
        self.margins_here()
    }

    fn payoff_along(&self, line: &[Vec<Move>], role: Role) -> Option<agon_game::Polynomial> {
        self.polynomial_along(line, role)
    }

    fn passage(&self, joint: &[Move], n_points: usize) -> Option<agon_game::Passage> {
        self.passage_of(joint, n_points)
    }

    fn successors(&self, joints: &[Vec<Move>]) -> Vec<super::state::State> {
        self.states_after(joints)
    }
}

/// Adds numbers with their names to the text of a move.
fn with_numbers<'n>(family: &str, numbers: impl Iterator<Item = (&'n str, f64)>) -> String {
    let mut text = family.strip_suffix(')').unwrap_or(family).to_owned();
    for (name, number) in numbers {
        text.push_str(&format!(" ({name} {number})"));
    }
    text.push(')');
    text
}

/// Returns the text of a value: exact, or the middle of its interval.
fn number_text(value: &Real) -> String {
    match value {
        Real::Exact(number) => number.to_string(),
        Real::Interval(interval) => interval.midpoint().to_string(),
    }
}
