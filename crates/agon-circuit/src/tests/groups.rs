//! Groups of bits that exclude each other: only true groups are proved.

use super::agree;
use super::games::tic_tac_toe;
use crate::optimise::{exclusive, optimise};
use crate::{Deadline, prove_groups, verify};

#[test]
fn cells_exclude_their_contents_and_not_each_other() {
    let cells = (0..9).map(|cell| vec![3 * cell, 3 * cell + 1, 3 * cell + 2]);
    let right: Vec<Vec<usize>> = cells.chain([vec![27, 28]]).collect();
    // Two crosses, a cross and a nought elsewhere, two blanks.
    let wrong = [vec![1, 4], vec![1, 5], vec![0, 3], vec![1, 2, 4, 5]];
    let candidates: Vec<Vec<usize>> = right.iter().chain(&wrong).cloned().collect();
    assert_eq!(prove_groups(&tic_tac_toe(), candidates.clone(), Deadline::NEVER), right);
    // In the optimised circuit, the legality of moves is hidden. Fewer groups are proved, but no
    // wrong ones.
    let optimised = optimise(&tic_tac_toe(), Deadline::NEVER).0;
    let fewer = prove_groups(&optimised, candidates, Deadline::NEVER);
    assert!(fewer.iter().all(|group| right.contains(group)), "{fewer:?}");
}

/// The proof for a cell needs that only one player moves, which follows from the other group.
#[test]
fn groups_that_need_each_other_are_proved_together_or_not_at_all() {
    let circuit = tic_tac_toe();
    assert_eq!(
        prove_groups(&circuit, vec![vec![0, 1, 2]], Deadline::NEVER),
        Vec::<Vec<usize>>::new()
    );
    assert_eq!(prove_groups(&circuit, vec![vec![0, 1, 2], vec![27, 28]], Deadline::NEVER).len(), 2);
}

/// Simplification by groups makes circuits smaller without changing play.
#[test]
fn groups_make_circuits_smaller_without_changing_play() {
    let candidates: Vec<Vec<usize>> = (0..9)
        .map(|cell| vec![3 * cell, 3 * cell + 1, 3 * cell + 2])
        .chain([vec![27, 28]])
        .collect();
    let plain = tic_tac_toe();
    let groups = prove_groups(&plain, candidates, Deadline::NEVER);
    for circuit in [optimise(&plain, Deadline::NEVER).0, plain] {
        let smaller = exclusive(&circuit, &groups, Deadline::NEVER).expect("there is no deadline");
        assert_eq!(verify(&smaller), Ok(()));
        assert!(smaller.ands.len() <= circuit.ands.len());
        (0..20).for_each(|seed| agree(&circuit, &smaller, seed));
    }
    // A bit and another of its group, its negation, and a disjunction that it decides.
    let mut builder = crate::Builder::like(&tic_tac_toe());
    let [a, b, other] = [0, 1, 3].map(|bit| tic_tac_toe().base(bit));
    let both = builder.and_all(&[a, b]);
    let choice = builder.and_all(&[b, other]);
    let alone = builder.and_all(&[a, !b]);
    let decided = builder.and_all(&[a, !choice]);
    let mut outputs = tic_tac_toe().outputs.map(|_| crate::Signal::TRUE);
    (outputs.next[0], outputs.next[1], outputs.next[2]) = (both, alone, decided);
    let circuit = builder.finish(outputs);
    let smaller =
        exclusive(&circuit, &[vec![0, 1, 2]], Deadline::NEVER).expect("there is no deadline");
    assert_eq!(smaller.outputs.next[..3], [crate::Signal::FALSE, a, a]);
}
