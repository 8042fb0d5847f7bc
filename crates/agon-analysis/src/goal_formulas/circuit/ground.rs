//! Terms to weighted gates: quantifiers and sums go through the assignments that what never changes allows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::evaluate::{Assignment, Evaluator, FormulaQuery, Limits};
use agon_structures::formula::{
    Aggregate, Argument, Fold, Formula, Name, Operator, Sign, Sort, Term, Variable,
};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId};
use agon_toss::interpreter::Game;

use super::{Form, Gate, GoalCircuitLimits, NoGoalCircuit, Wire};

/// A power or a comparison may be of a sum with so many different values at most.
const MAX_VALUES: usize = 256;
/// Formulas nested deeper than this are refused: they are gone through by recursion.
const MAX_DEPTH: usize = 200;

/// Makes gates.
pub(super) struct Grounder<'g> {
    game: &'g Arc<Game>,
    limits: GoalCircuitLimits,
    evaluator: Evaluator,
    gates: Vec<Gate>,
    known: BTreeMap<(Wire, Wire), Wire>,
    facts: Vec<(RelationId, Vec<Element>)>,
    fact_wires: BTreeMap<(RelationId, Vec<Element>), Wire>,
    /// Relations, defined ones included, that never change.
    stable: BTreeSet<Name>,
    queries: BTreeMap<(Formula, Vec<Variable>), FormulaQuery>,
    /// Defined relations of elements.
    defined: BTreeMap<(Name, Vec<Element>), Wire>,
    n_assignments: usize,
    depth: usize,
}

/// A constant and weighted wires.
#[derive(Clone, Debug)]
struct Linear {
    constant: Rational,
    parts: Vec<(Rational, Wire)>,
}

/// What variables stand for.
#[derive(Clone, Default)]
struct Scope {
    elements: Assignment,
    numbers: Vec<(Variable, Linear)>,
}

type Answer<T> = Result<T, NoGoalCircuit>;

fn too_large<E>(_: E) -> NoGoalCircuit {
    NoGoalCircuit::TooLarge("digits")
}

impl Linear {
    fn of(constant: Rational) -> Linear {
        Linear { constant, parts: Vec::new() }
    }

    fn is_constant(&self) -> bool {
        self.parts.is_empty()
    }

    fn scaled(&self, factor: Rational) -> Answer<Linear> {
        let parts = self
            .parts
            .iter()
            .map(|(weight, wire)| Ok((weight.times(factor).map_err(too_large)?, *wire)));
        Ok(Linear {
            constant: self.constant.times(factor).map_err(too_large)?,
            parts: parts.collect::<Answer<_>>()?,
        })
    }

    fn plus(mut self, other: Linear) -> Answer<Linear> {
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
            gates: vec![Gate::True],
            known: BTreeMap::new(),
            facts: Vec::new(),
            fact_wires: BTreeMap::new(),
            stable,
            queries: BTreeMap::new(),
            defined: BTreeMap::new(),
            n_assignments: 0,
            depth: 0,
        }
    }

    pub(super) fn finish(self) -> (Vec<Gate>, Vec<(RelationId, Vec<Element>)>) {
        (self.gates, self.facts)
    }

    /// The evaluation function that a term without free variables is.
    pub(super) fn form(&mut self, term: &Term) -> Answer<Form> {
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
        let mut constant = whole(linear.constant)?;
        let mut counted: BTreeMap<Wire, i128> = BTreeMap::new();
        for (weight, wire) in linear.parts {
            *counted.entry(wire).or_default() += whole(weight)?;
        }
        constant += counted.remove(&Wire::TRUE).unwrap_or(0);
        counted.remove(&Wire::FALSE);
        let mut by_weight: BTreeMap<i128, Vec<Wire>> = BTreeMap::new();
        let mut bound = constant.unsigned_abs();
        for (wire, weight) in counted.into_iter().filter(|(_, weight)| *weight != 0) {
            bound = bound.checked_add(weight.unsigned_abs()).ok_or_else(|| too_large(()))?;
            by_weight.entry(weight).or_default().push(wire);
        }
        // Sums are made without looking for overflow.
        if bound > i128::MAX as u128 / 4 {
            return Err(too_large(()));
        }
        Ok(Form { denominator, constant, weighted: by_weight.into_iter().collect() })
    }

    fn and(&mut self, a: Wire, b: Wire) -> Answer<Wire> {
        let (a, b) = (a.min(b), a.max(b));
        if a == Wire::FALSE || b == Wire::FALSE || a == b.negated() {
            return Ok(Wire::FALSE);
        }
        if a == Wire::TRUE || a == b {
            return Ok(b);
        }
        if let Some(&wire) = self.known.get(&(a, b)) {
            return Ok(wire);
        }
        if self.gates.len() >= self.limits.gates {
            return Err(NoGoalCircuit::TooLarge("gates"));
        }
        let wire = Wire::of(self.gates.len());
        self.gates.push(Gate::And(a, b));
        self.known.insert((a, b), wire);
        Ok(wire)
    }

    fn or(&mut self, a: Wire, b: Wire) -> Answer<Wire> {
        Ok(self.and(a.negated(), b.negated())?.negated())
    }

    fn fact(&mut self, relation: RelationId, tuple: Vec<Element>) -> Wire {
        let key = (relation, tuple);
        if let Some(&wire) = self.fact_wires.get(&key) {
            return wire;
        }
        let wire = Wire::of(self.gates.len());
        self.gates.push(Gate::Fact(self.facts.len() as u32));
        self.facts.push(key.clone());
        self.fact_wires.insert(key, wire);
        wire
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Answer<T>) -> Answer<T> {
        if self.depth >= MAX_DEPTH {
            return Err(NoGoalCircuit::TooLarge("levels of formulas"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn term(&mut self, term: &Term, scope: &Scope) -> Answer<Linear> {
        self.deeper(|this| this.linear(term, scope))
    }

    fn linear(&mut self, term: &Term, scope: &Scope) -> Answer<Linear> {
        match term {
            Term::Number(number) => Ok(Linear::of(*number)),
            Term::Variable(variable) => {
                let found = scope.numbers.iter().rev().find(|(known, _)| known == variable);
                found
                    .map(|(_, value)| value.clone())
                    .ok_or(NoGoalCircuit::Construct("a free number"))
            }
            Term::ElementNumber(argument) => Ok(Linear::of(element(argument, scope)?.number())),
            Term::Function(name, argument) => {
                let structure = self.game.start_structure();
                let function = structure.vocabulary().function(name);
                let value =
                    function.and_then(|id| structure.value(id, element(argument, scope).ok()?));
                value.map(Linear::of).ok_or(NoGoalCircuit::Construct("a function without a value"))
            }
            Term::Characteristic(formula) => {
                let wire = self.formula(formula, scope)?;
                Ok(Linear { constant: Rational::whole(0), parts: vec![(Rational::whole(1), wire)] })
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                self.combined(*operator, left, right)
            }
            Term::Aggregate(aggregate) => self.sum(aggregate, scope),
            Term::Let(variable, value, body) => {
                let value = self.term(value, scope)?;
                let mut scope = scope.clone();
                scope.numbers.push((variable.clone(), value));
                self.term(body, &scope)
            }
        }
    }

    fn combined(&mut self, operator: Operator, left: Linear, right: Linear) -> Answer<Linear> {
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
                self.few(left.parts.len().saturating_mul(right.parts.len()))?;
                for (a, x) in &left.parts {
                    for (b, y) in &right.parts {
                        let both = self.and(*x, *y)?;
                        product.parts.push((a.times(*b).map_err(too_large)?, both));
                    }
                }
                Ok(product)
            }
            Operator::Divide | Operator::Power if !right.is_constant() => {
                Err(NoGoalCircuit::Construct("a power or part that depends on the state"))
            }
            Operator::Divide => {
                let inverse = Rational::whole(1).divided_by(right.constant).map_err(too_large)?;
                left.scaled(inverse.ok_or(NoGoalCircuit::Construct("a division by zero"))?)
            }
            Operator::Power => {
                let mut power = Linear::of(Rational::whole(0));
                for (value, wire) in self.cases(&left)? {
                    let raised = value.power(right.constant).map_err(too_large)?;
                    let raised =
                        raised.ok_or(NoGoalCircuit::Construct("a power without a value"))?;
                    power.parts.push((raised, wire));
                }
                Ok(power)
            }
        }
    }

    fn few(&self, n: usize) -> Answer<()> {
        if n > self.limits.summands { Err(NoGoalCircuit::TooLarge("summands")) } else { Ok(()) }
    }

    /// The values of a sum, each with when it has it.
    fn cases(&mut self, linear: &Linear) -> Answer<BTreeMap<Rational, Wire>> {
        let mut cases = BTreeMap::from([(linear.constant, Wire::TRUE)]);
        for (weight, wire) in &linear.parts {
            let mut next: BTreeMap<Rational, Wire> = BTreeMap::new();
            for (value, when) in cases {
                let more = value.plus(*weight).map_err(too_large)?;
                for (value, holds) in [(value, wire.negated()), (more, *wire)] {
                    let both = self.and(when, holds)?;
                    let before = next.get(&value).copied().unwrap_or(Wire::FALSE);
                    let either = self.or(before, both)?;
                    next.insert(value, either);
                }
            }
            next.retain(|_, wire| *wire != Wire::FALSE);
            if next.len() > MAX_VALUES {
                return Err(NoGoalCircuit::TooLarge("values of a sum"));
            }
            cases = next;
        }
        Ok(cases)
    }

    fn sum(&mut self, aggregate: &Aggregate, scope: &Scope) -> Answer<Linear> {
        match aggregate.fold {
            Fold::Sum => {}
            Fold::Product => return Err(NoGoalCircuit::Construct("`Prod`")),
            Fold::Min | Fold::Max => return Err(NoGoalCircuit::Construct("`Min` and `Max`")),
        }
        let mut sum = Linear::of(Rational::whole(0));
        for tuple in self.candidates(&aggregate.variables, &aggregate.guard, scope)? {
            let inner = bound(scope, &aggregate.variables, &tuple);
            let guard = self.formula(&aggregate.guard, &inner)?;
            if guard == Wire::FALSE {
                continue;
            }
            let term = self.term(&aggregate.term, &inner)?;
            sum.parts.push((term.constant, guard));
            for (weight, wire) in term.parts {
                let both = self.and(guard, wire)?;
                if both != Wire::FALSE {
                    sum.parts.push((weight, both));
                }
            }
            self.few(sum.parts.len())?;
        }
        Ok(sum)
    }

    /// The elements for the variables that what never changes of the formula allows, whatever the state.
    fn candidates(
        &mut self,
        variables: &[Variable],
        formula: &Formula,
        scope: &Scope,
    ) -> Answer<Vec<Vec<Element>>> {
        let weakened = self.weakened(formula);
        let mut columns = variables.to_vec();
        let free = weakened.free_variables();
        columns.extend(
            free.into_iter().filter(|v| v.sort() == Sort::Element && !variables.contains(v)),
        );
        // Of the variables around, those that these hide mean nothing here.
        let mut given = scope.elements.clone();
        given.elements.retain(|(known, _)| !variables.contains(known));
        let query = self.query(&weakened, &columns)?;
        let found = self.evaluator.solve(query, self.game.start_structure(), &given)?;
        self.n_assignments += found.len();
        if self.n_assignments > self.limits.assignments {
            return Err(NoGoalCircuit::TooLarge("assignments"));
        }
        Ok(found.iter().map(|row| row[..variables.len()].to_vec()).collect())
    }

    fn query(&mut self, formula: &Formula, variables: &[Variable]) -> Answer<FormulaQuery> {
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

    /// A formula about what never changes that holds wherever this one ever does.
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
            | Formula::Compare(..)
            | Formula::All(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => Formula::truth(),
        }
    }

    /// The same for what is negated. Without it, an exception to `all` would be looked for everywhere.
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
            | Formula::Compare(..)
            | Formula::Exists(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => Formula::truth(),
        }
    }

    fn formula(&mut self, formula: &Formula, scope: &Scope) -> Answer<Wire> {
        self.deeper(|this| this.wire(formula, scope))
    }

    fn wire(&mut self, formula: &Formula, scope: &Scope) -> Answer<Wire> {
        if self.is_stable(formula) && !has_numbers(formula) {
            let free: Vec<Variable> = formula.free_variables().into_iter().collect();
            let query = self.query(formula, &free)?;
            let holds =
                self.evaluator.holds(query, self.game.start_structure(), &scope.elements)?;
            return Ok(if holds { Wire::TRUE } else { Wire::FALSE });
        }
        match formula {
            Formula::Relation(name, arguments) => {
                let tuple: Vec<Element> = arguments
                    .iter()
                    .map(|argument| element(argument, scope))
                    .collect::<Answer<_>>()?;
                self.atom(name, tuple)
            }
            Formula::Equal(a, b) => {
                Ok(if element(a, scope)? == element(b, scope)? { Wire::TRUE } else { Wire::FALSE })
            }
            Formula::Not(inner) => Ok(self.formula(inner, scope)?.negated()),
            Formula::And(parts) => {
                let mut all = Wire::TRUE;
                for part in parts {
                    let wire = self.formula(part, scope)?;
                    all = self.and(all, wire)?;
                    if all == Wire::FALSE {
                        break;
                    }
                }
                Ok(all)
            }
            Formula::Or(parts) => {
                let mut any = Wire::FALSE;
                for part in parts {
                    let wire = self.formula(part, scope)?;
                    any = self.or(any, wire)?;
                }
                Ok(any)
            }
            Formula::Exists(variables, inner) => self.some(variables, inner, scope),
            Formula::All(variables, inner) => {
                let exception = Formula::not((**inner).clone());
                Ok(self.some(variables, &exception, scope)?.negated())
            }
            Formula::Compare(left, sign, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                self.comparison(left, *sign, right)
            }
            Formula::Fix(_) | Formula::Closure(_) | Formula::Let(_) => {
                Err(NoGoalCircuit::Construct("a fixed point, closure or `let` over what changes"))
            }
        }
    }

    fn some(&mut self, variables: &[Variable], inner: &Formula, scope: &Scope) -> Answer<Wire> {
        let mut any = Wire::FALSE;
        for tuple in self.candidates(variables, inner, scope)? {
            let wire = self.formula(inner, &bound(scope, variables, &tuple))?;
            any = self.or(any, wire)?;
        }
        Ok(any)
    }

    fn comparison(&mut self, left: Linear, sign: Sign, right: Linear) -> Answer<Wire> {
        let difference = left.plus(right.scaled(Rational::whole(-1))?)?;
        let mut any = Wire::FALSE;
        for (value, wire) in self.cases(&difference)? {
            if sign.admits(value.cmp(&Rational::whole(0))) {
                any = self.or(any, wire)?;
            }
        }
        Ok(any)
    }

    fn atom(&mut self, name: &Name, tuple: Vec<Element>) -> Answer<Wire> {
        let arena = self.game.arena();
        if let Some(definition) = arena.definitions().get(name) {
            let key = (name.clone(), tuple);
            if let Some(&wire) = self.defined.get(&key) {
                return Ok(wire);
            }
            let scope = bound(&Scope::default(), &definition.variables, &key.1);
            let wire = self.formula(&definition.body, &scope)?;
            self.defined.insert(key, wire);
            return Ok(wire);
        }
        match arena.vocabulary().relation(name) {
            Some(relation) => Ok(self.fact(relation, tuple)),
            None => Err(NoGoalCircuit::Construct("a relation of no structure")),
        }
    }
}

/// Whether numbers with names are in it, which the evaluator does not know of.
fn has_numbers(formula: &Formula) -> bool {
    formula.free_variables().iter().any(|variable| variable.sort() == Sort::Real)
}

fn element(argument: &Argument, scope: &Scope) -> Answer<Element> {
    let variable = argument.variable().ok_or(NoGoalCircuit::Construct("a constant"))?;
    scope.elements.element(variable).ok_or(NoGoalCircuit::Construct("a free variable"))
}

fn bound(scope: &Scope, variables: &[Variable], tuple: &[Element]) -> Scope {
    let mut inner = scope.clone();
    inner.elements.elements.extend(variables.iter().cloned().zip(tuple.iter().copied()));
    inner
}
