//! Material: how many facts of each kind hold, where kinds are found from states of random play.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_game::{Notation, Rng};
use rand::SeedableRng as _;

use super::Expert;
use crate::sample::Sample;
use crate::units;

/// A kind of facts that is counted: a content of the cells of a board, such as a white pawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The content, in the words of the rules.
    pub name: String,
    /// The numbers of its facts, as [`agon_game::Position::features`] has them.
    pub facts: Vec<u32>,
}

/// Number of states of random play from which kinds are found.
const N_SAMPLED: usize = 1000;
/// Maximum number of kinds. A game with more has pieces with names of their own.
const MAX_KINDS: usize = 40;

/// Finds the kinds of facts of a game that can be counted and whose number changes. The list is
/// empty if the engine does not keep states as bits.
pub fn kinds<P: Notation>(start: &P, seed: u64) -> Vec<Kind> {
    let texts = start.feature_texts();
    if texts.is_empty() || start.is_terminal() {
        return Vec::new();
    }
    let sample = Sample::draw(start, N_SAMPLED, &mut Rng::seed_from_u64(seed), None);
    let words: Option<Vec<&[u64]>> = sample.states.iter().map(P::state_words).collect();
    let Some(words) = words else { return Vec::new() };
    let mut kinds: BTreeMap<(u32, String), Vec<u32>> = BTreeMap::new();
    for unit in units::find(&texts, &words) {
        let Some(cell) = unit.cell else { continue };
        let default = unit.default.iter().map(|(fact, content)| (*fact, content));
        let others = unit.facts.iter().copied().zip(&unit.contents);
        for (fact, content) in others.chain(default) {
            kinds.entry((cell.board, content.clone())).or_default().push(fact);
        }
    }
    let counts = |kind: &Kind| -> Vec<usize> {
        let count = |state: &&[u64]| kind.facts.iter().filter(|&&f| units::holds(state, f)).count();
        words.iter().map(count).collect()
    };
    let varies = |kind: &Kind| {
        let counts = counts(kind);
        counts.iter().any(|count| *count != counts[0])
    };
    let kinds = kinds.into_iter().map(|((_, name), facts)| Kind { name, facts });
    let mut found: Vec<Kind> = kinds.filter(|kind| kind.facts.len() > 1 && varies(kind)).collect();
    // Contents of two boards may have one name.
    for at in 1..found.len() {
        let n_before = found[..at].iter().filter(|kind| kind.name == found[at].name).count();
        if n_before > 0 {
            found[at].name.push_str(&format!(" (board {})", n_before + 1));
        }
    }
    if found.len() > MAX_KINDS { Vec::new() } else { found }
}

/// Counts the facts of a kind.
#[derive(Clone)]
pub struct Material {
    name: String,
    facts: Arc<[u64]>,
    held: Vec<u32>,
}

impl Material {
    /// Makes an expert that counts a kind.
    pub fn new(kind: &Kind) -> Material {
        let n_words = kind.facts.iter().map(|fact| fact / 64 + 1).max().unwrap_or(0);
        let mut mask = vec![0_u64; n_words as usize];
        kind.facts.iter().for_each(|fact| mask[*fact as usize / 64] |= 1 << (fact % 64));
        let name = format!("number of {}", kind.name);
        Material { name, facts: mask.into(), held: Vec::new() }
    }
}

impl<P: Notation> Expert<P> for Material {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_common(&self) -> bool {
        true
    }

    fn values(&mut self, position: &P, values: &mut [f64]) {
        let count: u32 = match P::state_words(position.state()) {
            Some(words) => words.iter().zip(&*self.facts).map(|(a, b)| (a & b).count_ones()).sum(),
            None => {
                position.features(&mut self.held);
                let is_counted = |fact: &&u32| {
                    let word = self.facts.get(**fact as usize / 64);
                    word.is_some_and(|word| word >> (*fact % 64) & 1 == 1)
                };
                self.held.iter().filter(is_counted).count() as u32
            }
        };
        values[0] = f64::from(count);
    }

    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(self.clone())
    }
}
