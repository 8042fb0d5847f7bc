//! Implicit minimax backups: judgements of positions, backed up beside the means of playouts (Lanctot et al. 2014).

use agon_game::Position;

use super::node::{Kind, NodeId};
use super::sprout::Sprouts;
use super::tree::Tree;

impl<P: Position> Tree<P> {
    /// Takes in what a new position was judged to be worth; what it pays, if play has ended there.
    pub(super) fn push_implicit(&mut self, sprouts: &Sprouts<P>, sprout: usize) {
        let n_roles = self.facts.n_roles;
        let seen = &sprouts.list[sprout];
        let payoffs = &sprouts.payoffs[seen.payoffs..seen.payoffs + n_roles];
        let judged = sprouts.worths.get(sprout * n_roles..(sprout + 1) * n_roles);
        let worths = if seen.state.is_none() { payoffs } else { judged.unwrap_or(payoffs) };
        self.implicit.extend(worths.iter().map(|&worth| worth as f32));
    }

    /// Works out anew what a position comes to: for the role that moves alone, the best of its children so far; under nature their
    /// mean by chance. Where several roles choose at once, the judgement stays.
    pub(super) fn imply(&mut self, id: NodeId) {
        let Kind::Alone(role) = self.node(id).kind else { return };
        let n_roles = self.facts.n_roles;
        debug_assert_eq!(self.implicit.len(), self.nodes.len() * n_roles, "every node is judged");
        let home = id.index() * n_roles;
        if Some(role) == self.facts.nature {
            let mut total = 0.0;
            let mut sums = vec![0.0; n_roles];
            let chances = self.chances_of(&self.groups[self.node(id).first_group as usize]);
            for (score, &chance) in self.scores[self.arms_of(id)].iter().zip(chances) {
                let (child, chance) = (score.child, chance as f32);
                if child != NodeId::NONE {
                    total += chance;
                    let own = &self.implicit[child.index() * n_roles..][..n_roles];
                    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += chance * own);
                }
            }
            if total > 0.0 {
                for (place, sum) in self.implicit[home..home + n_roles].iter_mut().zip(sums) {
                    *place = sum / total;
                }
            }
            return;
        }
        let worth = |child: NodeId| self.implicit[child.index() * n_roles + role.index()];
        let children = self.scores[self.arms_of(id)]
            .iter()
            .map(|score| score.child)
            .filter(|&child| child != NodeId::NONE);
        let best =
            children.reduce(|best, child| if worth(child) > worth(best) { child } else { best });
        if let Some(best) = best {
            let from = best.index() * n_roles;
            self.implicit.copy_within(from..from + n_roles, home);
        }
    }
}
