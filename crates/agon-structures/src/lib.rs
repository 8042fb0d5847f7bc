//! Finite relational structures, formulas with fixed points, counting and quantifiers over sets,
//! their evaluation and their normal forms. This is the logic of structure rewriting games (Kaiser
//! & Stafiniak 2010, 2011). The crate knows nothing about games.
//!
//! The example finds the last element of a path: the one without a successor.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_structures::evaluate::{Assignment, Evaluator, Limits};
//! use agon_structures::formula::{Definitions, Formula, Variable};
//! use agon_structures::structure::{Structure, Vocabulary};
//!
//! let mut vocabulary = Vocabulary::new();
//! let edge = vocabulary.add_relation("R", 2)?;
//! let vocabulary = Arc::new(vocabulary);
//! let mut path = Structure::new(vocabulary.clone());
//! let [a, b, c] = ["a", "b", "c"].map(|name| path.create(Some(name)).expect("names differ"));
//! path.add(edge, &[a, b])?;
//! path.add(edge, &[b, c])?;
//!
//! let [x, y] = ["x", "y"].map(Variable::new);
//! let last = Formula::not(Formula::exists([&y], Formula::atom("R", [&x, &y])));
//! let mut evaluator = Evaluator::new(vocabulary, Arc::new(Definitions::new()), Limits::default());
//! let query = evaluator.formula(&last, &[x])?;
//! let solutions = evaluator.solve(query, &path, &Assignment::new())?;
//! assert_eq!(solutions.iter().collect::<Vec<_>>(), [&[c]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! 1. [`structure`]: structures, their vocabularies and tuples.
//! 2. [`rational`]: exact numbers, the values of functions and terms.
//! 3. [`formula`]: formulas and terms, definitions, substitution, printing.
//! 4. [`evaluate`]: the evaluator, its oracle, and updates of solutions.
//! 5. [`normal_form`]: negation, disjunctive, prenex and type normal form.
#![forbid(unsafe_code)]

pub mod evaluate;
pub mod formula;
pub mod normal_form;
pub mod structure;

pub use agon_reals::{interrupt, rational};

#[cfg(test)]
pub(crate) mod tests;
