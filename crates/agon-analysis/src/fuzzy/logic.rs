//! Fuzzy logics: degrees of truth and how they are combined.

/// A t-norm with its co-norm.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum TNorm {
    /// Product and probabilistic sum.
    Product,
    /// The family of Yager. The larger its parameter, the closer to minimum and maximum.
    Yager {
        /// At least 1.
        q: f64,
    },
}

/// How the number of solutions of an expression becomes a degree of truth.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cardinality {
    /// The disjunction of all instances, the formula of Michulke 2011: `n` true and `m` false
    /// instances have the degree of `n` disjuncts that hold and `m` that do not. The degree of
    /// falsity shrinks by a constant factor with each solution, so that the first solutions count
    /// most, and many false instances alone have a high degree.
    Disjunction,
    /// No solution counts as false, one solution as true, and further solutions increase the degree
    /// linearly. Unlike the formula of the paper, large counts differ by the same amounts as small
    /// ones, and instances that do not hold add nothing.
    Graded,
    /// The degree is proportional to the share of the possible solutions that exist.
    Share,
}

/// A fuzzy logic.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Logic {
    /// How degrees of truth are combined.
    pub norm: TNorm,
    /// The degree of a fluent that holds, from 0.5 to 1. A fluent that does not hold has the
    /// complement to 1.
    pub truth: f64,
    /// How numbers of solutions become degrees.
    pub cardinality: Cardinality,
}

/// A degree of truth with its complement. Both are stored, so that each is exact however small it
/// is. In a conjunction of twenty cells, one more correct cell still makes a difference, and also
/// in its negation.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Degree {
    /// The degree of truth.
    pub(crate) truth: f64,
    /// The degree of falsity. Truth and falsity add up to 1.
    pub(crate) falsity: f64,
}

impl Degree {
    /// Completely true.
    pub(crate) const TRUE: Degree = Degree { truth: 1.0, falsity: 0.0 };
    /// Completely false.
    pub(crate) const FALSE: Degree = Degree { truth: 0.0, falsity: 1.0 };

    /// Returns the degree with this truth.
    #[inline]
    pub(crate) fn of(truth: f64) -> Degree {
        Degree { truth, falsity: 1.0 - truth }
    }
}

impl std::ops::Not for Degree {
    type Output = Degree;

    #[inline]
    fn not(self) -> Degree {
        Degree { truth: self.falsity, falsity: self.truth }
    }
}

impl Default for Logic {
    fn default() -> Logic {
        Logic::PRODUCT
    }
}

impl Logic {
    /// Product and probabilistic sum, with the degrees 0.9 and 0.1.
    pub const PRODUCT: Logic =
        Logic { norm: TNorm::Product, truth: 0.9, cardinality: Cardinality::Disjunction };
    /// Yager's family with the parameters recommended for Fluxplayer.
    pub const YAGER: Logic = Logic {
        norm: TNorm::Yager { q: 15.0 },
        truth: 0.775,
        cardinality: Cardinality::Disjunction,
    };

    /// Returns the degree of a fluent that holds or does not hold.
    pub(crate) fn fuzzy(&self, holds: bool) -> f64 {
        if holds { self.truth } else { 1.0 - self.truth }
    }

    /// Returns the conjunction of two degrees.
    #[inline]
    #[must_use]
    pub(crate) fn and(&self, a: Degree, b: Degree) -> Degree {
        !self.or(!a, !b)
    }

    /// Returns the disjunction of two degrees.
    #[inline]
    #[must_use]
    pub(crate) fn or(&self, a: Degree, b: Degree) -> Degree {
        match self.norm {
            // Truth and falsity are computed separately: `1 - truth` would lose small values.
            TNorm::Product => {
                Degree { truth: a.truth + b.truth * a.falsity, falsity: a.falsity * b.falsity }
            }
            TNorm::Yager { q } => {
                // If one operand is false, the result is the other. This is exact, and frequent.
                if a.truth == 0.0 {
                    return b;
                }
                if b.truth == 0.0 {
                    return a;
                }
                Degree::of(
                    libm::pow(libm::pow(a.truth, q) + libm::pow(b.truth, q), 1.0 / q).min(1.0),
                )
            }
        }
    }

    /// Returns the degree of an expression with `n_instances` possible solutions of which `n_true`
    /// exist. However many exist, the degree is below 1 unless a fluent that holds has the degree
    /// 1: solutions may be lost again.
    pub(crate) fn generalised_or(&self, n_true: usize, n_instances: usize) -> Degree {
        let n_instances = n_instances.max(n_true).max(1);
        let (n_true, n_false) = (n_true as f64, (n_instances - n_true) as f64);
        let (truth, untruth) = (self.truth, 1.0 - self.truth);
        let degree = match self.cardinality {
            Cardinality::Disjunction => match self.norm {
                // Truth and falsity are computed separately: `1 - truth` would lose small values.
                TNorm::Product => {
                    let falsity = libm::pow(untruth, n_true) * libm::pow(truth, n_false);
                    Degree { truth: 1.0 - falsity, falsity }
                }
                TNorm::Yager { q } => {
                    let sum = n_true * libm::pow(truth, q) + n_false * libm::pow(untruth, q);
                    Degree::of(libm::pow(sum, 1.0 / q).min(1.0))
                }
            },
            Cardinality::Graded if n_true == 0.0 => Degree::of(untruth),
            Cardinality::Graded => {
                Degree::of(truth + (1.0 - truth) * (n_true - 1.0) / n_instances as f64)
            }
            Cardinality::Share => {
                Degree::of(untruth + (truth - untruth) * n_true / n_instances as f64)
            }
        };
        match degree.falsity == 0.0 && truth < 1.0 {
            true => Degree { truth: 1.0 - f64::EPSILON, falsity: f64::MIN_POSITIVE },
            false => degree,
        }
    }
}
