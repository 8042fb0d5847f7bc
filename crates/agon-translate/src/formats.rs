//! Exports to the input formats of other tools: graphs for Graphviz and logic programs for answer
//! set solvers.

pub mod asp;
pub mod dot;
#[cfg(test)]
mod tests;
