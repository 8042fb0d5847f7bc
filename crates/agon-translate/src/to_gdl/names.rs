//! Words of GDL for the names of a structure rewriting game.
//!
//! GDL takes capitals for no difference and has words of its own, so not every name can stay. Moves, elements and roles keep
//! theirs unless a keyword is in the way, since that is what players send each other; relations give way to them.

use std::collections::{BTreeMap, BTreeSet};

use agon_toss::arena::{CheckedArena, Effect};

/// Words that mean something to GDL, or to the translation.
const KEYWORDS: [&str; 19] = [
    "role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input", "sees",
    "percept", "distinct", "not", "or", "and", "random", "noop", "to",
];

/// The words given out so far.
pub(super) struct Names {
    /// In lower case.
    taken: BTreeSet<String>,
    /// Constants by their names in lower case: one spelling for all that differ in capitals alone.
    constants: BTreeMap<String, String>,
    /// Words that could not stay: the new one in lower case, and what it stands for.
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// With all that is said in moves in its place.
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
        // What new elements will be called.
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
                    names.keep(&format!("{}_{number}", variable.name()), "element")
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

    /// The word for something that moves or states name.
    pub(super) fn constant(&self, name: &str) -> String {
        self.constants.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// A word that nothing else is called, like the one wished.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let mut word = wish.to_owned();
        let mut number = 2;
        while !self.taken.insert(word.to_lowercase()) {
            word = format!("{wish}_{number}");
            number += 1;
        }
        word
    }

    /// Whether all names that moves and states tell have stayed, and those of the translation are what they were meant to be.
    pub(super) fn is_plain(&self) -> bool {
        let ours = ["location_2", "element_2", "applied_2"];
        self.renamed.is_empty() && !ours.iter().any(|word| self.taken.contains(*word))
    }

    /// The words that could not stay, and what they stand for.
    pub(super) fn renamed(self) -> BTreeMap<String, String> {
        self.renamed
    }
}
