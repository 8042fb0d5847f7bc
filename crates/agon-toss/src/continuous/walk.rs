//! Visits formulas and terms at a structure, in any algebra of numbers and truth values.
//!
//! Quantifiers over elements are expanded over the elements of the structure, defined relations
//! are replaced by their definitions, fixed points are iterated. Relations do not change while
//! time passes, so what remains is about numbers alone.

use std::collections::BTreeMap;

use agon_reals::real::Real;
use agon_structures::formula::{
    Aggregate, Argument, Closure, Definitions, Extreme, Fix, Fold, Formula, Name, Operator,
    RealFunction, Sign, Sort, Term, Variable,
};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, FunctionId, Structure};

use super::{ContinuousError, Watch, least, sets};

/// Maximum number of elements for quantifiers over sets of which all are tried.
pub(super) const MAX_SET_ELEMENTS: usize = 14;

/// Maximum number of elements for which trying all sets is faster than asking a SAT solver.
const FEW_ELEMENTS: usize = 5;

/// Truth values with their operations.
pub(super) trait Logic {
    /// A truth value. Equal ones compare as equal.
    type Truth: Clone + PartialEq;

    fn truth(&mut self, holds: bool) -> Result<Self::Truth, ContinuousError>;
    fn not(&mut self, truth: Self::Truth) -> Result<Self::Truth, ContinuousError>;
    fn and(
        &mut self,
        left: Self::Truth,
        right: Self::Truth,
    ) -> Result<Self::Truth, ContinuousError>;
    fn or(&mut self, left: Self::Truth, right: Self::Truth)
    -> Result<Self::Truth, ContinuousError>;
    /// Returns the truth value if it is the same at all times.
    fn known(&self, truth: &Self::Truth) -> Option<bool>;
}

/// An algebra in which each formula is known to hold or not to hold.
pub(super) trait TwoValued {}

impl<A: TwoValued> Logic for A {
    type Truth = bool;

    fn truth(&mut self, holds: bool) -> Result<bool, ContinuousError> {
        Ok(holds)
    }

    fn not(&mut self, truth: bool) -> Result<bool, ContinuousError> {
        Ok(!truth)
    }

    fn and(&mut self, left: bool, right: bool) -> Result<bool, ContinuousError> {
        Ok(left && right)
    }

    fn or(&mut self, left: bool, right: bool) -> Result<bool, ContinuousError> {
        Ok(left || right)
    }

    fn known(&self, truth: &bool) -> Option<bool> {
        Some(*truth)
    }
}

/// Numbers and truth values with their operations. A number may be undefined.
pub(super) trait Algebra: Logic + Sized {
    /// Whether a comparison with `min :a (…)` becomes a quantified formula, because the least
    /// number has no value yet.
    const LEAST_IS_QUANTIFIED: bool = false;

    /// A number.
    type Number: Clone;

    fn number(&mut self, number: Real) -> Result<Self::Number, ContinuousError>;
    /// Returns the number of a term without a value.
    fn undefined(&mut self) -> Result<Self::Number, ContinuousError>;
    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Self::Number, ContinuousError>;
    fn binary(
        &mut self,
        operator: Operator,
        left: Self::Number,
        right: Self::Number,
    ) -> Result<Self::Number, ContinuousError>;
    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Self::Number>,
    ) -> Result<Self::Number, ContinuousError>;
    fn indicator(&mut self, truth: Self::Truth) -> Result<Self::Number, ContinuousError>;
    /// Returns the exact rational value of a number, `Some(None)` if it is undefined, and `None` if
    /// it is not exact or not known yet.
    fn exact(&self, _number: &Self::Number) -> Option<Option<Rational>> {
        None
    }
    /// Returns one number where a condition holds and another elsewhere.
    fn select(
        &mut self,
        truth: Self::Truth,
        then: Self::Number,
        otherwise: Self::Number,
    ) -> Result<Self::Number, ContinuousError>;

    fn compare(
        &mut self,
        left: Self::Number,
        sign: Sign,
        right: Self::Number,
    ) -> Result<Self::Truth, ContinuousError>;

    /// Quantifies a formula over a real number.
    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<Self::Truth, ContinuousError>;
    /// Returns the least real number that satisfies a formula.
    fn least(
        walker: &mut Walker<'_, Self>,
        variable: &Variable,
        body: &Formula,
    ) -> Result<Self::Number, ContinuousError>;
}

/// A visit of formulas and terms at one structure.
pub(super) struct Walker<'a, A: Algebra> {
    pub(super) algebra: A,
    pub(super) structure: &'a Structure,
    pub(super) definitions: &'a Definitions,
    pub(super) elements: Vec<(Variable, Element)>,
    pub(super) numbers: Vec<(Variable, A::Number)>,
    pub(super) sets: Vec<(Variable, Vec<bool>)>,
    locals: Vec<Local<A::Truth>>,
    pub(super) steps: u64,
    pub(super) max_steps: u64,
    pub(super) watch: &'a Watch,
}

/// A relation that a formula binds, with the truth of each of its tuples. Missing ones are false.
struct Local<T> {
    name: Name,
    tuples: BTreeMap<Vec<Element>, T>,
    /// The truth of tuples that are not in the table.
    otherwise: Option<T>,
}

impl<'a, A: Algebra> Walker<'a, A> {
    pub(super) fn new(
        algebra: A,
        structure: &'a Structure,
        definitions: &'a Definitions,
        max_steps: u64,
        watch: &'a Watch,
    ) -> Walker<'a, A> {
        Walker {
            algebra,
            structure,
            definitions,
            elements: Vec::new(),
            numbers: Vec::new(),
            sets: Vec::new(),
            locals: Vec::new(),
            steps: 0,
            max_steps,
            watch,
        }
    }

    /// Takes over the relations that formulas around bind, if their truth values are known.
    pub(super) fn take_locals<B: Algebra>(
        &mut self,
        outer: &Walker<'_, B>,
    ) -> Result<(), ContinuousError> {
        for local in &outer.locals {
            let mut known = |truth: &B::Truth| match outer.algebra.known(truth) {
                Some(holds) => self.algebra.truth(holds),
                None => Err(ContinuousError::NotPolynomial(format!("`{}`", local.name))),
            };
            let mut tuples = BTreeMap::new();
            for (tuple, truth) in &local.tuples {
                tuples.insert(tuple.clone(), known(truth)?);
            }
            let otherwise = local.otherwise.as_ref().map(&mut known).transpose()?;
            self.locals.push(Local { name: local.name.clone(), tuples, otherwise });
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), ContinuousError> {
        self.steps += 1;
        if self.steps > self.max_steps {
            return Err(ContinuousError::Steps(self.max_steps));
        }
        self.watch.spend(1)
    }

    /// Returns the truth of a formula.
    pub(super) fn formula(&mut self, formula: &Formula) -> Result<A::Truth, ContinuousError> {
        self.step()?;
        match formula {
            Formula::Relation(name, arguments) => self.relation(name, arguments),
            Formula::Equal(left, right) => {
                let (left, right) = (self.element(left)?, self.element(right)?);
                self.algebra.truth(left.is_some() && left == right)
            }
            Formula::Member(argument, set) => {
                let element = self.element(argument)?;
                let found = self.sets.iter().rev().find(|(name, _)| name == set);
                let Some((_, members)) = found else {
                    return Err(ContinuousError::Unbound(set.clone()));
                };
                let holds = element.is_some_and(|e| members.get(e.index()) == Some(&true));
                self.algebra.truth(holds)
            }
            Formula::Compare(left, sign, right) => {
                if A::LEAST_IS_QUANTIFIED
                    && let Some(quantified) = least::by_quantifiers(left, *sign, right)
                {
                    return self.formula(&quantified);
                }
                let (left, right) = (self.term(left)?, self.term(right)?);
                self.algebra.compare(left, *sign, right)
            }
            Formula::Not(inner) => {
                let inner = self.formula(inner)?;
                self.algebra.not(inner)
            }
            Formula::And(parts) => self.connect(parts, true),
            Formula::Or(parts) => self.connect(parts, false),
            Formula::Exists(variables, body) => self.quantified(variables, body, true),
            Formula::All(variables, body) => self.quantified(variables, body, false),
            Formula::Fix(fix) => self.fixed_point(fix),
            Formula::Closure(closure) => self.closure(closure),
            Formula::Let(bound) => {
                let tuples = self.table(&bound.variables, &bound.definition)?;
                let name = bound.relation.clone();
                self.locals.push(Local { name, tuples, otherwise: None });
                let body = self.formula(&bound.body);
                self.locals.pop();
                body
            }
        }
    }

    /// Returns the conjunction or the disjunction of formulas. Stops at the first part that
    /// decides.
    fn connect(&mut self, parts: &[Formula], is_and: bool) -> Result<A::Truth, ContinuousError> {
        let mut joined = self.algebra.truth(is_and)?;
        for part in parts {
            let part = self.formula(part)?;
            joined = self.join(joined, part, is_and)?;
            if self.algebra.known(&joined) == Some(!is_and) {
                break;
            }
        }
        Ok(joined)
    }

    fn join(
        &mut self,
        left: A::Truth,
        right: A::Truth,
        is_and: bool,
    ) -> Result<A::Truth, ContinuousError> {
        if is_and { self.algebra.and(left, right) } else { self.algebra.or(left, right) }
    }

    fn relation(
        &mut self,
        name: &Name,
        arguments: &[Argument],
    ) -> Result<A::Truth, ContinuousError> {
        let mut tuple = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match self.element(argument)? {
                Some(element) => tuple.push(element),
                None => return self.algebra.truth(false),
            }
        }
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == *name) {
            return match local.tuples.get(&tuple).or(local.otherwise.as_ref()) {
                Some(truth) => Ok(truth.clone()),
                None => self.algebra.truth(false),
            };
        }
        if let Some(relation) = self.structure.vocabulary().relation(name) {
            let holds = self.structure.holds(relation, &tuple);
            return self.algebra.truth(holds);
        }
        let definitions = self.definitions;
        let Some(definition) = definitions.get(name) else {
            return Err(ContinuousError::Unknown(name.clone()));
        };
        // A definition sees its own variables only.
        let elements = definition.variables.iter().cloned().zip(tuple).collect();
        let outer = std::mem::replace(&mut self.elements, elements);
        let locals = std::mem::take(&mut self.locals);
        let truth = self.formula(&definition.body);
        self.elements = outer;
        self.locals = locals;
        truth
    }

    /// Returns whether a formula around binds a relation of this name.
    pub(super) fn has_local(&self, name: &str) -> bool {
        self.locals.iter().any(|local| *local.name == *name)
    }

    /// Returns the element that an argument denotes; `None` for a constant without an element.
    pub(super) fn element(&self, argument: &Argument) -> Result<Option<Element>, ContinuousError> {
        match argument {
            Argument::Variable(variable) => {
                let found = self.elements.iter().rev().find(|(name, _)| name == variable);
                let element = found.map(|(_, element)| *element);
                element.map(Some).ok_or_else(|| ContinuousError::Unbound(variable.clone()))
            }
            Argument::Constant(name) => {
                let Some(constant) = self.structure.vocabulary().constant(name) else {
                    return Err(ContinuousError::Unknown(name.clone()));
                };
                Ok(self.structure.constant(constant))
            }
        }
    }

    fn quantified(
        &mut self,
        variables: &[Variable],
        body: &Formula,
        exists: bool,
    ) -> Result<A::Truth, ContinuousError> {
        let Some((first, rest)) = variables.split_first() else { return self.formula(body) };
        match first.sort() {
            Sort::Element | Sort::Relation => self.over_elements(first, rest, body, exists),
            Sort::Set => self.over_sets(first, rest, body, exists),
            Sort::Real if rest.is_empty() => A::quantify(self, exists, first, body),
            Sort::Real => {
                let inner = Box::new(body.clone());
                let body = if exists {
                    Formula::Exists(rest.to_vec(), inner)
                } else {
                    Formula::All(rest.to_vec(), inner)
                };
                A::quantify(self, exists, first, &body)
            }
        }
    }

    fn over_elements(
        &mut self,
        variable: &Variable,
        rest: &[Variable],
        body: &Formula,
        exists: bool,
    ) -> Result<A::Truth, ContinuousError> {
        let structure = self.structure;
        let mut joined = self.algebra.truth(!exists)?;
        for element in structure.elements() {
            self.elements.push((variable.clone(), element));
            let part = self.quantified(rest, body, exists);
            self.elements.pop();
            joined = self.join(joined, part?, !exists)?;
            if self.algebra.known(&joined) == Some(exists) {
                break;
            }
        }
        Ok(joined)
    }

    fn over_sets(
        &mut self,
        variable: &Variable,
        rest: &[Variable],
        body: &Formula,
        exists: bool,
    ) -> Result<A::Truth, ContinuousError> {
        let elements: Vec<Element> = self.structure.elements().collect();
        if elements.len() > FEW_ELEMENTS {
            let variables = [std::slice::from_ref(variable), rest].concat();
            let body = Box::new(body.clone());
            let quantified = match exists {
                true => Formula::Exists(variables, body),
                false => Formula::All(variables, body),
            };
            if let Some(holds) = sets::decide(self, &quantified)? {
                return self.algebra.truth(holds);
            }
        }
        if elements.len() > MAX_SET_ELEMENTS {
            return Err(ContinuousError::SetsOfMany(MAX_SET_ELEMENTS));
        }
        let n_ids = elements.last().map_or(0, |last| last.index() + 1);
        let mut joined = self.algebra.truth(!exists)?;
        for subset in 0..1u32 << elements.len() {
            let mut members = vec![false; n_ids];
            for (bit, element) in elements.iter().enumerate() {
                members[element.index()] = subset >> bit & 1 == 1;
            }
            self.sets.push((variable.clone(), members));
            let part = self.quantified(rest, body, exists);
            self.sets.pop();
            joined = self.join(joined, part?, !exists)?;
            if self.algebra.known(&joined) == Some(exists) {
                break;
            }
        }
        Ok(joined)
    }

    /// Returns the truth of a formula for all assignments of elements to variables.
    pub(super) fn table(
        &mut self,
        variables: &[Variable],
        body: &Formula,
    ) -> Result<BTreeMap<Vec<Element>, A::Truth>, ContinuousError> {
        let elements: Vec<Element> = self.structure.elements().collect();
        let mut tuples: Vec<Vec<Element>> = vec![Vec::new()];
        for _ in variables {
            let mut longer = Vec::new();
            for tuple in &tuples {
                for &element in &elements {
                    self.step()?;
                    longer.push([tuple.as_slice(), &[element]].concat());
                }
            }
            tuples = longer;
        }
        let mut table = BTreeMap::new();
        for tuple in tuples {
            let n_before = self.elements.len();
            self.elements.extend(variables.iter().cloned().zip(tuple.iter().copied()));
            let truth = self.formula(body);
            self.elements.truncate(n_before);
            table.insert(tuple, truth?);
        }
        Ok(table)
    }

    /// Iterates the formula of a fixed point until nothing changes.
    fn fixed_point(&mut self, fix: &Fix) -> Result<A::Truth, ContinuousError> {
        let first = self.algebra.truth(fix.extreme == Extreme::Greatest)?;
        let mut tuples: BTreeMap<Vec<Element>, A::Truth> = BTreeMap::new();
        let mut otherwise = Some(first);
        // A monotone operator reaches its fixed point after at most one step for each tuple.
        // Conditions may be equal without being recognised as equal, so that the loop is bounded.
        let n_elements = self.structure.n_elements();
        let n_tuples = n_elements.saturating_pow(fix.variables.len().min(8) as u32);
        for _ in 0..=n_tuples {
            let name = fix.relation.clone();
            self.locals.push(Local { name, tuples: tuples.clone(), otherwise: otherwise.take() });
            let next = self.table(&fix.variables, &fix.body);
            self.locals.pop();
            let next = next?;
            if next == tuples {
                break;
            }
            tuples = next;
        }
        let mut asked = Vec::new();
        for argument in &fix.arguments {
            match self.element(argument)? {
                Some(element) => asked.push(element),
                None => return self.algebra.truth(false),
            }
        }
        match tuples.remove(&asked) {
            Some(truth) => Ok(truth),
            None => self.algebra.truth(false),
        }
    }

    /// Computes a reflexive transitive closure from its start, one step after the other.
    fn closure(&mut self, closure: &Closure) -> Result<A::Truth, ContinuousError> {
        let [from, to] = &closure.arguments;
        let (Some(from), Some(to)) = (self.element(from)?, self.element(to)?) else {
            return self.algebra.truth(false);
        };
        let steps = self.table(&[closure.from.clone(), closure.to.clone()], &closure.body)?;
        let elements: Vec<Element> = self.structure.elements().collect();
        let truth = self.algebra.truth(false)?;
        let mut reached: Vec<A::Truth> = vec![truth; elements.len()];
        let start = elements.iter().position(|&element| element == from);
        let end = elements.iter().position(|&element| element == to);
        let (Some(start), Some(end)) = (start, end) else { return self.algebra.truth(false) };
        reached[start] = self.algebra.truth(true)?;
        let n_steps = closure.bound.map_or(elements.len(), |bound| {
            1usize.checked_shl(bound).unwrap_or(usize::MAX).min(elements.len())
        });
        for _ in 0..n_steps {
            let mut next = reached.clone();
            for (here, truth) in reached.iter().enumerate() {
                if self.algebra.known(truth) == Some(false) {
                    continue;
                }
                for (there, element) in elements.iter().enumerate() {
                    self.step()?;
                    let step = steps[&vec![elements[here], *element]].clone();
                    let arrives = self.algebra.and(truth.clone(), step)?;
                    next[there] = self.algebra.or(next[there].clone(), arrives)?;
                }
            }
            if next == reached {
                break;
            }
            reached = next;
        }
        Ok(reached.swap_remove(end))
    }

    /// Returns the value of a term.
    pub(super) fn term(&mut self, term: &Term) -> Result<A::Number, ContinuousError> {
        self.step()?;
        match term {
            Term::Number(number) => self.algebra.number(Real::Exact(*number)),
            Term::Variable(variable) => {
                let found = self.numbers.iter().rev().find(|(name, _)| name == variable);
                let number = found.map(|(_, number)| number.clone());
                number.ok_or_else(|| ContinuousError::Unbound(variable.clone()))
            }
            Term::ElementNumber(argument) => match self.element(argument)? {
                Some(element) => self.algebra.number(Real::Exact(element.number())),
                None => self.algebra.undefined(),
            },
            Term::Function(name, argument) => {
                let Some(function) = self.structure.vocabulary().function(name) else {
                    return Err(ContinuousError::Unknown(name.clone()));
                };
                match self.element(argument)? {
                    Some(element) => self.algebra.value(function, element),
                    None => self.algebra.undefined(),
                }
            }
            Term::Characteristic(formula) => {
                let truth = self.formula(formula)?;
                self.algebra.indicator(truth)
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                self.algebra.binary(*operator, left, right)
            }
            Term::Apply(function, arguments) => {
                let mut numbers = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    numbers.push(self.term(argument)?);
                }
                self.algebra.apply(*function, numbers)
            }
            Term::Aggregate(aggregate) => self.aggregate(aggregate),
            Term::Let(variable, value, body) => {
                let value = self.term(value)?;
                self.numbers.push((variable.clone(), value));
                let body = self.term(body);
                self.numbers.pop();
                body
            }
            Term::Least(variable, body) => A::least(self, variable, body),
        }
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Result<A::Number, ContinuousError> {
        let neutral = match aggregate.fold {
            Fold::Sum => self.algebra.number(Real::ZERO)?,
            Fold::Product => self.algebra.number(Real::ONE)?,
            // The least of no numbers is undefined. Infinities stand in while numbers are found.
            Fold::Min | Fold::Max => self.algebra.undefined()?,
        };
        let guards = self.table(&aggregate.variables, &aggregate.guard)?;
        let mut folded = neutral.clone();
        // For the least and the greatest: under which condition a value was seen so far.
        let mut seen = self.algebra.truth(false)?;
        for (tuple, guard) in guards {
            if self.algebra.known(&guard) == Some(false) {
                continue;
            }
            let n_before = self.elements.len();
            self.elements.extend(aggregate.variables.iter().cloned().zip(tuple));
            let number = self.term(&aggregate.term);
            self.elements.truncate(n_before);
            let number = number?;
            let joined = match aggregate.fold {
                Fold::Sum => self.algebra.binary(Operator::Plus, folded.clone(), number.clone())?,
                Fold::Product => {
                    self.algebra.binary(Operator::Times, folded.clone(), number.clone())?
                }
                Fold::Min | Fold::Max => {
                    let function = if aggregate.fold == Fold::Min {
                        RealFunction::Min
                    } else {
                        RealFunction::Max
                    };
                    match self.algebra.known(&seen) {
                        Some(false) => number.clone(),
                        Some(true) => {
                            let both = vec![folded.clone(), number.clone()];
                            self.algebra.apply(function, both)?
                        }
                        None => {
                            let both = vec![folded.clone(), number.clone()];
                            let both = self.algebra.apply(function, both)?;
                            self.algebra.select(seen.clone(), both, number.clone())?
                        }
                    }
                }
            };
            folded = match self.algebra.known(&guard) {
                Some(true) => joined,
                _ => self.algebra.select(guard.clone(), joined, folded)?,
            };
            seen = self.algebra.or(seen, guard)?;
        }
        Ok(folded)
    }
}

/// Returns whether a formula does not depend on numbers that change, so that the evaluator of exact
/// formulas can decide it. `is_discrete_relation` tells this of defined relations, and
/// `is_changing` of functions.
pub(crate) fn is_discrete(
    formula: &Formula,
    is_discrete_relation: &dyn Fn(&str) -> bool,
    is_changing: &dyn Fn(&str) -> bool,
) -> bool {
    let inner = |formula: &Formula| is_discrete(formula, is_discrete_relation, is_changing);
    let term = |term: &Term| is_discrete_term(term, is_discrete_relation, is_changing);
    match formula {
        Formula::Relation(name, _) => is_discrete_relation(name),
        Formula::Equal(..) | Formula::Member(..) => true,
        Formula::Compare(left, _, right) => term(left) && term(right),
        Formula::Not(part) => inner(part),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(inner),
        Formula::Exists(variables, body) | Formula::All(variables, body) => {
            variables.iter().all(|variable| variable.sort() != Sort::Real) && inner(body)
        }
        Formula::Fix(fix) => {
            let own = |name: &str| name == &*fix.relation || is_discrete_relation(name);
            is_discrete(&fix.body, &own, is_changing)
        }
        Formula::Closure(closure) => inner(&closure.body),
        Formula::Let(bound) => {
            let own = |name: &str| name == &*bound.relation || is_discrete_relation(name);
            inner(&bound.definition) && is_discrete(&bound.body, &own, is_changing)
        }
    }
}

fn is_discrete_term(
    term: &Term,
    is_discrete_relation: &dyn Fn(&str) -> bool,
    is_changing: &dyn Fn(&str) -> bool,
) -> bool {
    let inner = |term: &Term| is_discrete_term(term, is_discrete_relation, is_changing);
    let formula = |formula: &Formula| is_discrete(formula, is_discrete_relation, is_changing);
    match term {
        Term::Number(_) | Term::ElementNumber(_) => true,
        // A number is bound by a `let`, which is looked at where it stands, or it is a parameter.
        Term::Variable(_) | Term::Least(..) => false,
        Term::Function(name, _) => !is_changing(name),
        Term::Characteristic(condition) => formula(condition),
        Term::Binary(_, left, right) => inner(left) && inner(right),
        Term::Let(..) => false,
        Term::Apply(function, arguments) => {
            matches!(function, RealFunction::Abs | RealFunction::Min | RealFunction::Max)
                && arguments.iter().all(inner)
        }
        Term::Aggregate(aggregate) => formula(&aggregate.guard) && inner(&aggregate.term),
    }
}

/// Returns the exponent of a power if it is a small integer.
pub(super) fn small_exponent(exponent: Rational) -> Option<i32> {
    if exponent.is_whole() { i32::try_from(exponent.numerator()).ok() } else { None }
}
