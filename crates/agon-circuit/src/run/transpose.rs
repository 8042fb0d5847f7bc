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
