//! Replaces the names in the rules of a game, so that a player cannot recognise the game by them.

use std::collections::{BTreeMap, BTreeSet};

use agon_game::Rng;
use agon_game::kif::{tokens, without_comments};
use rand::{RngExt as _, SeedableRng as _};

/// Words that have a meaning in the language or in the protocol. They are not replaced.
const KEPT: [&str; 21] = [
    "role", "init", "true", "next", "legal", "does", "goal", "terminal", "base", "input", "sees",
    "percept", "random", "distinct", "or", "and", "not", "<=", "nil", "_", "sees_xml",
];

/// A replacement for each name in the rules of a game.
///
/// # Example
/// ```
/// use agon_ggp::Scrambler;
///
/// let rules = "(role white) (init (cell 1))";
/// let scrambler = Scrambler::new(rules, 7);
/// let scrambled = scrambler.scramble(rules);
/// assert!(!scrambled.contains("white"));
/// assert_eq!(scrambler.unscramble(&scrambled), rules);
/// ```
#[derive(Clone, Debug)]
pub struct Scrambler {
    forward: BTreeMap<String, String>,
    backward: BTreeMap<String, String>,
}

impl Scrambler {
    /// Invents a word for each name and variable in the rules. Numbers are not replaced.
    pub fn new(rules: &str, seed: u64) -> Scrambler {
        let rules = without_comments(rules);
        let words: BTreeSet<&str> = tokens(&rules).filter(|token| !is_kept(token)).collect();
        let mut rng = Rng::seed_from_u64(seed);
        // No new word is an old one, so that a name that was not replaced cannot be mistaken for a
        // replaced one.
        let taken: BTreeSet<String> = words.iter().map(|word| bare(word).to_lowercase()).collect();
        let (mut forward, mut backward) = (BTreeMap::new(), BTreeMap::new());
        for word in words {
            // Hosts differ in capitalisation, so words that differ only in that get the same new
            // word.
            let old = bare(word).to_lowercase();
            if forward.contains_key(&old) {
                continue;
            }
            let new = std::iter::repeat_with(|| invented(&mut rng))
                .find(|new| !taken.contains(new) && !backward.contains_key(new))
                .expect("there are more words than any rules have names");
            backward.insert(new.clone(), bare(word).to_owned());
            forward.insert(old, new);
        }
        Scrambler { forward, backward }
    }

    /// Returns a text with the new words. Comments are removed.
    pub fn scramble(&self, text: &str) -> String {
        translate(&without_comments(text), &self.forward)
    }

    /// Returns a text with the original words. Unknown words are not changed.
    pub fn unscramble(&self, text: &str) -> String {
        translate(text, &self.backward)
    }
}

fn is_kept(token: &str) -> bool {
    let is_number =
        token.strip_prefix(['-', '+']).unwrap_or(token).chars().all(|c| c.is_ascii_digit());
    matches!(token, "(" | ")") || is_number || KEPT.contains(&token.to_lowercase().as_str())
}

/// Returns a variable without its question mark.
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

/// Returns a pronounceable word without meaning.
fn invented(rng: &mut Rng) -> String {
    const ONSETS: &[&str] =
        &["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "tr"];
    const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ou"];
    let n = rng.random_range(2..5);
    (0..n)
        .flat_map(|_| [ONSETS, VOWELS].map(|parts| parts[rng.random_range(0..parts.len())]))
        .collect()
}
