//! A game opened for play: the data that all its positions share.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use agon_game::{Role, Shape};
use agon_reals::evolve::EvolveOptions;
use agon_reals::interrupt::Interrupt;
use agon_structures::evaluate::{
    Assignment, EvaluationError, Evaluator, FormulaQuery, Limits, TermQuery,
};
use agon_structures::formula::{Definitions, Formula, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure, Vocabulary};
use agon_text::{Diagnostic, Span};

use super::MAX_ELEMENTS;
use super::margins::Margins;
use super::position::{Interpreter, PositionError};
use super::state::{Clock, Content, Phase, State, Values};
use crate::arena::{ArenaRule, CheckedArena, RuleId};
use crate::continuous::is_discrete;
use crate::rewrite::GrowthLimits;

/// Options for opening a game.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits on the evaluation of one formula.
    pub limits: Limits,
    /// Maximum number of evaluation steps for one state: for its legal moves, its payoffs, or the
    /// step to the next one.
    pub state_steps: u64,
    /// Ends every evaluation of the game, in opening and in play.
    pub interrupt: Interrupt,
    /// Time at which opening the game must have ended. It does not limit play.
    pub deadline: Option<Instant>,
    /// Limits on the growth of structures.
    pub growth: GrowthLimits,
    /// How the embeddings of rules are computed.
    pub embeddings: EmbeddingSearch,
    /// How time passes in a continuous game.
    pub evolve: EvolveOptions,
    /// Whether play always starts in the start of the rules. Relations that never change are then
    /// computed once.
    pub start_is_final: bool,
}

/// Number of elements from which [`EmbeddingSearch::Auto`] updates embeddings incrementally. With
/// 45 elements both ways take the same time, with 170 updates are faster (`cargo xtask growing`).
const INCREMENTAL_FROM: usize = 100;

/// How the embeddings of rules at a state are computed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EmbeddingSearch {
    /// From the formula alone.
    FromScratch,
    /// By updating the embeddings at the previously seen state with the changes since then.
    Incremental,
    /// Incrementally where rules change the universe and there are many elements, because a small
    /// structure is searched just as fast. Other games are played fast by circuits, so their
    /// interpreter stays simple.
    Auto,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            // A formula of a typical game takes a thousandth of this.
            limits: Limits { steps: 200_000_000, ..Limits::default() },
            state_steps: 1_000_000_000,
            interrupt: Interrupt::NEVER,
            deadline: None,
            growth: GrowthLimits { elements: MAX_ELEMENTS, tuples: 200_000 },
            embeddings: EmbeddingSearch::Auto,
            // Searches make millions of steps, of which none is drawn.
            evolve: EvolveOptions { keep_trajectory: false, ..EvolveOptions::default() },
            start_is_final: true,
        }
    }
}

/// A game opened for play. All its positions share it.
pub struct Game {
    arena: CheckedArena,
    options: Options,
    shape: Shape,
    /// Knows every formula and term of the game. Each position has a copy, which caches results
    /// that do not change.
    evaluator: Evaluator,
    pub(super) queries: Queries,
    start: State,
    /// The rules that the history of some rule mentions.
    pub(super) remembered: BTreeSet<RuleId>,
    /// Whether no rule changes the universe.
    pub(super) keeps_universe: bool,
    /// By rule of a continuous game: the parts of its condition that are about numbers.
    pub(super) numeric_parts: Vec<Vec<usize>>,
    /// The parts of conditions and payoffs that are about numbers.
    pub(super) margins: Margins,
}

/// The formulas and terms that play evaluates.
pub(super) struct Queries {
    /// The conditions of the rules.
    pub(super) conditions: Vec<FormulaQuery>,
    /// The post-conditions of the rules.
    pub(super) posts: Vec<Option<FormulaQuery>>,
    /// The payoffs by location and player.
    pub(super) payoffs: Vec<Vec<TermQuery>>,
    /// The updates by rule.
    pub(super) updates: Vec<Vec<TermQuery>>,
}

impl Game {
    /// Opens a game.
    ///
    /// # Errors
    /// If a formula cannot be evaluated, or if a stable defined relation is too large to compute.
    pub fn open(arena: CheckedArena, options: Options) -> Result<Arc<Game>, Box<Diagnostic>> {
        let keeps_universe = arena.keeps_universe();
        let (start, definitions) = materialise_stable(&arena, &options)?;
        let discrete = discrete_definitions(&arena, definitions);
        let mut options = options;
        options.evolve.interrupt = options.interrupt.clone();
        let mut evaluator =
            Evaluator::new(start.vocabulary().clone(), Arc::new(discrete.clone()), options.limits);
        evaluator.set_interrupt(options.interrupt.clone());
        let numeric_parts = numeric_parts(&arena, &start, &discrete);
        let queries = queries(&arena, &numeric_parts, &mut evaluator)?;
        let mut shape = Shape::new(arena.players().to_vec(), arena.nature().map(Role::new));
        shape.payoffs = arena.payoff_bounds();
        shape.turn_taking = arena.takes_turns();
        shape.constant_sum = arena.constant_sum();
        shape.continuous = arena.is_continuous();
        let margins = margins(&arena, &start, &discrete);
        let remembered = arena
            .rules()
            .iter()
            .flat_map(|rule| rule.history.iter().map(|(rule, _)| *rule))
            .collect();
        let start = start_state(&arena, start);
        Ok(Arc::new(Game {
            arena,
            options,
            shape,
            evaluator,
            queries,
            start,
            remembered,
            keeps_universe,
            numeric_parts,
            margins,
        }))
    }

    /// Returns a position at the start.
    pub fn start(self: &Arc<Game>) -> Interpreter {
        Interpreter::new(Arc::clone(self))
    }

    /// Returns the checked game.
    pub fn arena(&self) -> &CheckedArena {
        &self.arena
    }

    /// Returns the facts about the game that hold at every position.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn start_state(&self) -> &State {
        &self.start
    }

    /// Returns the structure at the start. It includes the defined relations that never change.
    pub fn start_structure(&self) -> &Structure {
        self.start.structure()
    }

    /// Returns the number of evaluation steps of all positions so far. This measures time
    /// independently of the machine.
    pub fn spent(&self) -> u64 {
        self.evaluator.spent()
    }

    pub(super) fn evaluator(&self) -> Evaluator {
        self.evaluator.clone()
    }

    /// Returns whether embeddings are updated incrementally at a state with this structure.
    pub(super) fn updates_incrementally(&self, structure: &Structure) -> bool {
        match self.options.embeddings {
            EmbeddingSearch::FromScratch => false,
            EmbeddingSearch::Incremental => true,
            EmbeddingSearch::Auto => {
                !self.keeps_universe && structure.n_elements() >= INCREMENTAL_FROM
            }
        }
    }

    /// Returns the definitions of all relations that formulas about numbers may use.
    pub(super) fn definitions(&self) -> &Definitions {
        self.arena.definitions()
    }

    /// Returns the maximum number of steps for the evaluation of one formula.
    pub(super) fn max_steps(&self) -> u64 {
        self.options.limits.steps
    }

    /// Returns the maximum number of steps for one state.
    pub(super) fn max_state_steps(&self) -> u64 {
        self.options.state_steps
    }

    /// Returns what ends every evaluation of the game.
    pub fn interrupt(&self) -> &Interrupt {
        &self.options.interrupt
    }

    pub(super) fn evolve_options(&self) -> &EvolveOptions {
        &self.options.evolve
    }

    pub(super) fn growth(&self) -> GrowthLimits {
        self.options.growth
    }

    /// Returns the assignments of the variables that satisfy a formula, sorted.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn solutions(
        &self,
        structure: &Structure,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<Vec<Vec<Element>>, EvaluationError> {
        let mut evaluator = self.evaluator();
        let query = evaluator.formula(formula, variables)?;
        let found = evaluator.solve(query, structure, &Assignment::new())?;
        Ok(found.iter().map(<[Element]>::to_vec).collect())
    }

    /// Returns whether a formula holds for the given elements.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn holds(
        &self,
        structure: &Structure,
        formula: &Formula,
        variables: &[Variable],
        elements: &[Element],
    ) -> Result<bool, EvaluationError> {
        let mut evaluator = self.evaluator();
        let query = evaluator.formula(formula, variables)?;
        evaluator.holds(query, structure, &assignment(variables, elements))
    }

    /// Returns the value of a term without free variables, if it has one.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn value(
        &self,
        structure: &Structure,
        term: &Term,
    ) -> Result<Option<Rational>, EvaluationError> {
        let mut evaluator = self.evaluator();
        let query = evaluator.term(term, &[])?;
        evaluator.value(query, structure, &Assignment::new())
    }

    /// Builds an error that names the part of the rules that could not be evaluated.
    pub(super) fn error(&self, why: &str, what: &str, span: Span) -> PositionError {
        let source = &self.arena.sheet().source;
        let place = source.place(span.start());
        let message = format!("{what} ({}:{}): {why}", source.name(), place.line);
        PositionError { message, span }
    }
}

/// Builds the assignment of elements to variables.
pub(super) fn assignment(variables: &[Variable], elements: &[Element]) -> Assignment {
    let elements = variables.iter().cloned().zip(elements.iter().copied()).collect();
    Assignment { elements, ..Assignment::new() }
}

/// Returns the state in which play starts. In a continuous game the structure keeps only the values
/// that never change.
fn start_state(arena: &CheckedArena, mut structure: Structure) -> State {
    let mut values = None;
    if arena.is_continuous() {
        values = Some(Arc::new(Values::of_structure(&structure)));
        let elements: Vec<Element> = structure.elements().collect();
        for function in arena.vocabulary().functions() {
            if arena.is_changing_function(function) {
                for &element in &elements {
                    structure
                        .set_value(function, element, None)
                        .expect("the elements of the start live");
                }
            }
        }
    }
    let location = arena.start_location();
    let has_draws = !arena.location(location).draws.is_empty();
    let content = Content {
        structure,
        values,
        location,
        history: Arc::default(),
        phase: if has_draws { Phase::Draw } else { Phase::Choose },
        drawn: Arc::default(),
        clock: Clock::default(),
        fault: None,
    };
    State::new(content, arena.keeps_universe())
}

/// Returns the definitions that do not depend on numbers that change.
fn discrete_definitions(arena: &CheckedArena, definitions: Definitions) -> Definitions {
    if !arena.is_continuous() {
        return definitions;
    }
    let mut kept = Definitions::new();
    for definition in definitions.iter() {
        let is_known = |name: &str| definitions.get(name).is_none() || kept.get(name).is_some();
        if is_discrete(&definition.body, &is_known, &|name| is_changing(arena, name)) {
            let (variables, body) = (definition.variables.clone(), definition.body.clone());
            // The definition was accepted before, and the relations it uses come first.
            let _ = kept.add(&definition.name, variables, body);
        }
    }
    kept
}

fn is_changing(arena: &CheckedArena, function: &str) -> bool {
    let found = arena.vocabulary().function(function);
    found.is_none_or(|function| arena.is_changing_function(function))
}

/// Returns by rule the parts of its condition that are about numbers which may change.
fn numeric_parts(
    arena: &CheckedArena,
    start: &Structure,
    discrete: &Definitions,
) -> Vec<Vec<usize>> {
    let is_numeric = |formula: &Formula| is_numeric(arena, start, discrete, formula);
    let parts = |rule: &ArenaRule| {
        let parts = rule.parts.iter().enumerate();
        parts.filter(|(_, part)| is_numeric(&part.formula)).map(|(place, _)| place).collect()
    };
    arena
        .rules()
        .iter()
        .map(|rule| if arena.is_continuous() { parts(rule) } else { Vec::new() })
        .collect()
}

/// Returns the parts of conditions and payoffs of a continuous game that are about numbers.
fn margins(arena: &CheckedArena, start: &Structure, discrete: &Definitions) -> Margins {
    if !arena.is_continuous() {
        return Margins::default();
    }
    Margins::of(arena, arena.definitions(), &|formula| is_numeric(arena, start, discrete, formula))
}

/// Returns whether a formula depends on numbers that may change.
fn is_numeric(
    arena: &CheckedArena,
    start: &Structure,
    discrete: &Definitions,
    formula: &Formula,
) -> bool {
    let is_known =
        |name: &str| start.vocabulary().relation(name).is_some() || discrete.get(name).is_some();
    !is_discrete(formula, &is_known, &|name| is_changing(arena, name))
}

fn queries(
    arena: &CheckedArena,
    numeric_parts: &[Vec<usize>],
    evaluator: &mut Evaluator,
) -> Result<Queries, Box<Diagnostic>> {
    let refused = |span: Span, error: EvaluationError| {
        let what = format!("this formula cannot be evaluated: {error}");
        Box::new(Diagnostic::error("toss-too-large", span, what))
    };
    let is_continuous = arena.is_continuous();
    let (mut conditions, mut posts, mut payoffs) = (Vec::new(), Vec::new(), Vec::new());
    let mut updates = Vec::new();
    for (rule, numeric) in arena.rules().iter().zip(numeric_parts) {
        let parts = rule.parts.iter().enumerate();
        let discrete = parts.filter(|(place, _)| !numeric.contains(place));
        let condition = if is_continuous {
            &Formula::And(discrete.map(|(_, part)| part.formula.clone()).collect())
        } else {
            &rule.condition
        };
        let query = evaluator.formula(condition, &rule.elements);
        conditions.push(query.map_err(|error| refused(rule.span, error))?);
        if is_continuous {
            posts.push(None);
            updates.push(Vec::new());
            continue;
        }
        posts.push(match &rule.post {
            None => None,
            Some(post) => {
                let query = evaluator.formula(&post.formula, &post.variables);
                Some(query.map_err(|error| refused(post.span, error))?)
            }
        });
        let mut terms = Vec::with_capacity(rule.updates.len());
        for update in &rule.updates {
            let query = evaluator.term(&update.term, &rule.elements);
            terms.push(query.map_err(|error| refused(update.span, error))?);
        }
        updates.push(terms);
    }
    for location in arena.locations().iter().filter(|_| !is_continuous) {
        let queries = location.payoffs.iter().map(|payoff| evaluator.term(payoff, &[]));
        payoffs.push(
            queries.collect::<Result<_, _>>().map_err(|error| refused(location.span, error))?,
        );
    }
    Ok(Queries { conditions, posts, payoffs, updates })
}

/// Computes the defined relations that depend only on stable relations, and makes them relations of
/// the structure. Returns the other definitions.
fn materialise_stable(
    arena: &CheckedArena,
    options: &Options,
) -> Result<(Structure, Definitions), Box<Diagnostic>> {
    let mut start = arena.start().clone();
    if !arena.keeps_universe() || !options.start_is_final {
        return Ok((start, (**arena.definitions()).clone()));
    }
    let vocabulary = arena.vocabulary();
    let mut stable: BTreeSet<String> = vocabulary
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| vocabulary.relation_name(relation).to_string())
        .collect();
    let mut remaining = Definitions::new();
    for definition in arena.definitions().iter() {
        let is_stable = is_discrete(&definition.body, &|name| stable.contains(name), &|name| {
            is_changing(arena, name)
        });
        if !is_stable {
            // The definition was accepted before, and the relations it uses still come first.
            let _ = remaining.add(
                &definition.name,
                definition.variables.clone(),
                definition.body.clone(),
            );
            continue;
        }
        let none = Arc::new(Definitions::new());
        let mut evaluator = Evaluator::new(start.vocabulary().clone(), none, options.limits);
        evaluator.set_interrupt(options.interrupt.no_later_than(options.deadline));
        let found = evaluator
            .formula(&definition.body, &definition.variables)
            .and_then(|query| evaluator.solve(query, &start, &Assignment::new()));
        let found = found.map_err(|error| {
            let place = arena
                .sheet()
                .relations
                .iter()
                .find(|relation| relation.name.text == *definition.name);
            let span = place.map_or_else(Default::default, |relation| relation.name.span);
            let what = format!("`{}` cannot be computed: {error}", definition.name);
            Box::new(Diagnostic::error("toss-too-large", span, what))
        })?;
        let mut wider: Vocabulary = (**start.vocabulary()).clone();
        let id = wider
            .add_relation(&definition.name, definition.variables.len())
            .expect("a defined relation is not a relation of the structures");
        start = start.extended(Arc::new(wider));
        for tuple in found.iter() {
            start.add(id, tuple).expect("solutions are of living elements");
        }
        stable.insert(definition.name.to_string());
    }
    Ok((start, remaining))
}
