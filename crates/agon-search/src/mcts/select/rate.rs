//! Asks the heuristic about moves in the tree: not as soon as the values would be useful, but for
//! many nodes at once.

use agon_game::Position;

use crate::mcts::heuristic::{ActionHeuristic, ActionValues};
use crate::mcts::options::MctsOptions;
use crate::mcts::simulate::Lockstep;
use crate::mcts::tree::{NodeId, NodeKind, Prospect, Tree};

impl<P: Position> Tree<P> {
    /// Adds a node to those whose moves are to be rated, if it is time for that. Returns whether to
    /// ask the heuristic now: enough nodes are due, or this one comes up again, so that its values
    /// will be used.
    pub(super) fn note_due(&mut self, id: NodeId, options: &MctsOptions) -> bool {
        if !self.is_due(id) {
            return false;
        }
        let n_due = self.priors.push_due(id);
        n_due.is_none_or(|n_due| n_due >= options.heuristic.abreast as usize)
    }

    /// Returns whether the moves at a node are to be rated: once, when all of them have been tried
    /// (Trutman 2015, section 4.4.2).
    fn is_due(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        if !node.has_arms()
            || node.kind == NodeKind::Terminal
            || node.visits < u64::from(node.n_arms)
        {
            return false;
        }
        let arms = node.arms();
        self.priors.is_unrated(arms.start)
            && self.nodes.state(id).is_some()
            && self.arms[arms].iter().all(|arm| arm.visits > 0 || arm.prospect != Prospect::Open)
    }

    /// Asks the heuristic about the moves at all nodes that are due.
    pub(super) fn rate_due(
        &mut self,
        lockstep: &mut Lockstep<P>,
        like: &P,
        heuristic: &mut dyn ActionHeuristic<P>,
        options: &MctsOptions,
    ) {
        let due = self.priors.take_due();
        for (slot, id) in due.iter().enumerate() {
            self.priors.set_unknown(self.nodes[*id].arms());
            if let Some(state) = self.nodes.state(*id) {
                lockstep.slot(slot, like).go_to(state);
            }
        }
        let mut values = ActionValues::default();
        let (mut slots, mut groups) = (Vec::new(), Vec::new());
        for &role in &self.facts.players {
            slots.clear();
            groups.clear();
            for (slot, &id) in due.iter().enumerate() {
                let node = &self.nodes[id];
                let own = self.groups.of(node).iter().copied();
                for group in own.filter(|group| group.role == role && group.n > 1) {
                    debug_assert_eq!(
                        &self.moves.of_arms(node)[group.range()],
                        lockstep.positions()[slot].legal_moves(role),
                        "moves keep their order"
                    );
                    slots.push(slot);
                    groups.push((id, group));
                }
            }
            if slots.is_empty() {
                continue;
            }
            heuristic.values_of_many(lockstep.positions(), &slots, role, &mut values);
            debug_assert_eq!(values.len(), slots.len(), "each position is rated");
            let (min, scale) =
                (self.facts.low, options.heuristic.scale / 100.0 * self.facts.range());
            for (at, (id, group)) in groups.iter().enumerate() {
                let first = self.nodes[*id].first_arm as usize + group.first as usize;
                self.priors.set(first, values.of(at).iter().map(|value| min + scale * value));
            }
        }
        self.priors.return_due(due);
    }
}
