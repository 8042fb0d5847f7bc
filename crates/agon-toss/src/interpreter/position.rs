//! Positions of the interpreter.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_game::Role;
use agon_reals::real::Real;
use agon_structures::evaluate::{Assignment, Evaluator, Solutions};
use agon_structures::formula::{Formula, Sign, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, FunctionId, Structure};
use agon_text::Span;

use super::game::{Game, assignment};
use super::legality::Derived;
use super::moves::Move;
use super::state::{Content, State, Values};
use crate::arena::{ArenaRule, LocationId};
use crate::check::payoffs::is_in_range;
use crate::continuous::{Moment, Motion, Watch, is_discrete};

/// A position of a [`Game`]. Results are computed on demand and cached until the state changes.
pub struct Interpreter {
    pub(super) game: Arc<Game>,
    pub(super) evaluator: RefCell<Evaluator>,
    pub(super) state: State,
    pub(super) derived: OnceCell<Derived>,
    pub(super) payoffs: OnceCell<Result<Vec<Real>, PositionError>>,
    /// The solutions of each rule's condition at the state where it was last evaluated, if
    /// embeddings are updated incrementally.
    pub(super) followed: RefCell<Vec<Option<Solutions>>>,
    watch: Watch,
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
            watch: self.watch.clone(),
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
        let watch = Watch::new(game.interrupt().clone());
        Interpreter { game, evaluator, state, derived, payoffs, followed, watch }
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
        self.payoffs.get_or_init(|| self.for_one_state(|| self.compute_payoffs())).as_deref()
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
        let at_moment = |values: &Values| {
            let named: Vec<(Variable, Element)> =
                variables.iter().cloned().zip(elements.iter().copied()).collect();
            let held = self.moment(structure, values).holds(formula, &named, &[]);
            held.map_err(|error| error.to_string())
        };
        if let Some(values) = self.state.values() {
            return at_moment(values);
        }
        match self.game.holds(structure, formula, variables, elements) {
            Err(_) if is_about_reals(formula) => at_moment(&Values::of_structure(structure)),
            held => held.map_err(|error| error.to_string()),
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
        let at_moment = |values: &Values| {
            let named: Vec<(Variable, Element)> =
                variables.iter().cloned().zip(elements.iter().copied()).collect();
            let moment = self.moment(structure, values);
            moment.value(term, &named, &[]).map_err(|error| error.to_string())
        };
        if let Some(values) = self.state.values() {
            return at_moment(values);
        }
        let mut evaluator = self.game.evaluator();
        let elements = assignment(variables, elements);
        let value = evaluator
            .term(term, variables)
            .and_then(|query| evaluator.value(query, structure, &elements));
        let as_formula = || Formula::compare(term.clone(), Sign::Equal, Term::whole(0));
        match value {
            Err(_) if is_about_reals(&as_formula()) => at_moment(&Values::of_structure(structure)),
            value => value.map(|value| value.map(Real::Exact)).map_err(|error| error.to_string()),
        }
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
            let found = self.game.solutions(structure, formula, variables);
            if found.is_ok() || !is_about_reals(formula) {
                return found.map_err(|error| error.to_string());
            }
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
        let (max_steps, watch) = (self.game.max_steps(), &self.watch);
        Moment { structure, values, definitions, max_steps, watch }
    }

    /// Computes something about a state, within the number of evaluation steps for one state.
    pub(super) fn for_one_state<T>(&self, compute: impl FnOnce() -> T) -> T {
        let allow = |steps: u64| {
            self.watch.allow(steps);
            self.evaluator.borrow_mut().allow(steps);
        };
        allow(self.game.max_state_steps());
        let computed = compute();
        allow(u64::MAX);
        computed
    }

    pub(super) fn rule_error(
        &self,
        rule: &ArenaRule,
        why: &dyn std::error::Error,
    ) -> PositionError {
        self.game.error(&why.to_string(), &format!("rule `{}`", rule.name), rule.span)
    }

    pub(super) fn compute_payoffs(&self) -> Result<Vec<Real>, PositionError> {
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

    /// Makes a joint move and returns what moved meanwhile. Discrete games give nothing.
    pub fn advance_with_motion(&mut self, joint: &[Move]) -> Vec<Motion> {
        match self.for_one_state(|| self.compute_next(joint)) {
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
        let (state, stepped) = self.for_one_state(|| self.compute_next(joint)).ok()?;
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

    pub(super) fn set_state(&mut self, state: State) {
        self.derived.take();
        self.payoffs.take();
        self.state = state;
    }
}

/// Returns whether a formula is beyond the evaluator of exact formulas, although values of functions
/// do not change: it quantifies over real numbers or uses roots or sines.
fn is_about_reals(formula: &Formula) -> bool {
    !is_discrete(formula, &|_| true, &|_| false)
}
