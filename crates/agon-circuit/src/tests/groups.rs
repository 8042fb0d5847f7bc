//! Groups of bits that exclude each other: what is claimed is right, and what is wrong is not claimed.

use super::games::tic_tac_toe;
use crate::optimise::optimise;
use crate::prove_groups;

#[test]
fn cells_exclude_their_contents_and_not_each_other() {
    let cells = (0..9).map(|cell| vec![3 * cell, 3 * cell + 1, 3 * cell + 2]);
    let right: Vec<Vec<usize>> = cells.chain([vec![27, 28]]).collect();
    // Two crosses, a cross and a nought elsewhere, two blanks.
    let wrong = [vec![1, 4], vec![1, 5], vec![0, 3], vec![1, 2, 4, 5]];
    let candidates: Vec<Vec<usize>> = right.iter().chain(&wrong).cloned().collect();
    assert_eq!(prove_groups(&tic_tac_toe(), candidates.clone()), right);
    // Optimised, moves are mentioned in ways that hide what makes them legal: less is proved, nothing wrong.
    let fewer = prove_groups(&optimise(&tic_tac_toe()).0, candidates);
    assert!(fewer.iter().all(|group| right.contains(group)), "{fewer:?}");
}

/// Each cell needs to know that only one player moves, and that follows from the other group.
#[test]
fn groups_that_need_each_other_are_proved_together_or_not_at_all() {
    let circuit = tic_tac_toe();
    assert_eq!(prove_groups(&circuit, vec![vec![0, 1, 2]]), Vec::<Vec<usize>>::new());
    assert_eq!(prove_groups(&circuit, vec![vec![0, 1, 2], vec![27, 28]]).len(), 2);
}
