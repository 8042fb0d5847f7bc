//! Products of numbers, for several states side by side: what fuzzy logic over a circuit comes down to.

use crate::{Backend, jit};

/// A number for each of the states that stand side by side.
#[derive(Copy, Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Wide(pub [f64; Wide::LANES]);

impl Wide {
    /// How many states there are side by side. 16 numbers are four AVX2 registers: enough that what is done once for all of them costs
    /// little beside them, and few enough that networks of some thousand products stay in the second cache.
    pub const LANES: usize = 16;

    /// The same in all lanes.
    pub const fn all(number: f64) -> Wide {
        Wide([number; Wide::LANES])
    }
}

/// Products, in an order in which each is of numbers that are there by then: those that are given, and earlier products.
///
/// They come in runs of as many factors each, so that the processor knows how often its loops go round. Invariants, on which native code
/// relies: the places of a run follow those before it and end before `n_places`, its factors are there and name places below its first.
#[derive(Clone, Debug)]
pub struct Products {
    n_places: usize,
    runs: Vec<Run>,
    factors: Vec<u32>,
    /// Whether the processor has what native code needs.
    is_native: bool,
}

/// Products of as many factors each.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Run {
    /// Where the first product goes; the others follow.
    pub(crate) first: usize,
    pub(crate) n: usize,
    /// How many factors each has, at least one.
    pub(crate) width: usize,
    /// Where the factors of the first one are; those of the others follow.
    pub(crate) first_factor: usize,
    /// Whether what is missing to 1 is wanted instead of the product.
    pub(crate) missing: bool,
}

impl Products {
    /// No products, of so many numbers that are given.
    pub fn new(n_given: usize) -> Products {
        let is_native = jit::is_available();
        Products { n_places: n_given, runs: Vec::new(), factors: Vec::new(), is_native }
    }

    /// Adds products of `width` factors each, named by their places; `missing` asks for what each leaves to 1. Returns the place of
    /// the first, which the others follow.
    ///
    /// # Panics
    /// If a factor is not there by then, or if the last product has too few.
    pub fn push_run(&mut self, width: usize, factors: &[u32], missing: bool) -> usize {
        let first = self.n_places;
        assert!(width > 0 && factors.len().is_multiple_of(width), "every product has its factors");
        assert!(
            factors.iter().all(|&factor| (factor as usize) < first),
            "factors are there before"
        );
        let run = Run {
            first,
            n: factors.len() / width,
            width,
            first_factor: self.factors.len(),
            missing,
        };
        self.factors.extend_from_slice(factors);
        self.n_places += run.n;
        self.runs.push(run);
        first
    }

    /// How many places there are: what is given, and what is worked out.
    pub fn n_places(&self) -> usize {
        self.n_places
    }

    /// How many factors all products have.
    pub fn n_factors(&self) -> usize {
        self.factors.len()
    }

    /// Works all products out for the first `n_lanes` lanes, from what is given in the first places. Other lanes may be worked out or not.
    /// Both backends multiply in the same order, so they agree to the last bit.
    ///
    /// # Panics
    /// If there are fewer places than products and given numbers, or more lanes than [`Wide::LANES`].
    pub fn work_out(&self, values: &mut [Wide], n_lanes: usize, backend: Backend) {
        assert!(values.len() >= self.n_places, "there is a place for each product");
        assert!(n_lanes <= Wide::LANES, "there are no more lanes");
        if self.is_native && backend == Backend::Native {
            jit::multiply(self, values, n_lanes);
        } else {
            multiply_portably(&self.runs, &self.factors, values);
        }
    }

    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(crate) fn factors(&self) -> &[u32] {
        &self.factors
    }

    pub(crate) fn is_native(&self) -> bool {
        self.is_native
    }
}

/// Number by number, in the order of the factors.
fn multiply_portably(runs: &[Run], factors: &[u32], values: &mut [Wide]) {
    for run in runs {
        let (before, after) = values.split_at_mut(run.first);
        let factors = factors[run.first_factor..].chunks_exact(run.width);
        for (product, factors) in after[..run.n].iter_mut().zip(factors) {
            let mut so_far = before[factors[0] as usize].0;
            for &factor in &factors[1..] {
                let factor = &before[factor as usize].0;
                so_far.iter_mut().zip(factor).for_each(|(so_far, factor)| *so_far *= factor);
            }
            if run.missing {
                so_far.iter_mut().for_each(|so_far| *so_far = 1.0 - *so_far);
            }
            product.0 = so_far;
        }
    }
}
