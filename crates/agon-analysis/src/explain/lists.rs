//! Long lists of facts or moves as a few patterns: `(cell ?x ?y fire)` instead of 36 facts.

use std::collections::{BTreeMap, BTreeSet};

/// Names of the variables of a pattern.
const VARIABLES: [&str; 6] = ["?x", "?y", "?z", "?u", "?v", "?w"];

/// Minimum number of terms that are worth a pattern.
const MIN_TERMS: usize = 3;

/// A term as its atoms and its shape: the text with a mark in place of each atom.
struct Split<'t> {
    shape: String,
    atoms: Vec<&'t str>,
}

/// Stands for an atom in a shape.
const ATOM: char = '\u{1}';

impl<'t> Split<'t> {
    fn new(text: &'t str) -> Split<'t> {
        let mut shape = String::new();
        let mut atoms = Vec::new();
        let mut start = None;
        for (at, c) in text.char_indices() {
            if !"() ".contains(c) {
                start.get_or_insert(at);
                continue;
            }
            if let Some(from) = start.take() {
                atoms.push(&text[from..at]);
                shape.push(ATOM);
            }
            shape.push(c);
        }
        if let Some(from) = start {
            atoms.push(&text[from..]);
            shape.push(ATOM);
        }
        Split { shape, atoms }
    }

    /// Writes the term with variables in place of the arguments that `mask` does not give.
    fn pattern(&self, mask: u32) -> String {
        let mut names = VARIABLES.iter();
        let mut atoms = self.atoms.iter().enumerate();
        let mut text = String::new();
        for c in self.shape.chars() {
            match (c, c == ATOM) {
                (c, false) => text.push(c),
                (_, true) => match atoms.next() {
                    Some((at, atom)) if at == 0 || mask & (1 << (at - 1)) != 0 => {
                        text.push_str(atom);
                    }
                    _ => text.push_str(names.next().unwrap_or(&"?")),
                },
            }
        }
        text
    }
}

/// Describes terms by patterns whose instances among `all` are all in the list. Terms that no
/// pattern covers come last.
pub(super) fn patterns(terms: &[String], all: &[String]) -> Vec<String> {
    let split_all: Vec<Split<'_>> = all.iter().map(|text| Split::new(text)).collect();
    let mut found = Vec::new();
    let mut left = Vec::new();
    let mut forms: BTreeMap<(String, &str), Vec<Split<'_>>> = BTreeMap::new();
    for term in terms {
        let split = Split::new(term);
        match split.atoms.first() {
            Some(name) if split.atoms.len() - 1 <= VARIABLES.len() => {
                forms.entry((split.shape.clone(), name)).or_default().push(split);
            }
            _ => left.push(term.clone()),
        }
    }
    for ((shape, name), members) in forms {
        let of_form: Vec<&Split<'_>> = split_all
            .iter()
            .filter(|split| split.shape == shape && split.atoms.first() == Some(&name))
            .collect();
        let n_arguments = members[0].atoms.len() - 1;
        let mut open: BTreeSet<&[&str]> = members.iter().map(|m| m.atoms.as_slice()).collect();
        // Few given arguments first: the most general patterns.
        let mut masks: Vec<u32> = (0..1u32 << n_arguments).collect();
        masks.sort_by_key(|mask| mask.count_ones());
        for mask in masks {
            let key = |split: &Split<'_>| -> Vec<String> {
                let given = split.atoms[1..].iter().enumerate();
                let given = given.filter(|(at, _)| mask & (1 << at) != 0);
                given.map(|(_, atom)| (*atom).to_owned()).collect()
            };
            let mut n_of: BTreeMap<Vec<String>, usize> = BTreeMap::new();
            of_form.iter().for_each(|split| *n_of.entry(key(split)).or_default() += 1);
            let mut here: BTreeMap<Vec<String>, Vec<&Split<'_>>> = BTreeMap::new();
            members.iter().for_each(|split| here.entry(key(split)).or_default().push(split));
            for (given, covered) in here {
                let is_whole = n_of.get(&given) == Some(&covered.len());
                let is_new = covered.iter().any(|split| open.contains(split.atoms.as_slice()));
                if is_whole && covered.len() >= MIN_TERMS && is_new {
                    found.push(covered[0].pattern(mask));
                    for split in covered {
                        open.remove(split.atoms.as_slice());
                    }
                }
            }
        }
        let is_open = |split: &&Split<'_>| open.contains(split.atoms.as_slice());
        left.extend(members.iter().filter(is_open).map(|split| split.pattern(u32::MAX)));
    }
    found.extend(left);
    found
}

#[cfg(test)]
mod tests {
    use super::patterns;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn lists_become_the_most_general_patterns() {
        let all = texts(&[
            "(cell 1 1 x)",
            "(cell 1 2 x)",
            "(cell 2 1 x)",
            "(cell 1 1 b)",
            "(cell 1 2 b)",
            "(cell 2 1 b)",
            "(control x)",
            "done",
        ]);
        let x = texts(&["(cell 1 1 x)", "(cell 1 2 x)", "(cell 2 1 x)", "(control x)", "done"]);
        assert_eq!(patterns(&x, &all), ["(cell ?x ?y x)", "done", "(control x)"]);
        let all_cells: Vec<String> = all[..6].to_vec();
        assert_eq!(patterns(&all_cells, &all), ["(cell ?x ?y ?z)"]);
        let two = texts(&["(cell 1 1 x)", "(cell 2 1 x)"]);
        assert_eq!(patterns(&two, &all), ["(cell 1 1 x)", "(cell 2 1 x)"]);
        let nested =
            texts(&["(draw (h 1 1))", "(draw (h 1 2))", "(draw (h 2 1))", "(draw (v 1 1))"]);
        assert_eq!(patterns(&nested[..3], &nested), ["(draw (h ?x ?y))"]);
    }
}
