//! Fluents that stay as they are: once true for ever true, or once false for ever false.

use super::{Fluent, Known, Plays};
use crate::prove::{Answer, Prover};

/// Fills in what no play refutes.
pub(super) fn observe(fluents: &mut [Fluent], plays: &Plays) {
    let observed = Known::Observed { plays: plays.n_plays() };
    for fluent in fluents.iter_mut() {
        (fluent.persistent_true, fluent.persistent_false) = (Some(observed), Some(observed));
    }
    for (before, after) in plays.steps() {
        for &fluent in &before.fluents {
            if after.fluents.binary_search(&fluent).is_err() {
                fluents[fluent as usize].persistent_true = None;
            }
        }
        for &fluent in &after.fluents {
            if before.fluents.binary_search(&fluent).is_err() {
                fluents[fluent as usize].persistent_false = None;
            }
        }
    }
}

/// Proves what is so far only observed: what is easy first, so that the rest cannot use up the time for it.
///
/// A step that changes the fluent the wrong way is asked for, once. There is no base case: the property is about steps,
/// and what was proved of states stands behind it.
pub(super) fn prove(fluents: &mut [Fluent], prover: &mut Prover<'_>) {
    let is_open = |known: Option<Known>| known.is_some_and(|known| !known.is_proved());
    let mut hard = Vec::new();
    for (bit, fluent) in fluents.iter_mut().enumerate() {
        let (now, next, step) = (prover.base(bit), prover.next(bit), prover.step());
        let ways = [
            (&mut fluent.persistent_true, [step, now, !next]),
            (&mut fluent.persistent_false, [step, !now, next]),
        ];
        for (place, (known, question)) in ways.into_iter().enumerate() {
            if is_open(*known) {
                match prover.ask_quickly(&question) {
                    Answer::Impossible => *known = Some(Known::Proved),
                    Answer::Possible => {}
                    Answer::Undecided => hard.push((bit, place == 0, question)),
                }
            }
        }
    }
    for (bit, is_true, question) in hard {
        if prover.ask(&question) == Answer::Impossible {
            let fluent = &mut fluents[bit];
            let known =
                if is_true { &mut fluent.persistent_true } else { &mut fluent.persistent_false };
            *known = Some(Known::Proved);
        }
    }
}
