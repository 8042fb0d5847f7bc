//! The arena as clauses: legal moves at each location, their effects, ends of play and payoffs.

mod goals;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::formula::Name;
use agon_structures::rational::Rational;
use agon_structures::structure::RelationId;
use agon_toss::arena::{Edge, Effect, LocationId, Rewrite, RuleId};

use super::clauses::{Atom, Expression, Section};
use super::formulas::Scope;
use super::nodes::{Node, Polarity};
use super::translator::{Moment, Translator};
use super::{Payoffs, ToGdlError};

/// Maximum number of equally likely lots in one draw of nature. Probabilities that need more are
/// rejected.
const MAX_LOTS: i128 = 1_000;

/// Words for the game graph.
pub(super) struct Words {
    location: String,
    lot: String,
    acts: String,
}

/// The naming of a rule in moves. Where one rule leads to several locations, the move contains the
/// location.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Plain,
    WithTarget,
}

impl Translator<'_> {
    /// Writes all clauses of the game.
    pub(super) fn game(&mut self) -> Result<Payoffs, ToGdlError> {
        let words = Words {
            location: self.names.fresh("location"),
            lot: self.names.fresh("lot"),
            acts: self.names.fresh("can_act"),
        };
        for player in self.arena.players() {
            let role = Expression::word(self.names.constant(player));
            self.fact(Section::Roles, Atom::about("role", role));
        }
        self.start(&words)?;
        let mut pending = BTreeMap::new();
        for index in 0..self.arena.locations().len() {
            self.location(index, &words, &mut pending)?;
        }
        self.changes()?;
        if self.arena.nature().is_some() {
            self.percepts()?;
        }
        self.payoffs(&words, &pending)
    }

    /// Returns whether fluents have the same names as the facts of the game's states.
    pub(super) fn has_same_state_facts(&mut self) -> bool {
        let vocabulary = self.arena.vocabulary();
        let is_kept = |name: &Name| {
            self.words.get(&(Arc::clone(name), Moment::Now)).is_none_or(|word| **word == **name)
        };
        let all: Vec<RelationId> =
            vocabulary.relations().filter(|&id| self.is_fluent(id)).collect();
        let mut facts = all.into_iter().map(|id| vocabulary.relation_name(id));
        let words = ["location", "element", "applied"];
        let is_taken = |word: &&str| vocabulary.relation(word).is_some();
        facts.all(is_kept) && !words.iter().any(is_taken) && self.names.is_plain()
    }

    fn here(&self, words: &Words, name: Expression) -> Atom {
        Atom::about("true", Expression::Call(words.location.clone(), vec![name]))
    }

    fn place(&self, location: LocationId) -> Expression {
        Expression::word(self.names.constant(&self.arena.location(location).name))
    }

    fn start(&mut self, words: &Words) -> Result<(), ToGdlError> {
        let at =
            Expression::Call(words.location.clone(), vec![self.place(self.arena.start_location())]);
        self.fact(Section::Start, Atom::about("init", at));
        let (vocabulary, start) = (Arc::clone(self.arena.vocabulary()), self.arena.start().clone());
        let all: Vec<RelationId> =
            vocabulary.relations().filter(|&relation| self.is_fluent(relation)).collect();
        for relation in all {
            let word = self.relation(vocabulary.relation_name(relation), Moment::Now)?;
            for tuple in start.tuples(relation).iter() {
                let elements = tuple
                    .iter()
                    .map(|&element| Expression::word(self.names.constant(start.name(element))));
                let fluent = Expression::Call(word.clone(), elements.collect());
                self.fact(Section::Start, Atom::about("init", fluent));
            }
        }
        if self.is_changing() {
            let element = self.element();
            for living in start.elements() {
                let name = Expression::word(self.names.constant(start.name(living)));
                let fluent = Expression::Call(element.clone(), vec![name]);
                self.fact(Section::Start, Atom::about("init", fluent));
            }
        }
        Ok(())
    }

    /// Writes the legal moves of a location, the next locations, and the end of play there.
    fn location(
        &mut self,
        index: usize,
        words: &Words,
        pending: &mut BTreeMap<String, usize>,
    ) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let location = &arena.locations()[index];
        let name = Expression::word(self.names.constant(&location.name));
        let here = Node::holds(self.here(words, name));
        let n_movers = location.edges.iter().filter(|edges| !edges.is_empty()).count();
        if n_movers == 0 {
            return self.define(Section::End, &Atom::new("terminal", Vec::new()), &here);
        }
        for player in 0..location.edges.len() {
            self.legal_moves(index, player, &here, words)?;
        }
        self.next_locations(index, &here, words, pending)
    }

    /// Writes the legal moves of a player at a location. A player without a move ends the play.
    fn legal_moves(
        &mut self,
        index: usize,
        player: usize,
        here: &Node,
        words: &Words,
    ) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let location = &arena.locations()[index];
        let edges = &location.edges[player];
        let role = Expression::word(self.names.constant(&arena.players()[player]));
        let legal = |m: Expression| Atom::new("legal", vec![role.clone(), m]);
        if edges.is_empty() {
            return self.define(Section::Moves, &legal(Expression::word("noop")), here);
        }
        if Some(player) == arena.nature() && edges.iter().any(|edge| edge.weight.is_some()) {
            return Err(ToGdlError::WeightedMatches { location: location.name.clone() });
        }
        let able = Atom::new(words.acts.clone(), vec![role.clone()]);
        let stuck = Node::and([here.clone(), Node::fails(able)]);
        self.define(Section::End, &Atom::new("terminal", Vec::new()), &stuck)?;
        let [anyone, anything] =
            ["role", "move"].map(|hint| self.variable(hint)).map(Expression::Variable);
        let some = Node::holds(Atom::new("legal", vec![anyone.clone(), anything]));
        self.define(Section::End, &Atom::new(words.acts.clone(), vec![anyone]), &some)?;
        for edge in edges {
            let can = self.can(edge.rule)?;
            let vars = self.matched(edge.rule, &can);
            let arguments: Vec<Expression> =
                vars.iter().map(|&var| Expression::Variable(var)).collect();
            let node = Node::and([here.clone(), Node::holds(Atom::new(can, arguments.clone()))]);
            let shape = shape(edges, edge);
            let target = edge.outcomes.first().map(|outcome| self.place(outcome.0));
            let m = self.move_term(edge.rule, arguments, shape, target);
            self.define(Section::Moves, &legal(m), &node)?;
        }
        Ok(())
    }

    /// Writes the locations that the moves of a location lead to.
    fn next_locations(
        &mut self,
        index: usize,
        here: &Node,
        words: &Words,
        pending: &mut BTreeMap<String, usize>,
    ) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let location = &arena.locations()[index];
        let n_movers = location.edges.iter().filter(|edges| !edges.is_empty()).count();
        let to = |place: Expression| {
            Atom::about("next", Expression::Call(words.location.clone(), vec![place]))
        };
        let edges: Vec<(usize, &Edge)> = location
            .edges
            .iter()
            .enumerate()
            .flat_map(|(player, edges)| edges.iter().map(move |edge| (player, edge)))
            .collect();
        let is_random = |edge: &Edge| edge.outcomes.len() > 1;
        let targets: BTreeSet<LocationId> = edges
            .iter()
            .flat_map(|(_, edge)| edge.outcomes.iter().map(|outcome| outcome.0))
            .collect();
        let rewrites = |edge: &Edge| matches!(arena.rule(edge.rule).effect, Effect::Rewrite(_));
        if n_movers > 1
            && let Some((_, edge)) = edges.iter().find(|(_, edge)| rewrites(edge))
        {
            return Err(ToGdlError::ChangingUniverse { rule: arena.rule(edge.rule).name.clone() });
        }
        if n_movers > 1 && edges.iter().any(|(_, edge)| is_random(edge)) {
            return Err(ToGdlError::ChanceAtOnce { location: location.name.clone() });
        }
        if let (1, false) = (targets.len(), edges.iter().any(|(_, edge)| is_random(edge))) {
            let target = *targets.first().expect("the location has one target");
            return self.define(Section::Changes, &to(self.place(target)), here);
        }
        for (player, edge) in edges {
            let role = Expression::word(self.names.constant(&arena.players()[player]));
            let shape = shape(&location.edges[player], edge);
            let target = edge.outcomes.first().map(|outcome| self.place(outcome.0));
            let vars: Vec<Expression> = arena
                .rule(edge.rule)
                .elements
                .iter()
                .map(|element| Expression::Variable(self.variable(element.name())))
                .collect();
            let m = self.move_term(edge.rule, vars, shape, target.clone());
            let done = Node::and([here.clone(), Node::holds(Atom::new("does", vec![role, m]))]);
            if !is_random(edge) {
                let target = target.expect("every edge has an outcome");
                self.define(Section::Changes, &to(target), &done)?;
                continue;
            }
            let rule = &arena.rule(edge.rule).name;
            let waiting = self.names.fresh(&format!("{rule}_at_{}", location.name));
            pending.insert(waiting.clone(), index);
            self.define(Section::Changes, &to(Expression::word(waiting.clone())), &done)?;
            self.chance(edge, waiting, words)?;
        }
        Ok(())
    }

    /// Writes a draw of nature for the next location, with a number of equal lots for each outcome.
    fn chance(&mut self, edge: &Edge, waiting: String, words: &Words) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let nature = arena.nature().expect("a game with random outcomes has a nature role");
        let here = Node::holds(self.here(words, Expression::word(waiting)));
        let lots = lots(&edge.outcomes)
            .ok_or_else(|| ToGdlError::UnevenChance { rule: arena.rule(edge.rule).name.clone() })?;
        for (player, name) in arena.players().iter().enumerate() {
            if player != nature {
                let role = Expression::word(self.names.constant(name));
                let noop = Atom::new("legal", vec![role, Expression::word("noop")]);
                self.define(Section::Moves, &noop, &here)?;
            }
        }
        let role = Expression::word(self.names.constant(&arena.players()[nature]));
        for (place, (target, _)) in edge.outcomes.iter().enumerate() {
            // Two outcomes may lead to the same location, although there is little use for it.
            let n_before = edge.outcomes[..place].iter().filter(|other| other.0 == *target).count();
            let mut arguments = vec![self.place(*target)];
            if n_before > 0 {
                arguments.push(Expression::word((n_before + 1).to_string()));
            }
            let outcome = Expression::Call("to".to_owned(), arguments);
            for lot in 1..=lots[place] {
                let m = if lot == 1 {
                    outcome.clone()
                } else {
                    let number = Expression::word(lot.to_string());
                    Expression::Call(words.lot.clone(), vec![number, outcome.clone()])
                };
                let chosen = vec![role.clone(), m];
                self.define(Section::Moves, &Atom::new("legal", chosen.clone()), &here)?;
                let done = Node::and([here.clone(), Node::holds(Atom::new("does", chosen))]);
                let next = Expression::Call(words.location.clone(), vec![self.place(*target)]);
                self.define(Section::Changes, &Atom::about("next", next), &done)?;
            }
        }
        Ok(())
    }

    fn move_term(
        &self,
        rule: RuleId,
        mut arguments: Vec<Expression>,
        shape: Shape,
        target: Option<Expression>,
    ) -> Expression {
        if shape == Shape::WithTarget {
            arguments.push(Expression::Call("to".to_owned(), target.into_iter().collect()));
        }
        Expression::Call(self.names.constant(&self.arena.rule(rule).name), arguments)
    }

    /// Returns the word for the embeddings that a rule may be applied to.
    fn can(&mut self, id: RuleId) -> Result<String, ToGdlError> {
        let fits = self.fits(id)?;
        let arena = self.arena;
        let rule = arena.rule(id);
        if let Effect::Rewrite(rewrite) = &rule.effect {
            return self.can_rewrite(id, rewrite, fits);
        }
        let Some(post) = &rule.post else { return Ok(fits) };
        let key = (Name::from(format!("can {}", id.index())), Moment::After(id));
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let word = self.names.fresh(&format!("{}_allowed", rule.name));
        self.words.insert(key, word.clone());
        self.context = format!("after_{}", rule.name);
        let matched = self.matched(id, &fits);
        let arguments: Vec<Expression> =
            matched.iter().map(|&var| Expression::Variable(var)).collect();
        let variables = post.variables.iter().cloned().zip(matched.iter().copied()).collect();
        let scope = Scope::new(Moment::After(id), &matched, variables);
        let node = self.node(&post.formula, &scope, Polarity::Positive)?;
        let node = Node::and([Node::holds(Atom::new(fits, arguments.clone())), node]);
        self.define(Section::Meanings, &Atom::new(word.clone(), arguments), &node)?;
        Ok(word)
    }

    /// Returns the word for the embeddings that a rewriting rule may be applied to. If the rule
    /// creates elements, there must be enough names left in the pool.
    fn can_rewrite(
        &mut self,
        id: RuleId,
        rewrite: &Rewrite,
        fits: String,
    ) -> Result<String, ToGdlError> {
        if self.arena.rule(id).post.is_some() {
            return Err(ToGdlError::ChangingUniverse { rule: self.arena.rule(id).name.clone() });
        }
        let new: Vec<usize> =
            (0..rewrite.right.len()).filter(|&place| !rewrite.keeps[place]).collect();
        if new.is_empty() {
            return Ok(fits);
        }
        let key = (Name::from(format!("can {}", id.index())), Moment::After(id));
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let word = self.names.fresh(&format!("{}_allowed", self.arena.rule(id).name));
        self.words.insert(key, word.clone());
        let matched = self.own_terms(id);
        let mut conditions = vec![Node::holds(Atom::new(fits, matched.clone()))];
        for place in new {
            let name = Expression::Variable(self.variable("new"));
            let made = self.new_name(id, place)?;
            conditions.push(Node::holds(Atom::new(made, [matched.as_slice(), &[name]].concat())));
        }
        self.define(Section::Meanings, &Atom::new(word.clone(), matched), &Node::and(conditions))?;
        Ok(word)
    }

    /// Returns `(true (applied Rule))`: the rule was applied earlier in the play.
    pub(super) fn applied(&mut self, rule: RuleId) -> Atom {
        Atom::about("true", self.applied_fluent(rule))
    }

    fn applied_fluent(&mut self, rule: RuleId) -> Expression {
        let word = match &self.applied {
            Some(word) => word.clone(),
            None => self.applied.insert(self.names.fresh("applied")).clone(),
        };
        let name = self.names.constant(&self.arena.rule(rule).name);
        Expression::Call(word, vec![Expression::word(name)])
    }

    /// Returns one `does` atom for each player that can apply the rule to an embedding.
    pub(super) fn does_atoms(&mut self, rule: RuleId, arguments: &[Expression]) -> Vec<Atom> {
        let arena = self.arena;
        let mut shapes: BTreeSet<Shape> = BTreeSet::new();
        for edges in arena.locations().iter().flat_map(|location| &location.edges) {
            shapes.extend(
                edges.iter().filter(|edge| edge.rule == rule).map(|edge| shape(edges, edge)),
            );
        }
        shapes
            .into_iter()
            .map(|shape| {
                let [anyone, anywhere] =
                    ["role", "place"].map(|hint| self.variable(hint)).map(Expression::Variable);
                let m = self.move_term(rule, arguments.to_vec(), shape, Some(anywhere));
                Atom::new("does", vec![anyone, m])
            })
            .collect()
    }

    /// Writes the fluents that are added, removed and kept by each rule.
    fn changes(&mut self) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let vocabulary = arena.vocabulary();
        let all: Vec<RelationId> =
            vocabulary.relations().filter(|&relation| self.is_fluent(relation)).collect();
        for relation in all {
            let name = vocabulary.relation_name(relation);
            let word = self.relation(name, Moment::Now)?;
            let fluent = |arguments: Vec<Expression>| Expression::Call(word.clone(), arguments);
            let loses = self.names.fresh(&format!("{name}_goes"));
            let mut is_lost = false;
            for (index, rule) in arena.rules().iter().enumerate() {
                let Some(id) = self.rule_id(index) else { continue };
                let (delete, add) = match &rule.effect {
                    Effect::Tuples { delete, add } => (delete, add),
                    Effect::Rewrite(rewrite) => {
                        is_lost |= self.rewritten(relation, (&word, &loses), id, rewrite)?;
                        continue;
                    }
                };
                let matched = self.own_terms(id);
                for done in self.does_atoms(id, &matched) {
                    let done = Node::holds(done);
                    for tuple in add.iter().filter(|tuple| tuple.relation == relation) {
                        let arguments =
                            tuple.arguments.iter().map(|&i| matched[i].clone()).collect();
                        let head = Atom::about("next", fluent(arguments));
                        self.define(Section::Changes, &head, &done)?;
                    }
                    for pattern in delete.iter().filter(|pattern| pattern.relation == relation) {
                        is_lost = true;
                        let mut is_any = false;
                        let arguments: Vec<Expression> = pattern
                            .arguments
                            .iter()
                            .map(|argument| match argument {
                                Some(i) => matched[*i].clone(),
                                None => {
                                    is_any = true;
                                    Expression::Variable(self.variable("any"))
                                }
                            })
                            .collect();
                        let mut conditions = vec![done.clone()];
                        if is_any {
                            conditions
                                .push(Node::holds(Atom::about("true", fluent(arguments.clone()))));
                        }
                        let head = Atom::new(loses.clone(), arguments);
                        self.define(Section::Changes, &head, &Node::and(conditions))?;
                    }
                }
            }
            let arity = vocabulary.arity(relation);
            let own: Vec<Expression> = (0..arity)
                .map(|i| Expression::Variable(self.variable(&format!("x{}", i + 1))))
                .collect();
            let mut conditions = vec![Node::holds(Atom::about("true", fluent(own.clone())))];
            if is_lost {
                conditions.push(Node::fails(Atom::new(loses, own.clone())));
            }
            let head = Atom::about("next", fluent(own));
            self.define(Section::Changes, &head, &Node::and(conditions))?;
        }
        if self.is_changing() {
            self.existing_elements()?;
        }
        self.history()
    }

    /// Records the applied rules, as far as some rule refers to them.
    fn history(&mut self) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let asked: BTreeSet<RuleId> = arena
            .rules()
            .iter()
            .flat_map(|rule| rule.history.iter().map(|(earlier, _)| *earlier))
            .collect();
        for rule in asked {
            let fluent = self.applied_fluent(rule);
            let head = Atom::about("next", fluent.clone());
            let arguments: Vec<Expression> = arena
                .rule(rule)
                .elements
                .iter()
                .map(|element| Expression::Variable(self.variable(element.name())))
                .collect();
            for done in self.does_atoms(rule, &arguments) {
                self.define(Section::Changes, &head, &Node::holds(done))?;
            }
            self.define(Section::Changes, &head, &Node::holds(Atom::about("true", fluent)))?;
        }
        Ok(())
    }

    /// Writes the percepts: every role sees every move.
    fn percepts(&mut self) -> Result<(), ToGdlError> {
        let [watcher, mover, m] =
            ["watcher", "mover", "move"].map(|hint| self.variable(hint)).map(Expression::Variable);
        let did = Expression::Call(self.names.fresh("did"), vec![mover.clone(), m.clone()]);
        let node = Node::and([
            Node::holds(Atom::about("role", watcher.clone())),
            Node::holds(Atom::new("does", vec![mover, m])),
        ]);
        self.define(Section::Changes, &Atom::new("sees", vec![watcher, did]), &node)
    }

    /// Returns the id of the rule at an index, if some edge uses it.
    pub(super) fn rule_id(&self, index: usize) -> Option<RuleId> {
        let locations = self.arena.locations().iter();
        let mut edges = locations.flat_map(|location| location.edges.iter().flatten());
        edges.find(|edge| edge.rule.index() == index).map(|edge| edge.rule)
    }
}

fn shape(edges: &[Edge], edge: &Edge) -> Shape {
    let n_alike = edges.iter().filter(|other| other.rule == edge.rule).count();
    if n_alike > 1 { Shape::WithTarget } else { Shape::Plain }
}

/// Returns the number of lots of each outcome, such that all lots are equally likely.
fn lots(outcomes: &[(LocationId, Rational)]) -> Option<Vec<i128>> {
    let mut common: i128 = 1;
    for (_, chance) in outcomes {
        let below = chance.denominator();
        let (mut a, mut b) = (common, below);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        common = common.checked_mul(below / a)?;
        if common > MAX_LOTS {
            return None;
        }
    }
    Some(
        outcomes
            .iter()
            .map(|(_, chance)| chance.numerator() * (common / chance.denominator()))
            .collect(),
    )
}
