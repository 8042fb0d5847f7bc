//! Degrees of truth: what stands for true and false, and how they are combined.

/// A t-norm with its co-norm.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum TNorm {
    /// Product and probabilistic sum.
    Product,
    /// The family of Yager, with its parameter: the larger, the closer to minimum and maximum.
    Yager {
        /// At least 1.
        q: f64,
    },
}

/// How an expression with several solutions is valued.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cardinality {
    /// False without a solution, true with one, and truer the more of the possible solutions there are. Large counts
    /// stay apart from each other.
    Graded,
    /// As the disjunction of all instances, so many of them true: to the letter of the paper. With many instances it
    /// comes so close to 1 that nothing can be told apart.
    Disjunction,
    /// In proportion to the part of the possible solutions that there are.
    Share,
}

/// A fuzzy logic.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Logic {
    /// How degrees of truth are combined.
    pub norm: TNorm,
    /// What a fluent that holds is worth; one that does not is worth what is missing to 1. From 0.5 to 1.
    pub truth: f64,
    /// How solutions are counted.
    pub cardinality: Cardinality,
}

/// A degree of truth with what is missing to 1, so that both are exact however small they are: of twenty cells that must all
/// be right, one more or less still makes a difference, and so it does for the opposite.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Degree {
    /// How true it is.
    pub truth: f64,
    /// How false it is: 1 with the other.
    pub falsity: f64,
}

impl Degree {
    /// Wholly true.
    pub const TRUE: Degree = Degree { truth: 1.0, falsity: 0.0 };
    /// Wholly false.
    pub const FALSE: Degree = Degree { truth: 0.0, falsity: 1.0 };

    /// The degree of this much truth.
    #[inline]
    pub fn of(truth: f64) -> Degree {
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
    /// Product and probabilistic sum with 0.9 and 0.1.
    pub const PRODUCT: Logic =
        Logic { norm: TNorm::Product, truth: 0.9, cardinality: Cardinality::Graded };
    /// Yager's with the parameters that Fluxplayer recommends.
    pub const YAGER: Logic =
        Logic { norm: TNorm::Yager { q: 15.0 }, truth: 0.775, cardinality: Cardinality::Graded };

    /// What holds.
    pub fn fuzzy(&self, holds: bool) -> f64 {
        if holds { self.truth } else { 1.0 - self.truth }
    }

    /// Both.
    #[inline]
    #[must_use]
    pub fn and(&self, a: Degree, b: Degree) -> Degree {
        !self.or(!a, !b)
    }

    /// One or both.
    #[inline]
    #[must_use]
    pub fn or(&self, a: Degree, b: Degree) -> Degree {
        match self.norm {
            // Each side by itself: from the sum alone, nobody could tell what is missing to 1.
            TNorm::Product => {
                Degree { truth: a.truth + b.truth * a.falsity, falsity: a.falsity * b.falsity }
            }
            TNorm::Yager { q } => {
                // With one of them false the other is the answer; this is exact, and frequent.
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

    /// A disjunction of which so many are true and the others, of so many in all, are false.
    pub fn generalised_or(&self, n_true: usize, n_instances: usize) -> f64 {
        let n_instances = n_instances.max(n_true).max(1);
        let (n_true, n_false) = (n_true as f64, (n_instances - n_true) as f64);
        let (truth, lie) = (self.truth, 1.0 - self.truth);
        match self.cardinality {
            Cardinality::Disjunction => match self.norm {
                TNorm::Product => {
                    1.0 - libm::pow(1.0 - truth, n_true) * libm::pow(1.0 - lie, n_false)
                }
                TNorm::Yager { q } => {
                    let sum = n_true * libm::pow(truth, q) + n_false * libm::pow(lie, q);
                    libm::pow(sum, 1.0 / q).min(1.0)
                }
            },
            Cardinality::Graded if n_true == 0.0 => lie,
            Cardinality::Graded => truth + (1.0 - truth) * (n_true - 1.0) / n_instances as f64,
            Cardinality::Share => lie + (truth - lie) * n_true / n_instances as f64,
        }
    }
}
