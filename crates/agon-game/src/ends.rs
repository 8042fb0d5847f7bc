//! Which moves end play at once.

use crate::Children;

/// The ends of play that are one step away from some states, family by family. Flat and reused, so that filling it allocates nothing once it has
/// grown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// By family: where its ends end.
    pub family_ends: Vec<usize>,
    /// By end: the number of the joint move that leads there, among those of its family; the last role's moves change fastest.
    pub choices: Vec<u32>,
    /// By end and role: what the role gets.
    pub payoffs: Vec<f64>,
    /// How many joint moves were looked at.
    pub n_looked_at: u64,
}

impl Ends {
    /// Forgets all of them but keeps the memory.
    pub fn clear(&mut self) {
        self.family_ends.clear();
        self.choices.clear();
        self.payoffs.clear();
        self.n_looked_at = 0;
    }

    /// The ends that are one step away from the state of this number.
    pub fn family(&self, index: usize) -> std::ops::Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.family_ends[before]);
        start..self.family_ends[index]
    }

    /// Takes down those of the children that have ended play, in place of what was known.
    pub fn note<S, M: Clone>(&mut self, children: &Children<S, M>) {
        self.clear();
        self.n_looked_at = children.len() as u64;
        for family in 0..children.family_ends.len() {
            for (choice, child) in children.family(family).enumerate() {
                if children.ended[child] {
                    self.choices.push(choice as u32);
                    self.payoffs.extend_from_slice(children.payoffs(child));
                }
            }
            self.family_ends.push(self.choices.len());
        }
    }
}
