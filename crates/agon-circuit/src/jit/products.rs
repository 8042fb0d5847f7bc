//! Products in lanes by AVX2 instructions.

use crate::products::{Products, Wide};

/// What [`Products::work_out`] does, for no more lanes than are wanted.
///
/// # Panics
/// If the processor cannot, or if there are fewer places than products and given numbers.
pub(crate) fn multiply(products: &Products, values: &mut [Wide], n_lanes: usize) {
    assert!(products.is_native(), "the processor has AVX2");
    assert!(values.len() >= products.n_places(), "there is a place for each product");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `is_native` says that AVX2 was found, there is a place for each product by the assertion, and the rest are the invariants of
    // `Products`.
    unsafe {
        // A product waits for each of its factors, so where there are few lanes several products are worked out in turn.
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

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::products::{Products, Run, Wide};

    /// Of each product the first `N` registers of four lanes, `M` products in turn.
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
            // SAFETY: all that these read are places below the first of the run and what they write are places of it, by the invariants of
            // `Products`; there are such places, as the caller promises.
            unsafe {
                some::<N, M>(run, 0..n_together, factors, start);
                some::<N, 1>(run, n_together..run.n, factors, start);
            }
        }
    }

    /// Some products of a run, `M` in turn.
    ///
    /// # Safety
    /// From `start` on there are all places of the run and those before it, the factors are those of the run, and `which` are as many
    /// times `M` of its products.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn some<const N: usize, const M: usize>(
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
                // SAFETY: there is such a factor, and it names a place that there is.
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
                while run.missing && register < N {
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

    /// # Safety
    /// There is something to read, and `N` is at most 4.
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

    /// # Safety
    /// There is a place to write to, and `N` is at most 4.
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
