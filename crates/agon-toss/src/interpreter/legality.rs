//! The legal moves of a position: embeddings of rules, choices with numbers, post-conditions.

use agon_game::{Family, Fault, Parameter, Position as _, Role};
use agon_reals::real::Real;
use agon_structures::evaluate::{Assignment, EvaluationError};
use agon_structures::formula::Variable;
use agon_structures::structure::Element;
use agon_text::Span;

use super::chance::samples;
use super::embedding::Embedding;
use super::families::{Choice, MAX_SETS, MAX_TRIED_SETS, chosen_names, disjoint_sets};
use super::moves::{EdgeId, Move, split_embeddings};
use super::position::{Interpreter, PositionError};
use super::state::Phase;
use crate::arena::{ArenaRule, Edge, Effect, Multiplicity, RuleId};
use crate::continuous::{ContinuousError, Moment};

/// Maximum number of tuples of moves that are tried to find one that can be applied.
const MAX_TUPLES: usize = 4096;

/// What follows from a state: legal moves, or the end of play.
pub(super) struct Derived {
    pub(super) terminal: bool,
    pub(super) legal: Vec<Vec<Move>>,
    /// In a continuous game: the choices of each role, in the order of its families.
    pub(super) choices: Vec<Vec<Choice>>,
    pub(super) families: Vec<Vec<Family>>,
    pub(super) fault: Option<(Fault, Span)>,
}

impl Derived {
    fn over(n_players: usize, fault: Option<(Fault, Span)>) -> Derived {
        Derived {
            terminal: true,
            legal: vec![Vec::new(); n_players],
            choices: vec![Vec::new(); n_players],
            families: vec![Vec::new(); n_players],
            fault,
        }
    }
}

impl Interpreter {
    /// Returns the embeddings of a rule for which its condition and history hold, sorted.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn embeddings(&self, id: RuleId) -> Result<Vec<Embedding>, PositionError> {
        let rule = self.game.arena().rule(id);
        if !self.history_allows(rule) {
            return Ok(Vec::new());
        }
        let mut found = self.solutions(id).map_err(|error| self.rule_error(rule, &error))?;
        if let Some(values) = self.state.values() {
            let moment = self.moment(self.state.structure(), values);
            let mut kept = Vec::with_capacity(found.len());
            for embedding in found {
                if self.numbers_fit(rule, id, moment, &embedding)? {
                    kept.push(embedding);
                }
            }
            found = kept;
        }
        Ok(found)
    }

    /// Returns the embeddings of a rule at a location where its player alone acts. There the
    /// post-condition is part of legality. In a continuous game it depends on the numbers of a
    /// move, so it is not asked here.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn legal_embeddings(&self, id: RuleId) -> Result<Vec<Embedding>, PositionError> {
        let found = self.embeddings(id)?;
        if self.game.arena().rule(id).post.is_none() || self.state.values().is_some() {
            return Ok(found);
        }
        let mut kept = Vec::with_capacity(found.len());
        for embedding in found {
            if self.post_holds(id, &embedding)? {
                kept.push(embedding);
            }
        }
        Ok(kept)
    }

    /// Returns whether an embedding satisfies the parts of a rule's condition that are about
    /// numbers.
    fn numbers_fit(
        &self,
        rule: &ArenaRule,
        id: RuleId,
        moment: Moment<'_>,
        embedding: &[Element],
    ) -> Result<bool, PositionError> {
        let named: Vec<(Variable, Element)> =
            rule.elements.iter().cloned().zip(embedding.iter().copied()).collect();
        for &part in &self.game.numeric_parts[id.index()] {
            let holds = moment
                .holds(&rule.parts[part].formula, &named, &[])
                .map_err(|error: ContinuousError| self.rule_error(rule, &error))?;
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the place in the rules that caused the fault here, if there is one.
    pub(crate) fn fault_span(&self) -> Option<Span> {
        self.derived().fault.as_ref().map(|fault| fault.1)
    }

    /// Returns the solutions of a rule's condition. If embeddings are updated incrementally, starts
    /// from the solutions at the state where the rule was last evaluated.
    fn solutions(&self, id: RuleId) -> Result<Vec<Embedding>, EvaluationError> {
        let structure = self.state.structure();
        let query = self.game.queries.conditions[id.index()];
        let mut evaluator = self.evaluator.borrow_mut();
        if !self.game.updates_incrementally(structure) {
            let found = evaluator.solve(query, structure, &Assignment::new())?;
            return Ok(found.iter().map(Embedding::from).collect());
        }
        let kept = &mut self.followed.borrow_mut()[id.index()];
        let updated = match kept.take() {
            None => None,
            Some(last) => evaluator.update(query, &last, structure)?,
        };
        let found = match updated {
            Some(found) => found,
            None => evaluator.solutions(query, structure)?,
        };
        let embeddings = found.iter().map(Iterator::collect).collect();
        *kept = Some(found);
        Ok(embeddings)
    }

    /// Returns whether the rules applied so far allow this one.
    fn history_allows(&self, rule: &ArenaRule) -> bool {
        rule.history.iter().all(|(earlier, holds)| self.state.history().contains(earlier) == *holds)
    }

    /// Returns whether the post-condition of a rule holds after the rule is applied to an
    /// embedding.
    pub(crate) fn post_holds(
        &self,
        id: RuleId,
        embedding: &[Element],
    ) -> Result<bool, PositionError> {
        let rule = self.game.arena().rule(id);
        if rule.post.is_none() {
            return Ok(true);
        }
        let arena = self.game.arena();
        let location = self.state.location();
        let edges = arena.location(location).edges.iter().enumerate();
        let edge = edges
            .flat_map(|(player, edges)| edges.iter().enumerate().map(move |(i, e)| (player, i, e)))
            .find(|(_, _, edge)| edge.rule == id)
            .map_or(EdgeId { location, player: 0, index: 0 }, |(player, index, _)| EdgeId {
                location,
                player: player as u32,
                index: index as u32,
            });
        let application = super::step::Application {
            edge,
            rule: id,
            embedding: Embedding::from(embedding),
            time: Real::ZERO,
            parameters: rule.parameters.iter().map(|name| (name.clone(), Real::ZERO)).collect(),
        };
        Ok(!self.step(&[application])?.applied.is_empty())
    }

    pub(super) fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            let found = match &self.state.content().fault {
                Some(fault) => Err(fault.clone()),
                None => self
                    .for_one_state(|| self.compute_derived())
                    .map_err(|error| (Fault::Refused(error.message), error.span)),
            };
            let n_players = self.game.arena().players().len();
            found.unwrap_or_else(|fault| Derived::over(n_players, Some(fault)))
        })
    }

    fn compute_derived(&self) -> Result<Derived, PositionError> {
        let arena = self.game.arena();
        let location = arena.location(self.state.location());
        let n_players = arena.players().len();
        let by_nature = |moves: Vec<Move>| {
            let nature = arena.nature().expect("a game with chance has nature");
            let mut legal = vec![vec![Move::Noop]; n_players];
            legal[nature] = moves;
            let (choices, families) = (vec![Vec::new(); n_players], vec![Vec::new(); n_players]);
            Ok(Derived { terminal: false, legal, choices, families, fault: None })
        };
        match self.state.content().phase {
            Phase::Choose => {}
            Phase::Draw => {
                let distributions: Vec<_> =
                    location.draws.iter().map(|draw| draw.distribution).collect();
                let drawn = samples(&distributions).into_iter();
                return by_nature(drawn.map(|numbers| Move::Draw(numbers.into())).collect());
            }
            Phase::Outcome(branch) => {
                let n_outcomes = branch.outcomes(arena).len() as u32;
                let outcomes = (0..n_outcomes).map(|outcome| Move::Outcome { branch, outcome });
                return by_nature(outcomes.collect());
            }
        }
        let mut legal: Vec<Vec<Move>> = Vec::with_capacity(n_players);
        let mut all_choices: Vec<Vec<Choice>> = Vec::with_capacity(n_players);
        let mut is_over = location.edges.iter().all(Vec::is_empty);
        for (player, edges) in location.edges.iter().enumerate() {
            if is_over {
                break;
            }
            if edges.is_empty() {
                legal.push(vec![Move::Noop]);
                all_choices.push(Vec::new());
                continue;
            }
            let mut choices = Vec::new();
            for (index, way) in edges.iter().enumerate() {
                let location = self.state.location();
                let edge = EdgeId { location, player: player as u32, index: index as u32 };
                self.choices_of(edge, way, &mut choices)?;
            }
            let moves = self.list_moves(&mut choices)?;
            // By the definition, play ends if an acting player cannot move.
            is_over = moves.is_empty();
            legal.push(moves);
            all_choices.push(choices);
        }
        if !is_over && location.is_concurrent() {
            is_over = !self.some_tuple_applies(&legal);
        }
        if is_over {
            // Payoffs of a final position must have values, so compute them now and report faults
            // here.
            self.payoffs.get_or_init(|| self.compute_payoffs()).clone()?;
            return Ok(Derived::over(n_players, None));
        }
        let families = if arena.is_continuous() {
            all_choices.iter().map(|choices| self.families_of(choices)).collect()
        } else {
            vec![Vec::new(); n_players]
        };
        Ok(Derived { terminal: false, legal, choices: all_choices, families, fault: None })
    }

    /// Returns whether there are moves of all players such that at least one of their rules is
    /// applied. Otherwise play ends, because no tuple of rules can be applied. Looks at a limited
    /// number of tuples of listed moves, and gives the rest the benefit of the doubt.
    fn some_tuple_applies(&self, legal: &[Vec<Move>]) -> bool {
        let arena = self.game.arena();
        let rule_of = |m: &Move| match m {
            Move::Apply { edge, .. } => Some(arena.rule(edge.edge(arena).rule)),
            Move::Noop | Move::Outcome { .. } | Move::Draw(_) => None,
        };
        let rules = || legal.iter().flatten().filter_map(rule_of);
        let keeps_universe = rules().all(|rule| matches!(rule.effect, Effect::Tuples { .. }));
        if keeps_universe && rules().any(|rule| rule.post.is_none()) {
            // Nothing can keep that rule from being applied, unless another is applied earlier.
            return true;
        }
        let mut chosen = vec![0; legal.len()];
        for _ in 0..MAX_TUPLES {
            let joint: Vec<Move> =
                legal.iter().zip(&chosen).map(|(moves, &place)| moves[place].clone()).collect();
            match self.applications(&joint).and_then(|applications| self.step(&applications)) {
                Ok(stepped) if stepped.applied.is_empty() => {}
                // A move that fails ends the play with its reason when it is made.
                Ok(_) | Err(_) => return true,
            }
            let Some(player) = (0..legal.len()).rev().find(|&p| chosen[p] + 1 < legal[p].len())
            else {
                return false;
            };
            chosen[player] += 1;
            chosen[player + 1..].fill(0);
        }
        true
    }

    /// Adds the discrete choices of an edge with the intervals of their numbers.
    fn choices_of(
        &self,
        edge: EdgeId,
        label: &Edge,
        choices: &mut Vec<Choice>,
    ) -> Result<(), PositionError> {
        let arena = self.game.arena();
        // The post-condition of several embeddings is asked of their joint result, in `post_allows`.
        let is_concurrent = arena.location(edge.location).is_concurrent();
        let is_single = !is_concurrent && label.multiplicity == Multiplicity::One;
        let embeddings = if is_single {
            self.legal_embeddings(label.rule)?
        } else {
            self.embeddings(label.rule)?
        };
        let sets = match label.multiplicity {
            Multiplicity::One => embeddings,
            // Sets that the post-condition forbids are not listed, so that others take their places.
            Multiplicity::Some if !is_concurrent && arena.rule(label.rule).post.is_some() => {
                disjoint_sets(&embeddings, MAX_TRIED_SETS)
            }
            Multiplicity::Some => disjoint_sets(&embeddings, MAX_SETS),
            Multiplicity::All if embeddings.is_empty() => Vec::new(),
            Multiplicity::All => vec![Embedding::from(&[][..])],
        };
        let mut intervals = Vec::new();
        if arena.is_continuous() && !sets.is_empty() {
            let ranges = std::iter::once((&label.time, true))
                .chain(label.parameters.iter().map(|interval| (interval, false)));
            for ((low, high), is_time) in ranges {
                let low_value = self.interval_end(low, label.span)?.midpoint();
                let mut high_value = self.interval_end(high, label.span)?.midpoint();
                let mut low_value = low_value;
                if is_time {
                    // A random end may be negative. Time cannot be.
                    low_value = low_value.max(0.0);
                    high_value = high_value.max(0.0);
                }
                let is_finite = low_value.is_finite() && high_value.is_finite();
                if !is_finite || low_value > high_value {
                    return Ok(());
                }
                if low != high {
                    intervals.push((low_value, high_value));
                }
            }
        }
        choices.extend(sets.into_iter().map(|elements| Choice {
            edge,
            elements,
            intervals: intervals.clone(),
        }));
        Ok(())
    }

    /// Lists the legal moves of choices, with samples of their numbers. Removes choices of which no
    /// sample is legal, and sets of embeddings beyond the number of those that are listed.
    fn list_moves(&self, choices: &mut Vec<Choice>) -> Result<Vec<Move>, PositionError> {
        let arena = self.game.arena();
        let mut moves = Vec::with_capacity(choices.len());
        let mut error = None;
        let mut n_sets: Option<(EdgeId, usize)> = None;
        choices.retain(|choice| {
            let n_before = moves.len();
            if choice.edge.edge(arena).multiplicity == Multiplicity::Some {
                // The choices of an edge follow one another.
                let n = n_sets.filter(|(edge, _)| *edge == choice.edge).map_or(0, |(_, n)| n);
                n_sets = Some((choice.edge, n));
                if n == MAX_SETS {
                    return false;
                }
            }
            for numbers in choice.sample() {
                let Some(m) = choice.with(&numbers) else { continue };
                match self.post_allows(&m) {
                    Ok(true) => moves.push(m),
                    Ok(false) => {}
                    Err(found) => error = Some(found),
                }
            }
            let is_legal = moves.len() > n_before;
            if let Some((_, n)) = &mut n_sets {
                *n += usize::from(is_legal);
            }
            is_legal
        });
        match error {
            Some(error) => Err(error),
            None => Ok(moves),
        }
    }

    /// Returns whether the post-condition of a rule allows a move whose other conditions hold.
    pub(super) fn post_allows(&self, m: &Move) -> Result<bool, PositionError> {
        let Move::Apply { edge, .. } = m else { return Ok(true) };
        let arena = self.game.arena();
        let label = edge.edge(arena);
        let is_checked = arena.rule(label.rule).post.is_none()
            || arena.location(edge.location).is_concurrent()
            || (self.state.values().is_none() && label.multiplicity == Multiplicity::One);
        if is_checked {
            return Ok(true);
        }
        let applications = self.applications(std::slice::from_ref(m))?;
        let stepped = self.step(&applications)?;
        Ok(!stepped.applied.is_empty())
    }

    fn families_of(&self, choices: &[Choice]) -> Vec<Family> {
        let arena = self.game.arena();
        let family = |choice: &Choice| {
            let label = choice.edge.edge(arena);
            let names = chosen_names(label, arena.rule(label.rule));
            let parameters = names.into_iter().zip(&choice.intervals);
            Family {
                text: self.family_text(choice.edge, &choice.elements),
                parameters: parameters
                    .map(|(name, &(low, high))| Parameter { name, low, high })
                    .collect(),
            }
        };
        choices.iter().map(family).collect()
    }

    /// Returns the choice that a move of a role belongs to.
    pub(super) fn choice_of(&self, role: Role, m: &Move) -> Option<(usize, &Choice)> {
        let Move::Apply { edge, elements, .. } = m else { return None };
        let choices = &self.derived().choices[role.index()];
        let is_own = |choice: &&Choice| choice.edge == *edge && choice.elements == *elements;
        choices.iter().enumerate().find(|(_, choice)| is_own(choice))
    }

    /// Returns whether a move is legal although it is not in the list: with other numbers, or with
    /// another set of embeddings.
    pub(super) fn is_legal_beyond_list(&self, role: Role, m: &Move) -> bool {
        match m {
            Move::Noop | Move::Outcome { .. } => false,
            Move::Draw(numbers) => {
                let location = self.game.arena().location(self.state.location());
                self.state.content().phase == Phase::Draw
                    && Some(role.index()) == self.game.arena().nature()
                    && numbers.as_slice().len() == location.draws.len()
                    && numbers
                        .as_slice()
                        .iter()
                        .zip(&location.draws)
                        .all(|(&number, draw)| draw.distribution.contains(number))
            }
            Move::Apply { edge, elements, numbers } => {
                let arena = self.game.arena();
                if edge.location != self.state.location() || edge.player as usize != role.index() {
                    return false;
                }
                let choice = match self.choice_of(role, m) {
                    Some((_, choice)) => choice.clone(),
                    None => match self.unlisted_set(*edge, elements) {
                        Some(choice) => choice,
                        None => return false,
                    },
                };
                let listed = &self.derived().choices[role.index()];
                arena.location(edge.location).edges.get(role.index()).is_some()
                    && listed.iter().any(|other| other.edge == *edge)
                    && choice.with(numbers.as_slice()).is_some()
                    && self.post_allows(m).unwrap_or(false)
            }
        }
    }

    /// Returns the choice of a set of embeddings that is too large a choice to be listed.
    fn unlisted_set(&self, edge: EdgeId, elements: &Embedding) -> Option<Choice> {
        let label = edge.edge(self.game.arena());
        if label.multiplicity != Multiplicity::Some || elements.is_empty() {
            return None;
        }
        let n_elements = self.game.arena().rule(label.rule).elements.len();
        let embeddings = self.embeddings(label.rule).ok()?;
        let set = split_embeddings(elements, n_elements);
        let mut seen: Vec<Element> = Vec::new();
        for embedding in &set {
            if embeddings.binary_search(embedding).is_err()
                || embedding.iter().any(|element| seen.contains(element))
            {
                return None;
            }
            seen.extend(embedding.iter());
        }
        let derived = self.derived();
        let listed = derived.choices.get(edge.player as usize)?.iter();
        let intervals = listed.clone().find(|choice| choice.edge == edge)?.intervals.clone();
        Some(Choice { edge, elements: elements.clone(), intervals })
    }

    /// Returns the families of moves of a role, if the game is continuous.
    pub(super) fn families_here(&self, role: Role) -> &[Family] {
        &self.derived().families[role.index()]
    }

    /// Returns the member of a family, if it is legal.
    pub(super) fn member_of(&self, role: Role, family: usize, numbers: &[f64]) -> Option<Move> {
        let m = self.derived().choices[role.index()].get(family)?.with(numbers)?;
        self.is_legal(role, &m).then_some(m)
    }

    /// Returns the family and the numbers of a move of a role.
    pub(super) fn coordinates_of(&self, role: Role, m: &Move) -> Option<(usize, Vec<f64>)> {
        let Move::Apply { numbers, .. } = m else { return None };
        let (family, _) = self.choice_of(role, m)?;
        Some((family, numbers.as_slice().to_vec()))
    }
}
