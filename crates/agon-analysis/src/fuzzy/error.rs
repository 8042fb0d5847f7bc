//! The reasons why a game has no evaluation by fuzzy logic.

use std::fmt;

/// Reason why the goals of a game cannot be turned into an evaluation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FuzzyError {
    /// The possible goal values cannot be read from the rules without playing.
    UnknownGoalValues,
    /// The rules contain no reachable goal value of a role.
    NoGoalValue {
        /// The name of the role.
        role: String,
    },
    /// A role has more goal values than the evaluation supports.
    TooManyGoalValues {
        /// The number of goal values.
        n_values: usize,
        /// The maximum number.
        max_values: usize,
    },
    /// The reasoner cannot evaluate a part of a goal separately.
    UnsupportedQuery {
        /// The explanation of the reasoner.
        reason: String,
    },
}

impl fmt::Display for FuzzyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FuzzyError::UnknownGoalValues => {
                f.write_str("the possible goal values cannot be read from the rules")
            }
            FuzzyError::NoGoalValue { role } => {
                write!(f, "the rules contain no reachable goal value for {role}")
            }
            FuzzyError::TooManyGoalValues { n_values, max_values } => {
                write!(f, "a role has {n_values} goal values, more than {max_values}")
            }
            FuzzyError::UnsupportedQuery { reason } => {
                write!(f, "a part of a goal cannot be evaluated separately: {reason}")
            }
        }
    }
}

impl std::error::Error for FuzzyError {}
