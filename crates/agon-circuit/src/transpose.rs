//! States in lanes: bit matrices turned over, four of them side by side.

use crate::Plane;

/// Turns over four matrices of 64 by 64 bits: in each quarter, bit `j` of row `i` becomes bit `i` of row `j`. Six rounds of
/// swapping blocks (Warren, "Hacker's Delight", 7-3).
#[inline(always)]
fn transpose(matrix: &mut [Plane; 64]) {
    round::<32>(matrix, 0x0000_0000_ffff_ffff);
    round::<16>(matrix, 0x0000_ffff_0000_ffff);
    round::<8>(matrix, 0x00ff_00ff_00ff_00ff);
    round::<4>(matrix, 0x0f0f_0f0f_0f0f_0f0f);
    round::<2>(matrix, 0x3333_3333_3333_3333);
    round::<1>(matrix, 0x5555_5555_5555_5555);
}

#[inline(always)]
fn round<const SIZE: usize>(matrix: &mut [Plane; 64], mask: u64) {
    for block in matrix.chunks_exact_mut(2 * SIZE) {
        let (upper, lower) = block.split_at_mut(SIZE);
        for (upper, lower) in upper.iter_mut().zip(lower) {
            for (a, b) in upper.0.iter_mut().zip(&mut lower.0) {
                let swapped = (*a >> SIZE ^ *b) & mask;
                *a ^= swapped << SIZE;
                *b ^= swapped;
            }
        }
    }
}

/// Writes row `i` of words to lane `i`: plane `j` gets bit `j` of each. Lanes without a row are zero.
#[inline(always)]
pub(crate) fn load<'w>(rows: impl Iterator<Item = &'w [u64]> + Clone, planes: &mut [Plane]) {
    for (word, planes) in planes.chunks_mut(64).enumerate() {
        let mut matrix = [Plane::ZERO; 64];
        for (lane, row) in rows.clone().enumerate() {
            matrix[lane % 64].0[lane / 64] = row[word];
        }
        transpose(&mut matrix);
        planes.copy_from_slice(&matrix[..planes.len()]);
    }
}

/// Reads rows of words out of the first `n` lanes: they are added to `rows`, one after another.
#[inline(always)]
pub(crate) fn store(planes: &[Plane], n: usize, rows: &mut Vec<u64>) {
    let n_words = planes.len().div_ceil(64);
    let first = rows.len();
    rows.resize(first + n_words * n, 0);
    let rows = &mut rows[first..];
    for (word, planes) in planes.chunks(64).enumerate() {
        let mut matrix = [Plane::ZERO; 64];
        matrix[..planes.len()].copy_from_slice(planes);
        transpose(&mut matrix);
        for (lane, row) in rows.chunks_exact_mut(n_words).enumerate() {
            row[word] = matrix[lane % 64].0[lane / 64];
        }
    }
}
