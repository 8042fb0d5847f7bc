//! Static relations worked out once, before play.

use std::sync::Arc;
use std::time::Instant;

use crate::program::{Goal, Level, PredicateId, Program};
use crate::{Engine, Entry, Limits, Plans, TermBank, TermId};

/// What one relation may cost. A relation that costs more stays as rules and is asked for what is needed of it:
/// arithmetic on large numbers is a case where few of many rows are ever used.
const MAX_ROWS: usize = 100_000;
const MAX_STEPS: u64 = 3_000_000;

/// What all of them together may cost.
const MAX_STEPS_IN_ALL: u64 = 30_000_000;

/// Replaces the rules of static relations on which `roots` depend by the rows that follow from them. The planner
/// then knows how many there are, and looking one up needs no call.
pub fn materialise(program: &mut Program, bank: &Arc<TermBank>, roots: &[PredicateId]) {
    materialise_until(program, bank, roots, None);
}

/// The same, until a deadline: relations whose turn comes too late stay as they are.
pub fn materialise_until(
    program: &mut Program,
    bank: &Arc<TermBank>,
    roots: &[PredicateId],
    deadline: Option<Instant>,
) {
    let (levels, demands) = (program.levels(), program.demands());
    let mut n_steps = 0;
    for predicate in in_order(program, roots) {
        let index = predicate.index();
        let is_fit = levels[index] == Level::Static
            && program.predicates[index].given.is_none()
            && !roots.contains(&predicate)
            && !demands[index].contains(&true)
            && !program.predicates[index].rules.is_empty();
        let is_late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        if !is_fit || n_steps > MAX_STEPS_IN_ALL || is_late() {
            continue;
        }
        let arity = program.predicates[index].arity;
        let entry = Entry { predicate, known: vec![false; arity] };
        // What cannot be planned or costs too much stays as it is; whoever needs it hears of it then.
        let Ok((plans, questions)) = Plans::new(program.clone(), Arc::clone(bank), &[], &[entry])
        else {
            continue;
        };
        let limits =
            Limits { facts: 2 * MAX_ROWS, steps: MAX_STEPS, deadline, ..Limits::default() };
        let mut engine = Engine::new(Arc::new(plans), limits);
        let rows: Option<Vec<Vec<TermId>>> = match engine.ask(questions[0], &[]) {
            Ok(answers) if answers.len() <= MAX_ROWS => Some(
                (0..answers.len())
                    .map(|row| (0..arity).map(|column| answers.get(row, column)).collect())
                    .collect(),
            ),
            Ok(_) | Err(_) => None,
        };
        n_steps += engine.n_steps();
        if let Some(mut rows) = rows {
            rows.sort_unstable();
            let made = &mut program.predicates[index];
            made.rules.clear();
            made.given = Some(Level::Static);
            made.rows = rows;
        }
    }
}

/// What the roots depend on, each after what it depends on itself as far as recursion allows.
fn in_order(program: &Program, roots: &[PredicateId]) -> Vec<PredicateId> {
    let mut order = Vec::new();
    let mut seen = vec![false; program.predicates.len()];
    // A stack of our own: rules may form chains longer than the program's stack is deep.
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
