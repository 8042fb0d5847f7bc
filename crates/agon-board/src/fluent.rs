//! Fluents with atomic arguments.

use agon_game::kif::tokens;

/// A fluent whose arguments are all atoms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flat<'a> {
    pub(crate) relation: &'a str,
    pub(crate) arguments: Vec<&'a str>,
}

impl Flat<'_> {
    /// Parses a fluent. Returns `None` if an argument is a compound term.
    pub(crate) fn new(fluent: &str) -> Option<Flat<'_>> {
        let mut tokens: Vec<&str> = tokens(fluent).collect();
        if tokens.first() == Some(&"(") && tokens.last() == Some(&")") {
            tokens = tokens[1..tokens.len() - 1].to_vec();
        }
        let is_flat = !tokens.iter().any(|token| matches!(*token, "(" | ")"));
        let (relation, arguments) = tokens.split_first()?;
        is_flat.then(|| Flat { relation, arguments: arguments.to_vec() })
    }
}
