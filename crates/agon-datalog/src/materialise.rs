//! Computation of static relations in advance.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::program::{Atom, Goal, Level, Predicate, PredicateId, Program, Rule};
use crate::{Engine, Limits, Plans, QueryForm, StopFlag, TermBank, TermId};

/// Limits of [`materialise`]. A relation that exceeds them keeps its rules and is evaluated on
/// demand. Arithmetic on large numbers is an example, where few of many rows are used.
#[derive(Clone, Debug)]
pub struct MaterialiseLimits {
    /// Maximum number of rows of one relation.
    pub rows: usize,
    /// Maximum number of evaluation steps for one relation.
    pub steps: u64,
    /// Maximum number of evaluation steps for all relations together.
    pub total_steps: u64,
    /// Time to stop at.
    pub deadline: Option<Instant>,
    /// Cancels the work when it is set.
    pub stop: StopFlag,
}

impl Default for MaterialiseLimits {
    fn default() -> MaterialiseLimits {
        MaterialiseLimits {
            rows: 100_000,
            steps: 3_000_000,
            total_steps: 30_000_000,
            deadline: None,
            stop: StopFlag::NEVER,
        }
    }
}

/// Replaces the rules of static relations that `roots` depend on by their rows. The planner then
/// knows their sizes, and a lookup needs no call.
pub fn materialise(
    program: &mut Program,
    bank: &Arc<TermBank>,
    roots: &[PredicateId],
    limits: &MaterialiseLimits,
) {
    let (levels, required_arguments) = (program.levels(), program.required_arguments());
    let mut n_steps = 0;
    for predicate in in_order(program, roots) {
        let index = predicate.index();
        let is_fit = levels[index] == Level::Static
            && program.predicates[index].given.is_none()
            && !roots.contains(&predicate)
            && !required_arguments[index].contains(&true)
            && !program.predicates[index].rules.is_empty();
        if !is_fit {
            continue;
        }
        if limits.stop.reason(limits.deadline).is_some() {
            return;
        }
        // Facts cost next to nothing, so they do not depend on what came before them.
        let are_facts = {
            let rules = program.predicates[index].rules.iter();
            rules.into_iter().all(|&rule| program.rules[rule as usize].body.is_empty())
        };
        if n_steps > limits.total_steps && !are_facts {
            continue;
        }
        let (rows, spent) = rows_of(program, bank, predicate, limits);
        n_steps += spent;
        if let Some(mut rows) = rows {
            rows.sort_unstable();
            let materialised = &mut program.predicates[index];
            materialised.rules.clear();
            materialised.given = Some(Level::Static);
            materialised.rows = rows;
        }
    }
}

/// Evaluates a relation. Returns its rows, or `None` if it cannot be planned or is too expensive,
/// and the number of steps. The error is reported when the relation is used.
fn rows_of(
    program: &Program,
    bank: &Arc<TermBank>,
    predicate: PredicateId,
    limits: &MaterialiseLimits,
) -> (Option<Vec<Vec<TermId>>>, u64) {
    let arity = program.predicates[predicate.index()].arity;
    // Only the part that the relation depends on is planned. With the whole program the time would
    // grow with the square of the number of relations.
    let (part, predicate) = part_of(program, predicate);
    let n_rules = part.rules.len() as u64;
    let form = QueryForm { predicate, known: vec![false; arity] };
    let Ok((plans, queries)) = Plans::new(part, Arc::clone(bank), &[], &[form]) else {
        return (None, n_rules);
    };
    let engine_limits = Limits {
        facts: 2 * limits.rows,
        steps: limits.steps,
        deadline: limits.deadline,
        stop: limits.stop.clone(),
        ..Limits::default()
    };
    let mut engine = Engine::new(Arc::new(plans), engine_limits);
    let rows = match engine.ask(queries[0], &[]) {
        Ok(answers) if answers.len() <= limits.rows => {
            let row = |row| (0..arity).map(|column| answers.get(row, column)).collect();
            Some((0..answers.len()).map(row).collect())
        }
        Ok(_) | Err(_) => None,
    };
    (rows, n_rules + engine.n_steps())
}

/// Returns the relations and rules that a relation depends on, and the relation among them.
fn part_of(program: &Program, predicate: PredicateId) -> (Program, PredicateId) {
    let mut part = Program::default();
    let mut places: BTreeMap<PredicateId, PredicateId> = BTreeMap::new();
    let mut open = vec![predicate];
    let mut rules = Vec::new();
    while let Some(whole) = open.pop() {
        if places.contains_key(&whole) {
            continue;
        }
        let own = &program.predicates[whole.index()];
        places.insert(whole, part.add(Predicate { rules: Vec::new(), ..own.clone() }));
        for &rule in &own.rules {
            let rule = &program.rules[rule as usize];
            for goal in &rule.body {
                if let Goal::Holds(atom) | Goal::Fails(atom) = goal {
                    open.push(atom.predicate);
                }
            }
            rules.push(rule);
        }
    }
    let renamed = |atom: &Atom| Atom { predicate: places[&atom.predicate], ..atom.clone() };
    for rule in rules {
        let body = rule.body.iter().map(|goal| match goal {
            Goal::Holds(atom) => Goal::Holds(renamed(atom)),
            Goal::Fails(atom) => Goal::Fails(renamed(atom)),
            other => other.clone(),
        });
        part.rule(Rule { head: renamed(&rule.head), body: body.collect(), ..rule.clone() });
    }
    (part, places[&predicate])
}

/// Returns the relations that the roots depend on, in dependency order as far as recursion allows.
fn in_order(program: &Program, roots: &[PredicateId]) -> Vec<PredicateId> {
    let mut order = Vec::new();
    let mut seen = vec![false; program.predicates.len()];
    // An explicit stack, because chains of rules may be longer than the call stack allows.
    let mut stack: Vec<(PredicateId, bool)> =
        roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((predicate, is_done)) = stack.pop() {
        if is_done {
            order.push(predicate);
            continue;
        }
        if std::mem::replace(&mut seen[predicate.index()], true) {
            continue;
        }
        stack.push((predicate, true));
        for &rule in program.predicates[predicate.index()].rules.iter().rev() {
            for goal in &program.rules[rule as usize].body {
                if let Goal::Holds(atom) | Goal::Fails(atom) = goal {
                    stack.push((atom.predicate, false));
                }
            }
        }
    }
    order
}
