//! Finite relational structures, formulas of first-order logic with counting over them, their evaluation and normal forms.
#![forbid(unsafe_code)]

pub mod evaluate;
pub mod formula;
pub mod normal_form;
pub mod rational;
pub mod structure;

#[cfg(test)]
pub(crate) mod tests;
