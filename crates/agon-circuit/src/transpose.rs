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
    // Plain loops here and below: iterators are not inlined for sure into code for wider registers.
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
    let mut word = 0;
    while 64 * word < planes.len() {
        let mut matrix = [Plane::ZERO; 64];
        let mut lane = 0;
        while lane < n_rows {
            matrix[lane % 64].0[lane / 64] = row(lane)[word];
            lane += 1;
        }
        transpose(&mut matrix);
        let n = (planes.len() - 64 * word).min(64);
        planes[64 * word..64 * word + n].copy_from_slice(&matrix[..n]);
        word += 1;
    }
}

/// Reads rows of words out of the first `n` lanes: they are added to `rows`, one after another.
#[inline(always)]
pub(crate) fn store(planes: &[Plane], n: usize, rows: &mut Vec<u64>) {
    let n_words = planes.len().div_ceil(64);
    let first = rows.len();
    rows.resize(first + n_words * n, 0);
    let rows = &mut rows[first..];
    store_each(planes, n, |lane, word, value| rows[lane * n_words + word] = value);
}

/// Hands over each word of the rows in the first `n` lanes: lane, place within the row, value.
#[inline(always)]
pub(crate) fn store_each(planes: &[Plane], n: usize, mut put: impl FnMut(usize, usize, u64)) {
    let mut word = 0;
    while 64 * word < planes.len() {
        let mut matrix = [Plane::ZERO; 64];
        let n_planes = (planes.len() - 64 * word).min(64);
        matrix[..n_planes].copy_from_slice(&planes[64 * word..64 * word + n_planes]);
        transpose(&mut matrix);
        let mut quarter = 0;
        while 64 * quarter < n {
            let n_rows = (n - 64 * quarter).min(64);
            let mut row = 0;
            while row < n_rows {
                put(64 * quarter + row, word, matrix[row].0[quarter]);
                row += 1;
            }
            quarter += 1;
        }
        word += 1;
    }
}
