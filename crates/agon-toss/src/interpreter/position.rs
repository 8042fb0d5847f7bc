//! Positions of the interpreter.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_game::{Family, Fault, Parameter, Position, Rng, Role, Shape, draw_listed};
use agon_reals::real::Real;
use agon_structures::evaluate::{Assignment, EvaluationError, Evaluator, Solutions};
use agon_structures::formula::{Formula, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, FunctionId, Structure};
use agon_text::Span;
use rand::RngExt as _;

use super::chance::{quantile, samples};
use super::embedding::Embedding;
use super::families::{Choice, chosen_names, disjoint_sets};
use super::game::{Game, assignment};
use super::moves::{EdgeId, Move, split_embeddings};
use super::state::{Content, Phase, State, Values};
use crate::arena::{ArenaRule, Edge, LocationId, Multiplicity, RuleId};
use crate::check::payoffs::is_in_range;
use crate::continuous::{ContinuousError, Moment, Motion};

/// A position of a [`Game`]. Results are computed on demand and cached until the state changes.
pub struct Interpreter {
    pub(super) game: Arc<Game>,
    pub(super) evaluator: RefCell<Evaluator>,
    pub(super) state: State,
    derived: OnceCell<Derived>,
    payoffs: OnceCell<Result<Vec<Real>, PositionError>>,
    /// The solutions of each rule's condition at the state where it was last evaluated, if
    /// embeddings are updated incrementally.
    followed: RefCell<Vec<Option<Solutions>>>,
}

struct Derived {
    terminal: bool,
    legal: Vec<Vec<Move>>,
    /// In a continuous game: the choices of each role, in the order of its families.
    choices: Vec<Vec<Choice>>,
    families: Vec<Vec<Family>>,
    fault: Option<(Fault, Span)>,
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

impl Clone for Interpreter {
    fn clone(&self) -> Interpreter {
        Interpreter {
            game: Arc::clone(&self.game),
            evaluator: self.evaluator.clone(),
            state: self.state.clone(),
            derived: OnceCell::new(),
            payoffs: OnceCell::new(),
            followed: self.followed.clone(),
        }
    }
}

/// Maximum number of assignments that are tried one by one in a continuous game.
const MAX_ASSIGNMENTS: usize = 200_000;

/// The reason why a position could not be evaluated, with the place in the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionError {
    pub(super) message: String,
    pub(super) span: Span,
}

impl PositionError {
    /// Returns the place of the formula or term that could not be evaluated.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PositionError {}

impl Interpreter {
    pub(super) fn new(game: Arc<Game>) -> Interpreter {
        let state = game.start_state().clone();
        let evaluator = RefCell::new(game.evaluator());
        let followed = RefCell::new(vec![None; game.arena().rules().len()]);
        let (derived, payoffs) = (OnceCell::new(), OnceCell::new());
        Interpreter { game, evaluator, state, derived, payoffs, followed }
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Returns a position of the same game with another structure and location.
    pub fn at(&self, structure: Structure, location: LocationId) -> Interpreter {
        let start = self.game.start_state().content().clone();
        let content = self.entering(Content { structure, location, ..start });
        Interpreter { state: self.new_state(content), ..self.clone() }
    }

    /// Returns a position of the same game with another structure, other values of functions and
    /// another location. The values count in a continuous game only.
    pub fn with_values(
        &self,
        structure: Structure,
        values: Values,
        location: LocationId,
    ) -> Interpreter {
        let start = self.game.start_state().content().clone();
        let values = start.values.is_some().then(|| Arc::new(values));
        let content = self.entering(Content { structure, values, location, ..start });
        Interpreter { state: self.new_state(content), ..self.clone() }
    }

    pub(super) fn new_state(&self, content: Content) -> State {
        State::new(content, self.game.keeps_universe)
    }

    /// Returns the values of the payoffs of all roles if play ended here.
    ///
    /// # Errors
    /// If a payoff has no value or exceeds the limits of the game.
    pub fn payoff_values(&self) -> Result<&[Real], &PositionError> {
        self.payoffs.get_or_init(|| self.compute_payoffs()).as_deref()
    }

    /// Returns the exact payoff of each role if play ended here.
    ///
    /// # Errors
    /// If a payoff has no exact value or exceeds the limits of the game.
    pub fn exact_payoffs(&self) -> Result<Vec<Rational>, PositionError> {
        let values = self.payoff_values().map_err(Clone::clone)?;
        let exact: Option<Vec<Rational>> = values.iter().map(Real::exact).collect();
        exact.ok_or_else(|| {
            let location = self.game.arena().location(self.state.location());
            self.game.error("it is not known exactly", "a payoff", location.span)
        })
    }

    /// Returns the payoff of the role if it has a value and that is an integer. Traces record only
    /// integers.
    pub fn whole_payoff(&self, role: Role) -> Option<i64> {
        let payoff = self.payoff_values().ok()?.get(role.index())?.exact()?;
        if payoff.is_whole() { i64::try_from(payoff.numerator()).ok() } else { None }
    }

    /// Returns whether a formula holds here for the given elements.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn holds(
        &self,
        formula: &Formula,
        variables: &[Variable],
        elements: &[Element],
    ) -> Result<bool, String> {
        let structure = self.state.structure();
        match self.state.values() {
            Some(values) => {
                let named: Vec<(Variable, Element)> =
                    variables.iter().cloned().zip(elements.iter().copied()).collect();
                self.moment(structure, values)
                    .holds(formula, &named, &[])
                    .map_err(|error| error.to_string())
            }
            None => self
                .game
                .holds(structure, formula, variables, elements)
                .map_err(|error| error.to_string()),
        }
    }

    /// Returns the value here of a term without free variables, if it has one.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn value(&self, term: &Term) -> Result<Option<Real>, String> {
        self.value_for(term, &[], &[])
    }

    /// Returns the value here of a term for the given elements, if it has one.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn value_for(
        &self,
        term: &Term,
        variables: &[Variable],
        elements: &[Element],
    ) -> Result<Option<Real>, String> {
        let structure = self.state.structure();
        if let Some(values) = self.state.values() {
            let named: Vec<(Variable, Element)> =
                variables.iter().cloned().zip(elements.iter().copied()).collect();
            let moment = self.moment(structure, values);
            return moment.value(term, &named, &[]).map_err(|error| error.to_string());
        }
        let mut evaluator = self.game.evaluator();
        let elements = assignment(variables, elements);
        let value = evaluator
            .term(term, variables)
            .and_then(|query| evaluator.value(query, structure, &elements));
        value.map(|value| value.map(Real::Exact)).map_err(|error| error.to_string())
    }

    /// Returns the assignments of the variables that satisfy a formula here, sorted.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn satisfying(
        &self,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<Vec<Vec<Element>>, String> {
        let structure = self.state.structure();
        if self.state.values().is_none() {
            return self
                .game
                .solutions(structure, formula, variables)
                .map_err(|error| error.to_string());
        }
        let elements: Vec<Element> = structure.elements().collect();
        let n_rows = elements.len().saturating_pow(variables.len().min(9) as u32);
        if n_rows > MAX_ASSIGNMENTS {
            return Err(format!("there are more than {MAX_ASSIGNMENTS} assignments to try"));
        }
        let mut found = Vec::new();
        let mut rows = vec![Vec::new()];
        for _ in variables {
            rows = rows
                .into_iter()
                .flat_map(|row: Vec<Element>| {
                    elements.iter().map(move |&element| [&row[..], &[element]].concat())
                })
                .collect();
        }
        for row in rows {
            if self.holds(formula, variables, &row)? {
                found.push(row);
            }
        }
        Ok(found)
    }

    /// Returns the moment at a structure with values, for evaluation.
    pub(super) fn moment<'a>(&'a self, structure: &'a Structure, values: &'a Values) -> Moment<'a> {
        let definitions = self.game.definitions();
        Moment { structure, values, definitions, max_steps: self.game.max_steps() }
    }

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

    pub(super) fn rule_error(
        &self,
        rule: &ArenaRule,
        why: &dyn std::error::Error,
    ) -> PositionError {
        self.game.error(&why.to_string(), &format!("rule `{}`", rule.name), rule.span)
    }

    fn compute_payoffs(&self) -> Result<Vec<Real>, PositionError> {
        let location = self.game.arena().location(self.state.location());
        let players = self.game.arena().players();
        let limit = Real::whole(1_000_000_000);
        let mut payoffs = Vec::with_capacity(players.len());
        for (place, player) in players.iter().enumerate() {
            let what = format!("the payoff of `{player}` at the location `{}`", location.name);
            let found = match self.state.values() {
                Some(values) => self
                    .moment(self.state.structure(), values)
                    .value(&location.payoffs[place], &[], &[])
                    .map_err(|error| error.to_string()),
                None => {
                    let query = self.game.queries.payoffs[self.state.location().index()][place];
                    self.evaluator
                        .borrow_mut()
                        .value(query, self.state.structure(), &Assignment::new())
                        .map(|value| value.map(Real::Exact))
                        .map_err(|error| error.to_string())
                }
            };
            let why = match found {
                Ok(Some(value))
                    if value.exact().map_or_else(
                        || {
                            !Real::certainly_less(&limit, &value)
                                && !Real::certainly_less(&value, &-limit)
                        },
                        is_in_range,
                    ) =>
                {
                    payoffs.push(value);
                    continue;
                }
                Ok(Some(value)) => {
                    format!("it is {value}, and payoffs go from -1000000000 to 1000000000")
                }
                Ok(None) => {
                    "it has no value: it divides by zero, or takes the least of nothing".to_owned()
                }
                Err(error) => error,
            };
            return Err(self.game.error(&why, &what, location.span));
        }
        Ok(payoffs)
    }

    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            let found = match &self.state.content().fault {
                Some(fault) => Err(fault.clone()),
                None => self
                    .compute_derived()
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

    /// Adds the discrete choices of an edge with the intervals of their numbers.
    fn choices_of(
        &self,
        edge: EdgeId,
        label: &Edge,
        choices: &mut Vec<Choice>,
    ) -> Result<(), PositionError> {
        let arena = self.game.arena();
        let is_alone = !arena.location(edge.location).is_concurrent();
        let embeddings = if is_alone {
            self.legal_embeddings(label.rule)?
        } else {
            self.embeddings(label.rule)?
        };
        let sets = match label.multiplicity {
            Multiplicity::One => embeddings,
            Multiplicity::Some => disjoint_sets(&embeddings),
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
    /// sample is legal.
    fn list_moves(&self, choices: &mut Vec<Choice>) -> Result<Vec<Move>, PositionError> {
        let mut moves = Vec::with_capacity(choices.len());
        let mut error = None;
        choices.retain(|choice| {
            let n_before = moves.len();
            for numbers in choice.sample() {
                let Some(m) = choice.with(&numbers) else { continue };
                match self.post_allows(&m) {
                    Ok(true) => moves.push(m),
                    Ok(false) => {}
                    Err(found) => error = Some(found),
                }
            }
            moves.len() > n_before
        });
        match error {
            Some(error) => Err(error),
            None => Ok(moves),
        }
    }

    /// Returns whether the post-condition of a rule allows a move whose other conditions hold.
    fn post_allows(&self, m: &Move) -> Result<bool, PositionError> {
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
    fn choice_of(&self, role: Role, m: &Move) -> Option<(usize, &Choice)> {
        let Move::Apply { edge, elements, .. } = m else { return None };
        let choices = &self.derived().choices[role.index()];
        let is_own = |choice: &&Choice| choice.edge == *edge && choice.elements == *elements;
        choices.iter().enumerate().find(|(_, choice)| is_own(choice))
    }

    /// Returns whether a move is legal although it is not in the list: with other numbers, or with
    /// another set of embeddings.
    fn is_legal_beyond_list(&self, role: Role, m: &Move) -> bool {
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

    /// Draws a move of a role as Kaiser & Stafiniak 2010 do: a discrete choice and the numbers
    /// uniformly, nature by its chances.
    fn draw_move(&self, role: Role, rng: &mut Rng) -> Move {
        let derived = self.derived();
        let listed = &derived.legal[role.index()];
        if self.state.content().phase == Phase::Draw && listed.len() > 1 {
            let location = self.game.arena().location(self.state.location());
            let numbers: Vec<f64> = location
                .draws
                .iter()
                .map(|draw| quantile(draw.distribution, rng.random::<f64>()))
                .collect();
            return Move::Draw(numbers.into());
        }
        let choices = &derived.choices[role.index()];
        let choice = if Some(role) == self.shape().nature || choices.is_empty() {
            // Nature's edges have chances. Within an edge its choices are as likely as their
            // samples.
            let drawn = draw_listed(self, role, rng);
            match self.choice_of(role, &drawn) {
                Some((_, choice)) => choice,
                None => return drawn,
            }
        } else {
            &choices[rng.random_range(0..choices.len())]
        };
        /// Number of attempts to find numbers that the post-condition allows.
        const ATTEMPTS: usize = 8;
        for _ in 0..ATTEMPTS {
            let numbers: Vec<f64> = choice
                .intervals
                .iter()
                .map(|&(low, high)| (low + rng.random::<f64>() * (high - low)).clamp(low, high))
                .collect();
            if let Some(m) = choice.with(&numbers)
                && self.post_allows(&m).unwrap_or(false)
            {
                return m;
            }
        }
        listed[rng.random_range(0..listed.len())].clone()
    }

    /// Makes a joint move and returns what moved meanwhile. Discrete games give nothing.
    pub fn advance_with_motion(&mut self, joint: &[Move]) -> Vec<Motion> {
        match self.compute_next(joint) {
            Ok((state, stepped)) => {
                self.set_state(state);
                stepped.map_or_else(Vec::new, |stepped| stepped.motions)
            }
            Err(error) => {
                let failed = State::failed(&self.state, error);
                self.set_state(failed);
                Vec::new()
            }
        }
    }

    /// Returns the position after a joint move, with the element that each new element replaces.
    /// Returns `None` if nature decides alone here, or if the move fails.
    pub(crate) fn after_with_origins(
        &self,
        joint: &[Move],
    ) -> Option<(Interpreter, BTreeMap<Element, Option<Element>>)> {
        let (state, stepped) = self.compute_next(joint).ok()?;
        let mut after = self.clone();
        after.set_state(state);
        Some((after, stepped?.origins))
    }

    /// Returns the value of a function at a living element.
    pub fn function_value(&self, function: FunctionId, element: Element) -> Real {
        match self.state.values() {
            Some(values) => values.get(function, element),
            None => {
                let value = self.state.structure().value(function, element);
                value.map_or(Real::ZERO, Real::Exact)
            }
        }
    }

    fn set_state(&mut self, state: State) {
        self.derived.take();
        self.payoffs.take();
        self.state = state;
    }
}

impl Position for Interpreter {
    type Move = Move;
    type State = State;

    fn shape(&self) -> &Shape {
        self.game.shape()
    }

    fn is_terminal(&self) -> bool {
        self.derived().terminal
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.derived().legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let value = self.payoff_values().map_or(0.0, |payoffs| payoffs[player.index()].midpoint());
        value.clamp(*self.shape().payoffs.start(), *self.shape().payoffs.end())
    }

    fn advance(&mut self, joint: &[Move]) {
        self.advance_with_motion(joint);
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn go_to(&mut self, state: &State) {
        self.set_state(state.clone());
    }

    fn key(&self) -> u64 {
        self.state.key()
    }

    fn fault(&self) -> Option<&Fault> {
        self.derived().fault.as_ref().map(|fault| &fault.0)
    }

    fn is_legal(&self, role: Role, candidate: &Move) -> bool {
        // Edges are in order and embeddings are sorted, so the list is sorted.
        self.legal_moves(role).binary_search(candidate).is_ok()
            || (!self.is_terminal() && self.is_legal_beyond_list(role, candidate))
    }

    fn draw(&self, rng: &mut Rng, joint: &mut Vec<Move>) {
        joint.clear();
        for role in self.shape().roles() {
            joint.push(if self.game.arena().is_continuous() {
                self.draw_move(role, rng)
            } else {
                draw_listed(self, role, rng)
            });
        }
    }

    fn chance(&self, nature_move: &Move) -> f64 {
        let arena = self.game.arena();
        let Some(nature) = arena.nature() else { return 0.0 };
        let moves = &self.derived().legal[nature];
        if !moves.contains(nature_move) {
            return 0.0;
        }
        let location = arena.location(self.state.location());
        match nature_move {
            Move::Noop => 1.0,
            Move::Outcome { branch, outcome } => {
                branch.outcomes(arena)[*outcome as usize].1.to_f64()
            }
            Move::Draw(_) => 1.0 / moves.len() as f64,
            Move::Apply { edge, .. } => {
                let edges = &location.edges[nature];
                let of_edge = |index: usize| {
                    let is_of_edge = |m: &&Move| match m {
                        Move::Apply { edge, .. } => edge.index as usize == index,
                        Move::Noop | Move::Outcome { .. } | Move::Draw(_) => false,
                    };
                    moves.iter().filter(is_of_edge).count()
                };
                let Some(weight) = edges[edge.index as usize].weight else {
                    return 1.0 / moves.len() as f64;
                };
                // The probability of edges that cannot be taken is distributed among the others.
                let total: f64 = (0..edges.len())
                    .filter(|&other| of_edge(other) > 0)
                    .filter_map(|other| edges[other].weight)
                    .map(Rational::to_f64)
                    .sum();
                weight.to_f64() / total / of_edge(edge.index as usize) as f64
            }
        }
    }
}
