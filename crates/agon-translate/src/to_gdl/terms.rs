//! Terms to cases: each value that a term can have, and the condition under which it has the value.
//!
//! Values are exact and finitely many, so a term becomes one condition for each of them. Where
//! there are many, the term becomes a relation between its free variables and its value, and
//! arithmetic becomes tables of facts. `Sum` and `Prod` iterate over the elements one by one, in an
//! order given by facts.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::formula::{Aggregate, Fold, Operator, Sign, Term};
use agon_structures::rational::Rational;

use super::ToGdlError;
use super::clauses::{Atom, Expression, Literal, Section, Var};
use super::formulas::Scope;
use super::nodes::{Node, Polarity};
use super::translator::Translator;

/// The possible values of a term, each with its condition. The conditions exclude each other. If
/// none holds, the term has no value.
pub(super) type Cases = Vec<(Rational, Node)>;

/// Maximum number of pairs of cases that are written out. Beyond it, terms become relations.
const MAX_WRITTEN_OUT: usize = 12;

/// Returns the word for a number.
pub(super) fn number_word(number: Rational) -> Expression {
    let sign = if number.signum() < 0 { "minus_" } else { "" };
    let above = number.numerator().unsigned_abs();
    let below = number.denominator();
    Expression::word(if below == 1 {
        format!("{sign}{above}")
    } else {
        format!("{sign}{above}_over_{below}")
    })
}

fn calculate(
    operator: Operator,
    left: Rational,
    right: Rational,
) -> Result<Option<Rational>, ToGdlError> {
    let result = match operator {
        Operator::Plus => left.plus(right).map(Some),
        Operator::Minus => left.minus(right).map(Some),
        Operator::Times => left.times(right).map(Some),
        Operator::Divide => left.divided_by(right),
        Operator::Power => left.power(right),
    };
    result.map_err(|_| ToGdlError::NumberTooLarge)
}

/// Merges cases with the same value.
fn merged(cases: impl IntoIterator<Item = (Rational, Node)>) -> Cases {
    let mut by_value: BTreeMap<Rational, Vec<Node>> = BTreeMap::new();
    for (value, node) in cases {
        if !node.is_falsity() {
            by_value.entry(value).or_default().push(node);
        }
    }
    by_value.into_iter().map(|(value, nodes)| (value, Node::or(nodes))).collect()
}

fn free_of(cases: &Cases) -> Vec<Var> {
    let mut free: Vec<Var> = Vec::new();
    for var in cases.iter().flat_map(|(_, node)| node.free()) {
        if !free.contains(&var) {
            free.push(var);
        }
    }
    free
}

impl Translator<'_> {
    /// Returns the cases of a term.
    pub(super) fn term(&mut self, term: &Term, scope: &Scope) -> Result<Cases, ToGdlError> {
        let is_closed = scope.is_bare() && term.free_variables().is_empty();
        let key = (scope.moment, term.clone());
        if is_closed
            && scope.matched.is_empty()
            && let Some(cases) = self.closed_terms.get(&key)
        {
            return Ok(cases.clone());
        }
        self.check_time()?;
        let cases = self.cases(term, &scope.deeper()?)?;
        if cases.len() > self.limits.values {
            return Err(ToGdlError::TooManyValues { values: self.limits.values });
        }
        if is_closed && scope.matched.is_empty() {
            self.closed_terms.insert(key, cases.clone());
        }
        Ok(cases)
    }

    fn cases(&mut self, term: &Term, scope: &Scope) -> Result<Cases, ToGdlError> {
        Ok(match term {
            Term::Number(number) => vec![(*number, Node::truth())],
            Term::Variable(variable) => {
                let found = scope.numbers.iter().rev().find(|(known, _)| known == variable);
                let unknown = || ToGdlError::Unknown { name: variable.name().to_owned() };
                found.map(|(_, cases)| cases.clone()).ok_or_else(unknown)?
            }
            Term::ElementNumber(_) | Term::Function(..) if self.is_changing() => {
                return Err(ToGdlError::NumberedElements);
            }
            Term::ElementNumber(argument) => {
                let element = self.argument(argument, scope)?;
                let start = self.arena.start();
                let values = start.elements().map(|element| (element, element.number())).collect();
                self.lookup("number", "number_of", values, &element)
            }
            Term::Function(name, argument) => {
                let element = self.argument(argument, scope)?;
                let Some(function) = self.arena.vocabulary().function(name) else {
                    return Err(ToGdlError::Unknown { name: name.to_string() });
                };
                let values = self.arena.start().values(function).to_vec();
                self.lookup(&format!("function {name}"), name, values, &element)
            }
            Term::Characteristic(formula) => {
                let yes = self.node(formula, scope, Polarity::Positive)?;
                self.yes_or_no(&yes, |yes, no| {
                    merged([(Rational::whole(1), yes), (Rational::whole(0), no)])
                })?
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                self.combined(*operator, left, right)?
            }
            Term::Aggregate(aggregate) => self.aggregate(aggregate, scope)?,
            Term::Least(variable, _) => {
                return Err(ToGdlError::Sort { variable: variable.name().to_owned() });
            }
            Term::Apply(function, _) => {
                return Err(ToGdlError::RealFunction { function: function.name().to_owned() });
            }
            Term::Let(variable, value, body) => {
                let value = self.term(value, scope)?;
                let mut scope = scope.deeper()?;
                scope.numbers.push((variable.clone(), value));
                self.term(body, &scope)?
            }
        })
    }

    /// Returns the cases of values that facts assign to elements.
    fn lookup(
        &mut self,
        key: &str,
        wish: &str,
        values: Vec<(agon_structures::structure::Element, Rational)>,
        element: &Expression,
    ) -> Cases {
        let word = match self.operators.get(key) {
            Some(word) => word.clone(),
            None => {
                let word = self.names.fresh(wish);
                self.operators.insert(key.to_owned(), word.clone());
                let start = self.arena.start();
                for (element, value) in &values {
                    let name = Expression::word(self.names.constant(start.name(*element)));
                    self.fact(
                        Section::Facts,
                        Atom::new(word.clone(), vec![name, number_word(*value)]),
                    );
                }
                word
            }
        };
        let distinct: BTreeSet<Rational> = values.iter().map(|(_, value)| *value).collect();
        let atom = |value| Atom::new(word.clone(), vec![element.clone(), number_word(value)]);
        distinct.into_iter().map(|value| (value, Node::holds(atom(value)))).collect()
    }

    /// Applies a function to a node and to its negation, both in short form.
    fn yes_or_no<T>(
        &mut self,
        yes: &Node,
        make: impl FnOnce(Node, Node) -> T,
    ) -> Result<T, ToGdlError> {
        let is_short =
            yes.is_truth() || yes.is_falsity() || matches!(yes, Node::Literal(_) | Node::Same(..));
        if is_short {
            return Ok(make(yes.clone(), yes.negated()));
        }
        let atom = self.part(yes)?;
        Ok(make(Node::holds(atom.clone()), Node::fails(atom)))
    }

    fn combined(
        &mut self,
        operator: Operator,
        left: Cases,
        right: Cases,
    ) -> Result<Cases, ToGdlError> {
        let n_pairs = left.len().saturating_mul(right.len());
        if n_pairs > self.limits.rows {
            return Err(ToGdlError::TooManyValues { values: self.limits.values });
        }
        let is_plain = |cases: &Cases| matches!(cases.as_slice(), [(_, node)] if node.is_truth());
        let mut rows: Vec<(Rational, Rational, Rational)> = Vec::new();
        for (a, _) in &left {
            for (b, _) in &right {
                if let Some(value) = calculate(operator, *a, *b)? {
                    rows.push((*a, *b, value));
                }
            }
        }
        if n_pairs <= MAX_WRITTEN_OUT || is_plain(&left) || is_plain(&right) {
            let of = |cases: &Cases, value: Rational| {
                cases
                    .iter()
                    .find(|(known, _)| *known == value)
                    .map_or_else(Node::falsity, |case| case.1.clone())
            };
            let cases = rows
                .into_iter()
                .map(|(a, b, value)| (value, Node::and([of(&left, a), of(&right, b)])));
            return Ok(merged(cases));
        }
        let (left, right) = (self.tabulated(left)?, self.tabulated(right)?);
        let words: Vec<Vec<Expression>> =
            rows.iter().map(|(a, b, value)| [*a, *b, *value].map(number_word).to_vec()).collect();
        let table = self.table(operator_word(operator), &words);
        let [a, b, value] =
            ["a", "b", "value"].map(|hint| self.variable(hint)).map(Expression::Variable);
        let node = Node::and([
            Node::holds(left.of(&a)),
            Node::holds(right.of(&b)),
            Node::holds(Atom::new(table, vec![a, b, value.clone()])),
        ]);
        let only_right: Vec<Expression> =
            right.free.iter().filter(|term| !left.free.contains(term)).cloned().collect();
        let free = [left.free.clone(), only_right].concat();
        let result = Table { word: self.names.fresh(&format!("{}_value", self.context)), free };
        self.define(Section::Meanings, &result.of(&value), &node)?;
        let values: BTreeSet<Rational> = rows.into_iter().map(|(_, _, value)| value).collect();
        Ok(result.cases(values))
    }

    /// Turns a term into a relation between its free variables and its value.
    fn tabulated(&mut self, cases: Cases) -> Result<Table, ToGdlError> {
        if let Some(table) = Table::behind(&cases) {
            return Ok(table);
        }
        let free = free_of(&cases).into_iter().map(Expression::Variable).collect();
        let table = Table { word: self.names.fresh(&format!("{}_value", self.context)), free };
        for (value, node) in &cases {
            self.define(Section::Meanings, &table.of(&number_word(*value)), node)?;
        }
        Ok(table)
    }

    /// Writes a relation with the given facts.
    fn table(&mut self, wish: &str, rows: &[Vec<Expression>]) -> String {
        let key = format!("{wish} {rows:?}");
        if let Some(word) = self.operators.get(&key) {
            return word.clone();
        }
        let word = self.names.fresh(wish);
        for row in rows {
            self.fact(Section::Facts, Atom::new(word.clone(), row.clone()));
        }
        self.operators.insert(key, word.clone());
        word
    }

    /// Returns a node that holds where both terms have values in this order.
    pub(super) fn comparison(
        &mut self,
        left: &Term,
        sign: Sign,
        right: &Term,
        scope: &Scope,
    ) -> Result<Node, ToGdlError> {
        let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
        if left.len().saturating_mul(right.len()) > self.limits.rows {
            return Err(ToGdlError::TooManyValues { values: self.limits.values });
        }
        let mut pairs = Vec::new();
        for (a, when_a) in &left {
            for (b, when_b) in &right {
                if sign.admits(a.cmp(b)) {
                    pairs.push(((*a, *b), Node::and([when_a.clone(), when_b.clone()])));
                }
            }
        }
        if pairs.len() <= MAX_WRITTEN_OUT {
            return Ok(Node::or(pairs.into_iter().map(|(_, node)| node)));
        }
        let (left, right) = (self.tabulated(left)?, self.tabulated(right)?);
        let rows: Vec<Vec<Expression>> =
            pairs.iter().map(|((a, b), _)| vec![number_word(*a), number_word(*b)]).collect();
        let table = self.table("compare", &rows);
        let [a, b] = ["a", "b"].map(|hint| self.variable(hint));
        let [x, y] = [a, b].map(Expression::Variable);
        let node = Node::and([
            Node::holds(left.of(&x)),
            Node::holds(right.of(&y)),
            Node::holds(Atom::new(table, vec![x, y])),
        ]);
        Ok(Node::Exists(vec![a, b], Box::new(node)))
    }

    fn aggregate(&mut self, aggregate: &Aggregate, scope: &Scope) -> Result<Cases, ToGdlError> {
        let (inner, vars) = self.bind(&aggregate.variables, scope)?;
        let mut guard = self.node(&aggregate.guard, &inner, Polarity::Positive)?;
        if self.is_changing() {
            let lives = vars.iter().map(|&var| Node::holds(self.lives(Expression::Variable(var))));
            let lives = Node::and(lives.collect::<Vec<_>>());
            guard = Node::and([lives, guard]);
        }
        let cases = self.term(&aggregate.term, &inner)?;
        let (yes, no) = self.yes_or_no(&guard, |yes, no| (yes, no))?;
        let (operator, neutral) = match aggregate.fold {
            Fold::Sum => (Operator::Plus, Rational::whole(0)),
            Fold::Product => (Operator::Times, Rational::whole(1)),
            Fold::Min | Fold::Max => {
                return self.extreme(aggregate, &vars, &yes, &cases);
            }
        };
        let given = cases.into_iter().map(|(value, node)| (value, Node::and([yes.clone(), node])));
        let mut each = merged(given.chain([(neutral, no)]));
        for var in vars.into_iter().rev() {
            each = self.folded(operator, neutral, var, &each)?;
        }
        Ok(each)
    }

    /// Returns the cases of a fold over all elements, each of which contributes one of the given
    /// cases.
    fn folded(
        &mut self,
        operator: Operator,
        neutral: Rational,
        var: Var,
        each: &Cases,
    ) -> Result<Cases, ToGdlError> {
        let (known, last) = self.reachable(operator, neutral, each)?;
        let (follows, origin) = self.element_order();
        let free: Vec<Expression> = free_of(each)
            .into_iter()
            .filter(|free| *free != var)
            .map(Expression::Variable)
            .collect();
        let word = self.names.fresh(&format!("{}_up_to", self.context));
        let at = |element: Expression, value: Expression| {
            Atom::new(word.clone(), [free.as_slice(), &[element, value]].concat())
        };
        let head = at(Expression::word(origin), number_word(neutral));
        self.define(Section::Meanings, &head, &Node::truth())?;
        let [earlier, before, after] = ["earlier", "before", "after"]
            .map(|hint| self.variable(hint))
            .map(Expression::Variable);
        let here = Expression::Variable(var);
        for (value, node) in each {
            let step = Node::holds(Atom::new(follows.clone(), vec![earlier.clone(), here.clone()]));
            let so_far = Node::holds(at(earlier.clone(), before.clone()));
            if *value == neutral {
                let body = Node::and([step, so_far, node.clone()]);
                self.define(Section::Meanings, &at(here.clone(), before.clone()), &body)?;
                continue;
            }
            let mut rows = Vec::new();
            for sum in &known {
                if let Some(more) = calculate(operator, *sum, *value)? {
                    rows.push(vec![number_word(*sum), number_word(more)]);
                }
            }
            let Expression::Word(amount) = number_word(*value) else {
                unreachable!("numbers are words")
            };
            let table = self.table(&format!("{}_{amount}", operator_word(operator)), &rows);
            let sum = Node::holds(Atom::new(table, vec![before.clone(), after.clone()]));
            let body = Node::and([step, so_far, node.clone(), sum]);
            self.define(Section::Meanings, &at(here.clone(), after.clone()), &body)?;
        }
        let end = self.last_element();
        Ok(last
            .into_iter()
            .map(|value| (value, Node::holds(at(end.clone(), number_word(value)))))
            .collect())
    }

    /// Returns the possible intermediate and final values of a fold.
    fn reachable(
        &self,
        operator: Operator,
        neutral: Rational,
        each: &Cases,
    ) -> Result<(BTreeSet<Rational>, BTreeSet<Rational>), ToGdlError> {
        let mut now = BTreeSet::from([neutral]);
        let mut known = now.clone();
        for _ in 0..self.universe().len() {
            let mut next = BTreeSet::new();
            for sum in &now {
                for (value, _) in each {
                    next.extend(calculate(operator, *sum, *value)?);
                }
            }
            known.extend(&next);
            if known.len() > self.limits.values {
                return Err(ToGdlError::TooManyValues { values: self.limits.values });
            }
            if next == now {
                break;
            }
            now = next;
        }
        Ok((known, now))
    }

    /// Returns the cases of `Min` or `Max`: a value that some assignment has, and none has a better
    /// one.
    fn extreme(
        &mut self,
        aggregate: &Aggregate,
        vars: &[Var],
        yes: &Node,
        cases: &Cases,
    ) -> Result<Cases, ToGdlError> {
        let some: Cases = cases
            .iter()
            .map(|(value, node)| {
                let node = Node::and([yes.clone(), node.clone()]);
                (*value, Node::Exists(vars.to_vec(), Box::new(node)))
            })
            .collect();
        let mut always = Vec::new();
        if !aggregate.term.is_total() {
            let valued = self.part(&Node::or(cases.iter().map(|(_, node)| node.clone())))?;
            let without = Node::and([yes.clone(), Node::fails(valued)]);
            let atom = self.part(&Node::Exists(vars.to_vec(), Box::new(without)))?;
            always.push(Node::fails(atom));
        }
        let table = self.tabulated(some.clone())?;
        let is_better = |better: Rational, value: Rational| match aggregate.fold {
            Fold::Min => better < value,
            Fold::Max | Fold::Sum | Fold::Product => better > value,
        };
        let values: Vec<Rational> = some.iter().map(|(value, _)| *value).collect();
        let mut rows = Vec::new();
        for a in &values {
            rows.extend(
                values
                    .iter()
                    .filter(|b| is_better(*a, **b))
                    .map(|b| vec![number_word(*a), number_word(*b)]),
            );
        }
        if rows.len() > self.limits.rows {
            return Err(ToGdlError::TooManyValues { values: self.limits.values });
        }
        let better = self.table("better", &rows);
        let beaten = Table {
            word: self.names.fresh(&format!("{}_beaten", self.context)),
            free: table.free.clone(),
        };
        let [a, b] = ["a", "b"].map(|hint| self.variable(hint)).map(Expression::Variable);
        let node = Node::and([
            Node::holds(table.of(&a)),
            Node::holds(Atom::new(better, vec![a, b.clone()])),
        ]);
        self.define(Section::Meanings, &beaten.of(&b), &node)?;
        let best = values.into_iter().map(|value| {
            let word = number_word(value);
            let conditions = [Node::holds(table.of(&word)), Node::fails(beaten.of(&word))];
            (value, Node::and(conditions.into_iter().chain(always.clone())))
        });
        Ok(best.collect())
    }
}

fn operator_word(operator: Operator) -> &'static str {
    match operator {
        Operator::Plus => "plus",
        Operator::Minus => "minus",
        Operator::Times => "times",
        Operator::Divide => "divided",
        Operator::Power => "power",
    }
}

/// A relation between variables and a value, which is the last argument.
struct Table {
    word: String,
    free: Vec<Expression>,
}

impl Table {
    fn of(&self, value: &Expression) -> Atom {
        Atom::new(self.word.clone(), [self.free.as_slice(), std::slice::from_ref(value)].concat())
    }

    fn cases(&self, values: BTreeSet<Rational>) -> Cases {
        values.into_iter().map(|value| (value, Node::holds(self.of(&number_word(value))))).collect()
    }

    /// Returns the table that cases were read from, if any.
    fn behind(cases: &Cases) -> Option<Table> {
        let (_, Node::Literal(Literal::Holds(first))) = cases.first()? else { return None };
        let (_, free) = first.arguments.split_last()?;
        let table = Table { word: first.relation.clone(), free: free.to_vec() };
        let is_of =
            |(value, node): &(Rational, Node)| *node == Node::holds(table.of(&number_word(*value)));
        cases.iter().all(is_of).then_some(table)
    }
}
