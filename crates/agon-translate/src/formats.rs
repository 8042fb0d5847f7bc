//! Rules in the languages of other tools: graphs for Graphviz, logic programs for answer set solvers.

pub mod asp;
pub mod dot;
#[cfg(test)]
mod tests;
