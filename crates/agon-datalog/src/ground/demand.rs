//! Demand transformation (magic sets).
//!
//! A rule such as "the king would be in check if `?x ?y` were empty and `?u ?v` occupied" is true
//! of every pair of squares, and even of terms that are not squares, although few instances are
//! needed. Here each relation whose arguments are known at every use gets a *demand* relation with
//! the needed values. Every rule of the relation then requires the demand, and every rule that uses
//! the relation adds to it. This is the magic-sets transformation (Beeri and Ramakrishnan, "On the
//! power of magic", 1991), with one binding pattern for each relation.
//!
//! The transformation is complete. Consider a rule instance whose head is demanded and whose
//! conditions can all hold. Its conditions have a fixed order. The demand of each condition is
//! derived from the demand of the head and from conditions *before* it in that order. Some may be
//! omitted, which only increases the demand. So the conditions are demanded and found one after the
//! other, and the instance is found as well. Negated conditions come last and restrict nothing. The
//! roots have no demand relation and are computed completely.

use std::collections::{BTreeMap, BTreeSet};

use super::MAX_REWRITTEN;
use crate::plan::prepare::ground;
use crate::program::{Atom, Goal, Level, Predicate, PredicateId, Program, Rule};
use crate::{TermBank, TermId};

/// Static conditions come before demanded ones while together they have at most this number of
/// values. Beyond that, most of the demand would be useless. 48 admits all kinds of pieces in all
/// directions, but not all squares of a board.
const MAX_STATIC_VALUES: usize = 48;

/// Restricts the relations that `roots` depend on to their needed tuples. The rows of the roots and
/// of unrestricted relations stay the same.
pub fn demand(program: &mut Program, bank: &TermBank, roots: &[PredicateId]) {
    let mut rules = reachable_rules(program, roots);
    let mut known = may_be_limited(program, roots);
    // A rule that is too long to be rewritten neither has a demand nor adds to one.
    let is_short = |rule: &usize| program.rules[*rule].body.len() <= MAX_REWRITTEN;
    for rule in rules.iter().filter(|&&rule| !is_short(&rule)).map(|&rule| &program.rules[rule]) {
        known[rule.head.predicate.index()] = None;
        for goal in &rule.body {
            if let Goal::Holds(atom) | Goal::Fails(atom) = goal {
                known[atom.predicate.index()] = None;
            }
        }
    }
    rules.retain(is_short);
    let mut branching = Branching { bank, known: BTreeMap::new() };
    // Known arguments are only removed, so the loop terminates.
    loop {
        let mut changed = false;
        for &rule in &rules {
            let rule = &program.rules[rule];
            for ordered in ordered_goals(program, rule, &known, &mut branching) {
                let (Goal::Holds(atom) | Goal::Fails(atom)) = &rule.body[ordered.goal] else {
                    continue;
                };
                let Some(known) = &mut known[atom.predicate.index()] else { continue };
                for (known, argument) in known.iter_mut().zip(&atom.arguments) {
                    let stays = *known && argument.is_bound(&ordered.bound);
                    changed |= stays != *known;
                    *known = stays;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let demands: Vec<Option<PredicateId>> = known
        .iter()
        .map(|known| {
            let n_known = known.as_ref()?.iter().filter(|&&known| known).count();
            // A demand relation without arguments would be useless.
            (n_known > 0).then(|| program.demand_relation(n_known))
        })
        .collect();
    let of = |atom: &Atom| -> Option<Atom> {
        let index = atom.predicate.index();
        let (predicate, known) = (demands[index]?, known[index].as_ref()?);
        let arguments = atom.arguments.iter().zip(known).filter(|(_, known)| **known);
        Some(Atom {
            predicate,
            arguments: arguments.map(|(argument, _)| argument.clone()).collect(),
        })
    };
    for &index in &rules {
        let rule = &program.rules[index];
        let guard = of(&rule.head);
        let mut demand_rules = Vec::new();
        for ordered in ordered_goals(program, rule, &known, &mut branching) {
            let (Goal::Holds(atom) | Goal::Fails(atom)) = &rule.body[ordered.goal] else {
                continue;
            };
            let Some(head) = of(atom) else { continue };
            let is_same = guard.as_ref().is_some_and(|guard| {
                guard.predicate == head.predicate && guard.arguments == head.arguments
            });
            if !is_same {
                demand_rules.push(demand_rule(rule, head, guard.as_ref(), &ordered.before));
            }
        }
        // Facts need no demand.
        if let Some(guard) = guard
            && !rule.body.is_empty()
        {
            program.rules[index].body.insert(0, Goal::Holds(guard));
        }
        demand_rules.into_iter().for_each(|rule| program.rule(rule));
    }
}

/// Returns the rules that the roots depend on.
fn reachable_rules(program: &Program, roots: &[PredicateId]) -> Vec<usize> {
    let mut seen = vec![false; program.predicates.len()];
    let (mut open, mut rules) = (roots.to_vec(), Vec::new());
    while let Some(predicate) = open.pop() {
        if std::mem::replace(&mut seen[predicate.index()], true) {
            continue;
        }
        for &rule in &program.predicates[predicate.index()].rules {
            rules.push(rule as usize);
            for goal in &program.rules[rule as usize].body {
                if let Goal::Holds(atom) | Goal::Fails(atom) = goal {
                    open.push(atom.predicate);
                }
            }
        }
    }
    rules.sort_unstable();
    rules
}

/// Returns the initial binding pattern of each relation that may be restricted: all arguments are
/// known. Given and materialised relations need no restriction. Static relations that were too
/// large to be materialised do.
fn may_be_limited(program: &Program, roots: &[PredicateId]) -> Vec<Option<Vec<bool>>> {
    let is_derived = |predicate: &Predicate| {
        predicate.given.is_none()
            && predicate.rules.iter().any(|&rule| !program.rules[rule as usize].body.is_empty())
    };
    let mut known: Vec<Option<Vec<bool>>> = program
        .predicates
        .iter()
        .map(|predicate| is_derived(predicate).then(|| vec![true; predicate.arity]))
        .collect();
    roots.iter().for_each(|root| known[root.index()] = None);
    known
}

/// A condition at its position in the evaluation order of a rule.
struct OrderedGoal {
    goal: usize,
    /// Variables that are bound before it.
    bound: Vec<bool>,
    /// The conditions before it.
    before: Vec<usize>,
}

/// Returns the conditions of a rule in evaluation order: first undemanded conditions with few
/// values, then those with the fewest unknown arguments, negated ones last.
fn ordered_goals(
    program: &Program,
    rule: &Rule,
    known: &[Option<Vec<bool>>],
    branching: &mut Branching<'_>,
) -> Vec<OrderedGoal> {
    let mut bound = vec![false; rule.n_variables as usize];
    if let Some(known) = &known[rule.head.predicate.index()] {
        for (argument, _) in rule.head.arguments.iter().zip(known).filter(|(_, known)| **known) {
            argument.each_variable(&mut |v| bound[v as usize] = true);
        }
    }
    let mut left: Vec<usize> = (0..rule.body.len()).collect();
    let (mut order, mut before) = (Vec::new(), Vec::new());
    let mut n_values = 1;
    while !left.is_empty() {
        // The first number decides. The second breaks ties.
        let mut rank = |goal: usize| match &rule.body[goal] {
            Goal::Differ(..) => (0, 0),
            Goal::Holds(atom) if known[atom.predicate.index()].is_none() => {
                match branching.rows_of(program, atom, &bound) {
                    Some(n_rows) if n_values * n_rows <= MAX_STATIC_VALUES => (0, n_rows),
                    Some(n_rows) => (2, n_rows),
                    None => (2, 0),
                }
            }
            Goal::Holds(atom) => {
                (1, atom.arguments.iter().filter(|argument| !argument.is_bound(&bound)).count())
            }
            Goal::Fails(_) => (3, 0),
        };
        let ranks: Vec<(usize, usize)> = left.iter().map(|&goal| rank(goal)).collect();
        let first =
            (0..left.len()).min_by_key(|&place| ranks[place]).expect("the list is not empty");
        if let (0, n_rows @ 1..) = ranks[first] {
            n_values *= n_rows;
        }
        let goal = left.remove(first);
        order.push(OrderedGoal { goal, bound: bound.clone(), before: before.clone() });
        if let Goal::Holds(atom) = &rule.body[goal] {
            atom.each_variable(&mut |v| bound[v as usize] = true);
            before.push(goal);
        }
        if let Goal::Differ(..) = &rule.body[goal] {
            before.push(goal);
        }
    }
    order
}

/// Average numbers of rows of static relations, given their known arguments.
struct Branching<'a> {
    bank: &'a TermBank,
    known: BTreeMap<BranchingKey, usize>,
}

/// A relation, its constant arguments, and which arguments are known.
type BranchingKey = (PredicateId, Vec<Option<TermId>>, Vec<bool>);

impl Branching<'_> {
    /// Returns the average number of rows of an undemanded condition, given its known arguments,
    /// and at least 1. The number is unknown for a changing relation. The result is then 1 if the
    /// condition shares a bound variable or if no variable is bound, and `None` otherwise.
    fn rows_of(&mut self, program: &Program, atom: &Atom, bound: &[bool]) -> Option<usize> {
        let known: Vec<bool> =
            atom.arguments.iter().map(|argument| argument.is_bound(bound)).collect();
        if known.iter().all(|&known| known) {
            return Some(1);
        }
        let predicate = &program.predicates[atom.predicate.index()];
        if predicate.given != Some(Level::Static) {
            let (mut touches, nothing) = (false, !bound.contains(&true));
            atom.each_variable(&mut |v| touches |= bound[v as usize]);
            return (touches || nothing).then_some(1);
        }
        let constants: Vec<Option<TermId>> =
            atom.arguments.iter().map(|argument| ground(argument, self.bank)?.ok()).collect();
        let key = (atom.predicate, constants, known);
        Some(*self.known.entry(key).or_insert_with_key(|(_, constants, known)| {
            let fits = |row: &&Vec<TermId>| {
                row.iter()
                    .zip(constants)
                    .all(|(term, constant)| constant.is_none_or(|c| c == *term))
            };
            let (mut n_rows, mut keys) = (0, BTreeSet::new());
            for row in predicate.rows.iter().filter(fits) {
                let key = row.iter().zip(known).filter(|(_, known)| **known).map(|(&term, _)| term);
                keys.insert(key.collect::<Vec<_>>());
                n_rows += 1;
            }
            usize::div_ceil(n_rows, keys.len().max(1)).max(1)
        }))
    }
}

/// Returns the rule that derives the demand of a condition. Its body contains the earlier
/// conditions that are connected to the known arguments. Other conditions would only multiply the
/// rows.
fn demand_rule(rule: &Rule, head: Atom, guard: Option<&Atom>, before: &[usize]) -> Rule {
    let mut near = vec![false; rule.n_variables as usize];
    head.each_variable(&mut |v| near[v as usize] = true);
    let guard = guard.map(|guard| Goal::Holds(guard.clone()));
    let goals: Vec<&Goal> =
        guard.iter().chain(before.iter().map(|&goal| &rule.body[goal])).collect();
    let mut takes = vec![false; goals.len()];
    loop {
        let mut grew = false;
        for (goal, takes) in goals.iter().zip(&mut takes) {
            let mut touches = false;
            goal.each_variable(&mut |v| touches |= near[v as usize]);
            if !*takes && touches && matches!(goal, Goal::Holds(_)) {
                goal.each_variable(&mut |v| near[v as usize] = true);
                (*takes, grew) = (true, true);
            }
        }
        if !grew {
            break;
        }
    }
    // A disequality is included only if all its variables occur in the rule.
    for (goal, takes) in goals.iter().zip(&mut takes) {
        if let Goal::Differ(..) = goal {
            let (mut all, mut any) = (true, false);
            goal.each_variable(&mut |v| (all, any) = (all && near[v as usize], true));
            *takes = all && any;
        }
    }
    let body =
        goals.iter().zip(&takes).filter(|(_, takes)| **takes).map(|(goal, _)| (*goal).clone());
    Rule { head, body: body.collect(), n_variables: rule.n_variables, origin: rule.origin }
}
