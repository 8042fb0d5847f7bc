//! Dense numbers for moves, so that statistics about moves can be kept in flat tables.

use std::hash::{Hash, Hasher};

use agon_game::Role;
use hashbrown::HashTable;

use super::hashing::Mixer;

/// Moves of roles, numbered in the order in which they are first met.
#[derive(Clone, Debug)]
pub(crate) struct Numbering<M> {
    moves: Vec<(Role, M)>,
    index: HashTable<u32>,
}

impl<M: Clone + Eq + Hash> Numbering<M> {
    pub(crate) fn new() -> Numbering<M> {
        Numbering { moves: Vec::new(), index: HashTable::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns the role that makes the move with this number.
    pub(crate) fn role(&self, number: u32) -> Role {
        self.moves[number as usize].0
    }

    /// Returns the move with this number.
    pub(crate) fn get(&self, number: u32) -> &M {
        &self.moves[number as usize].1
    }

    /// Returns the number of a move. A move that has none is given the next free one.
    pub(crate) fn number(&mut self, role: Role, m: &M) -> u32 {
        let moves = &self.moves;
        let is_same = |&number: &u32| {
            let (known_role, known) = &moves[number as usize];
            *known_role == role && known == m
        };
        if let Some(&number) = self.index.find(hash_of(role, m), is_same) {
            return number;
        }
        let number = self.moves.len() as u32;
        self.moves.push((role, m.clone()));
        let moves = &self.moves;
        self.index.insert_unique(hash_of(role, m), number, |&known| {
            let (role, m) = &moves[known as usize];
            hash_of(*role, m)
        });
        number
    }
}

fn hash_of<M: Hash>(role: Role, m: &M) -> u64 {
    let mut hasher = Mixer::default();
    role.hash(&mut hasher);
    m.hash(&mut hasher);
    hasher.finish()
}
