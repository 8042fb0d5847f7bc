//! Products in lanes.

use crate::run::products::{Products, Run, RunKind, Wide};

/// Computes all products in the first `n_lanes` lanes, by AVX2 instructions.
///
/// # Panics
/// If the processor does not have AVX2, or if there are fewer places than products and given
/// numbers.
pub(crate) fn multiply(products: &Products, values: &mut [Wide], n_lanes: usize) {
    assert!(products.is_native(), "the processor has AVX2");
    assert!(values.len() >= products.n_places(), "there is a place for each product");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `is_native` says that AVX2 was found, and there is a place for each product by the
    // assertion. The other conditions are the invariants of `Products`.
    unsafe {
        // Each multiplication depends on the one before. So with few lanes, several products are
        // interleaved.
        match n_lanes.div_ceil(4) {
            0 => {}
            1 => x86::multiply::<1, 4>(products, values),
            2 => x86::multiply::<2, 2>(products, values),
            3 => x86::multiply::<3, 1>(products, values),
            _ => x86::multiply::<4, 1>(products, values),
        }
    }
    let _ = n_lanes;
}

/// Does what [`multiply`] does in all lanes, number by number in the order of the factors.
pub(crate) fn multiply_portably(runs: &[Run], factors: &[u32], values: &mut [Wide]) {
    for run in runs {
        let (before, after) = values.split_at_mut(run.first);
        let factors = factors[run.first_factor..].chunks_exact(run.width);
        for (product, factors) in after[..run.n].iter_mut().zip(factors) {
            let mut so_far = before[factors[0] as usize].0;
            for &factor in &factors[1..] {
                let factor = &before[factor as usize].0;
                so_far.iter_mut().zip(factor).for_each(|(so_far, factor)| *so_far *= factor);
            }
            if run.kind == RunKind::Complement {
                so_far.iter_mut().for_each(|so_far| *so_far = 1.0 - *so_far);
            }
            product.0 = so_far;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::run::products::{Products, Run, RunKind, Wide};

    /// Computes the first `N` registers of four lanes of each product, `M` products interleaved.
    ///
    /// # Safety
    /// There is a place for each product.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn multiply<const N: usize, const M: usize>(
        products: &Products,
        values: &mut [Wide],
    ) {
        let start = values.as_mut_ptr();
        for run in products.runs() {
            let factors =
                &products.factors()[run.first_factor..run.first_factor + run.n * run.width];
            let n_together = run.n - run.n % M;
            // SAFETY: by the invariants of `Products`, these read places below the first of the run
            // and write places of the run. The caller guarantees that these places exist.
            unsafe {
                multiply_some::<N, M>(run, 0..n_together, factors, start);
                multiply_some::<N, 1>(run, n_together..run.n, factors, start);
            }
        }
    }

    /// Computes some products of a run, `M` interleaved.
    ///
    /// # Safety
    /// From `start` on there are all places of the run and those before it. The factors are those
    /// of the run. `which` is a range of its products whose length is a multiple of `M`.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn multiply_some<const N: usize, const M: usize>(
        run: &Run,
        which: std::ops::Range<usize>,
        factors: &[u32],
        start: *mut Wide,
    ) {
        let one = _mm256_set1_pd(1.0);
        let mut at = which.start;
        while at < which.end {
            let mut so_far = [[_mm256_setzero_pd(); N]; M];
            let mut product = 0;
            while product < M {
                // SAFETY: the factor exists and names an existing place.
                let place = unsafe { *factors.get_unchecked((at + product) * run.width) as usize };
                so_far[product] = unsafe { load::<N>(start.add(place)) };
                product += 1;
            }
            let mut factor = 1;
            while factor < run.width {
                let mut product = 0;
                while product < M {
                    // SAFETY: as above.
                    let place = unsafe {
                        *factors.get_unchecked((at + product) * run.width + factor) as usize
                    };
                    let numbers = unsafe { load::<N>(start.add(place)) };
                    let mut register = 0;
                    while register < N {
                        so_far[product][register] =
                            _mm256_mul_pd(so_far[product][register], numbers[register]);
                        register += 1;
                    }
                    product += 1;
                }
                factor += 1;
            }
            let mut product = 0;
            while product < M {
                let mut register = 0;
                while run.kind == RunKind::Complement && register < N {
                    so_far[product][register] = _mm256_sub_pd(one, so_far[product][register]);
                    register += 1;
                }
                // SAFETY: this is a place of the run.
                unsafe { store::<N>(start.add(run.first + at + product), so_far[product]) };
                product += 1;
            }
            at += M;
        }
    }

    /// Loads the first `N` registers of a value.
    ///
    /// # Safety
    /// `from` can be read, and `N` is at most 4.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn load<const N: usize>(from: *const Wide) -> [__m256d; N] {
        let mut numbers = [_mm256_setzero_pd(); N];
        let mut at = 0;
        while at < N {
            // SAFETY: there are 16 numbers, aligned to 64 bytes.
            numbers[at] = unsafe { _mm256_load_pd(from.cast::<f64>().add(4 * at)) };
            at += 1;
        }
        numbers
    }

    /// Stores the first `N` registers of a value.
    ///
    /// # Safety
    /// `to` can be written, and `N` is at most 4.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn store<const N: usize>(to: *mut Wide, numbers: [__m256d; N]) {
        let mut at = 0;
        while at < N {
            // SAFETY: as above.
            unsafe { _mm256_store_pd(to.cast::<f64>().add(4 * at), numbers[at]) };
            at += 1;
        }
    }
}
