//! Makes circuits smaller without changing what they compute.
//!
//! The circuit is an and-inverter graph with structural hashing. Passes propagate constants,
//! factor, remove dead logic, and use that each role makes exactly one legal move in a step.
//!
//! A pass takes a circuit and returns one that agrees with it wherever the assumption of
//! [`Circuit`] holds: at reachable states, under joint moves of one legal move per role. No pass
//! changes the roles, the moves, the base bits or their numbers, so states and moves can be
//! exchanged between a circuit and its optimised form.

mod constants;
mod exclusive;
mod factor;
mod input_sets;
mod legal;
mod move_sets;
mod nary;
mod one_move;
mod sweep;
#[cfg(test)]
mod tests;
mod unread;

use std::time::Instant;

use crate::{Circuit, Deadline, Signal};

pub(crate) use constants::fold_constants;
pub(crate) use exclusive::exclusive;
use factor::factor;
use legal::assume_legal;
use move_sets::move_sets;
use one_move::one_move;
use sweep::sweep;
pub(crate) use unread::forget_unread;

/// The effect of one pass.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassReport {
    /// The name of the pass.
    pub name: &'static str,
    /// AND gates before it.
    pub gates_before: usize,
    /// AND gates after it.
    pub gates_after: usize,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A pass: see the module. Returns `None` if the deadline passes before it is complete.
pub(crate) type Pass = fn(&Circuit, Deadline<'_>) -> Option<Circuit>;

/// All passes of [`optimise`] by name, in the order of one round.
pub(crate) const PASSES: [(&str, Pass); 6] = [
    ("constants", fold_constants),
    ("move-sets", move_sets),
    ("factor", factor),
    ("one-move", one_move),
    ("legal", assume_legal),
    ("sweep", sweep),
];

/// Runs rounds of all passes until a round saves less than a hundredth of the gates.
///
/// Returns the smallest circuit seen until the deadline, with a report of each pass. It need not be
/// the last one: a pass may grow a circuit for the benefit of the next one.
pub fn optimise(circuit: &Circuit, deadline: Deadline<'_>) -> (Circuit, Vec<PassReport>) {
    let mut reports = Vec::new();
    let Some(mut best) = run(("sweep", sweep), circuit, deadline, &mut reports) else {
        return (circuit.clone(), reports);
    };
    let mut current = best.clone();
    // 8 rounds: no circuit so far was still shrinking by a hundredth after the fifth.
    for _ in 0..8 {
        for pass in PASSES {
            match run(pass, &current, deadline, &mut reports) {
                Some(result) => current = result,
                None if current.ands.len() < best.ands.len() => return (current, reports),
                None => return (best, reports),
            }
        }
        let is_worth_another = current.ands.len() + current.ands.len() / 100 < best.ands.len();
        if current.ands.len() < best.ands.len() {
            best = current.clone();
        }
        if !is_worth_another {
            break;
        }
    }
    (best, reports)
}

/// Uses groups of base bits of which provably at most one is true at a time
/// ([`crate::prove_groups`]), and runs all passes again if that has saved gates.
///
/// Returns `None` if the circuit does not become smaller before the deadline. Reports of passes are
/// appended.
pub(crate) fn optimise_by_groups(
    circuit: &Circuit,
    groups: &[Vec<usize>],
    deadline: Deadline<'_>,
    reports: &mut Vec<PassReport>,
) -> Option<Circuit> {
    let start = Instant::now();
    let smaller = exclusive(circuit, groups, deadline)?;
    debug_assert_eq!(crate::verify(&smaller), Ok(()), "a pass keeps the invariants");
    reports.push(PassReport {
        name: "exclusive",
        gates_before: circuit.ands.len(),
        gates_after: smaller.ands.len(),
        seconds: start.elapsed().as_secs_f64(),
    });
    if smaller.ands.len() >= circuit.ands.len() {
        return None;
    }
    let (smallest, more) = optimise(&smaller, deadline);
    reports.extend(more);
    (smallest.ands.len() < circuit.ands.len()).then_some(smallest)
}

/// Runs one round of the passes that consider single steps only. These are valid where the initial
/// state is not that of the circuit.
pub(crate) fn simplify(circuit: &Circuit) -> Circuit {
    let passes = PASSES.into_iter().filter(|&(name, _)| name != "constants");
    passes.fold(circuit.clone(), |circuit, pass| {
        let smaller =
            run(pass, &circuit, Deadline::NEVER, &mut Vec::new()).expect("there is no deadline");
        if smaller.ands.len() < circuit.ands.len() { smaller } else { circuit }
    })
}

/// Returns the circuit with some of its leaves replaced by constants.
pub(crate) fn fold_into(circuit: &Circuit, value: impl Fn(Signal) -> Option<bool>) -> Circuit {
    sweep::rebuild(circuit, Deadline::NEVER, |leaf| value(leaf).map_or(leaf, Signal::constant))
        .expect("there is no deadline")
}

/// Runs a pass, checks its result in debug builds, and appends a report.
fn run(
    (name, pass): (&'static str, Pass),
    circuit: &Circuit,
    deadline: Deadline<'_>,
    reports: &mut Vec<PassReport>,
) -> Option<Circuit> {
    let start = Instant::now();
    let result = pass(circuit, deadline)?;
    if cfg!(debug_assertions)
        && let Err(broken) = crate::verify(&result)
    {
        panic!("a pass keeps the invariants, but after {name}: {broken}");
    }
    reports.push(PassReport {
        name,
        gates_before: circuit.ands.len(),
        gates_after: result.ands.len(),
        seconds: start.elapsed().as_secs_f64(),
    });
    Some(result)
}
