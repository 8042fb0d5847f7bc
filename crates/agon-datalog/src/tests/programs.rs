//! Random stratified programs over a small set of terms.
//!
//! A draft is generated without constraints, so that it can shrink. Building it enforces that the
//! program is stratified, binds its variables, and derives no term outside of the universe.

use proptest::prelude::*;

use super::oracle::Ground;
use super::{atom, constant, holds, rule, variable};
use crate::program::{Atom, Goal, Level, Pattern, PredicateId, Program};
use crate::{Rule, Symbol};

const A: u32 = 0;
const B: u32 = 1;
const F: u32 = 2;
const G: u32 = 3;

/// Arity and level of the given relations.
const GIVEN: [(usize, Level); 4] =
    [(1, Level::State), (2, Level::State), (2, Level::Move), (0, Level::State)];

const N_STRATA: usize = 3;

/// Returns the universe, which is closed under subterms. So a variable never gets a value outside
/// of it.
pub(super) fn universe() -> Vec<Ground> {
    let constant = |symbol| Ground(symbol, Vec::new());
    let f = |inner: Ground| Ground(F, vec![inner]);
    let mut terms = vec![constant(A), constant(B), f(constant(A)), f(constant(B))];
    for left in [A, B] {
        terms.extend([A, B].map(|right| Ground(G, vec![constant(left), constant(right)])));
    }
    let deep = f(f(constant(A)));
    terms.extend([deep.clone(), f(deep.clone()), Ground(G, vec![constant(B), deep])]);
    terms
}

/// A program, the strata of its relations, and the given relations in order.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) program: Program,
    pub(super) strata: Vec<usize>,
    pub(super) given: Vec<(PredicateId, usize)>,
    /// Whether some rule calls its own stratum with a constructed term. Evaluated top-down, such
    /// calls may grow without bound although nothing follows from them, and a refusal is then
    /// correct.
    pub(super) calls_grow: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Draft {
    relations: Vec<DraftRelation>,
    rules: Vec<DraftRule>,
}

#[derive(Clone, Debug)]
struct DraftRelation {
    arity: usize,
    stratum: usize,
    /// Whether its rules may leave arguments to be supplied by the caller.
    is_demanding: bool,
}

#[derive(Clone, Debug)]
struct DraftRule {
    head: prop::sample::Index,
    arguments: Vec<Pattern>,
    goals: Vec<DraftGoal>,
}

#[derive(Clone, Debug)]
struct DraftGoal {
    kind: Kind,
    relation: prop::sample::Index,
    arguments: Vec<Pattern>,
}

#[derive(Copy, Clone, Debug)]
enum Kind {
    Holds,
    Fails,
    Differ,
}

pub(super) fn draft() -> impl Strategy<Value = Draft> {
    let relation = (0..=3usize, 0..N_STRATA, prop::bool::weighted(0.2))
        .prop_map(|(arity, stratum, is_demanding)| DraftRelation { arity, stratum, is_demanding });
    let kind = prop_oneof![5 => Just(Kind::Holds), 2 => Just(Kind::Fails), 1 => Just(Kind::Differ)];
    let goal = (kind, any::<prop::sample::Index>()).prop_flat_map(|(kind, relation)| {
        // A fourth variable for negated goals only, which usually occurs nowhere else.
        let n_variables = if matches!(kind, Kind::Fails) { 4 } else { 3 };
        prop::collection::vec(pattern(n_variables, 3), 3).prop_map(move |arguments| DraftGoal {
            kind,
            relation,
            arguments,
        })
    });
    let rule = (
        any::<prop::sample::Index>(),
        prop::collection::vec(pattern(3, 1), 3),
        prop::collection::vec(goal, 0..5),
    );
    let rule = rule.prop_map(|(head, arguments, goals)| DraftRule { head, arguments, goals });
    (prop::collection::vec(relation, 1..6), prop::collection::vec(rule, 1..14))
        .prop_map(|(relations, rules)| Draft { relations, rules })
}

/// Generates programs of many small relations that call each other in nested cycles.
pub(super) fn tangle() -> impl Strategy<Value = Draft> {
    let relation = (0..=1usize, prop_oneof![4 => Just(0), 1 => Just(1)])
        .prop_map(|(arity, stratum)| DraftRelation { arity, stratum, is_demanding: false });
    let kind = prop_oneof![9 => Just(Kind::Holds), 1 => Just(Kind::Fails)];
    let goal = (
        kind,
        any::<prop::sample::Index>(),
        prop::collection::vec((0..2u32).prop_map(variable), 3),
    )
        .prop_map(|(kind, relation, arguments)| DraftGoal { kind, relation, arguments });
    let head =
        (any::<prop::sample::Index>(), prop::collection::vec((0..2u32).prop_map(variable), 3));
    let rule = (head, prop::collection::vec(goal, 1..4))
        .prop_map(|((head, arguments), goals)| DraftRule { head, arguments, goals });
    (prop::collection::vec(relation, 8..16), prop::collection::vec(rule, 10..50))
        .prop_map(|(relations, rules)| Draft { relations, rules })
}

/// Generates rows for the given relations, by arity.
pub(super) fn rows() -> impl Strategy<Value = Vec<Vec<Vec<Ground>>>> {
    GIVEN
        .map(|(arity, _)| {
            prop::collection::btree_set(
                prop::collection::vec(prop::sample::select(universe()), arity),
                0..6,
            )
            .prop_map(|rows| rows.into_iter().collect::<Vec<_>>())
        })
        .to_vec()
}

fn pattern(n_variables: u32, depth: u32) -> impl Strategy<Value = Pattern> {
    let leaf =
        prop_oneof![3 => (0..n_variables).prop_map(variable), 1 => (A..=B).prop_map(constant)];
    let function = |symbol, arguments| Pattern::Function(Symbol::new(symbol), arguments);
    prop_oneof![
        3 => leaf.clone(),
        1 => leaf.prop_recursive(depth, 4, 2, move |inner| prop_oneof![
            inner.clone().prop_map(move |a| function(F, vec![a])),
            (inner.clone(), inner).prop_map(move |(a, b)| function(G, vec![a, b])),
        ]),
    ]
}

impl Draft {
    pub(super) fn build(&self) -> Built {
        let mut program = Program::default();
        let given: Vec<(PredicateId, usize)> =
            GIVEN.iter().map(|&(arity, level)| (program.given(arity, level), arity)).collect();
        let [constants, all] = [program.derived(1), program.derived(1)];
        let mut strata = vec![0; program.n_predicates()];
        for (relation, terms) in [(constants, &universe()[..2]), (all, &universe()[..])] {
            for term in terms {
                program.rule(rule(atom(relation, &[as_pattern(term)]), Vec::new(), 0, 1000));
            }
        }
        let derived: Vec<PredicateId> =
            self.relations.iter().map(|r| program.derived(r.arity)).collect();
        strata.extend(self.relations.iter().map(|relation| relation.stratum));
        let shape = Shape { draft: self, given: &given, derived: &derived, constants, all };
        for (origin, draft) in self.rules.iter().enumerate() {
            program.rule(shape.rule(draft, u32::try_from(origin).expect("few rules")));
        }
        let grows = |rule: &Rule, atom: &Atom| {
            strata[atom.predicate.index()] == strata[rule.head.predicate.index()]
                && atom.arguments.iter().any(
                    |argument| matches!(argument, Pattern::Function(_, parts) if !parts.is_empty()),
                )
        };
        let calls_grow = program.rules.iter().any(|rule| {
            rule.body.iter().any(|goal| matches!(goal, Goal::Holds(atom) if grows(rule, atom)))
        });
        Built { program, strata, given, calls_grow }
    }
}

/// The relations during the construction of rules.
struct Shape<'a> {
    draft: &'a Draft,
    given: &'a [(PredicateId, usize)],
    derived: &'a [PredicateId],
    /// Holds for the constants.
    constants: PredicateId,
    /// Holds for every term of the universe.
    all: PredicateId,
}

impl Shape<'_> {
    fn rule(&self, draft: &DraftRule, origin: u32) -> Rule {
        let index = draft.head.index(self.derived.len());
        let relation = &self.draft.relations[index];
        let head = atom(self.derived[index], &draft.arguments[..relation.arity]);
        let mut body: Vec<Goal> =
            draft.goals.iter().map(|goal| self.goal(goal, relation.stratum)).collect();

        let mut bound = [false; 4];
        let mut bind = |body: &mut Vec<Goal>, by: PredicateId, v: u32| {
            if !std::mem::replace(&mut bound[v as usize], true) {
                body.push(holds(by, &[variable(v)]));
            }
        };
        // Terms in heads are built of constants, because otherwise there would be infinitely many.
        for argument in &head.arguments {
            if matches!(argument, Pattern::Function(..)) {
                argument.each_variable(&mut |v| bind(&mut body, self.constants, v));
            }
        }
        for goal in &body {
            if let Goal::Holds(atom) = goal
                && !self.is_demanding(atom.predicate)
            {
                atom.each_variable(&mut |v| bound[v as usize] = true);
            }
        }
        if relation.is_demanding {
            head.each_variable(&mut |v| bound[v as usize] = true);
        }
        let mut unbound = Vec::new();
        let mut need = |v: u32| {
            if !std::mem::replace(&mut bound[v as usize], true) {
                unbound.push(holds(self.all, &[variable(v)]));
            }
        };
        head.each_variable(&mut need);
        for (i, goal) in body.iter().enumerate() {
            match goal {
                Goal::Holds(atom) => atom.each_variable(&mut need),
                Goal::Fails(atom) => atom.each_variable(&mut |v| {
                    let is_elsewhere = body
                        .iter()
                        .enumerate()
                        .any(|(j, other)| i != j && goal_variables(other).contains(&v));
                    if is_elsewhere || self.is_demanding(atom.predicate) {
                        need(v);
                    }
                }),
                Goal::Differ(a, b) => {
                    a.each_variable(&mut need);
                    b.each_variable(&mut need);
                }
            }
        }
        body.extend(unbound);
        rule(head, body, 4, origin)
    }

    fn goal(&self, draft: &DraftGoal, stratum: usize) -> Goal {
        let index = draft.relation.index(self.given.len() + self.derived.len());
        let (predicate, arity) = match index.checked_sub(self.given.len()) {
            None => self.given[index],
            Some(index) => {
                let relation = &self.draft.relations[index];
                let is_below = match draft.kind {
                    Kind::Holds => relation.stratum <= stratum,
                    Kind::Fails => relation.stratum < stratum,
                    Kind::Differ => true,
                };
                if is_below {
                    (self.derived[index], relation.arity)
                } else {
                    self.given[index % self.given.len()]
                }
            }
        };
        let mut goal = atom(predicate, &draft.arguments[..arity]);
        if self.is_demanding(predicate) {
            // A term built for a call may lie outside of the universe of the oracle.
            goal.arguments.iter_mut().for_each(flatten);
        }
        match draft.kind {
            Kind::Holds => Goal::Holds(goal),
            Kind::Fails => Goal::Fails(goal),
            Kind::Differ => Goal::Differ(draft.arguments[0].clone(), draft.arguments[1].clone()),
        }
    }

    fn is_demanding(&self, predicate: PredicateId) -> bool {
        let index = self.derived.iter().position(|&derived| derived == predicate);
        index.is_some_and(|index| self.draft.relations[index].is_demanding)
    }
}

/// Replaces a pattern by the first constant or variable inside.
fn flatten(pattern: &mut Pattern) {
    while let Pattern::Function(_, arguments) = pattern
        && let Some(first) = arguments.first()
    {
        *pattern = first.clone();
    }
}

fn goal_variables(goal: &Goal) -> Vec<u32> {
    let mut variables = Vec::new();
    let mut visit = |v| variables.push(v);
    match goal {
        Goal::Holds(Atom { arguments, .. }) | Goal::Fails(Atom { arguments, .. }) => {
            arguments.iter().for_each(|argument| argument.each_variable(&mut visit));
        }
        Goal::Differ(a, b) => {
            [a, b].into_iter().for_each(|pattern| pattern.each_variable(&mut visit));
        }
    }
    variables
}

fn as_pattern(term: &Ground) -> Pattern {
    Pattern::Function(Symbol::new(term.0), term.1.iter().map(as_pattern).collect())
}
