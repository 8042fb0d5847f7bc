//! Existentially quantified conjunctions of literals about a move, and how they are evaluated.

use agon_structures::formula::{Formula, Variable};

use super::view::{ElementIdx, OLD, Tuples, View, holds};

/// The structure that a literal is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum When {
    /// The structure after the move.
    Now,
    /// The structure before the move.
    Before,
}

/// An atom about the structure after or before a move, or its negation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    pub(super) relation: usize,
    pub(super) when: When,
    pub(super) is_positive: bool,
    /// The numbers of variables.
    pub(super) arguments: Vec<u8>,
}

/// `ex x, y, … (literal and literal and …)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Conjunction {
    pub(super) n_variables: u8,
    /// Sorted.
    pub(super) literals: Vec<Literal>,
}

const NAMES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];

/// Maximum number of variables of a conjunction that can be evaluated without playing.
pub(super) const MAX_VARIABLES: usize = NAMES.len();

impl Conjunction {
    /// Returns the conjunction with one more literal, in a form that does not depend on the order
    /// in which literals were added or on the names of variables.
    pub(super) fn with(&self, literal: Literal) -> Conjunction {
        let n_variables =
            literal.arguments.iter().map(|&v| v + 1).max().unwrap_or(0).max(self.n_variables);
        let mut literals = self.literals.clone();
        literals.push(literal);
        let n = usize::from(n_variables);
        let best = permutations(n).into_iter().map(|order| {
            let mut renamed: Vec<Literal> = literals
                .iter()
                .map(|literal| {
                    let arguments = literal.arguments.iter();
                    let arguments = arguments.map(|&v| order[usize::from(v)]).collect();
                    Literal { arguments, ..literal.clone() }
                })
                .collect();
            renamed.sort_unstable();
            renamed.dedup();
            renamed
        });
        let literals = best.min().expect("there is a permutation");
        Conjunction { n_variables, literals }
    }

    /// Returns whether the literal is part of the conjunction, or its negation is.
    pub(super) fn decides(&self, literal: &Literal) -> bool {
        self.literals.iter().any(|known| {
            known.relation == literal.relation
                && known.when == literal.when
                && known.arguments == literal.arguments
        })
    }

    /// Returns the number of negated literals.
    pub(super) fn n_negated(&self) -> usize {
        self.literals.iter().filter(|literal| !literal.is_positive).count()
    }

    /// Returns the conjunction as a formula of an evaluation game.
    pub(super) fn formula(&self, view: &View) -> Formula {
        let variables: Vec<Variable> =
            (0..self.n_variables).map(|v| Variable::new(NAMES[usize::from(v)])).collect();
        let literals = self.literals.iter().map(|literal| {
            let relation = &view.relations[literal.relation].name;
            let name = match literal.when {
                When::Now => relation.clone(),
                When::Before => format!("{relation}{OLD}"),
            };
            let arguments = literal.arguments.iter().map(|&v| &variables[usize::from(v)]);
            let atom = Formula::atom(&name, arguments);
            if literal.is_positive { atom } else { Formula::not(atom) }
        });
        let body = Formula::And(literals.collect());
        if variables.is_empty() { body } else { Formula::exists(&variables, body) }
    }
}

/// Returns all permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for next in 0..n as u8 {
        let inserted = |order: &Vec<u8>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(inserted).collect();
    }
    all
}

/// A conjunction in the order in which its variables are bound.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    /// Literals without variables.
    first: Vec<Literal>,
    steps: Vec<Step>,
    n_variables: usize,
}

/// The binding of one variable.
#[derive(Clone, Debug)]
struct Step {
    variable: u8,
    candidates: Candidates,
    /// The literals whose variables are all bound now.
    checks: Vec<Literal>,
}

/// The elements that are tried for a variable.
#[derive(Clone, Debug)]
enum Candidates {
    /// The elements of a relation of one argument in a state. If `is_new`, only those that it does
    /// not have in the other state.
    Places {
        relation: usize,
        when: When,
        is_new: bool,
    },
    /// The elements that a bound variable leads to.
    Forward {
        relation: usize,
        from: u8,
    },
    /// The elements that lead to a bound variable.
    Backward {
        relation: usize,
        to: u8,
    },
    All,
}

impl Matcher {
    pub(super) fn new(conjunction: &Conjunction, view: &View) -> Matcher {
        let n_variables = usize::from(conjunction.n_variables);
        let mut bound = vec![false; n_variables];
        let mut open: Vec<Literal> = conjunction.literals.clone();
        let first = open.extract_if(.., |literal| literal.arguments.is_empty()).collect();
        let mut steps = Vec::new();
        while let Some((variable, candidates)) = next_variable(&open, &bound, view) {
            bound[usize::from(variable)] = true;
            let is_bound =
                |literal: &mut Literal| literal.arguments.iter().all(|&v| bound[usize::from(v)]);
            let checks = open.extract_if(.., is_bound).collect();
            steps.push(Step { variable, candidates, checks });
        }
        Matcher { first, steps, n_variables }
    }

    /// Returns whether the conjunction holds of a move from one state to another.
    pub(super) fn holds(&self, view: &View, before: &[u64], after: &[u64]) -> bool {
        let mut binding = [0; MAX_VARIABLES];
        let pair = Pair { view, before, after };
        self.first.iter().all(|literal| pair.satisfies(literal, &binding))
            && pair.extend(&self.steps, &mut binding[..self.n_variables.max(1)])
    }
}

/// Returns the variable to bind next: the one with the fewest candidates to try.
fn next_variable(open: &[Literal], bound: &[bool], view: &View) -> Option<(u8, Candidates)> {
    let mut best: Option<(u32, u8, Candidates)> = None;
    for variable in (0..bound.len() as u8).filter(|&v| !bound[usize::from(v)]) {
        let mut options = vec![(9, Candidates::All)];
        for literal in open.iter().filter(|literal| literal.is_positive) {
            let relation = literal.relation;
            match (&view.relations[relation].tuples, &literal.arguments[..]) {
                (Tuples::Places { .. }, [v]) if *v == variable => {
                    let is_new = open.iter().any(|other| {
                        !other.is_positive
                            && other.relation == relation
                            && other.arguments == literal.arguments
                            && other.when != literal.when
                    });
                    let when = literal.when;
                    let cost = if is_new { 0 } else { 4 };
                    options.push((cost, Candidates::Places { relation, when, is_new }));
                }
                (Tuples::Links { .. }, &[from, to])
                    if to == variable && bound[usize::from(from)] =>
                {
                    options.push((1, Candidates::Forward { relation, from }));
                }
                (Tuples::Links { .. }, &[from, to])
                    if from == variable && bound[usize::from(to)] =>
                {
                    options.push((1, Candidates::Backward { relation, to }));
                }
                _ => {}
            }
        }
        let (cost, candidates) =
            options.into_iter().min_by_key(|(cost, _)| *cost).expect("there is an option");
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((cost, variable, candidates));
        }
    }
    best.map(|(_, variable, candidates)| (variable, candidates))
}

/// A move from one state to another.
struct Pair<'a> {
    view: &'a View,
    before: &'a [u64],
    after: &'a [u64],
}

impl Pair<'_> {
    fn state(&self, when: When) -> &[u64] {
        match when {
            When::Now => self.after,
            When::Before => self.before,
        }
    }

    fn satisfies(&self, literal: &Literal, binding: &[ElementIdx]) -> bool {
        let mut tuple = [0; 8];
        let n = literal.arguments.len().min(tuple.len());
        for (place, &v) in tuple.iter_mut().zip(&literal.arguments) {
            *place = binding[usize::from(v)];
        }
        let has = self.view.has(literal.relation, &tuple[..n], self.state(literal.when));
        has == literal.is_positive
    }

    /// Binds the variables of the steps in all ways until one satisfies all literals.
    fn extend(&self, steps: &[Step], binding: &mut [ElementIdx]) -> bool {
        let Some((step, rest)) = steps.split_first() else { return true };
        let attempt = |element: ElementIdx, binding: &mut [ElementIdx]| {
            binding[usize::from(step.variable)] = element;
            step.checks.iter().all(|literal| self.satisfies(literal, binding))
                && self.extend(rest, binding)
        };
        match &step.candidates {
            Candidates::All => {
                (0..self.view.n_elements as u16).any(|element| attempt(element, binding))
            }
            Candidates::Forward { relation, from } => {
                let Tuples::Links { forward, .. } = &self.view.relations[*relation].tuples else {
                    return false;
                };
                let from = usize::from(binding[usize::from(*from)]);
                forward[from].iter().any(|&element| attempt(element, binding))
            }
            Candidates::Backward { relation, to } => {
                let Tuples::Links { backward, .. } = &self.view.relations[*relation].tuples else {
                    return false;
                };
                let to = usize::from(binding[usize::from(*to)]);
                backward[to].iter().any(|&element| attempt(element, binding))
            }
            Candidates::Places { relation, when, is_new } => {
                let Tuples::Places { elements, mask, .. } = &self.view.relations[*relation].tuples
                else {
                    return false;
                };
                let (state, other) = match when {
                    When::Now => (self.after, self.before),
                    When::Before => (self.before, self.after),
                };
                if *is_new {
                    // Few bits change in a move, so the words tell where.
                    let word = |at: usize| state[at] & !other[at] & mask[at];
                    return (0..mask.len()).any(|at| {
                        bits_of(word(at)).any(|bit| {
                            let bit = 64 * at as u32 + bit;
                            let found = elements.binary_search_by_key(&bit, |(bit, _)| *bit);
                            found.is_ok_and(|found| attempt(elements[found].1, binding))
                        })
                    });
                }
                elements
                    .iter()
                    .any(|&(bit, element)| holds(state, bit) && attempt(element, binding))
            }
        }
    }
}

/// Returns the numbers of the bits that are set.
fn bits_of(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}
