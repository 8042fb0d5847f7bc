//! Finite relational structures, formulas of first-order logic with counting over them, their evaluation and normal forms.
#![forbid(unsafe_code)]

pub mod structure;
pub mod rational;
pub mod formula;
pub mod evaluate;
pub mod normal_form;

#[cfg(test)]
pub(crate) mod tests;
