//! Persistent fluents: once true always true, or once false always false.

use super::{Fluent, Known, Plays};
use crate::prove::{Answer, Effort, Prover};

/// Marks the fluents as persistent that no play refutes.
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

/// Removes the observations that say nothing. That a fluent stays true is observed only if it held
/// before some step. That it stays false is observed only if it also held at some time.
pub(super) fn drop_vacuous(fluents: &mut [Fluent], plays: &Plays) {
    let n = fluents.len();
    let (mut was_true, mut was_false) = (vec![false; n], vec![false; n]);
    let mut ever_true = vec![false; n];
    for state in plays.states() {
        state.fluents.iter().for_each(|&fluent| ever_true[fluent as usize] = true);
    }
    for (before, _) in plays.steps() {
        let mut held = before.fluents.iter().peekable();
        for fluent in 0..n {
            match held.next_if(|&&other| other as usize == fluent) {
                Some(_) => was_true[fluent] = true,
                None => was_false[fluent] = true,
            }
        }
    }
    for (at, fluent) in fluents.iter_mut().enumerate() {
        let keep = |known: Option<Known>, is_shown: bool| {
            known.filter(|known| known.is_proved() || is_shown)
        };
        fluent.persistent_true = keep(fluent.persistent_true, was_true[at]);
        fluent.persistent_false = keep(fluent.persistent_false, was_false[at] && ever_true[at]);
    }
}

/// Proves the persistence that is so far only observed. Easy proofs come first, so that hard ones
/// cannot use up their budget.
///
/// The question is whether a step can change the fluent in the wrong direction. There is no base
/// case, because the property is about steps alone; the lemmas about states that the prover has
/// strengthen it.
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
                match prover.ask_with(Effort::Low, &question) {
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
