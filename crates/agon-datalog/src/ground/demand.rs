//! Relations limited to what is asked of them.
//!
//! A rule such as "the king would stand in check if `?x ?y` were empty and `?u ?v` taken" is true of every pair of
//! squares, and of every pair of things that are no squares, although it is asked of few. Here each relation whose
//! arguments are known wherever it is asked gets a second one beside it, its *demand*: the values that are asked
//! for. Every rule of the relation then waits for its demand, and every rule that asks adds to it. This is the
//! transformation by magic sets (Beeri and Ramakrishnan, "On the power of magic", 1991), with one pattern of known
//! arguments per relation.
//!
//! Why nothing is lost: let a rule instance be one whose head is asked for and whose conditions can all hold. Its
//! conditions are put in an order, and each is asked for by a rule whose conditions are the demand of the head and
//! conditions *before* it in that order (some may be left out: more is asked for then). So, one after the other, each
//! is asked for and found, and so the instance is. Negated conditions come last and never limit anything. What is
//! asked from outside, the roots, has no demand and is found in full.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::prepare::ground;
use crate::program::{Atom, Goal, Level, Predicate, PredicateId, Program, Rule};
use crate::{TermBank, TermId};

/// Static conditions are put before what is asked as long as they offer no more than so many values together: most of
/// what they offer beyond that would be demanded in vain. 48: all kinds of piece in all directions may be tried, all
/// squares of a board may not.
const FEW_VALUES: usize = 48;

/// Limits the relations on which `roots` depend to what is asked of them. What follows for the roots stays
/// the same; relations that are not limited stay the same too.
pub fn demand(program: &mut Program, bank: &TermBank, roots: &[PredicateId]) {
    let rules = reachable_rules(program, roots);
    let mut known = may_be_limited(program, roots);
    let mut branching = Branching { bank, known: BTreeMap::new() };
    // Known arguments only get fewer, so this ends.
    loop {
        let mut changed = false;
        for &rule in &rules {
            let rule = &program.rules[rule];
            for asked in asked(program, rule, &known, &mut branching) {
                let (Goal::Holds(atom) | Goal::Fails(atom)) = &rule.body[asked.goal] else {
                    continue;
                };
                let Some(known) = &mut known[atom.predicate.index()] else { continue };
                for (known, argument) in known.iter_mut().zip(&atom.arguments) {
                    let stays = *known && argument.is_bound(&asked.bound);
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
            // A demand without arguments would only say that something is asked.
            (n_known > 0).then(|| program.demanded(n_known))
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
        let mut asking = Vec::new();
        for asked in asked(program, rule, &known, &mut branching) {
            let (Goal::Holds(atom) | Goal::Fails(atom)) = &rule.body[asked.goal] else { continue };
            let Some(head) = of(atom) else { continue };
            let is_same = guard.as_ref().is_some_and(|guard| {
                guard.predicate == head.predicate && guard.arguments == head.arguments
            });
            if !is_same {
                asking.push(asking_rule(rule, head, guard.as_ref(), &asked.before));
            }
        }
        // A fact is found without being looked for.
        if let Some(guard) = guard
            && !rule.body.is_empty()
        {
            program.rules[index].body.insert(0, Goal::Holds(guard));
        }
        asking.into_iter().for_each(|rule| program.rule(rule));
    }
}

/// The rules on which the roots depend.
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

/// For each relation that may be limited: that all its arguments are known, until a rule shows otherwise. Relations
/// that are given, or were worked out in advance, need no limit; static ones that were too large for that do.
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

/// A condition at its place in the order in which the conditions of a rule are asked for.
struct Asked {
    goal: usize,
    /// The variables with a value by then.
    bound: Vec<bool>,
    /// The conditions before it.
    before: Vec<usize>,
}

/// The conditions of a rule in the order in which they are asked for: first what needs no asking and offers few values,
/// then what has the fewest unknown arguments, negated ones last.
fn asked(
    program: &Program,
    rule: &Rule,
    known: &[Option<Vec<bool>>],
    branching: &mut Branching<'_>,
) -> Vec<Asked> {
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
        // Only the first number counts for what comes first; the second tells equals apart.
        let mut rank = |goal: usize| match &rule.body[goal] {
            Goal::Differ(..) => (0, 0),
            Goal::Holds(atom) if known[atom.predicate.index()].is_none() => {
                match branching.rows_of(program, atom, &bound) {
                    Some(n_rows) if n_values * n_rows <= FEW_VALUES => (0, n_rows),
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
        let first = (0..left.len()).min_by_key(|&place| ranks[place]).expect("some are left");
        if let (0, n_rows @ 1..) = ranks[first] {
            n_values *= n_rows;
        }
        let goal = left.remove(first);
        order.push(Asked { goal, bound: bound.clone(), before: before.clone() });
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

/// How many rows static relations have for what is known of them.
struct Branching<'a> {
    bank: &'a TermBank,
    known: BTreeMap<Asking, usize>,
}

/// A relation, the arguments that are constants, and which are known.
type Asking = (PredicateId, Vec<Option<TermId>>, Vec<bool>);

impl Branching<'_> {
    /// How many rows a condition that needs no asking has for what is known, on average; at least 1. Nothing can be
    /// told of one that changes: 1 if it has to do with anything known or nothing is known at all, else `None`.
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

/// The rule by which a condition is asked for. Of the conditions before it those count that have to do with its known
/// arguments; whatever else must hold would only be multiplied with them.
fn asking_rule(rule: &Rule, head: Atom, guard: Option<&Atom>, before: &[usize]) -> Rule {
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
    // A difference is tested only between what the rule has.
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
