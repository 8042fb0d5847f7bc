//! The step from a position to the next: rules act while time passes, then they are applied.
//!
//! All rules that the players choose act at once. In a continuous game time passes first, as the
//! sum of their differential equations says, until an invariant fails or a duration is over. Then
//! the rules whose moment has come are applied together. Post-conditions are evaluated in the joint
//! result. A rule whose post-condition fails is not applied, and if no rule is, time goes on for
//! the others. The order of the players does not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_reals::evolve::EvolveOptions;
use agon_reals::real::Real;
use agon_structures::evaluate::Assignment;
use agon_structures::formula::Variable;
use agon_structures::structure::{Element, FunctionId, Structure};

use super::embedding::Embedding;
use super::families::{chooses_time, decimal};
use super::game::assignment;
use super::moves::{Branch, EdgeId, Move, split_embeddings};
use super::position::{Interpreter, PositionError};
use super::state::{Clock, Content, Phase, State, Values};
use crate::arena::{ArenaRule, CheckedArena, Effect, Equation, Multiplicity, RuleId};
use crate::continuous::{Act, ContinuousError, Evolved, Motion, evolve};
use crate::rewrite::{add_all, apply, delete_all};

/// Maximum number of events within one unit of time. More of them mean that time comes to a halt
/// (Zeno behaviour), as for a ball that bounces ever more often.
const MAX_EVENTS: u32 = 1000;

/// A rule that a player applies to an embedding.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub(super) edge: EdgeId,
    pub(super) rule: RuleId,
    pub(super) embedding: Embedding,
    pub(super) time: Real,
    pub(super) parameters: Vec<(Variable, Real)>,
}

/// The result of a step, before play moves on to the next location.
pub(super) struct Stepped {
    pub(super) structure: Structure,
    pub(super) values: Option<Values>,
    /// The applications that took place.
    pub(super) applied: Vec<usize>,
    pub(super) clock: Clock,
    /// The stretches of time that passed.
    pub(super) motions: Vec<Motion>,
    /// For each element of the result that is not an old one: the element that it replaces.
    pub(super) origins: BTreeMap<Element, Option<Element>>,
}

/// Rules applied together.
struct Together {
    structure: Structure,
    values: Option<Values>,
    /// For each application the elements that its post-condition is about.
    elements: Vec<Vec<Element>>,
    origins: BTreeMap<Element, Option<Element>>,
}

impl Interpreter {
    /// Returns the applications that a joint move consists of.
    pub(super) fn applications(&self, joint: &[Move]) -> Result<Vec<Application>, PositionError> {
        let mut applications = Vec::new();
        for m in joint {
            if let Move::Apply { edge, elements, numbers } = m {
                applications.extend(self.applications_of(*edge, elements, numbers.as_slice())?);
            }
        }
        Ok(applications)
    }

    fn applications_of(
        &self,
        edge: EdgeId,
        elements: &[Element],
        numbers: &[f64],
    ) -> Result<Vec<Application>, PositionError> {
        let arena = self.game.arena();
        let label = edge.edge(arena);
        let rule = arena.rule(label.rule);
        let mut chosen = numbers.iter().map(|&number| decimal(number));
        let mut number = |low: &agon_structures::formula::Term, is_chosen: bool| {
            if is_chosen && let Some(number) = chosen.next() {
                return Ok(number);
            }
            self.interval_end(low, label.span)
        };
        let time = if self.game.arena().is_continuous() {
            number(&label.time.0, chooses_time(label))?
        } else {
            Real::ZERO
        };
        let mut parameters = Vec::with_capacity(rule.parameters.len());
        for (name, interval) in rule.parameters.iter().zip(&label.parameters) {
            let value = number(&interval.0, interval.0 != interval.1)?;
            parameters.push((name.clone(), value));
        }
        let embeddings = match label.multiplicity {
            Multiplicity::One => vec![Embedding::from(elements)],
            Multiplicity::Some => split_embeddings(elements, rule.elements.len()),
            Multiplicity::All => self.embeddings(label.rule)?,
        };
        let rule = label.rule;
        let application =
            |embedding| Application { edge, rule, embedding, time, parameters: parameters.clone() };
        Ok(embeddings.into_iter().map(application).collect())
    }

    /// Computes the state after a joint move.
    pub(super) fn compute_next(
        &self,
        joint: &[Move],
    ) -> Result<(State, Option<Stepped>), PositionError> {
        let arena = self.game.arena();
        assert_eq!(joint.len(), arena.players().len(), "a joint move has one move for each role");
        let content = self.state.content();
        match content.phase {
            Phase::Draw => {
                let drawn = joint.iter().find_map(|m| match m {
                    Move::Draw(numbers) => Some(numbers.as_slice().into()),
                    _ => None,
                });
                let drawn = drawn.expect("nature draws the numbers");
                let next = Content { drawn, phase: Phase::Choose, ..content.clone() };
                return Ok((self.new_state(next), None));
            }
            Phase::Outcome(branch) => {
                let chosen = joint.iter().find_map(|m| match m {
                    Move::Outcome { outcome, .. } => Some(*outcome),
                    _ => None,
                });
                let chosen = chosen.expect("nature's move is an outcome") as usize;
                let location = branch.outcomes(arena)[chosen].0;
                let next = self.entering(Content { location, ..content.clone() });
                return Ok((self.new_state(next), None));
            }
            Phase::Choose => {}
        }
        let applications = self.applications(joint)?;
        let stepped = self.step(&applications)?;
        Ok(self.after_step(joint, &applications, stepped))
    }

    /// Returns the state after the rules of a joint move have acted.
    pub(super) fn after_step(
        &self,
        joint: &[Move],
        applications: &[Application],
        stepped: Stepped,
    ) -> (State, Option<Stepped>) {
        let (arena, content) = (self.game.arena(), self.state.content());
        let mut history = Arc::clone(&content.history);
        for &place in &stepped.applied {
            let rule = applications[place].rule;
            if self.game.remembered.contains(&rule) && !history.contains(&rule) {
                Arc::make_mut(&mut history).insert(rule);
            }
        }
        let mut next = Content {
            structure: stepped.structure.clone(),
            values: stepped.values.clone().map(Arc::new),
            history,
            clock: stepped.clock,
            ..content.clone()
        };
        let branch = self.branch(joint);
        next = match branch.outcomes(arena) {
            [(target, _)] => self.entering(Content { location: *target, ..next }),
            _ => Content { phase: Phase::Outcome(branch), ..next },
        };
        (self.new_state(next), Some(stepped))
    }

    /// Returns the content of a state that has just come to its location.
    pub(super) fn entering(&self, content: Content) -> Content {
        let has_draws = !self.game.arena().location(content.location).draws.is_empty();
        let phase = if has_draws { Phase::Draw } else { Phase::Choose };
        Content { phase, drawn: Arc::default(), ..content }
    }

    /// Returns the edge that a joint move takes.
    fn branch(&self, joint: &[Move]) -> Branch {
        let location = self.state.location();
        let edge_of = |m: &Move| match m {
            Move::Apply { edge, .. } => Some(*edge),
            Move::Noop | Move::Outcome { .. } | Move::Draw(_) => None,
        };
        let place = self.game.arena().location(location);
        if place.joint.is_empty() {
            let edge = joint.iter().find_map(edge_of);
            return Branch::Edge(edge.expect("a player acts where play has not ended"));
        }
        let chosen: Vec<Option<usize>> =
            joint.iter().map(|m| edge_of(m).map(|edge| edge.index as usize)).collect();
        let (index, _) = place.joint_outcomes(&chosen).expect("every tuple of moves has an edge");
        Branch::Joint { location, index: index as u32 }
    }

    /// Lets rules act: time passes, and the rules whose moment has come are applied.
    pub(super) fn step(&self, applications: &[Application]) -> Result<Stepped, PositionError> {
        self.step_after(applications, None, self.game.evolve_options())
    }

    /// Returns the error of rules whose time cannot pass.
    pub(super) fn time_error(
        &self,
        applications: &[Application],
        error: &ContinuousError,
    ) -> PositionError {
        let rule = self.game.arena().rule(applications[0].rule);
        self.game.error(&error.to_string(), &rule_text(rule), rule.span)
    }

    /// Lets rules act whose first stretch of time may have been computed before.
    pub(super) fn step_after(
        &self,
        applications: &[Application],
        mut first: Option<Evolved>,
        options: &EvolveOptions,
    ) -> Result<Stepped, PositionError> {
        let arena = self.game.arena();
        let content = self.state.content();
        let mut values = content.values.as_deref().cloned();
        let mut clock = content.clock;
        let mut elapsed = Real::ZERO;
        let mut motions = Vec::new();
        let mut active: Vec<usize> = (0..applications.len()).collect();
        loop {
            let mut due = active.clone();
            if let Some(now) = &values {
                let acts: Vec<Act<'_>> =
                    active.iter().map(|&place| act(arena, &applications[place])).collect();
                if acts.is_empty() {
                    break;
                }
                let moment = self.moment(&content.structure, now);
                let evolved = match first.take() {
                    Some(evolved) => evolved,
                    None => evolve(arena, moment, &acts, elapsed, options)
                        .map_err(|error| self.time_error(&applications[active[0]..], &error))?,
                };
                due = evolved.due.iter().map(|&act| active[act]).collect();
                clock = self.tick(
                    clock,
                    evolved.elapsed - elapsed,
                    evolved.is_event,
                    &due,
                    applications,
                )?;
                elapsed = evolved.elapsed;
                values = Some(evolved.values);
                motions.push(evolved.motion);
            }
            let (applied, together) =
                self.apply_due(applications, &due, values.as_ref(), elapsed)?;
            if !applied.is_empty() || due.len() == active.len() {
                let Together { structure, values, origins, .. } = together;
                return Ok(Stepped { structure, values, applied, clock, motions, origins });
            }
            // None of the due rules may be applied: they are ignored, and time goes on.
            active.retain(|place| !due.contains(place));
        }
        let structure = content.structure.clone();
        let (applied, origins) = (Vec::new(), BTreeMap::new());
        Ok(Stepped { structure, values, applied, clock, motions, origins })
    }

    /// Advances the clock, and refuses time that comes to a halt.
    fn tick(
        &self,
        clock: Clock,
        passed: Real,
        is_event: bool,
        due: &[usize],
        applications: &[Application],
    ) -> Result<Clock, PositionError> {
        let now = clock.now + passed.midpoint();
        if !is_event {
            return Ok(Clock { now, ..clock });
        }
        if now - clock.window > 1.0 {
            return Ok(Clock { now, window: now, n_events: 1 });
        }
        let n_events = clock.n_events + 1;
        if n_events > MAX_EVENTS {
            let rule = self.game.arena().rule(applications[due[0]].rule);
            let why = format!(
                "its invariant fails more than {MAX_EVENTS} times within one unit of time, so that \
                 time comes to a halt near {now}; a precondition, such as a least speed, can end it"
            );
            return Err(self.game.error(&why, &rule_text(rule), rule.span));
        }
        Ok(Clock { now, n_events, ..clock })
    }

    /// Applies those of the due rules whose post-conditions hold in the joint result.
    fn apply_due(
        &self,
        applications: &[Application],
        due: &[usize],
        values: Option<&Values>,
        elapsed: Real,
    ) -> Result<(Vec<usize>, Together), PositionError> {
        let arena = self.game.arena();
        let mut kept = without_clashes(arena, applications, due);
        loop {
            let chosen: Vec<&Application> =
                kept.iter().map(|&place| &applications[place]).collect();
            let together = self.apply_together(&chosen, values, elapsed)?;
            let mut failed = BTreeSet::new();
            for (number, application) in chosen.iter().enumerate() {
                if !self.post_holds_after(application, &together, number, elapsed)? {
                    failed.insert(number);
                }
            }
            if failed.is_empty() {
                return Ok((kept, together));
            }
            let mut number = 0;
            kept.retain(|_| {
                number += 1;
                !failed.contains(&(number - 1))
            });
        }
    }

    fn post_holds_after(
        &self,
        application: &Application,
        together: &Together,
        number: usize,
        elapsed: Real,
    ) -> Result<bool, PositionError> {
        let rule = self.game.arena().rule(application.rule);
        let Some(post) = &rule.post else { return Ok(true) };
        let elements = &together.elements[number];
        if let Some(values) = &together.values {
            let named: Vec<(Variable, Element)> =
                post.variables.iter().cloned().zip(elements.iter().copied()).collect();
            let numbers = act(self.game.arena(), application).numbers(elapsed);
            let moment = self.moment(&together.structure, values);
            return moment
                .holds(&post.formula, &named, &numbers)
                .map_err(|error| self.rule_error(rule, &error));
        }
        let query = self.game.queries.posts[application.rule.index()];
        let query = query.expect("a rule with a post-condition has a query for it");
        let elements = assignment(&post.variables, elements);
        let holds = self.evaluator.borrow_mut().holds(query, &together.structure, &elements);
        holds.map_err(|error| self.rule_error(rule, &error))
    }

    /// Applies rules together. If the universe stays, all deletions precede all additions.
    fn apply_together(
        &self,
        chosen: &[&Application],
        values: Option<&Values>,
        elapsed: Real,
    ) -> Result<Together, PositionError> {
        let arena = self.game.arena();
        let old = self.state.structure();
        // New values depend on the state before any rule is applied.
        let mut updates = Vec::with_capacity(chosen.len());
        for application in chosen {
            updates.push(self.updates(application, values, elapsed)?);
        }
        let mut together = Together {
            structure: old.clone(),
            values: values.cloned(),
            elements: Vec::with_capacity(chosen.len()),
            origins: BTreeMap::new(),
        };
        let effects = chosen.iter().map(|a| (&arena.rule(a.rule).effect, &a.embedding));
        for (effect, embedding) in effects.clone() {
            if let Effect::Tuples { delete, .. } = effect {
                delete_all(&mut together.structure, delete, embedding);
            }
        }
        for (effect, embedding) in effects {
            if let Effect::Tuples { add, .. } = effect {
                add_all(&mut together.structure, add, embedding);
            }
        }
        for application in chosen {
            let rule = arena.rule(application.rule);
            let Effect::Rewrite(rewrite) = &rule.effect else {
                together.elements.push(application.embedding.to_vec());
                continue;
            };
            let applied = apply(
                &rule.effect,
                &together.structure,
                &application.embedding,
                self.game.growth(),
            )
            .map_err(|error| self.rule_error(rule, &error))?;
            for (place, &element) in applied.elements.iter().enumerate() {
                let origin = rewrite.map[place].map(|l| application.embedding[l]);
                if origin != Some(element) {
                    together.origins.insert(element, origin);
                }
            }
            together.structure = applied.structure;
            together.elements.push(applied.elements);
        }
        if let (Some(values), Some(old_values)) = (&mut together.values, values) {
            inherit_values(values, old_values, &together.structure, &together.origins);
        }
        self.set_updates(&mut together, &updates, chosen)?;
        Ok(together)
    }

    /// Computes the new values that a rule sets, in the order of its updates.
    fn updates(
        &self,
        application: &Application,
        values: Option<&Values>,
        elapsed: Real,
    ) -> Result<Vec<Real>, PositionError> {
        let rule = self.game.arena().rule(application.rule);
        let act = act(self.game.arena(), application);
        let mut new = Vec::with_capacity(rule.updates.len());
        for (place, update) in rule.updates.iter().enumerate() {
            let found = match values {
                Some(values) => self
                    .moment(self.state.structure(), values)
                    .value(&update.term, &act.elements(), &act.numbers(elapsed))
                    .map_err(|error| self.update_error(rule, update, &error.to_string()))?,
                None => {
                    let query = self.game.queries.updates[application.rule.index()][place];
                    let elements = assignment(&rule.elements, &application.embedding);
                    self.evaluator
                        .borrow_mut()
                        .value(query, self.state.structure(), &elements)
                        .map_err(|error| self.update_error(rule, update, &error.to_string()))?
                        .map(Real::Exact)
                }
            };
            let found = found.filter(|value| value.to_interval().is_finite());
            let found = found
                .ok_or_else(|| self.update_error(rule, update, "the new value is undefined"))?;
            new.push(found);
        }
        Ok(new)
    }

    /// Sets new values. If several rules change one value, their changes add up, as those of
    /// differential equations do.
    fn set_updates(
        &self,
        together: &mut Together,
        updates: &[Vec<Real>],
        chosen: &[&Application],
    ) -> Result<(), PositionError> {
        let arena = self.game.arena();
        let mut by_place: BTreeMap<(FunctionId, Element), Vec<Real>> = BTreeMap::new();
        for (number, application) in chosen.iter().enumerate() {
            let rule = arena.rule(application.rule);
            for (update, &value) in rule.updates.iter().zip(&updates[number]) {
                let element = together.elements[number][update.element];
                by_place.entry((update.function, element)).or_default().push(value);
            }
        }
        for ((function, element), news) in by_place {
            let old = match &together.values {
                Some(values) => values.get(function, element),
                None => together.structure.value(function, element).map_or(Real::ZERO, Real::Exact),
            };
            let new = match news.as_slice() {
                [only] => *only,
                several => several.iter().fold(old, |sum, &new| sum + (new - old)),
            };
            match &mut together.values {
                Some(values) => values.set(function, element, new.shrunk()),
                None => {
                    let Some(exact) = new.exact() else {
                        let name = arena.vocabulary().function_name(function);
                        let why = format!("a value of `{name}` grew beyond 128 bits");
                        let rule = arena.rule(chosen[0].rule);
                        return Err(self.game.error(&why, &rule_text(rule), rule.span));
                    };
                    together
                        .structure
                        .set_value(function, element, Some(exact))
                        .expect("rules update living elements");
                }
            }
        }
        Ok(())
    }

    fn update_error(&self, rule: &ArenaRule, update: &Equation, why: &str) -> PositionError {
        let name = self.game.arena().vocabulary().function_name(update.function);
        self.game.error(why, &format!("the update of `{name}` by `{}`", rule.name), update.span)
    }

    /// Returns an end of an interval at this position.
    pub(super) fn interval_end(
        &self,
        term: &agon_structures::formula::Term,
        span: agon_text::Span,
    ) -> Result<Real, PositionError> {
        if let agon_structures::formula::Term::Number(number) = term {
            return Ok(Real::Exact(*number));
        }
        let content = self.state.content();
        let location = self.game.arena().location(content.location);
        let numbers: Vec<(Variable, Real)> = location
            .draws
            .iter()
            .zip(content.drawn.iter())
            .map(|(draw, &number)| (draw.name.clone(), decimal(number)))
            .collect();
        let found = match &content.values {
            Some(values) => self
                .moment(&content.structure, values)
                .value(term, &[], &numbers)
                .map_err(|error| self.game.error(&error.to_string(), "an interval", span))?,
            None => {
                let mut evaluator = self.evaluator.borrow_mut();
                let value = evaluator
                    .term(term, &[])
                    .and_then(|query| {
                        evaluator.value(query, &content.structure, &Assignment::new())
                    })
                    .map_err(|error| self.game.error(&error.to_string(), "an interval", span))?;
                value.map(Real::Exact)
            }
        };
        found.ok_or_else(|| self.game.error("its end is undefined", "an interval", span))
    }
}

pub(super) fn act<'a>(arena: &'a CheckedArena, application: &'a Application) -> Act<'a> {
    Act {
        rule: arena.rule(application.rule),
        embedding: &application.embedding,
        time: application.time,
        parameters: application.parameters.clone(),
    }
}

pub(super) fn rule_text(rule: &ArenaRule) -> String {
    format!("rule `{}`", rule.name)
}

/// Returns the due applications without those that cannot be applied together, because one of them
/// creates, copies or deletes elements and they share an element. Kaiser & Stafiniak 2010 exclude
/// this case. Of the embeddings of one move the first is applied; of different moves none is.
fn without_clashes(
    arena: &CheckedArena,
    applications: &[Application],
    due: &[usize],
) -> Vec<usize> {
    let rewrites =
        |place: usize| matches!(arena.rule(applications[place].rule).effect, Effect::Rewrite(_));
    if !due.iter().any(|&place| rewrites(place)) {
        return due.to_vec();
    }
    let clash = |a: usize, b: usize| {
        (rewrites(a) || rewrites(b))
            && applications[a].embedding.iter().any(|e| applications[b].embedding.contains(e))
    };
    let mut kept: Vec<usize> = Vec::new();
    for &place in due {
        let same = |other: &&usize| applications[**other].edge == applications[place].edge;
        if !kept.iter().filter(same).any(|&other| clash(place, other)) {
            kept.push(place);
        }
    }
    let is_free = |&&place: &&usize| {
        !kept.iter().any(|&other| {
            applications[other].edge != applications[place].edge && clash(place, other)
        })
    };
    kept.iter().filter(is_free).copied().collect()
}

/// Gives new elements the values of the elements that they replace, or 0, and drops the values of
/// deleted elements.
fn inherit_values(
    values: &mut Values,
    old: &Values,
    structure: &Structure,
    origins: &BTreeMap<Element, Option<Element>>,
) {
    if origins.is_empty() && old.elements().all(|element| structure.has(element)) {
        return;
    }
    for element in old.elements().filter(|&element| !structure.has(element)) {
        values.clear_row(element);
    }
    let n_functions = structure.vocabulary().functions().count();
    for (&element, origin) in origins {
        let row = match origin {
            Some(origin) => old.row(*origin).to_vec(),
            None => vec![Real::ZERO; n_functions],
        };
        values.set_row(element, row);
    }
}
