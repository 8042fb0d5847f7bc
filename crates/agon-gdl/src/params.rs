//! Parametrised rulesheets: see [`agon_text::params`]. This module knows the two notations of GDL.

#[cfg(test)]
mod tests;

use agon_text::params::{self, Notation};
pub use agon_text::params::{Expanded, Param, Settings};
use agon_text::{Diagnostics, Source};

use crate::read::guess_syntax;
use crate::syntax::Syntax;

/// Returns the parameters that a rulesheet declares, in the order of the text, and what is wrong
/// with the declarations.
pub fn declarations(source: &Source) -> (Vec<Param>, Diagnostics) {
    params::declarations(source, Notation::Kif)
}

/// Expands a rulesheet with the declared values, except for those in `settings`. Returns `None` if
/// the text is plain already and nothing is set.
///
/// # Errors
/// If a declaration or an expression is wrong, or a setting does not fit the declarations.
pub fn expand(source: &Source, settings: &Settings) -> Result<Option<Expanded>, Diagnostics> {
    let notation = match guess_syntax(&without_braces(source.text())) {
        Syntax::Kif => Notation::Kif,
        Syntax::Infix => Notation::Infix,
    };
    params::expand(source, settings, notation)
}

/// Returns a text without braces that has the syntax of the parametrised one: numbers in place of
/// expressions, and blocks without their ranges.
fn without_braces(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let is_open = rest[at..].starts_with('{');
        rest = &rest[at + 1..];
        if let Some(end) = rest.find(['{', '}', ':']).filter(|_| is_open) {
            let is_block = rest[end..].starts_with(':');
            plain.push_str(if is_block { " " } else { "1" });
            rest = &rest[end + usize::from(!rest[end..].starts_with('{'))..];
        }
    }
    plain.push_str(rest);
    plain
}
