//! Connects moves to the bits that they change, and assembles the circuit of a game.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agon_circuit::{Builder, Circuit, CircuitRole, Outputs, Signal};
use agon_structures::structure::Element;

use super::ground::Grounder;
use super::layout::{Action, Bits, RoleMove, bits, candidates, moves_of};
use super::possible::Possible;
use super::table::{Table, any};
use super::{CircuitLimits, GroundArena, NoCircuit};
use crate::arena::{CheckedArena, Effect, LocationId, RuleId};
use crate::check::payoffs::is_in_range;
use crate::interpreter::{EdgeId, Game};

pub(super) fn wire(
    game: &Game,
    possible: &Possible,
    limits: &CircuitLimits,
) -> Result<GroundArena, NoCircuit> {
    let arena = game.arena();
    check_chances(arena)?;
    let bits = bits(game, possible);
    let moves: Vec<Vec<(String, RoleMove)>> =
        (0..arena.players().len()).map(|player| moves_of(game, possible, player)).collect();
    let roles = moves.iter().enumerate().map(|(player, moves)| CircuitRole {
        name: arena.players()[player].clone(),
        moves: moves.iter().map(|entry| entry.0.clone()).collect(),
        is_nature: arena.nature() == Some(player),
    });
    let builder = Builder::new(roles.collect(), bits.texts.clone());
    let mut grounder =
        Grounder::new(builder, game.start_structure(), &possible.definitions, limits);
    for (&relation, tuples) in &bits.tuples {
        let signals = tuples
            .iter()
            .map(|(tuple, &bit)| (tuple.clone(), grounder.builder.base(bit)))
            .collect();
        let name = arena.vocabulary().relation_name(relation).clone();
        grounder.fluents.insert(name, Rc::new(signals));
    }
    let deferred = deferred(arena, possible, limits);
    let mut wiring = Wiring { arena, possible, bits: &bits, moves: &moves, deferred, grounder };
    let applicable = wiring.applicable()?;
    let outputs = wiring.outputs(&applicable)?;
    let circuit: Circuit = wiring.grounder.builder.finish(outputs);
    Ok(GroundArena { circuit, candidates: candidates(&bits) })
}

/// Checks that nature's moves are equally likely, because circuits draw uniformly.
fn check_chances(arena: &CheckedArena) -> Result<(), NoCircuit> {
    for location in arena.locations() {
        for (player, edges) in location.edges.iter().enumerate() {
            for edge in edges {
                let uneven = edge.outcomes.iter().any(|outcome| outcome.1 != edge.outcomes[0].1);
                if uneven || (arena.nature() == Some(player) && edge.weight.is_some()) {
                    return Err(NoCircuit::UnevenChances);
                }
            }
        }
    }
    Ok(())
}

struct Wiring<'a> {
    arena: &'a CheckedArena,
    possible: &'a Possible,
    bits: &'a Bits,
    moves: &'a [Vec<(String, RoleMove)>],
    /// For each rule whether its post-condition is deferred to the step instead of being part of
    /// legality.
    deferred: Vec<bool>,
    grounder: Grounder<'a>,
}

/// Decides which rules defer their post-condition to the step: all that can if there are many
/// embeddings, otherwise none.
///
/// A rule can defer if it is applied only where one player acts, because then it is clear whose
/// move is rejected.
fn deferred(arena: &CheckedArena, possible: &Possible, limits: &CircuitLimits) -> Vec<bool> {
    let mut can: Vec<bool> = arena.rules().iter().map(|rule| rule.post.is_some()).collect();
    for location in arena.locations() {
        let acting = location.edges.iter().filter(|edges| !edges.is_empty());
        if acting.clone().count() > 1 {
            acting.flatten().for_each(|edge| can[edge.rule.index()] = false);
        }
    }
    let n_embeddings: usize =
        can.iter().zip(&possible.embeddings).filter(|pair| *pair.0).map(|pair| pair.1.len()).sum();
    if n_embeddings <= limits.exact_embeddings {
        can.fill(false);
    }
    can
}

impl Wiring<'_> {
    /// Returns for each rule and possible embedding the signal that the rule may be applied,
    /// wherever the play is.
    fn applicable(&mut self) -> Result<Vec<Vec<Signal>>, NoCircuit> {
        let mut applicable = Vec::new();
        for (place, rule) in self.arena.rules().iter().enumerate() {
            let embeddings = &self.possible.embeddings[place];
            let ids = |embedding: &[Element]| -> Vec<u32> {
                embedding.iter().map(|element| element.id()).collect()
            };
            let given = Table {
                columns: rule.elements.clone(),
                rows: embeddings.iter().map(|embedding| (ids(embedding), Signal::TRUE)).collect(),
            };
            let condition = self.grounder.prepare(&rule.condition)?;
            let found = self.grounder.extend(&condition, &given)?;
            let mut history = Signal::TRUE;
            for (earlier, holds) in &rule.history {
                let bit = self.grounder.builder.base(self.bits.applied[earlier]);
                history = self.grounder.builder.and(history, if *holds { bit } else { !bit });
            }
            let mut signals = Vec::with_capacity(embeddings.len());
            for embedding in embeddings {
                let condition = found.rows.get(&ids(embedding)).copied().unwrap_or(Signal::FALSE);
                let mut signal = self.grounder.builder.and(condition, history);
                if signal != Signal::FALSE && rule.post.is_some() && !self.deferred[place] {
                    let post = self.post(place, embedding)?;
                    signal = self.grounder.builder.and(signal, post);
                }
                signals.push(signal);
            }
            applicable.push(signals);
        }
        Ok(applicable)
    }

    /// Returns the signal that the post-condition of a rule holds after the rule is applied to an
    /// embedding. The formula is grounded with the changes of the embedding substituted.
    fn post(&mut self, rule: usize, embedding: &[Element]) -> Result<Signal, NoCircuit> {
        let rule = &self.arena.rules()[rule];
        let (Some(post), Effect::Tuples { delete, add }) = (&rule.post, &rule.effect) else {
            return Ok(Signal::TRUE);
        };
        let before = self.grounder.fluents.clone();
        let vocabulary = self.arena.vocabulary();
        for pattern in delete {
            let rows = self.grounder.fluents.get_mut(vocabulary.relation_name(pattern.relation));
            let rows = Rc::make_mut(rows.expect("what rules change is a fluent"));
            for (tuple, signal) in rows.iter_mut() {
                let fits = pattern.arguments.iter().zip(tuple).all(|(argument, element)| {
                    argument.is_none_or(|index| embedding[index].id() == *element)
                });
                if fits {
                    *signal = Signal::FALSE;
                }
            }
        }
        for tuple in add {
            let rows = self.grounder.fluents.get_mut(vocabulary.relation_name(tuple.relation));
            let elements = tuple.arguments.iter().map(|&index| embedding[index].id()).collect();
            Rc::make_mut(rows.expect("what rules change is a fluent"))
                .insert(elements, Signal::TRUE);
        }
        let defined = std::mem::take(&mut self.grounder.defined);
        self.grounder.expands_definitions = true;
        let given = Table {
            columns: post.variables.clone(),
            rows: BTreeMap::from([(
                embedding.iter().map(|element| element.id()).collect(),
                Signal::TRUE,
            )]),
        };
        let formula = self.grounder.prepare(&post.formula)?;
        let found = self.grounder.extend(&formula, &given)?;
        self.grounder.expands_definitions = false;
        self.grounder.defined = defined;
        self.grounder.fluents = before;
        Ok(found.rows.into_values().next().unwrap_or(Signal::FALSE))
    }

    /// Returns the signal that play is at a location; constantly true if there is only one.
    fn at(&self, location: LocationId) -> Signal {
        if self.bits.locations.len() == 1 {
            return Signal::TRUE;
        }
        self.grounder.builder.base(self.bits.locations[location.index()])
    }

    fn outputs(&mut self, applicable: &[Vec<Signal>]) -> Result<Outputs, NoCircuit> {
        let arena = self.arena;
        let pending: Vec<Signal> =
            self.bits.pending.values().map(|&bit| self.grounder.builder.base(bit)).collect();
        let undecided = self.grounder.builder.or_all(&pending);
        let terminal = self.terminal(applicable, undecided);
        let mut legal = Vec::new();
        for (player, moves) in self.moves.iter().enumerate() {
            let mut signals = Vec::with_capacity(moves.len());
            for (_, entry) in moves {
                let mut ways = Vec::new();
                match &entry.action {
                    Action::Noop => {
                        for (index, location) in arena.locations().iter().enumerate() {
                            if location.edges[player].is_empty() {
                                let at = self.at(LocationId::new(index));
                                ways.push(self.grounder.builder.and(at, !undecided));
                            }
                        }
                        if arena.nature() != Some(player) {
                            ways.push(undecided);
                        }
                    }
                    Action::Apply(rule, index) => {
                        for place in &entry.edges {
                            let at = self.at(place.location);
                            let here = self.grounder.builder.and(at, !undecided);
                            ways.push(
                                self.grounder.builder.and(here, applicable[rule.index()][*index]),
                            );
                        }
                    }
                    Action::Outcome(_) => {
                        for place in &entry.edges {
                            ways.push(self.grounder.builder.base(self.bits.pending[place]));
                        }
                    }
                }
                signals.push(any(&mut self.grounder.builder, &mut ways));
            }
            legal.push(signals);
        }
        let next = self.next();
        let goals = self.goals()?;
        let rejected = self.rejected(&next)?;
        self.grounder.check(0)?;
        let percepts = vec![Vec::new(); arena.players().len()];
        Ok(Outputs { legal, next, terminal, goals, percepts, rejected })
    }

    /// Returns the signal that a rule was applied whose deferred post-condition fails after the
    /// step.
    fn rejected(&mut self, next: &[Signal]) -> Result<Signal, NoCircuit> {
        let arena = self.arena;
        if !self.deferred.contains(&true) {
            return Ok(Signal::FALSE);
        }
        let mut made: BTreeMap<(usize, usize), Vec<Signal>> = BTreeMap::new();
        for (player, moves) in self.moves.iter().enumerate() {
            for (index, (_, entry)) in moves.iter().enumerate() {
                if let Action::Apply(rule, embedding) = entry.action {
                    let input = self.grounder.builder.input(player, index);
                    made.entry((rule.index(), embedding)).or_default().push(input);
                }
            }
        }
        // Ground the post-conditions on the bits after the step.
        let before = self.grounder.fluents.clone();
        for (&relation, tuples) in &self.bits.tuples {
            let signals = tuples.iter().map(|(tuple, &bit)| (tuple.clone(), next[bit])).collect();
            let name = arena.vocabulary().relation_name(relation).clone();
            self.grounder.fluents.insert(name, Rc::new(signals));
        }
        let defined = std::mem::take(&mut self.grounder.defined);
        // Most embeddings have the same post-condition, so it matters only whether one of them was
        // chosen.
        let mut ways: BTreeMap<Signal, Vec<Signal>> = BTreeMap::new();
        for (place, rule) in arena.rules().iter().enumerate() {
            let Some(post) = rule.post.as_ref().filter(|_| self.deferred[place]) else { continue };
            let ids = |embedding: &[Element]| {
                embedding.iter().map(|element| element.id()).collect::<Vec<u32>>()
            };
            let embeddings = &self.possible.embeddings[place];
            let given = Table {
                columns: post.variables.clone(),
                rows: embeddings.iter().map(|embedding| (ids(embedding), Signal::TRUE)).collect(),
            };
            let formula = self.grounder.prepare(&post.formula)?;
            let found = self.grounder.extend(&formula, &given)?;
            for (index, embedding) in embeddings.iter().enumerate() {
                let holds = found.rows.get(&ids(embedding)).copied().unwrap_or(Signal::FALSE);
                ways.entry(!holds)
                    .or_default()
                    .extend(made.get(&(place, index)).into_iter().flatten());
            }
        }
        self.grounder.defined = defined;
        self.grounder.fluents = before;
        let builder = &mut self.grounder.builder;
        let mut rejected = Vec::new();
        for (fails, mut made) in ways {
            let made = any(builder, &mut made);
            rejected.push(builder.and(made, fails));
        }
        Ok(any(builder, &mut rejected))
    }

    /// Returns the signal that play has ended: no player has an edge, or a player has edges but
    /// cannot take any.
    fn terminal(&mut self, applicable: &[Vec<Signal>], undecided: Signal) -> Signal {
        let mut ways = Vec::new();
        let mut possible: BTreeMap<RuleId, Signal> = BTreeMap::new();
        for (index, location) in self.arena.locations().iter().enumerate() {
            let mut over = Vec::new();
            if location.edges.iter().all(Vec::is_empty) {
                over.push(Signal::TRUE);
            }
            for edges in location.edges.iter().filter(|edges| !edges.is_empty()) {
                let mut can = Vec::new();
                for edge in edges {
                    let builder = &mut self.grounder.builder;
                    let some = *possible.entry(edge.rule).or_insert_with(|| {
                        any(builder, &mut applicable[edge.rule.index()].clone())
                    });
                    can.push(some);
                }
                over.push(!any(&mut self.grounder.builder, &mut can));
            }
            let over = any(&mut self.grounder.builder, &mut over);
            let at = self.at(LocationId::new(index));
            ways.push(self.grounder.builder.and(at, over));
        }
        let ended = any(&mut self.grounder.builder, &mut ways);
        self.grounder.builder.and(ended, !undecided)
    }

    fn next(&mut self) -> Vec<Signal> {
        let arena = self.arena;
        let mut added: Vec<Vec<Signal>> = vec![Vec::new(); self.bits.texts.len()];
        let mut removed: Vec<Vec<Signal>> = vec![Vec::new(); self.bits.texts.len()];
        let stays: BTreeSet<usize> = self
            .bits
            .tuples
            .values()
            .flat_map(BTreeMap::values)
            .chain(self.bits.applied.values())
            .copied()
            .collect();
        for (player, moves) in self.moves.iter().enumerate() {
            for (index, (_, entry)) in moves.iter().enumerate() {
                let made = self.grounder.builder.input(player, index);
                match &entry.action {
                    Action::Noop => {}
                    Action::Apply(rule, index) => {
                        self.effect(*rule, *index, made, &mut added, &mut removed);
                        for place in &entry.edges {
                            self.wire_location(*place, made, entry.edges.len(), &mut added);
                        }
                    }
                    Action::Outcome(outcomes) => {
                        for (place, &outcome) in entry.edges.iter().zip(outcomes) {
                            let target = place.edge(arena).outcomes[outcome].0;
                            let waits = self.grounder.builder.base(self.bits.pending[place]);
                            let decided = self.grounder.builder.and(waits, made);
                            added[self.bits.locations[target.index()]].push(decided);
                        }
                    }
                }
            }
        }
        for index in 0..arena.locations().len() {
            let location = LocationId::new(index);
            if let Some(target) = self.only_target(location) {
                added[self.bits.locations[target.index()]].push(self.at(location));
            }
        }
        let mut next = Vec::with_capacity(added.len());
        for bit in 0..added.len() {
            let builder = &mut self.grounder.builder;
            let new = any(builder, &mut added[bit]);
            if !stays.contains(&bit) {
                next.push(new);
                continue;
            }
            let gone = any(builder, &mut removed[bit]);
            let kept = builder.base(bit);
            let kept = builder.and(kept, !gone);
            next.push(builder.or(kept, new));
        }
        if let [only] = self.bits.locations[..] {
            next[only] = Signal::TRUE;
        }
        next
    }

    /// Adds the changes that a rule makes when it is applied to an embedding.
    fn effect(
        &self,
        rule: RuleId,
        index: usize,
        made: Signal,
        added: &mut [Vec<Signal>],
        removed: &mut [Vec<Signal>],
    ) {
        let embedding = &self.possible.embeddings[rule.index()][index];
        if let Some(&bit) = self.bits.applied.get(&rule) {
            added[bit].push(made);
        }
        let Effect::Tuples { delete, add } = &self.arena.rule(rule).effect else { return };
        for pattern in delete {
            let tuples = &self.bits.tuples[&pattern.relation];
            let whole: Option<Vec<u32>> = pattern
                .arguments
                .iter()
                .map(|argument| argument.map(|index| embedding[index].id()))
                .collect();
            if let Some(whole) = whole {
                // Tuples that can never hold have no bit and need not be deleted.
                if let Some(&bit) = tuples.get(&whole) {
                    removed[bit].push(made);
                }
                continue;
            }
            for (tuple, &bit) in tuples {
                let mut pairs = pattern.arguments.iter().zip(tuple);
                if pairs.all(|(argument, element)| {
                    argument.is_none_or(|index| embedding[index].id() == *element)
                }) {
                    removed[bit].push(made);
                }
            }
        }
        for tuple in add {
            let elements: Vec<u32> =
                tuple.arguments.iter().map(|&index| embedding[index].id()).collect();
            added[self.bits.tuples[&tuple.relation][&elements]].push(made);
        }
    }

    /// Returns the location that all moves here lead to, if there is one. Then the next location
    /// does not depend on the move, which lets the optimiser prove the order of turns.
    fn only_target(&self, location: LocationId) -> Option<LocationId> {
        let edges = self.arena.location(location).edges.iter().find(|edges| !edges.is_empty())?;
        let [(target, _)] = edges.first()?.outcomes[..] else { return None };
        edges
            .iter()
            .all(|edge| matches!(edge.outcomes[..], [(other, _)] if other == target))
            .then_some(target)
    }

    /// Adds the next location of an edge. The first acting player decides it.
    fn wire_location(
        &mut self,
        place: EdgeId,
        made: Signal,
        n_places: usize,
        added: &mut [Vec<Signal>],
    ) {
        let location = self.arena.location(place.location);
        let first = location.edges.iter().position(|edges| !edges.is_empty());
        if first != Some(place.player as usize) || self.only_target(place.location).is_some() {
            return;
        }
        // A move that exists at one location only is not made elsewhere.
        let at = if n_places == 1 { Signal::TRUE } else { self.at(place.location) };
        let taken = self.grounder.builder.and(at, made);
        match place.edge(self.arena).outcomes.as_slice() {
            [(target, _)] => added[self.bits.locations[target.index()]].push(taken),
            _ => {
                added[self.bits.locations[place.location.index()]].push(taken);
                added[self.bits.pending[&place]].push(taken);
            }
        }
    }

    fn goals(&mut self) -> Result<Vec<Vec<(i64, Signal)>>, NoCircuit> {
        let arena = self.arena;
        let mut goals = Vec::new();
        for (player, name) in arena.players().iter().enumerate() {
            if arena.nature() == Some(player) {
                goals.push(vec![(0, Signal::TRUE)]);
                continue;
            }
            let terms = arena.locations().iter().map(|location| &location.payoffs[player]);
            let is_same = terms.clone().all(|term| *term == arena.locations()[0].payoffs[player]);
            let mut ways: BTreeMap<i64, Vec<Signal>> = BTreeMap::new();
            for (index, term) in terms.enumerate() {
                let term = term.without_lets(self.grounder.limits.parts)?;
                let at = if is_same { Signal::TRUE } else { self.at(LocationId::new(index)) };
                for (value, signal) in self.grounder.values(&term, &[], &[])? {
                    let whole = value.filter(|value| value.is_whole() && is_in_range(*value));
                    let whole = whole.and_then(|value| i64::try_from(value.numerator()).ok());
                    let Some(whole) = whole else { return Err(NoCircuit::Payoff(name.clone())) };
                    ways.entry(whole).or_default().push(self.grounder.builder.and(at, signal));
                }
                if is_same {
                    break;
                }
            }
            let builder = &mut self.grounder.builder;
            goals.push(
                ways.into_iter()
                    .map(|(value, mut signals)| (value, any(builder, &mut signals)))
                    .collect(),
            );
        }
        Ok(goals)
    }
}
