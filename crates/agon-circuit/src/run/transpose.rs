//! Moving states between rows of words and lanes, by transposing bit matrices.

use crate::Plane;
use crate::native::simd::transpose;

/// Writes rows of words to lanes: row `i`, which is `row(i)`, to lane `i`. Plane `j` gets bit `j`
/// of each row. Lanes without a row are zero.
#[inline(always)]
pub(crate) fn load<'w>(n_rows: usize, row: impl Fn(usize) -> &'w [u64], planes: &mut [Plane]) {
    // Plain loops here and below: iterators are not reliably inlined into code for wider registers.
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

/// Transposes lanes to rows of words. Word `w` of the row of a lane is [`word_of`] that lane in
/// `matrices[w]`. There must be a matrix for every 64 planes.
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

/// Returns the word of a lane in a transposed matrix.
#[inline(always)]
pub(crate) fn word_of(matrix: &[Plane; 64], lane: usize) -> u64 {
    matrix[lane % 64].0[lane / 64 % 4]
}

/// Transposes 16 rows in place, each 16 bits of each word for itself. So bit `16 * g + j` of a word
/// of row `i` becomes bit `16 * g + i` of the same word of row `j`.
#[inline(always)]
pub(crate) fn transpose_short(rows: &mut [Plane; 16]) {
    // Recursively, blocks of 8, 4, 2 and 1 bits are exchanged (Warren, "Hacker's Delight", 7-3).
    let masks: [u64; 4] = [
        0x00ff_00ff_00ff_00ff,
        0x0f0f_0f0f_0f0f_0f0f,
        0x3333_3333_3333_3333,
        0x5555_5555_5555_5555,
    ];
    let (mut stage, mut distance) = (0, 8);
    while stage < 4 {
        let mut row = 0;
        while row < 16 {
            let mut word = 0;
            while word < 4 {
                let (low, high) = (rows[row].0[word], rows[row + distance].0[word]);
                let swapped = (low >> distance ^ high) & masks[stage];
                rows[row].0[word] = low ^ swapped << distance;
                rows[row + distance].0[word] = high ^ swapped;
                word += 1;
            }
            // The next row without the bit of the distance.
            row = (row + distance + 1) & !distance;
        }
        stage += 1;
        distance /= 2;
    }
}
