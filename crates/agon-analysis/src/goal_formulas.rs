//! Evaluation functions read out of the payoffs of structure rewriting games (Kaiser and Stafiniak 2011).
//!
//! A payoff is a term with goals in it: `:(ex x, y (P(x) and P(y) and R(x, y)))` is 1 where the goal is reached and 0
//! elsewhere, so it says nothing before the end. Here every such part is replaced by a term that grows on the way there:
//!
//! - [`Method::Existential`]: the goal in type normal form, every quantifier a sum over what has been found so far;
//! - [`Method::Descriptions`]: the same, after parts such as "the last row" that only forbid something have been described by what
//!   leads there;
//! - [`Method::RuleConditions`]: ways to the goal that are still open, each counted by how much of it is there, to a power.
//!
//! The terms are formulas one can read: print them, or have them [in words](words).

mod changes;
mod circuit;
mod descriptions;
mod existential;
mod judge;
mod rule_conditions;
mod shared;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use agon_structures::evaluate::Refusal;
use agon_structures::formula::{Formula, Name, Operator, Oversize, Term};
use agon_structures::normal_form::{SplitFirst, simplified, tnf};
use agon_toss::arena::CheckedArena;

/// What weights are told in.
pub use agon_structures::rational::Rational;
/// A structure rewriting game, opened.
pub use agon_toss::interpreter::Game as RewritingGame;
pub use changes::{Change, changes};
pub use circuit::{GoalCircuit, GoalCircuitLimits, LANES, ManyStates, NoGoalCircuit, OneState};
pub use descriptions::Describer;
pub use existential::progress;
pub use judge::GoalJudge;
pub use shared::goal_judge;

/// How the evaluation function is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Sums over what has been found of the goal in type normal form.
    Existential,
    /// The same with existential descriptions of stable parts that are not existential.
    Descriptions,
    /// Open ways to the goal to a power, by the conditions of the rules.
    RuleConditions,
}

/// What the steps towards a goal count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Weights {
    /// The last step 1, the one before it this, then its powers: the paper's formula, with 1/4.
    Powers(Rational),
    /// The last step, the one before it, and so on; what lies further back halves. The paper's example 8 prints 1/8, 1/4, 1, which no
    /// power gives.
    Listed(Vec<Rational>),
}

impl Weights {
    /// What the paper's example prints: 1, 1/4, 1/8.
    pub fn of_the_example() -> Weights {
        let part = |below| Rational::fraction(1, below).expect("no division by zero");
        Weights::Listed(vec![part(1), part(4), part(8)])
    }

    /// What a step counts that has so many steps after it.
    pub fn before_end(&self, n_steps: usize) -> Rational {
        // Numbers too large to be told apart from nothing are nothing.
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

/// The parameters, the paper's by default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalOptions {
    /// For sums. Default: powers of 1/4.
    pub weights: Weights,
    /// For rule conditions. Default: 4.
    pub power: u32,
    /// Literals of a conjunction in a description, at most. Default: 12.
    pub literals: usize,
    /// Parts of a formula on the way, at most. Default: 20 000.
    pub size: usize,
}

impl Default for GoalOptions {
    fn default() -> GoalOptions {
        let quarter = Rational::fraction(1, 4).expect("no division by zero");
        GoalOptions { weights: Weights::Powers(quarter), power: 4, literals: 12, size: 20_000 }
    }
}

/// Why there is no evaluation function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTerms {
    /// A formula became too large on the way.
    TooLarge(Oversize),
    /// Something could not be evaluated at the start.
    Refused(Refusal),
}

impl fmt::Display for NoTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTerms::TooLarge(oversize) => {
                write!(f, "a goal would become a formula of more than {} parts", oversize.limit)
            }
            NoTerms::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for NoTerms {}

impl From<Oversize> for NoTerms {
    fn from(oversize: Oversize) -> NoTerms {
        NoTerms::TooLarge(oversize)
    }
}

impl From<Refusal> for NoTerms {
    fn from(refusal: Refusal) -> NoTerms {
        NoTerms::Refused(refusal)
    }
}

/// An evaluation function for every player at every location.
#[derive(Clone, Debug)]
pub struct GoalTerms {
    /// How it was made.
    pub method: Method,
    /// By location and player, in the arena's order.
    pub terms: Vec<Vec<Term>>,
}

impl GoalTerms {
    /// Whether they say anything: where payoffs are numbers alone, they say the same of every state.
    pub fn depend_on_states(&self) -> bool {
        self.terms.iter().flatten().any(|term| !term.free_relations().is_empty())
    }
}

/// Makes the evaluation functions of a game.
pub fn goal_terms(
    arena: &CheckedArena,
    method: Method,
    options: &GoalOptions,
) -> Result<GoalTerms, NoTerms> {
    let mut maker = Maker::new(arena, method, options);
    let mut known: Vec<(&Term, Term)> = Vec::new();
    let mut terms = Vec::new();
    for location in arena.locations() {
        let mut of_location = Vec::new();
        for payoff in &location.payoffs {
            // Most games give the same payoffs everywhere.
            let made = match known.iter().find(|entry| entry.0 == payoff) {
                Some((_, made)) => made.clone(),
                None => {
                    let made = maker.transformed(payoff)?;
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

/// The method that suits a game, as the paper has it: rule conditions where moves only ever add something and there are many of them,
/// descriptions otherwise (which are plain sums where nothing has to be described).
pub fn suitable(arena: &CheckedArena, n_moves_at_start: usize) -> Method {
    let is_monotone = changes(arena).values().all(|change| *change == Change::Added);
    if is_monotone && arena.keeps_universe() && n_moves_at_start >= MANY_MOVES {
        Method::RuleConditions
    } else {
        Method::Descriptions
    }
}

/// The paper goes by branching and used rule conditions for connect five (64 moves at the start) alone of its games; the others have 24 at
/// most.
const MANY_MOVES: usize = 32;

/// The names of the relations that rules change.
pub(crate) fn fluents(arena: &CheckedArena) -> BTreeSet<Name> {
    let vocabulary = arena.vocabulary();
    let fluent = vocabulary.relations().filter(|&relation| arena.is_fluent(relation));
    fluent.map(|relation| vocabulary.relation_name(relation).clone()).collect()
}

/// Which defined relations are not written out.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kept {
    None,
    Stable,
}

struct Maker<'a> {
    arena: &'a CheckedArena,
    method: Method,
    options: &'a GoalOptions,
    fluents: BTreeSet<Name>,
    /// Defined relations that depend on nothing that changes.
    stable_definitions: BTreeSet<Name>,
    describer: Option<Describer<'a>>,
}

impl<'a> Maker<'a> {
    fn new(arena: &'a CheckedArena, method: Method, options: &'a GoalOptions) -> Maker<'a> {
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
        Maker { arena, method, options, fluents, stable_definitions, describer }
    }

    /// The payoff with every goal in it replaced. Guards of sums stay: they say what is counted, not what is wanted.
    fn transformed(&mut self, term: &Term) -> Result<Term, NoTerms> {
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
            Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => {
                term.clone()
            }
        })
    }

    /// With every defined relation written out, as the paper has it; where that becomes too large, as in chess, relations that are
    /// defined by what never changes stay as they are, which the paper allows of universal ones.
    fn for_goal(&mut self, goal: &Formula) -> Result<Term, NoTerms> {
        match self.with_definitions(goal, Kept::None) {
            Err(NoTerms::TooLarge(_)) => self.with_definitions(goal, Kept::Stable),
            made => made,
        }
    }

    fn with_definitions(&mut self, goal: &Formula, kept: Kept) -> Result<Term, NoTerms> {
        let size = self.options.size;
        let mut expanded = goal.clone();
        // The last first: its definition may bring in earlier ones, never the other way round.
        for definition in self.arena.definitions().iter().rev() {
            let is_kept =
                kept == Kept::Stable && self.stable_definitions.contains(&definition.name);
            if !is_kept && expanded.free_relations().contains_key(&definition.name) {
                expanded = expanded.with_relation(definition, size)?;
            }
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

/// The sum of terms; 0 of none.
pub(crate) fn sum(terms: impl IntoIterator<Item = Term>) -> Term {
    let added = terms.into_iter().reduce(|left, right| Term::binary(Operator::Plus, left, right));
    added.unwrap_or(Term::whole(0))
}

/// A conjunction without a list of one.
pub(crate) fn all_of(mut parts: Vec<Formula>) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) }
}

/// A disjunction without a list of one.
pub(crate) fn one_of(mut parts: Vec<Formula>) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { Formula::Or(parts) }
}
