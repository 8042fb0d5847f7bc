//! The options of an evaluation by fuzzy logic.

use std::time::Instant;

use super::Logic;

/// Options of a [`FuzzyEvaluation`](super::FuzzyEvaluation).
#[derive(Clone, PartialEq, Debug)]
pub struct FuzzyOptions {
    /// The fuzzy logic that combines degrees of truth.
    pub logic: Logic,
    /// The features that are used.
    pub features: Features,
    /// How several distances are combined, where several fluents could reach a target or several
    /// pairs could meet.
    pub aggregation: DistanceAggregation,
    /// Maximum depth of the tree of a goal.
    pub max_depth: usize,
    /// Maximum number of nodes of the tree of a goal.
    pub max_size: usize,
    /// Maximum number of steps that the reasoner takes for one state.
    pub max_steps: u64,
    /// Whether queries for the reasoner are compiled to formulas where possible. The values are the
    /// same either way.
    pub is_compiled: bool,
    /// Time at which expanding the goals ends. The parts that are left become queries for the
    /// reasoner.
    pub deadline: Option<Instant>,
}

impl Default for FuzzyOptions {
    fn default() -> FuzzyOptions {
        FuzzyOptions {
            logic: Logic::default(),
            features: Features::ALL,
            aggregation: DistanceAggregation::Nearest,
            max_depth: 8,
            max_size: 500,
            max_steps: 3_000_000,
            is_compiled: true,
            deadline: None,
        }
    }
}

/// The features of an evaluation. Each can be switched off, as in the handicapped players of
/// Michulke 2011.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Features {
    /// Solutions of expressions with variables are counted.
    pub cardinality: bool,
    /// Comparisons along an order have degrees.
    pub order: bool,
    /// Two fluents that must meet are valued by their distance.
    pub between: bool,
    /// A fluent is valued by the distance to it along a line of numbers.
    pub natural: bool,
    /// A fluent is valued by the distance to it along any other graph.
    pub graph: bool,
    /// Persistent fluents have the degrees 1 and 0.
    pub persistence: bool,
}

impl Features {
    /// All features.
    pub const ALL: Features = Features {
        cardinality: true,
        order: true,
        between: true,
        natural: true,
        graph: true,
        persistence: true,
    };
    /// No features: plain fuzzy logic.
    pub const NONE: Features = Features {
        cardinality: false,
        order: false,
        between: false,
        natural: false,
        graph: false,
        persistence: false,
    };
}

/// How several distances are combined.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DistanceAggregation {
    /// The shortest distance counts.
    Nearest,
    /// The mean of the degrees counts.
    Mean,
}
