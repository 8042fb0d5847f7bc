//! Other words for those of a game, so that no player can know it by its names.

use std::collections::{BTreeMap, BTreeSet};

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use crate::kif::{tokens, without_comments};

/// The words that mean something to the language itself, or to the protocol.
const KEPT: [&str; 21] = [
    "role", "init", "true", "next", "legal", "does", "goal", "terminal", "base", "input", "sees",
    "percept", "random", "distinct", "or", "and", "not", "<=", "nil", "_", "sees_xml",
];

/// A game's words and the ones that stand for them.
#[derive(Clone, Debug)]
pub struct Scrambler {
    there: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

impl Scrambler {
    /// Makes up a word for each of the rules' own, variables among them. Numbers stay.
    pub fn new(rules: &str, seed: u64) -> Scrambler {
        let rules = without_comments(rules);
        let words: BTreeSet<&str> = tokens(&rules).filter(|token| !is_kept(token)).collect();
        let mut rng = Rng::seed_from_u64(seed);
        // No new word is one of the old ones: half a translation would pass for a whole one.
        let taken: BTreeSet<String> = words.iter().map(|word| bare(word).to_lowercase()).collect();
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        for word in words {
            // Capitals differ between hosts; the same word in other capitals gets the same new one.
            let old = bare(word).to_lowercase();
            if there.contains_key(&old) {
                continue;
            }
            let new = std::iter::repeat_with(|| invented(&mut rng))
                .find(|new| !taken.contains(new) && !back.contains_key(new))
                .expect("there is no end of words");
            back.insert(new.clone(), bare(word).to_owned());
            there.insert(old, new);
        }
        Scrambler { there, back }
    }

    /// A text in the new words.
    pub fn scramble(&self, text: &str) -> String {
        translate(&without_comments(text), &self.there)
    }

    /// A text in the old words. Words that are not known stay.
    pub fn unscramble(&self, text: &str) -> String {
        translate(text, &self.back)
    }
}

fn is_kept(token: &str) -> bool {
    let is_number =
        token.strip_prefix(['-', '+']).unwrap_or(token).chars().all(|c| c.is_ascii_digit());
    matches!(token, "(" | ")") || is_number || KEPT.contains(&token.to_lowercase().as_str())
}

/// A variable without its mark.
fn bare(token: &str) -> &str {
    token.strip_prefix('?').unwrap_or(token)
}

fn translate(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut translated = String::with_capacity(text.len());
    for token in tokens(text) {
        if token != ")" && !translated.is_empty() && !translated.ends_with('(') {
            translated.push(' ');
        }
        match words.get(&bare(token).to_lowercase()) {
            Some(word) => {
                translated.extend(token.starts_with('?').then_some('?'));
                translated.push_str(word);
            }
            None => translated.push_str(token),
        }
    }
    translated
}

/// A word that can be said, and means nothing.
fn invented(rng: &mut Rng) -> String {
    const ONSETS: &[&str] =
        &["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "tr"];
    const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ou"];
    let n = rng.random_range(2..5);
    (0..n)
        .flat_map(|_| [ONSETS, VOWELS].map(|parts| parts[rng.random_range(0..parts.len())]))
        .collect()
}
