//! Making circuits smaller without changing what they say.
//!
//! A pass takes a circuit and gives one that agrees with it wherever the assumption of [`Circuit`] holds: at reachable
//! states, under joint moves of one legal move per role. No pass changes the roles, the moves, the base bits or their
//! numbers, so states and moves can be exchanged between a circuit and its optimised form.

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

pub use constants::fold_constants;
pub use exclusive::exclusive;
pub use factor::factor;
pub use legal::assume_legal;
pub use move_sets::move_sets;
pub use one_move::one_move;
pub use sweep::sweep;
pub use unread::forget_unread;

/// What a pass has saved.
#[derive(Clone, Debug, PartialEq)]
pub struct PassReport {
    /// The pass.
    pub name: &'static str,
    /// AND gates before it.
    pub gates_before: usize,
    /// AND gates after it.
    pub gates_after: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A pass: see the module. It gives nothing if the deadline passes before it is done.
pub type Pass = fn(&Circuit, Deadline) -> Option<Circuit>;

/// All passes that [`optimise`] runs, by name, in the order of one round.
pub const PASSES: [(&str, Pass); 6] = [
    ("constants", fold_constants),
    ("move-sets", move_sets),
    ("factor", factor),
    ("one-move", one_move),
    ("legal", assume_legal),
    ("sweep", sweep),
];

/// Runs rounds of all passes until a round saves less than a hundredth of the gates.
///
/// The smallest circuit seen is returned: a pass may grow a circuit for the benefit of the next one.
pub fn optimise(circuit: &Circuit) -> (Circuit, Vec<PassReport>) {
    optimise_until(circuit, Deadline::NEVER)
}

/// The same, with the smallest circuit seen until a deadline.
pub fn optimise_until(circuit: &Circuit, deadline: Deadline) -> (Circuit, Vec<PassReport>) {
    let mut reports = Vec::new();
    let Some(mut best) = run(("sweep", sweep), circuit, deadline, &mut reports) else {
        return (circuit.clone(), reports);
    };
    let mut current = best.clone();
    // 8 rounds: no circuit met so far was still shrinking by a hundredth after the fifth.
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

/// Makes a circuit smaller by groups of base bits of which provably at most one is true at a time ([`crate::prove_groups`]), and
/// by all passes again where that has saved anything.
pub fn optimise_by_groups(
    circuit: &Circuit,
    groups: &[Vec<usize>],
    deadline: Deadline,
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
    let (smallest, more) = optimise_until(&smaller, deadline);
    reports.extend(more);
    (smallest.ands.len() < circuit.ands.len()).then_some(smallest)
}

/// One round of the passes that look at single steps only, so that they may be used where the initial state is not that
/// of the circuit.
pub(crate) fn simplify(circuit: &Circuit) -> Circuit {
    let passes = PASSES.into_iter().filter(|&(name, _)| name != "constants");
    passes.fold(circuit.clone(), |circuit, pass| {
        let smaller =
            run(pass, &circuit, Deadline::NEVER, &mut Vec::new()).expect("there is no deadline");
        if smaller.ands.len() < circuit.ands.len() { smaller } else { circuit }
    })
}

/// The circuit with some of its leaves known.
pub(crate) fn fold_into(circuit: &Circuit, value: impl Fn(Signal) -> Option<bool>) -> Circuit {
    sweep::rebuild(circuit, Deadline::NEVER, |leaf| value(leaf).map_or(leaf, Signal::constant))
        .expect("there is no deadline")
}

fn run(
    (name, pass): (&'static str, Pass),
    circuit: &Circuit,
    deadline: Deadline,
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
