//! Fluents and moves taken apart: the shape of the term and its atomic arguments.

use agon_game::kif::tokens;

/// A term whose atoms are separated from its shape: `(at (pos 1 2) x)` has the skeleton
/// `(at (pos _ _) _)` and the arguments `1 2 x`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flat {
    /// The term with `_` for every argument that is an atom.
    pub(crate) skeleton: String,
    /// The outermost name.
    pub(crate) relation: String,
    /// The atoms, from left to right.
    pub(crate) arguments: Vec<String>,
}

/// Maximum number of arguments. Longer terms, such as lists of all cells, are not taken apart.
const MAX_ARGUMENTS: usize = 24;

impl Flat {
    /// Parses a term. Returns `None` if it is empty or has too many arguments.
    pub(crate) fn parse(text: &str) -> Option<Flat> {
        let mut skeleton = String::new();
        let mut arguments = Vec::new();
        let mut relation = None;
        let mut is_function = false;
        for token in tokens(text) {
            let is_open = token == "(";
            if !skeleton.is_empty() && !skeleton.ends_with('(') && token != ")" {
                skeleton.push(' ');
            }
            match token {
                "(" | ")" => skeleton.push_str(token),
                name if is_function || relation.is_none() => {
                    relation.get_or_insert_with(|| name.to_owned());
                    skeleton.push_str(name);
                }
                atom => {
                    skeleton.push('_');
                    arguments.push(atom.to_owned());
                }
            }
            is_function = is_open;
        }
        (arguments.len() <= MAX_ARGUMENTS).then_some(())?;
        Some(Flat { skeleton, relation: relation?, arguments })
    }

    /// Returns the names inside of the skeleton, without the outermost one.
    pub(crate) fn inner_names(&self) -> Vec<&str> {
        let words = self.skeleton.split([' ', '(', ')']).filter(|word| !word.is_empty());
        words.filter(|word| *word != "_").skip(1).collect()
    }
}

/// Returns a term in words: without parentheses, and with spaces for the separators in names.
pub(crate) fn words(text: &str) -> String {
    let spaced: String =
        text.chars().map(|c| if matches!(c, '(' | ')' | '_') { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_the_shape_from_the_atoms() {
        let flat = Flat::parse("(at (pos 1 2) x)").expect("it is a term");
        assert_eq!(flat.skeleton, "(at (pos _ _) _)");
        assert_eq!(flat.relation, "at");
        assert_eq!(flat.arguments, ["1", "2", "x"]);
        assert_eq!(flat.inner_names(), ["pos"]);
        let atom = Flat::parse("bidding").expect("it is an atom");
        assert_eq!((atom.skeleton.as_str(), atom.arguments.len()), ("bidding", 0));
        assert_eq!(Flat::parse("  "), None);
    }
}
