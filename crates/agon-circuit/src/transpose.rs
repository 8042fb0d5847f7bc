//! States in lanes: bit matrices turned over.

use crate::{Bits, Plane};

/// Turns over a matrix of 64 by 64 bits: bit `j` of word `i` becomes bit `i` of word `j`. Six rounds of swapping blocks
/// (Warren, "Hacker's Delight", 7-3).
pub(crate) fn transpose(matrix: &mut [u64; 64]) {
    let mut size = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while size > 0 {
        let mut row = 0;
        while row < 64 {
            let swapped = (matrix[row] >> size ^ matrix[row + size]) & mask;
            matrix[row] ^= swapped << size;
            matrix[row + size] ^= swapped;
            row = (row + size + 1) & !size;
        }
        size >>= 1;
        mask ^= mask << size;
    }
}

/// Writes state `i` to lane `i`: plane `j` gets bit `j` of each state. Lanes without a state are zero.
pub(crate) fn load<'s>(states: impl ExactSizeIterator<Item = &'s Bits>, planes: &mut [Plane]) {
    debug_assert!(states.len() <= Plane::LANES, "there is a lane for every state");
    let states: Vec<&Bits> = states.collect();
    planes.fill(Plane::ZERO);
    for (quarter, states) in states.chunks(64).enumerate() {
        for (word, planes) in planes.chunks_mut(64).enumerate() {
            let mut matrix = [0; 64];
            for (row, state) in matrix.iter_mut().zip(states) {
                *row = state.0[word];
            }
            transpose(&mut matrix);
            for (plane, row) in planes.iter_mut().zip(matrix) {
                plane.0[quarter] = row;
            }
        }
    }
}

/// Reads the states out of the first `n_states` lanes.
pub(crate) fn store(planes: &[Plane], n_states: usize) -> Vec<Bits> {
    let n_words = planes.len().div_ceil(64);
    let mut words = vec![0; n_words * n_states.next_multiple_of(64)];
    for quarter in 0..n_states.div_ceil(64) {
        for (word, planes) in planes.chunks(64).enumerate() {
            let mut matrix = [0; 64];
            for (row, plane) in matrix.iter_mut().zip(planes) {
                *row = plane.0[quarter];
            }
            transpose(&mut matrix);
            for (lane, row) in matrix.into_iter().enumerate() {
                words[(64 * quarter + lane) * n_words + word] = row;
            }
        }
    }
    (0..n_states).map(|lane| Bits(words[lane * n_words..(lane + 1) * n_words].into())).collect()
}
