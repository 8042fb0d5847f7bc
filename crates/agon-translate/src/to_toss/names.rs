//! Unique names that are valid in the language.

use std::collections::BTreeSet;

/// Reserved words of the language.
const RESERVED: &[&str] = &[
    "and", "or", "not", "ex", "all", "true", "false", "in", "let", "tc", "lfp", "gfp", "emb",
    "pre", "post", "inv", "with", "before", "sum", "prod", "min", "max", "elems", "match", "rels",
    "rule", "rel", "loc", "player", "players", "payoff", "moves", "start", "model", "state",
    "data", "time", "history", "dynamics", "update", "to", "noop",
];

/// Assigns names, each only once regardless of capitalisation.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    style: Style,
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum Style {
    /// Starts with a lower-case letter.
    #[default]
    Small,
    /// Starts with a capital.
    Capital,
    /// May be a number.
    Element,
}

impl Names {
    pub(super) fn of_relations() -> Names {
        Names { taken: BTreeSet::new(), style: Style::Capital }
    }

    pub(super) fn of_rules() -> Names {
        Names { taken: BTreeSet::new(), style: Style::Capital }
    }

    pub(super) fn of_players() -> Names {
        Names { taken: BTreeSet::new(), style: Style::Small }
    }

    pub(super) fn of_elements() -> Names {
        Names { taken: BTreeSet::new(), style: Style::Element }
    }

    /// Returns an unused name that is close to `wanted`.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let mut plain = String::new();
        for c in wanted.chars() {
            match c {
                c if c.is_ascii_alphanumeric() => plain.push(c),
                '-' if plain.is_empty() => plain.push('m'),
                '+' => plain.push_str("plus"),
                '(' | ')' | '?' => {}
                _ if !plain.ends_with('_') => plain.push('_'),
                _ => {}
            }
        }
        let plain = plain.trim_matches('_');
        let mut name = match self.style {
            Style::Element => plain.to_lowercase(),
            Style::Small => with_first(plain, |c| c.to_ascii_lowercase()),
            Style::Capital => with_first(plain, |c| c.to_ascii_uppercase()),
        };
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        if !(starts_well || self.style == Style::Element && is_number) {
            let prefix = if self.style == Style::Capital { "N" } else { "n" };
            name = format!("{prefix}{name}");
        }
        if RESERVED.contains(&name.to_lowercase().as_str()) {
            name.push('_');
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !self.taken.insert(unique.to_lowercase()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }
}

fn with_first(text: &str, change: impl Fn(char) -> char) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| std::iter::once(change(first)).chain(letters).collect())
}
