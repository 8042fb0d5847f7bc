//! Grounding of terms to gates with weights. Quantifiers and sums enumerate the assignments that
//! the static relations allow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_circuit::Signal;
use agon_circuit::weighted::{WeightedBuilder, WeightedCircuit, WeightedSum};
use agon_structures::evaluate::{Assignment, Evaluator, FormulaQuery, Limits};
use agon_structures::formula::{
    Aggregate, Argument, Fold, Formula, Name, Operator, Sign, Sort, Term, Variable,
};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId};
use agon_toss::interpreter::Game;

use super::{Fact, GoalCircuitError, GoalCircuitLimits};

/// Maximum number of different values of a sum in a power or a comparison.
const MAX_VALUES: usize = 256;
/// Maximum nesting depth of formulas, which are grounded by recursion.
const MAX_DEPTH: usize = 200;

/// The state of grounding.
pub(super) struct Grounder<'g> {
    game: &'g Arc<Game>,
    limits: GoalCircuitLimits,
    evaluator: Evaluator,
    builder: WeightedBuilder,
    /// By base bit: its fact.
    facts: Vec<Fact>,
    fact_signals: BTreeMap<Fact, Signal>,
    /// Relations, defined ones included, that never change.
    stable: BTreeSet<Name>,
    queries: BTreeMap<(Formula, Vec<Variable>), FormulaQuery>,
    /// The signals of defined relations that have been grounded.
    defined: BTreeMap<(Name, Vec<Element>), Signal>,
    n_assignments: usize,
    depth: usize,
}

/// A constant plus weighted signals.
#[derive(Clone, Debug)]
struct Linear {
    constant: Rational,
    parts: Vec<(Rational, Signal)>,
}

/// The values of the variables in scope.
#[derive(Clone, Default)]
struct Scope {
    elements: Assignment,
    numbers: Vec<(Variable, Linear)>,
}

type Grounded<T> = Result<T, GoalCircuitError>;

fn too_large<E>(_: E) -> GoalCircuitError {
    GoalCircuitError::TooLarge("digits")
}

impl Linear {
    fn of(constant: Rational) -> Linear {
        Linear { constant, parts: Vec::new() }
    }

    fn is_constant(&self) -> bool {
        self.parts.is_empty()
    }

    fn scaled(&self, factor: Rational) -> Grounded<Linear> {
        let parts = self
            .parts
            .iter()
            .map(|(weight, signal)| Ok((weight.times(factor).map_err(too_large)?, *signal)));
        Ok(Linear {
            constant: self.constant.times(factor).map_err(too_large)?,
            parts: parts.collect::<Grounded<_>>()?,
        })
    }

    fn plus(mut self, other: Linear) -> Grounded<Linear> {
        self.constant = self.constant.plus(other.constant).map_err(too_large)?;
        self.parts.extend(other.parts);
        Ok(self)
    }
}

impl<'g> Grounder<'g> {
    pub(super) fn new(game: &'g Arc<Game>, limits: GoalCircuitLimits) -> Grounder<'g> {
        let structure = game.start_structure();
        let arena = game.arena();
        let evaluator = Evaluator::new(
            Arc::clone(structure.vocabulary()),
            Arc::clone(arena.definitions()),
            Limits::default(),
        );
        let changes =
            |name: &str| arena.vocabulary().relation(name).is_some_and(|id| arena.is_fluent(id));
        let vocabulary = structure.vocabulary();
        let names = vocabulary.relations().map(|id| vocabulary.relation_name(id).clone());
        let mut stable: BTreeSet<Name> = names.filter(|name| !changes(name)).collect();
        // Each definition comes after those that it uses.
        for definition in arena.definitions().iter() {
            if definition.body.free_relations().keys().all(|name| stable.contains(name)) {
                stable.insert(definition.name.clone());
            }
        }
        Grounder {
            game,
            limits,
            evaluator,
            builder: WeightedBuilder::new(),
            facts: Vec::new(),
            fact_signals: BTreeMap::new(),
            stable,
            queries: BTreeMap::new(),
            defined: BTreeMap::new(),
            n_assignments: 0,
            depth: 0,
        }
    }

    /// Finishes the circuit. Returns it with the facts of its base bits.
    pub(super) fn finish(self, sums: Vec<WeightedSum>) -> Grounded<(WeightedCircuit, Vec<Fact>)> {
        Ok((self.builder.finish(sums).map_err(too_large)?, self.facts))
    }

    /// Returns a term without free variables as a weighted sum and the denominator of its weights.
    pub(super) fn sum_of(&mut self, term: &Term) -> Grounded<(WeightedSum, i128)> {
        let linear = self.term(term, &Scope::default())?;
        let mut denominator = linear.constant.denominator();
        for (weight, _) in &linear.parts {
            let (mut a, mut b) = (denominator, weight.denominator());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            denominator =
                denominator.checked_mul(weight.denominator() / a).ok_or_else(|| too_large(()))?;
        }
        let whole = |number: Rational| {
            number
                .numerator()
                .checked_mul(denominator / number.denominator())
                .ok_or_else(|| too_large(()))
        };
        let constant = whole(linear.constant)?;
        let parts = linear.parts.into_iter().map(|(weight, signal)| Ok((whole(weight)?, signal)));
        Ok((WeightedSum { constant, parts: parts.collect::<Grounded<_>>()? }, denominator))
    }

    fn and(&mut self, a: Signal, b: Signal) -> Grounded<Signal> {
        let n_before = self.builder.n_gates();
        let signal = self.builder.and(a, b);
        let n_gates = self.builder.n_gates();
        if n_gates > n_before && n_gates > self.limits.gates {
            return Err(GoalCircuitError::TooLarge("gates"));
        }
        Ok(signal)
    }

    fn or(&mut self, a: Signal, b: Signal) -> Grounded<Signal> {
        Ok(!self.and(!a, !b)?)
    }

    fn fact(&mut self, relation: RelationId, tuple: Vec<Element>) -> Signal {
        let fact = (relation, tuple);
        if let Some(&signal) = self.fact_signals.get(&fact) {
            return signal;
        }
        let signal = self.builder.add_base();
        self.facts.push(fact.clone());
        self.fact_signals.insert(fact, signal);
        signal
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Grounded<T>) -> Grounded<T> {
        if self.depth >= MAX_DEPTH {
            return Err(GoalCircuitError::TooLarge("levels of formulas"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn term(&mut self, term: &Term, scope: &Scope) -> Grounded<Linear> {
        self.deeper(|this| this.linear(term, scope))
    }

    fn linear(&mut self, term: &Term, scope: &Scope) -> Grounded<Linear> {
        match term {
            Term::Number(number) => Ok(Linear::of(*number)),
            Term::Variable(variable) => {
                let found = scope.numbers.iter().rev().find(|(known, _)| known == variable);
                found
                    .map(|(_, value)| value.clone())
                    .ok_or(GoalCircuitError::Unsupported("a free number"))
            }
            Term::ElementNumber(argument) => Ok(Linear::of(element(argument, scope)?.number())),
            Term::Function(name, argument) => {
                let structure = self.game.start_structure();
                let function = structure.vocabulary().function(name);
                let value =
                    function.and_then(|id| structure.value(id, element(argument, scope).ok()?));
                value
                    .map(Linear::of)
                    .ok_or(GoalCircuitError::Unsupported("a function without a value"))
            }
            Term::Characteristic(formula) => {
                let signal = self.formula(formula, scope)?;
                Ok(Linear {
                    constant: Rational::whole(0),
                    parts: vec![(Rational::whole(1), signal)],
                })
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                self.combined(*operator, left, right)
            }
            Term::Aggregate(aggregate) => self.sum(aggregate, scope),
            Term::Least(..) => Err(GoalCircuitError::Unsupported("the least number of a set")),
            Term::Apply(function, _) => Err(GoalCircuitError::Unsupported(function.name())),
            Term::Let(variable, value, body) => {
                let value = self.term(value, scope)?;
                let mut scope = scope.clone();
                scope.numbers.push((variable.clone(), value));
                self.term(body, &scope)
            }
        }
    }

    fn combined(&mut self, operator: Operator, left: Linear, right: Linear) -> Grounded<Linear> {
        match operator {
            Operator::Plus => left.plus(right),
            Operator::Minus => left.plus(right.scaled(Rational::whole(-1))?),
            Operator::Times if left.is_constant() => right.scaled(left.constant),
            Operator::Times if right.is_constant() => left.scaled(right.constant),
            Operator::Times => {
                let mut product =
                    left.scaled(right.constant)?.plus(right.scaled(left.constant)?)?;
                let twice = left.constant.times(right.constant).map_err(too_large)?;
                product.constant = product.constant.minus(twice).map_err(too_large)?;
                self.check_summands(left.parts.len().saturating_mul(right.parts.len()))?;
                for (a, x) in &left.parts {
                    for (b, y) in &right.parts {
                        let both = self.and(*x, *y)?;
                        product.parts.push((a.times(*b).map_err(too_large)?, both));
                    }
                }
                Ok(product)
            }
            Operator::Divide | Operator::Power if !right.is_constant() => {
                Err(GoalCircuitError::Unsupported("a power or part that depends on the state"))
            }
            Operator::Divide => {
                let inverse = Rational::whole(1).divided_by(right.constant).map_err(too_large)?;
                left.scaled(inverse.ok_or(GoalCircuitError::Unsupported("a division by zero"))?)
            }
            Operator::Power => {
                let mut power = Linear::of(Rational::whole(0));
                for (value, signal) in self.cases(&left)? {
                    let raised = value.power(right.constant).map_err(too_large)?;
                    let raised =
                        raised.ok_or(GoalCircuitError::Unsupported("a power without a value"))?;
                    power.parts.push((raised, signal));
                }
                Ok(power)
            }
        }
    }

    fn check_summands(&self, n: usize) -> Grounded<()> {
        if n > self.limits.summands { Err(GoalCircuitError::TooLarge("summands")) } else { Ok(()) }
    }

    /// Returns the possible values of a sum, each with the signal that the sum has this value.
    fn cases(&mut self, linear: &Linear) -> Grounded<BTreeMap<Rational, Signal>> {
        let mut cases = BTreeMap::from([(linear.constant, Signal::TRUE)]);
        for (weight, signal) in &linear.parts {
            let mut next: BTreeMap<Rational, Signal> = BTreeMap::new();
            for (value, when) in cases {
                let more = value.plus(*weight).map_err(too_large)?;
                for (value, holds) in [(value, !*signal), (more, *signal)] {
                    let both = self.and(when, holds)?;
                    let before = next.get(&value).copied().unwrap_or(Signal::FALSE);
                    let either = self.or(before, both)?;
                    next.insert(value, either);
                }
            }
            next.retain(|_, signal| *signal != Signal::FALSE);
            if next.len() > MAX_VALUES {
                return Err(GoalCircuitError::TooLarge("values of a sum"));
            }
            cases = next;
        }
        Ok(cases)
    }

    fn sum(&mut self, aggregate: &Aggregate, scope: &Scope) -> Grounded<Linear> {
        match aggregate.fold {
            Fold::Sum => {}
            Fold::Product => return Err(GoalCircuitError::Unsupported("`Prod`")),
            Fold::Min | Fold::Max => return Err(GoalCircuitError::Unsupported("`Min` and `Max`")),
        }
        let mut sum = Linear::of(Rational::whole(0));
        for tuple in self.candidates(&aggregate.variables, &aggregate.guard, scope)? {
            let inner = bound(scope, &aggregate.variables, &tuple);
            let guard = self.formula(&aggregate.guard, &inner)?;
            if guard == Signal::FALSE {
                continue;
            }
            let term = self.term(&aggregate.term, &inner)?;
            sum.parts.push((term.constant, guard));
            for (weight, signal) in term.parts {
                let both = self.and(guard, signal)?;
                if both != Signal::FALSE {
                    sum.parts.push((weight, both));
                }
            }
            self.check_summands(sum.parts.len())?;
        }
        Ok(sum)
    }

    /// Returns the values of the variables for which the static part of the formula holds. The
    /// formula holds for no others in any state.
    fn candidates(
        &mut self,
        variables: &[Variable],
        formula: &Formula,
        scope: &Scope,
    ) -> Grounded<Vec<Vec<Element>>> {
        let weakened = self.weakened(formula);
        let mut columns = variables.to_vec();
        let free = weakened.free_variables();
        columns.extend(
            free.into_iter().filter(|v| v.sort() == Sort::Element && !variables.contains(v)),
        );
        // Variables of the scope that are shadowed by these have no meaning here.
        let mut given = scope.elements.clone();
        given.elements.retain(|(known, _)| !variables.contains(known));
        let query = self.query(&weakened, &columns)?;
        let found = self.evaluator.solve(query, self.game.start_structure(), &given)?;
        self.n_assignments += found.len();
        if self.n_assignments > self.limits.assignments {
            return Err(GoalCircuitError::TooLarge("assignments"));
        }
        Ok(found.iter().map(|row| row[..variables.len()].to_vec()).collect())
    }

    fn query(&mut self, formula: &Formula, variables: &[Variable]) -> Grounded<FormulaQuery> {
        let key = (formula.clone(), variables.to_vec());
        if let Some(&query) = self.queries.get(&key) {
            return Ok(query);
        }
        let query = self.evaluator.formula(formula, variables)?;
        self.queries.insert(key, query);
        Ok(query)
    }

    fn is_stable(&self, formula: &Formula) -> bool {
        formula.free_relations().keys().all(|name| self.stable.contains(name))
    }

    /// Returns a formula over static relations that is implied by this one.
    fn weakened(&self, formula: &Formula) -> Formula {
        if self.is_stable(formula) && !has_numbers(formula) {
            return formula.clone();
        }
        match formula {
            Formula::And(parts) => {
                Formula::And(parts.iter().map(|part| self.weakened(part)).collect())
            }
            Formula::Or(parts) => {
                Formula::Or(parts.iter().map(|part| self.weakened(part)).collect())
            }
            Formula::Exists(variables, inner) => Formula::exists(variables, self.weakened(inner)),
            Formula::Not(inner) => self.weakened_negation(inner),
            Formula::Relation(..)
            | Formula::Equal(..)
            | Formula::Member(..)
            | Formula::Compare(..)
            | Formula::All(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => Formula::truth(),
        }
    }

    /// Returns a formula over static relations that is implied by the negation of this one. Without
    /// it, an exception to `all` would be searched for among all assignments.
    fn weakened_negation(&self, formula: &Formula) -> Formula {
        let each = |parts: &[Formula]| -> Vec<Formula> {
            parts.iter().map(|part| self.weakened(&Formula::not(part.clone()))).collect()
        };
        match formula {
            Formula::And(parts) => Formula::Or(each(parts)),
            Formula::Or(parts) => Formula::And(each(parts)),
            Formula::Not(inner) => self.weakened(inner),
            Formula::All(variables, inner) => {
                Formula::exists(variables, self.weakened(&Formula::not((**inner).clone())))
            }
            Formula::Relation(..)
            | Formula::Equal(..)
            | Formula::Member(..)
            | Formula::Compare(..)
            | Formula::Exists(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => Formula::truth(),
        }
    }

    fn formula(&mut self, formula: &Formula, scope: &Scope) -> Grounded<Signal> {
        self.deeper(|this| this.signal(formula, scope))
    }

    fn signal(&mut self, formula: &Formula, scope: &Scope) -> Grounded<Signal> {
        if self.is_stable(formula) && !has_numbers(formula) {
            let free: Vec<Variable> = formula.free_variables().into_iter().collect();
            let query = self.query(formula, &free)?;
            let holds =
                self.evaluator.holds(query, self.game.start_structure(), &scope.elements)?;
            return Ok(Signal::constant(holds));
        }
        match formula {
            Formula::Relation(name, arguments) => {
                let tuple: Vec<Element> = arguments
                    .iter()
                    .map(|argument| element(argument, scope))
                    .collect::<Grounded<_>>()?;
                self.atom(name, tuple)
            }
            Formula::Equal(a, b) => Ok(Signal::constant(element(a, scope)? == element(b, scope)?)),
            Formula::Member(..) => {
                Err(GoalCircuitError::Unsupported("membership in a set over what changes"))
            }
            Formula::Not(inner) => Ok(!self.formula(inner, scope)?),
            Formula::And(parts) => {
                let mut all = Signal::TRUE;
                for part in parts {
                    let signal = self.formula(part, scope)?;
                    all = self.and(all, signal)?;
                    if all == Signal::FALSE {
                        break;
                    }
                }
                Ok(all)
            }
            Formula::Or(parts) => {
                let mut any = Signal::FALSE;
                for part in parts {
                    let signal = self.formula(part, scope)?;
                    any = self.or(any, signal)?;
                }
                Ok(any)
            }
            Formula::Exists(variables, inner) => self.some(variables, inner, scope),
            Formula::All(variables, inner) => {
                let exception = Formula::not((**inner).clone());
                Ok(!self.some(variables, &exception, scope)?)
            }
            Formula::Compare(left, sign, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                self.comparison(left, *sign, right)
            }
            Formula::Fix(_) | Formula::Closure(_) | Formula::Let(_) => Err(
                GoalCircuitError::Unsupported("a fixed point, closure or `let` over what changes"),
            ),
        }
    }

    fn some(&mut self, variables: &[Variable], inner: &Formula, scope: &Scope) -> Grounded<Signal> {
        if variables.iter().any(|variable| variable.sort() != Sort::Element) {
            return Err(GoalCircuitError::Unsupported("a quantifier over sets or numbers"));
        }
        let mut any = Signal::FALSE;
        for tuple in self.candidates(variables, inner, scope)? {
            let signal = self.formula(inner, &bound(scope, variables, &tuple))?;
            any = self.or(any, signal)?;
        }
        Ok(any)
    }

    fn comparison(&mut self, left: Linear, sign: Sign, right: Linear) -> Grounded<Signal> {
        let difference = left.plus(right.scaled(Rational::whole(-1))?)?;
        let mut any = Signal::FALSE;
        for (value, signal) in self.cases(&difference)? {
            if sign.admits(value.cmp(&Rational::whole(0))) {
                any = self.or(any, signal)?;
            }
        }
        Ok(any)
    }

    fn atom(&mut self, name: &Name, tuple: Vec<Element>) -> Grounded<Signal> {
        let arena = self.game.arena();
        if let Some(definition) = arena.definitions().get(name) {
            let key = (name.clone(), tuple);
            if let Some(&signal) = self.defined.get(&key) {
                return Ok(signal);
            }
            let scope = bound(&Scope::default(), &definition.variables, &key.1);
            let signal = self.formula(&definition.body, &scope)?;
            self.defined.insert(key, signal);
            return Ok(signal);
        }
        match arena.vocabulary().relation(name) {
            Some(relation) => Ok(self.fact(relation, tuple)),
            None => Err(GoalCircuitError::Unsupported("a relation of no structure")),
        }
    }
}

/// Returns whether the formula contains variables for numbers, which the evaluator does not
/// support.
fn has_numbers(formula: &Formula) -> bool {
    formula.free_variables().iter().any(|variable| variable.sort() == Sort::Real)
}

fn element(argument: &Argument, scope: &Scope) -> Grounded<Element> {
    let variable = argument.variable().ok_or(GoalCircuitError::Unsupported("a constant"))?;
    scope.elements.element(variable).ok_or(GoalCircuitError::Unsupported("a free variable"))
}

fn bound(scope: &Scope, variables: &[Variable], tuple: &[Element]) -> Scope {
    let mut inner = scope.clone();
    inner.elements.elements.extend(variables.iter().cloned().zip(tuple.iter().copied()));
    inner
}
