//! Evaluation functions derived from the payoffs of structure rewriting games (Kaiser & Stafiniak
//! 2011).
//!
//! A payoff is a term that contains goals: `:(ex x, y (P(x) and P(y) and R(x, y)))` is 1 where the
//! goal is reached and 0 elsewhere, so it gives no information before the end. [`goal_terms`]
//! replaces every goal by a term that grows with progress towards it, by one of three methods:
//!
//! - [`Method::Existential`]: the goal in type normal form, with every quantifier replaced by a sum
//!   over partial solutions.
//! - [`Method::Descriptions`]: the same, after parts such as "the last row", which only forbid
//!   something, have been replaced by existential descriptions of the way there.
//! - [`Method::RuleConditions`]: the ways to the goal that are still open, each weighted by a power
//!   of how much of it is already present.
//!
//! The terms are ordinary formulas that can be printed, also [in words](words).
//!
//! A [`GoalEvaluator`] evaluates the terms in positions. For search, [`GoalEvaluator::for_search`]
//! compiles them to a circuit with weighted outputs ([`GoalCircuit`]), which follows one state
//! incrementally ([`GoalState`]) or evaluates 256 states at once ([`GoalLanes`]), and scales the
//! values to the range of payoffs. A [`RewritingAnalysis`] belongs to an opened game and keeps the
//! evaluators that were built for it.

mod analysis;
mod changes;
mod circuit;
mod descriptions;
mod evaluator;
mod existential;
mod rule_conditions;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use agon_structures::evaluate::EvaluationError;
use agon_structures::formula::{Formula, Name, Operator, Oversize, Term, Variable};
use agon_structures::normal_form::{SplitFirst, simplified, tnf};
use agon_toss::arena::CheckedArena;

/// The number type of weights.
pub use agon_structures::rational::Rational;
/// An opened structure rewriting game.
pub use agon_toss::interpreter::Game as RewritingGame;
pub use analysis::RewritingAnalysis;
pub use changes::{Change, changes};
pub use circuit::{GoalCircuit, GoalCircuitError, GoalCircuitLimits, GoalLanes, GoalState};
pub use evaluator::GoalEvaluator;

use descriptions::Describer;
use existential::progress;

/// The method by which the evaluation function is derived.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Sums over partial solutions of the goal in type normal form.
    Existential,
    /// Like [`Method::Existential`], with existential descriptions of stable parts that are not
    /// existential.
    Descriptions,
    /// Open ways to the goal, raised to a power, by the conditions of the rules.
    RuleConditions,
}

/// The weights of the steps towards a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Weights {
    /// Powers of a factor: the last step has weight 1, the one before it the factor, and so on.
    /// Kaiser & Stafiniak 2011 use 1/4.
    Powers(Rational),
    /// A list: the last step, the one before it, and so on. Weights beyond the list halve. Example
    /// 8 of Kaiser & Stafiniak 2011 prints 1/8, 1/4, 1, which are not powers of one number.
    Listed(Vec<Rational>),
}

impl Weights {
    /// Returns the weights printed in example 8 of Kaiser & Stafiniak 2011: 1, 1/4, 1/8.
    pub fn of_example_8() -> Weights {
        let part = |below| Rational::fraction(1, below).expect("no division by zero");
        Weights::Listed(vec![part(1), part(4), part(8)])
    }

    /// Returns the weight of a step that is followed by `n_steps` others.
    pub fn before_end(&self, n_steps: usize) -> Rational {
        // A fraction with numbers too large to represent is so small that 0 is as good.
        let times = |a: Rational, b: Rational| a.times(b).unwrap_or(Rational::whole(0));
        match self {
            Weights::Powers(factor) => {
                (0..n_steps).fold(Rational::whole(1), |weight, _| times(weight, *factor))
            }
            Weights::Listed(list) => {
                let Some(last) = list.last() else { return Rational::whole(1) };
                let half = Rational::fraction(1, 2).expect("no division by zero");
                let further = n_steps.saturating_sub(list.len() - 1);
                let first = list.get(n_steps).unwrap_or(last);
                (0..further).fold(*first, |weight, _| times(weight, half))
            }
        }
    }
}

/// The parameters of the methods. The defaults are those of Kaiser & Stafiniak 2011.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalOptions {
    /// The weights of sums. Default: powers of 1/4.
    pub weights: Weights,
    /// The exponent for rule conditions. Default: 4.
    pub power: u32,
    /// Maximum number of literals of a conjunction in a description. Default: 12.
    pub literals: usize,
    /// Maximum number of parts of an intermediate formula. Default: 20 000.
    pub size: usize,
}

impl Default for GoalOptions {
    fn default() -> GoalOptions {
        let quarter = Rational::fraction(1, 4).expect("no division by zero");
        GoalOptions { weights: Weights::Powers(quarter), power: 4, literals: 12, size: 20_000 }
    }
}

/// The reason why a game has no evaluation function.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GoalTermsError {
    /// An intermediate formula is too large.
    TooLarge(Oversize),
    /// A formula could not be evaluated in the start structure.
    Evaluation(EvaluationError),
}

impl fmt::Display for GoalTermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalTermsError::TooLarge(oversize) => {
                write!(f, "a goal would become a formula of more than {} parts", oversize.limit)
            }
            GoalTermsError::Evaluation(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GoalTermsError {}

impl From<Oversize> for GoalTermsError {
    fn from(oversize: Oversize) -> GoalTermsError {
        GoalTermsError::TooLarge(oversize)
    }
}

impl From<EvaluationError> for GoalTermsError {
    fn from(error: EvaluationError) -> GoalTermsError {
        GoalTermsError::Evaluation(error)
    }
}

/// The evaluation functions for every player at every location.
#[derive(Clone, Debug)]
pub struct GoalTerms {
    /// The method by which they were derived.
    pub method: Method,
    /// The terms by location and player, in the order of the arena.
    pub terms: Vec<Vec<Term>>,
}

impl GoalTerms {
    /// Returns whether the values depend on the state. They do not if all payoffs are plain
    /// numbers.
    pub fn depend_on_states(&self) -> bool {
        self.terms.iter().flatten().any(|term| !term.free_relations().is_empty())
    }
}

/// Derives the evaluation functions of a game.
///
/// # Errors
/// If an intermediate formula is too large or cannot be evaluated.
pub fn goal_terms(
    arena: &CheckedArena,
    method: Method,
    options: &GoalOptions,
) -> Result<GoalTerms, GoalTermsError> {
    let mut derivation = Derivation::new(arena, method, options);
    let mut known: Vec<(&Term, Term)> = Vec::new();
    let mut terms = Vec::new();
    for location in arena.locations() {
        let mut of_location = Vec::new();
        for payoff in &location.payoffs {
            // Most games have the same payoffs at all locations.
            let made = match known.iter().find(|entry| entry.0 == payoff) {
                Some((_, made)) => made.clone(),
                None => {
                    let made = derivation.transformed(payoff)?;
                    known.push((payoff, made.clone()));
                    made
                }
            };
            of_location.push(made);
        }
        terms.push(of_location);
    }
    Ok(GoalTerms { method, terms })
}

/// Returns the method for a game by the rule of Kaiser & Stafiniak 2011: rule conditions if moves
/// only add tuples and there are many moves, descriptions otherwise. Without parts to describe,
/// descriptions are plain sums.
pub fn recommended_method(arena: &CheckedArena, n_moves_at_start: usize) -> Method {
    let is_monotone = changes(arena).values().all(|change| *change == Change::Added);
    if is_monotone && arena.keeps_universe() && n_moves_at_start >= MANY_MOVES {
        Method::RuleConditions
    } else {
        Method::Descriptions
    }
}

/// Minimum number of moves at the start for rule conditions. Kaiser & Stafiniak 2011 decide by the
/// branching factor, and used rule conditions only for connect five (64 moves at the start). Their
/// other games have at most 24.
const MANY_MOVES: usize = 32;

/// Returns the names of the relations that rules change.
pub(crate) fn fluents(arena: &CheckedArena) -> BTreeSet<Name> {
    let vocabulary = arena.vocabulary();
    let fluent = vocabulary.relations().filter(|&relation| arena.is_fluent(relation));
    fluent.map(|relation| vocabulary.relation_name(relation).clone()).collect()
}

/// Which defined relations are kept instead of expanded.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kept {
    None,
    Stable,
}

struct Derivation<'a> {
    arena: &'a CheckedArena,
    method: Method,
    options: &'a GoalOptions,
    fluents: BTreeSet<Name>,
    /// Defined relations that do not depend on fluents.
    stable_definitions: BTreeSet<Name>,
    describer: Option<Describer<'a>>,
}

impl<'a> Derivation<'a> {
    fn new(arena: &'a CheckedArena, method: Method, options: &'a GoalOptions) -> Derivation<'a> {
        let describer =
            (method != Method::Existential).then(|| Describer::new(arena, options.literals));
        let fluents = fluents(arena);
        let mut changing = fluents.clone();
        let mut stable_definitions = BTreeSet::new();
        // Each definition comes after those that it uses.
        for definition in arena.definitions().iter() {
            let is_changing =
                definition.body.free_relations().keys().any(|name| changing.contains(name));
            let names = if is_changing { &mut changing } else { &mut stable_definitions };
            names.insert(definition.name.clone());
        }
        Derivation { arena, method, options, fluents, stable_definitions, describer }
    }

    /// Returns a payoff with every goal replaced. Guards of sums stay, because they select what is
    /// summed and are not goals.
    fn transformed(&mut self, term: &Term) -> Result<Term, GoalTermsError> {
        Ok(match term {
            Term::Characteristic(goal) => self.for_goal(goal)?,
            Term::Binary(operator, left, right) => {
                Term::binary(*operator, self.transformed(left)?, self.transformed(right)?)
            }
            Term::Aggregate(aggregate) => {
                let mut aggregate = aggregate.clone();
                aggregate.term = self.transformed(&aggregate.term)?;
                Term::Aggregate(aggregate)
            }
            Term::Let(variable, value, body) => Term::Let(
                variable.clone(),
                Box::new(self.transformed(value)?),
                Box::new(self.transformed(body)?),
            ),
            Term::Apply(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.transformed(argument));
                Term::Apply(*function, arguments.collect::<Result<_, _>>()?)
            }
            Term::Least(variable, _) => return Err(not_about_elements(variable)),
            Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => {
                term.clone()
            }
        })
    }

    /// Returns the term for a goal, with all defined relations expanded as in Kaiser & Stafiniak
    /// 2011. If that is too large, as in chess, relations defined by static ones are kept, which
    /// the paper allows for universal ones. The same is done if the expansion quantifies over sets.
    fn for_goal(&mut self, goal: &Formula) -> Result<Term, GoalTermsError> {
        match self.with_definitions(goal, Kept::None) {
            Err(
                GoalTermsError::TooLarge(_)
                | GoalTermsError::Evaluation(EvaluationError::UnsupportedSort(..)),
            ) => self.with_definitions(goal, Kept::Stable),
            made => made,
        }
    }

    fn with_definitions(&mut self, goal: &Formula, kept: Kept) -> Result<Term, GoalTermsError> {
        let size = self.options.size;
        let mut expanded = goal.clone();
        // In reverse order, because a definition can only use earlier ones.
        for definition in self.arena.definitions().iter().rev() {
            let is_kept =
                kept == Kept::Stable && self.stable_definitions.contains(&definition.name);
            if !is_kept && expanded.free_relations().contains_key(&definition.name) {
                expanded = expanded.with_relation(definition, size)?;
            }
        }
        if let Some(variable) = expanded.quantified_beyond_elements() {
            return Err(not_about_elements(&variable));
        }
        let split_first = SplitFirst::Fluents(self.fluents.clone());
        let mut formula = tnf(&simplified(&expanded), &split_first, size)?;
        if let Some(describer) = &mut self.describer {
            let described = describer.described(&formula, &self.fluents)?;
            if described != formula {
                formula = tnf(&described, &split_first, size)?;
            }
        }
        match self.method {
            Method::Existential | Method::Descriptions => {
                Ok(progress(&formula, &self.options.weights, &self.fluents))
            }
            Method::RuleConditions => {
                rule_conditions::open_ways(&formula, self.arena, &self.fluents, self.options)
            }
        }
    }
}

/// Returns the refusal of a quantifier over sets or numbers, whose values moves do not bring closer
/// one by one.
fn not_about_elements(variable: &Variable) -> GoalTermsError {
    EvaluationError::UnsupportedSort(variable.clone(), variable.sort()).into()
}

/// Returns the sum of the terms, or 0 if there are none.
pub(crate) fn sum(terms: impl IntoIterator<Item = Term>) -> Term {
    let added = terms.into_iter().reduce(|left, right| Term::binary(Operator::Plus, left, right));
    added.unwrap_or(Term::whole(0))
}

/// Returns the conjunction of the parts. A single part is returned as it is.
pub(crate) fn all_of(mut parts: Vec<Formula>) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) }
}

/// Returns the disjunction of the parts. A single part is returned as it is.
pub(crate) fn one_of(mut parts: Vec<Formula>) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { Formula::Or(parts) }
}
