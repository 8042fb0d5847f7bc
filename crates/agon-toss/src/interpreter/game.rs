//! A game opened for play: what all positions of it share.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Role, Shape};
use agon_structures::evaluate::{Assignment, Evaluator, FormulaQuery, Limits, Refusal, TermQuery};
use agon_structures::formula::{Definitions, Formula, Term, Variable};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure, Vocabulary};
use agon_text::{Diagnostic, Span};

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
    /// How matches are found at the next state.
    pub matching: Matching,
}

/// From so many elements on, matches are followed where that suits. With 45 elements both ways take as long, with 170 following is faster
/// (example `growing`).
const FOLLOWED_FROM: usize = 100;

/// How the matches of rules are found at a state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Matching {
    /// From the formula alone.
    Anew,
    /// From those at the state seen before, by what has changed since.
    Followed,
    /// Followed where elements come and go and there are many of them: a small structure is searched as fast. Other games are played fast by
    /// circuits, and their interpreter stays plain.
    AsSuits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            // A formula of a sensible game takes a thousandth of it.
            limits: Limits { steps: 200_000_000, ..Limits::default() },
            growth: Growth { elements: MAX_ELEMENTS, tuples: 200_000 },
            matching: Matching::AsSuits,
        }
    }
}

/// A game opened for play. Shared by all its positions.
pub struct Game {
    arena: CheckedArena,
    options: Options,
    shape: Shape,
    /// Knows every question that play asks; each position has a copy, which remembers what does not change.
    evaluator: Evaluator,
    pub(super) questions: Questions,
    start: State,
    /// Rules that some history asks for.
    pub(super) remembered: BTreeSet<RuleId>,
    /// Whether elements come and go.
    pub(super) keeps_universe: bool,
}

/// What play asks of a structure.
pub(super) struct Questions {
    /// By rule.
    pub(super) conditions: Vec<FormulaQuery>,
    /// By rule.
    pub(super) posts: Vec<Option<FormulaQuery>>,
    /// By location and player.
    pub(super) payoffs: Vec<Vec<TermQuery>>,
}

impl Game {
    /// Opens a game.
    ///
    /// # Errors
    /// If a formula cannot be evaluated, or what does not change in play is too large to be worked out.
    pub fn open(arena: CheckedArena, options: Options) -> Result<Arc<Game>, Box<Diagnostic>> {
        let keeps_universe = arena.keeps_universe();
        let (start, definitions) = settle(&arena, &options)?;
        let mut evaluator =
            Evaluator::new(start.vocabulary().clone(), Arc::new(definitions), options.limits);
        let questions = questions(&arena, &mut evaluator)?;
        let mut shape = Shape::new(arena.players().to_vec(), arena.nature().map(Role::new));
        shape.payoffs = arena.payoff_bounds();
        shape.turn_taking = arena.takes_turns();
        shape.constant_sum = arena.constant_sum();
        let remembered = arena
            .rules()
            .iter()
            .flat_map(|rule| rule.history.iter().map(|(rule, _)| *rule))
            .collect();
        let start = State::new(start, arena.start_location(), Arc::default(), None, keeps_universe);
        Ok(Arc::new(Game {
            arena,
            options,
            shape,
            evaluator,
            questions,
            start,
            remembered,
            keeps_universe,
        }))
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

    /// The structure at the start, with the defined relations that never change among its own.
    pub fn start_structure(&self) -> &Structure {
        self.start.structure()
    }

    /// How many steps of evaluation all its positions have taken so far: a measure of time that is the same on every machine.
    pub fn spent(&self) -> u64 {
        self.evaluator.spent()
    }

    pub(super) fn evaluator(&self) -> Evaluator {
        self.evaluator.clone()
    }

    /// Whether matches are followed to a state with this structure.
    pub(super) fn follows(&self, structure: &Structure) -> bool {
        match self.options.matching {
            Matching::Anew => false,
            Matching::Followed => true,
            Matching::AsSuits => !self.keeps_universe && structure.n_elements() >= FOLLOWED_FROM,
        }
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
        let mut evaluator = self.evaluator();
        let query = evaluator.formula(formula, variables)?;
        let found = evaluator.solve(query, structure, &Assignment::new())?;
        Ok(found.iter().map(<[Element]>::to_vec).collect())
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
        let mut evaluator = self.evaluator();
        let query = evaluator.formula(formula, variables)?;
        evaluator.holds(query, structure, &assignment(variables, elements))
    }

    /// The value of a term without free variables, if it has one.
    ///
    /// # Errors
    /// If it costs more than the options allow.
    pub fn value(&self, structure: &Structure, term: &Term) -> Result<Option<Rational>, Refusal> {
        let mut evaluator = self.evaluator();
        let query = evaluator.term(term, &[])?;
        evaluator.value(query, structure, &Assignment::new())
    }

    /// Why something could not be evaluated, with the place of the rule to blame.
    pub(super) fn blame(&self, why: &str, what: &str, span: Span) -> String {
        let source = &self.arena.sheet().source;
        let place = source.place(span.start());
        format!("{what} ({}:{}): {why}", source.name(), place.line)
    }
}

/// What variables stand for.
pub(super) fn assignment(variables: &[Variable], elements: &[Element]) -> Assignment {
    let elements = variables.iter().cloned().zip(elements.iter().copied()).collect();
    Assignment { elements, ..Assignment::new() }
}

fn questions(
    arena: &CheckedArena,
    evaluator: &mut Evaluator,
) -> Result<Questions, Box<Diagnostic>> {
    let refused = |span: Span, refusal: Refusal| {
        let what = format!("this cannot be evaluated: {refusal}");
        Box::new(Diagnostic::error("toss-too-large", span, what))
    };
    let (mut conditions, mut posts, mut payoffs) = (Vec::new(), Vec::new(), Vec::new());
    for rule in arena.rules() {
        let asked = evaluator.formula(&rule.condition, &rule.elements);
        conditions.push(asked.map_err(|refusal| refused(rule.span, refusal))?);
        posts.push(match &rule.post {
            None => None,
            Some(post) => {
                let asked = evaluator.formula(&post.formula, &post.variables);
                Some(asked.map_err(|refusal| refused(post.span, refusal))?)
            }
        });
    }
    for location in arena.locations() {
        let asked = location.payoffs.iter().map(|payoff| evaluator.term(payoff, &[]));
        payoffs.push(
            asked.collect::<Result<_, _>>().map_err(|refusal| refused(location.span, refusal))?,
        );
    }
    Ok(Questions { conditions, posts, payoffs })
}

/// Works out the defined relations that depend on nothing that changes, and puts them among those of the structure.
fn settle(
    arena: &CheckedArena,
    options: &Options,
) -> Result<(Structure, Definitions), Box<Diagnostic>> {
    let mut start = arena.start().clone();
    if !arena.keeps_universe() {
        return Ok((start, (**arena.definitions()).clone()));
    }
    let vocabulary = arena.vocabulary();
    let mut stable: BTreeSet<String> = vocabulary
        .relations()
        .filter(|&relation| !arena.is_fluent(relation))
        .map(|relation| vocabulary.relation_name(relation).to_string())
        .collect();
    let mut left = Definitions::new();
    for definition in arena.definitions().iter() {
        let is_stable =
            definition.body.free_relations().keys().all(|name| stable.contains(&**name));
        if !is_stable {
            // It was accepted once, and those it uses are still before it.
            let _ =
                left.add(&definition.name, definition.variables.clone(), definition.body.clone());
            continue;
        }
        let none = Arc::new(Definitions::new());
        let mut evaluator = Evaluator::new(start.vocabulary().clone(), none, options.limits);
        let found = evaluator
            .formula(&definition.body, &definition.variables)
            .and_then(|query| evaluator.solve(query, &start, &Assignment::new()));
        let found = found.map_err(|refusal| {
            let place = arena
                .sheet()
                .relations
                .iter()
                .find(|relation| relation.name.text == *definition.name);
            let span = place.map_or_else(Default::default, |relation| relation.name.span);
            let what = format!("`{}` cannot be worked out: {refusal}", definition.name);
            Box::new(Diagnostic::error("toss-too-large", span, what))
        })?;
        let mut wider: Vocabulary = (**start.vocabulary()).clone();
        let id = wider
            .add_relation(&definition.name, definition.variables.len())
            .expect("a defined relation is no relation of the structures");
        start = start.extended(Arc::new(wider));
        for tuple in found.iter() {
            start.add(id, tuple).expect("solutions are of living elements");
        }
        stable.insert(definition.name.to_string());
    }
    Ok((start, left))
}
