//! GDL words for the names of a structure rewriting game.
//!
//! GDL ignores capitalisation and has keywords, so not every name can stay. Moves, elements and
//! roles keep their names unless they are keywords, because players send these names to each other.
//! Relations are renamed if they clash with them.

use std::collections::{BTreeMap, BTreeSet};

use agon_toss::arena::{CheckedArena, Effect};

/// Words with a meaning in GDL or in the translation.
const KEYWORDS: [&str; 19] = [
    "role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input", "sees",
    "percept", "distinct", "not", "or", "and", "random", "noop", "to",
];

/// The words that are in use.
pub(super) struct Names {
    /// Used words in lower case.
    taken: BTreeSet<String>,
    /// Constants by their lower-case names: one spelling for all names that differ only in
    /// capitalisation.
    constants: BTreeMap<String, String>,
    /// For each word that had to be changed, in lower case: the original word.
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// Reserves the words of all names that occur in moves.
    pub(super) fn new(arena: &CheckedArena, pool: usize) -> Names {
        let taken = KEYWORDS.iter().map(|word| (*word).to_owned()).collect();
        let mut names = Names { taken, constants: BTreeMap::new(), renamed: BTreeMap::new() };
        for (index, player) in arena.players().iter().enumerate() {
            if Some(index) == arena.nature() {
                names.constants.insert(player.to_lowercase(), player.clone());
            } else {
                names.keep(player, "player");
            }
        }
        arena.rules().iter().for_each(|rule| names.keep(&rule.name, "rule"));
        let start = arena.start();
        start.elements().for_each(|element| names.keep(start.name(element), "element"));
        // The names of new elements.
        for rule in arena.rules() {
            let Effect::Rewrite(rewrite) = &rule.effect else { continue };
            for variable in rewrite
                .right
                .iter()
                .zip(&rewrite.keeps)
                .filter(|(_, keeps)| !**keeps)
                .map(|(v, _)| v)
            {
                (1..=pool).for_each(|number| {
                    names.keep(&format!("{}_{number}", variable.name()), "element");
                });
            }
        }
        arena.locations().iter().for_each(|location| names.keep(&location.name, "location"));
        names
    }

    fn keep(&mut self, name: &str, kind: &str) {
        let key = name.to_lowercase();
        if self.constants.contains_key(&key) {
            return;
        }
        if self.taken.insert(key.clone()) {
            self.constants.insert(key, name.to_owned());
            return;
        }
        let word = self.fresh(&format!("{name}_{kind}"));
        self.renamed.insert(word.to_lowercase(), name.to_owned());
        self.constants.insert(key, word);
    }

    /// Returns the word for a name that occurs in moves or states.
    pub(super) fn constant(&self, name: &str) -> String {
        self.constants.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Returns an unused word that resembles `wish`.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let mut word = wish.to_owned();
        let mut number = 2;
        while !self.taken.insert(word.to_lowercase()) {
            word = format!("{wish}_{number}");
            number += 1;
        }
        word
    }

    /// Returns whether all names in moves and states are unchanged, and the auxiliary names have
    /// their preferred form.
    pub(super) fn is_plain(&self) -> bool {
        let ours = ["location_2", "element_2", "applied_2"];
        self.renamed.is_empty() && !ours.iter().any(|word| self.taken.contains(*word))
    }

    /// Returns the changed words with their original words.
    pub(super) fn renamed(self) -> BTreeMap<String, String> {
        self.renamed
    }
}
