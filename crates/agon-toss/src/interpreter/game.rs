//! A game opened for play: what all positions of it share.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Role, Shape};
use agon_logic::evaluate::{Limits, Refusal};
use agon_logic::formula::{Definitions, Formula, Term, Variable};
use agon_logic::rational::Rational;
use agon_logic::structure::{Element, Structure, Vocabulary};
use agon_text::Diagnostic;

use super::MAX_ELEMENTS;
use super::position::{Interpreter, State};
use crate::arena::{CheckedArena, RuleId};
use crate::rewrite::Growth;

/// How a game is to be opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// What evaluating one formula may cost.
    pub limits: Limits,
    /// What rules may make of a structure.
    pub growth: Growth,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            // A formula of a sensible game takes a thousandth of it.
            limits: Limits { steps: 200_000_000, ..Limits::default() },
            growth: Growth { elements: MAX_ELEMENTS, tuples: 200_000 },
        }
    }
}

/// A game opened for play. Shared by all its positions.
pub struct Game {
    arena: CheckedArena,
    options: Options,
    shape: Shape,
    /// Those that change in play; the others are relations of the structures.
    definitions: Definitions,
    start: State,
    /// Rules that some history asks for.
    pub(super) remembered: BTreeSet<RuleId>,
    /// Whether elements come and go.
    pub(super) keeps_universe: bool,
}

impl Game {
    /// Opens a game.
    ///
    /// # Errors
    /// If what does not change in play is too large to be worked out.
    pub fn open(arena: CheckedArena, options: Options) -> Result<Arc<Game>, Box<Diagnostic>> {
        let keeps_universe = arena.keeps_universe();
        let (start, definitions) = settle(&arena, &options)?;
        let mut shape = Shape::new(arena.players().to_vec(), arena.nature().map(Role::new));
        shape.payoffs = arena.payoff_bounds();
        shape.turn_taking = arena.takes_turns();
        shape.constant_sum = arena.constant_sum();
        let remembered =
            arena.rules().iter().flat_map(|rule| rule.history.iter().map(|(rule, _)| *rule)).collect();
        let start = State::new(start, arena.start_location(), Arc::default(), None, keeps_universe);
        Ok(Arc::new(Game { arena, options, shape, definitions, start, remembered, keeps_universe }))
    }

    /// A position at the start.
    pub fn start(self: &Arc<Game>) -> Interpreter {
        Interpreter::new(Arc::clone(self))
    }

    /// The game as it was checked.
    pub fn arena(&self) -> &CheckedArena {
        &self.arena
    }

    /// What is known of it.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The structure that play starts from, with the defined relations that depend on nothing that changes.
    pub fn settled(&self) -> &Structure {
        self.start.structure()
    }

    pub(super) fn initial(&self) -> &State {
        &self.start
    }

    pub(super) fn growth(&self) -> Growth {
        self.options.growth
    }

    /// The assignments of the variables that satisfy a formula, sorted.
    ///
    /// # Errors
    /// If it costs more than the options allow.
    pub fn solutions(
        &self,
        structure: &Structure,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<Vec<Vec<Element>>, Refusal> {
        evaluate::solutions(structure, &self.definitions, formula, variables, self.options.limits)
    }

    /// Whether a formula holds of elements.
    ///
    /// # Errors
    /// If it costs more than the options allow.
    pub fn holds(
        &self,
        structure: &Structure,
        formula: &Formula,
        variables: &[Variable],
        elements: &[Element],
    ) -> Result<bool, Refusal> {
        evaluate::holds(structure, &self.definitions, formula, variables, elements, self.options.limits)
    }

    /// The value of a term without free variables, if it has one.
    ///
    /// # Errors
    /// If it costs more than the options allow.
    pub fn value(&self, structure: &Structure, term: &Term) -> Result<Option<Rational>, Refusal> {
        evaluate::value(structure, &self.definitions, term, self.options.limits)
    }

    /// Why something could not be evaluated, with the place of the rule to blame.
    pub(super) fn blame(&self, why: &str, what: &str, span: agon_text::Span) -> String {
        let source = &self.arena.sheet().source;
        let place = source.place(span.start());
        format!("{what} ({}:{}): {why}", source.name(), place.line)
    }
}

/// Works out the defined relations that depend on nothing that changes, and puts them among those of the structure.
fn settle(arena: &CheckedArena, options: &Options) -> Result<(Structure, Definitions), Box<Diagnostic>> {
    let mut start = arena.start().clone();
    if !arena.keeps_universe() {
        return Ok((start, (**arena.definitions()).clone()));
    }
    let mut vocabulary: Vocabulary = (**arena.vocabulary()).clone();
    let mut stable: BTreeSet<String> = arena
        .vocabulary()
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| arena.vocabulary().relation_name(relation).to_string())
        .collect();
    let mut left = Definitions::new();
    for definition in arena.definitions().iter() {
        let is_stable = definition.body.free_relations().keys().all(|name| stable.contains(&**name));
        if !is_stable {
            // It was accepted once, and those it uses are still before it.
            let _ = left.add(&definition.name, definition.variables.clone(), definition.body.clone());
            continue;
        }
        let none = Definitions::new();
        let found =
            evaluate::solutions(&start, &none, &definition.body, &definition.variables, options.limits);
        let found = found.map_err(|refusal| {
            let sheet = arena.sheet();
            let place = sheet.relations.iter().find(|relation| relation.name.text == *definition.name);
            let span = place.map_or_else(Default::default, |relation| relation.name.span);
            let what = format!("`{}` cannot be worked out: {refusal}", definition.name);
            Box::new(Diagnostic::error("toss-too-large", span, what))
        })?;
        let id = vocabulary
            .add_relation(&definition.name, definition.variables.len())
            .expect("a defined relation is no relation of the structures");
        start = start.extended(Arc::new(vocabulary.clone()));
        for tuple in &found {
            start.add(id, tuple).expect("solutions are of living elements");
        }
        stable.insert(definition.name.to_string());
    }
    Ok((start, left))
}

/// The one place that knows how formulas are evaluated.
mod evaluate {
    use agon_logic::evaluate::{Assignment, Limits, Model, Naive, Refusal};
    use agon_logic::formula::{Definitions, Formula, Term, Variable};
    use agon_logic::rational::Rational;
    use agon_logic::structure::{Element, Structure};

    pub(super) fn solutions(
        structure: &Structure,
        definitions: &Definitions,
        formula: &Formula,
        variables: &[Variable],
        limits: Limits,
    ) -> Result<Vec<Vec<Element>>, Refusal> {
        let mut found = Naive::new(Model { structure, definitions }, limits).solutions(
            formula,
            variables,
            &Assignment::new(),
        )?;
        found.sort();
        Ok(found)
    }

    pub(super) fn holds(
        structure: &Structure,
        definitions: &Definitions,
        formula: &Formula,
        variables: &[Variable],
        elements: &[Element],
        limits: Limits,
    ) -> Result<bool, Refusal> {
        let mut assignment = Assignment::new();
        assignment.elements = variables.iter().cloned().zip(elements.iter().copied()).collect();
        Naive::new(Model { structure, definitions }, limits).holds(formula, &assignment)
    }

    pub(super) fn value(
        structure: &Structure,
        definitions: &Definitions,
        term: &Term,
        limits: Limits,
    ) -> Result<Option<Rational>, Refusal> {
        Naive::new(Model { structure, definitions }, limits).value(term, &Assignment::new())
    }
}
