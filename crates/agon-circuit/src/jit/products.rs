//! Products in lanes by AVX2 instructions.

use crate::products::{Run, Wide};

/// What [`crate::Products::work_out`] does, for no more lanes than are wanted. Says whether it has.
///
/// The caller keeps the invariants of [`crate::Products`], and `values` has a place for each product.
pub(crate) fn multiply(runs: &[Run], factors: &[u32], values: &mut [Wide], n_lanes: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if super::is_available() {
        // SAFETY: `is_available` has just found AVX2.
        unsafe {
            match n_lanes.div_ceil(4) {
                0 => {}
                1 => x86::multiply::<1>(runs, factors, values),
                2 => x86::multiply::<2>(runs, factors, values),
                3 => x86::multiply::<3>(runs, factors, values),
                _ => x86::multiply::<4>(runs, factors, values),
            }
        }
        return true;
    }
    let _ = (runs, factors, values, n_lanes);
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::products::{Run, Wide};

    /// Of each product the first `N` registers of four lanes.
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply<const N: usize>(runs: &[Run], factors: &[u32], values: &mut [Wide]) {
        let one = _mm256_set1_pd(1.0);
        for run in runs {
            let (before, after) = values.split_at_mut(run.first);
            let mut next = run.first_factor;
            for product in &mut after[..run.n] {
                let own = &factors[next..next + run.width];
                next += run.width;
                let mut so_far = load::<N>(&before[own[0] as usize]);
                for &factor in &own[1..] {
                    let factor = load::<N>(&before[factor as usize]);
                    for at in 0..N {
                        so_far[at] = _mm256_mul_pd(so_far[at], factor[at]);
                    }
                }
                if run.missing {
                    for at in 0..N {
                        so_far[at] = _mm256_sub_pd(one, so_far[at]);
                    }
                }
                store::<N>(product, so_far);
            }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load<const N: usize>(from: &Wide) -> [__m256d; N] {
        let start = from.0.as_ptr();
        let mut numbers = [_mm256_setzero_pd(); N];
        let mut at = 0;
        while at < N {
            // SAFETY: there are 16 numbers from `start` on, aligned to 64 bytes, and `N` is at most 4.
            numbers[at] = unsafe { _mm256_load_pd(start.add(4 * at)) };
            at += 1;
        }
        numbers
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store<const N: usize>(to: &mut Wide, numbers: [__m256d; N]) {
        let start = to.0.as_mut_ptr();
        let mut at = 0;
        while at < N {
            // SAFETY: as above.
            unsafe { _mm256_store_pd(start.add(4 * at), numbers[at]) };
            at += 1;
        }
    }
}
