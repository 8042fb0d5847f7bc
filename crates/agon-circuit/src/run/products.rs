//! Products of numbers for several states side by side, for fuzzy logic over a circuit.

use crate::Backend;
use crate::native::{self, simd};

/// A number for each of several states.
#[derive(Copy, Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Wide(pub [f64; Wide::LANES]);

impl Wide {
    /// Number of states. 16 numbers are four AVX2 registers: enough to make the cost per product
    /// small, and few enough that networks of some thousand products stay in the second level of
    /// cache.
    pub const LANES: usize = 16;

    /// Returns the same number in all lanes.
    pub const fn all(number: f64) -> Wide {
        Wide([number; Wide::LANES])
    }
}

/// A sequence of products, each of given numbers and earlier products.
///
/// They come in runs of the same number of factors, so that the lengths of loops are predictable.
/// Invariants, on which native code relies: the places of a run follow those before it and end
/// before `n_places`. All factors of a run exist and name places below its first.
#[derive(Clone, Debug)]
pub struct Products {
    n_places: usize,
    runs: Vec<Run>,
    factors: Vec<u32>,
    /// Whether the processor has the instructions of native code.
    is_native: bool,
}

/// The value that a run computes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// The product of the factors.
    Product,
    /// One minus the product of the factors.
    Complement,
}

/// Products of the same number of factors.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Run {
    /// The place of the first product. The others follow.
    pub(crate) first: usize,
    pub(crate) n: usize,
    /// Number of factors of each product, at least one.
    pub(crate) width: usize,
    /// The index of the first factor of the first product. The others follow.
    pub(crate) first_factor: usize,
    pub(crate) kind: RunKind,
}

impl Products {
    /// Returns an empty sequence over `n_given` given numbers.
    pub fn new(n_given: usize) -> Products {
        let is_native = native::is_available();
        Products { n_places: n_given, runs: Vec::new(), factors: Vec::new(), is_native }
    }

    /// Adds products of `width` factors each, named by their places. Returns the place of the first
    /// product. The others follow.
    ///
    /// # Panics
    /// If a factor does not exist yet, or if the number of factors is not a multiple of `width`.
    pub fn push_run(&mut self, width: usize, factors: &[u32], kind: RunKind) -> usize {
        let first = self.n_places;
        assert!(width > 0 && factors.len().is_multiple_of(width), "every product has its factors");
        assert!(
            factors.iter().all(|&factor| (factor as usize) < first),
            "factors exist before their product"
        );
        let run =
            Run { first, n: factors.len() / width, width, first_factor: self.factors.len(), kind };
        self.factors.extend_from_slice(factors);
        self.n_places += run.n;
        self.runs.push(run);
        first
    }

    /// Returns the number of places: given numbers and products.
    pub fn n_places(&self) -> usize {
        self.n_places
    }

    /// Returns the number of factors of all products.
    pub fn n_factors(&self) -> usize {
        self.factors.len()
    }

    /// Computes all products in the first `n_lanes` lanes, from the given numbers in the first
    /// places. Other lanes may be computed or not.
    ///
    /// Both backends multiply in the same order, so they agree to the last bit.
    ///
    /// # Panics
    /// If there are fewer places than products and given numbers, or more lanes than
    /// [`Wide::LANES`].
    pub fn compute(&self, values: &mut [Wide], n_lanes: usize, backend: Backend) {
        assert!(values.len() >= self.n_places, "there is a place for each product");
        assert!(n_lanes <= Wide::LANES, "there are at most 16 lanes");
        if self.is_native && backend == Backend::Native {
            simd::multiply(self, values, n_lanes);
        } else {
            simd::multiply_portably(&self.runs, &self.factors, values);
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
