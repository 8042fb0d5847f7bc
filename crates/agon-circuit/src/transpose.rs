//! States in lanes: bit matrices turned over, four of them side by side.

use crate::{Plane, jit};

/// Turns over four matrices of 64 by 64 bits: in each quarter, bit `j` of row `i` becomes bit `i` of row `j`.
pub(crate) fn transpose(from: &[Plane; 64], to: &mut [Plane; 64]) {
    if !jit::turn(from, to) {
        transpose_portably(from, to);
    }
}

/// Six rounds of swapping blocks (Warren, "Hacker's Delight", 7-3).
pub(crate) fn transpose_portably(from: &[Plane; 64], to: &mut [Plane; 64]) {
    *to = *from;
    round::<32>(to, 0x0000_0000_ffff_ffff);
    round::<16>(to, 0x0000_ffff_0000_ffff);
    round::<8>(to, 0x00ff_00ff_00ff_00ff);
    round::<4>(to, 0x0f0f_0f0f_0f0f_0f0f);
    round::<2>(to, 0x3333_3333_3333_3333);
    round::<1>(to, 0x5555_5555_5555_5555);
}

fn round<const SIZE: usize>(matrix: &mut [Plane; 64], mask: u64) {
    let mut row = 0;
    while row < 64 {
        let (upper, lower) = (matrix[row], matrix[row + SIZE]);
        let mut word = 0;
        while word < 4 {
            let swapped = (upper.0[word] >> SIZE ^ lower.0[word]) & mask;
            matrix[row].0[word] = upper.0[word] ^ swapped << SIZE;
            matrix[row + SIZE].0[word] = lower.0[word] ^ swapped;
            word += 1;
        }
        row = (row + SIZE + 1) & !SIZE;
    }
}

/// Writes rows of words to lanes: row `i`, which is what `row(i)` gives, to lane `i`. Plane `j` gets bit `j` of each. Lanes
/// without a row are zero.
#[inline(always)]
pub(crate) fn load<'w>(n_rows: usize, row: impl Fn(usize) -> &'w [u64], planes: &mut [Plane]) {
    // Plain loops here and below: iterators are not inlined for sure into code for wider registers.
    let mut word = 0;
    while 64 * word < planes.len() {
        let mut matrix = [Plane::ZERO; 64];
        let mut lane = 0;
        while lane < n_rows {
            matrix[lane % 64].0[lane / 64] = row(lane)[word];
            lane += 1;
        }
        let planes = &mut planes[64 * word..];
        if let Some(planes) = planes.first_chunk_mut() {
            transpose(&matrix, planes);
        } else {
            let mut last = [Plane::ZERO; 64];
            transpose(&matrix, &mut last);
            planes.copy_from_slice(&last[..planes.len()]);
        }
        word += 1;
    }
}

/// Reads rows of words out of lanes: word `w` of the row in lane `l` is [`word_of`] `l` in `matrices[w]`. There must be a
/// matrix for every 64 planes.
pub(crate) fn unload(planes: &[Plane], matrices: &mut [[Plane; 64]]) {
    let (full, last) = planes.as_chunks();
    for (planes, matrix) in full.iter().zip(&mut *matrices) {
        transpose(planes, matrix);
    }
    if let Some(matrix) = matrices.get_mut(full.len()) {
        let mut planes = [Plane::ZERO; 64];
        planes[..last.len()].copy_from_slice(last);
        transpose(&planes, matrix);
    }
}

/// The word of a lane in a matrix that has been turned over.
#[inline(always)]
pub(crate) fn word_of(matrix: &[Plane; 64], lane: usize) -> u64 {
    matrix[lane % 64].0[lane / 64 % 4]
}
