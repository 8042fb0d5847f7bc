//! Groups: the choices of one role at a node.

use std::ops::{Index, Range};

use agon_game::Role;

use super::super::node::{Node, NodeKind};
use super::super::reserve::Growth;

/// The arms of one role at a node.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) role: Role,
    /// The first arm, counted from the first one of the node.
    pub(crate) first: u32,
    /// The number of arms.
    pub(crate) n: u32,
    /// For nature: the first entry among the chances. For a player, where several roles choose and
    /// regret matching is used: the first entry among the regrets.
    pub(crate) first_extra: u32,
}

impl Group {
    /// Returns the arms, counted from the first one of the node.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }

    #[inline]
    fn extras(&self) -> Range<usize> {
        self.first_extra as usize..self.first_extra as usize + self.n as usize
    }
}

/// The statistics of regret matching for an arm.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct RegretEntry {
    /// How much more this move would have paid so far, never below zero.
    pub(crate) regret: f64,
    /// The sum of the probabilities with which it was drawn.
    pub(crate) strategy: f64,
}

/// All groups, with the chances of nature's moves and the regrets of the players.
pub(crate) struct Groups {
    nature: Option<Role>,
    groups: Vec<Group>,
    /// By arm of nature: its probability.
    chances: Vec<f64>,
    /// By arm of players at nodes where several roles choose. Empty unless `has_regrets`.
    regrets: Vec<RegretEntry>,
    has_regrets: bool,
}

impl Index<usize> for Groups {
    type Output = Group;

    #[inline]
    fn index(&self, group: usize) -> &Group {
        &self.groups[group]
    }
}

impl Groups {
    pub(in crate::mcts::tree) fn new(nature: Option<Role>, has_regrets: bool) -> Groups {
        Groups { nature, groups: Vec::new(), chances: Vec::new(), regrets: Vec::new(), has_regrets }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the groups of a node.
    #[inline]
    pub(crate) fn of(&self, node: &Node) -> &[Group] {
        &self.groups[node.groups()]
    }

    /// Returns whether regret matching is used.
    #[inline]
    pub(crate) fn has_regrets(&self) -> bool {
        self.has_regrets
    }

    /// Returns the probabilities of the arms of a group of nature.
    #[inline]
    pub(crate) fn chances(&self, group: &Group) -> &[f64] {
        &self.chances[group.extras()]
    }

    /// Returns the regrets of the arms of a group of a player at a node of kind
    /// [`NodeKind::Joint`].
    #[inline]
    pub(crate) fn regrets(&self, group: &Group) -> &[RegretEntry] {
        &self.regrets[group.extras()]
    }

    /// Returns the regrets of the arms of a group for modification. See [`Groups::regrets`].
    #[inline]
    pub(crate) fn regrets_mut(&mut self, group: &Group) -> &mut [RegretEntry] {
        &mut self.regrets[group.extras()]
    }

    /// Adds a group of a new node. `chances` are the probabilities of its arms; they are ignored
    /// unless the group is nature's.
    #[inline]
    pub(in crate::mcts::tree) fn push(&mut self, group: &Group, chances: &[f64]) {
        let mut first_extra = 0;
        if Some(group.role) == self.nature {
            first_extra = self.chances.len() as u32;
            self.chances.extend_from_slice(chances);
        }
        self.groups.push(Group { first_extra, ..*group });
    }

    /// Makes the regrets of a node that gets arms.
    #[inline]
    pub(in crate::mcts::tree) fn make_regrets(&mut self, node: &Node) {
        if !self.has_regrets || node.kind != NodeKind::Joint {
            return;
        }
        for group in &mut self.groups[node.groups()] {
            if Some(group.role) != self.nature {
                group.first_extra = self.regrets.len() as u32;
                let n_regrets = self.regrets.len() + group.n as usize;
                self.regrets.resize(n_regrets, RegretEntry::default());
            }
        }
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node]) {
        let groups = std::mem::take(&mut self.groups);
        let chances = std::mem::take(&mut self.chances);
        let regrets = std::mem::take(&mut self.regrets);
        for node in nodes {
            let own = &groups[node.groups()];
            let has_regrets = self.has_regrets && node.kind == NodeKind::Joint && node.has_arms();
            node.first_group = self.groups.len() as u32;
            for mut group in own.iter().copied() {
                let extras = group.extras();
                if Some(group.role) == self.nature {
                    group.first_extra = self.chances.len() as u32;
                    self.chances.extend_from_slice(&chances[extras]);
                } else if has_regrets {
                    group.first_extra = self.regrets.len() as u32;
                    self.regrets.extend_from_slice(&regrets[extras]);
                }
                self.groups.push(group);
            }
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.groups);
        growth.reserve(&mut self.chances);
        growth.reserve(&mut self.regrets);
    }
}
