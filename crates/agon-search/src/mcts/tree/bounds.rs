//! Proofs: bounds on a position's payoffs from the bounds of its children.
//!
//! This is score-bounded search (Cazenave and Saffidine 2010) for any number of roles, chance and
//! simultaneous moves. Bounds only ever get tighter, and they start from terminal positions, so a
//! cycle of positions proves nothing about itself.

use agon_game::{Position, Role};

use super::Tree;
use super::arena::{Bounds, Prospect};
use super::node::{NodeId, NodeKind, Proof};

/// Number of different values that an expectation can have between two whole numbers.
const GRAINS: f64 = (1_u64 << 30) as f64;

impl<P: Position> Tree<P> {
    /// Computes the bounds of a node again from its children. Returns whether any has changed.
    pub(crate) fn tighten(&mut self, id: NodeId) -> bool {
        let kind = self.nodes[id].kind;
        if self.is_solved(id) || matches!(kind, NodeKind::Terminal | NodeKind::Sparse) {
            return false;
        }
        // Taken out while it is filled, so that its memory is used again.
        let mut fresh = std::mem::take(&mut self.new_bounds);
        fresh.clear();
        fresh.resize(self.facts.n_roles, self.bounds.range());
        match kind {
            NodeKind::Terminal | NodeKind::Sparse => unreachable!("nothing is proved of these"),
            NodeKind::Alone(role) if self.facts.is_nature(role) => {
                self.expected_bounds(id, &mut fresh);
            }
            NodeKind::Alone(role) => self.mover_bounds(id, role, &mut fresh),
            NodeKind::Joint => self.joint_bounds(id, &mut fresh),
        }
        self.apply_constant_sum(&mut fresh);
        let has_changed = self.store_bounds(id, &fresh);
        self.new_bounds = fresh;
        if has_changed {
            self.note_proof(id);
        }
        self.update_prospects(id);
        has_changed
    }

    /// Returns whether anything can be proved of a new node from its terminal children. Where
    /// several roles choose it seldom can: a move secures only what all answers to it pay, so the
    /// first answer that is unknown decides.
    pub(super) fn may_prove_new(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        if node.kind != NodeKind::Joint || self.facts.nature.is_some() {
            return true;
        }
        self.groups.of(node).iter().any(|group| {
            (0..group.n as usize).any(|digit| {
                self.all_children(id, Some((group.role, digit)), |child| child != NodeId::NONE)
            })
        })
    }

    /// Returns whether the bounds of the child of a joint move prove more of the node. Most of the
    /// time they do not, because other children of the same move are open, and the first of these
    /// decides. To compute all bounds again would take longer than the rest of the backup.
    pub(super) fn may_tighten(&self, id: NodeId, choice: u64, child: NodeId) -> bool {
        if self.facts.nature.is_some() {
            // The mean over nature's moves may improve although none of them is better than the
            // known bound.
            return true;
        }
        let bound = |child: NodeId, player: Role| match child {
            NodeId::NONE => self.bounds.range(),
            child => self.bound(child, player),
        };
        self.facts.players.iter().any(|&player| {
            let [known_lo, known_hi] = self.bound(id, player);
            // A move secures more than is known if it does so for all answers of the others. The
            // upper bound is lower if it is lower for all joint moves.
            let is_more = |child: NodeId| bound(child, player)[0] > known_lo;
            let is_less = |child: NodeId| bound(child, player)[1] < known_hi;
            is_more(child) && self.all_children(id, self.digit_of(id, choice, player), is_more)
                || is_less(child) && self.all_children(id, None, is_less)
        })
    }

    /// Tightens bounds by the constant sum of the payoffs, if there is one.
    fn apply_constant_sum(&self, fresh: &mut [Bounds]) {
        let Some(total) = self.facts.constant_sum else { return };
        let players = &self.facts.players;
        let all = fresh.to_vec();
        for &player in players {
            let others = || players.iter().filter(|&&other| other != player);
            let [lo, hi] = &mut fresh[player.index()];
            *lo = lo.max(total - others().map(|other| all[other.index()][1]).sum::<f64>());
            *hi = hi.min(total - others().map(|other| all[other.index()][0]).sum::<f64>());
        }
    }

    /// Stores those bounds that are tighter than the known ones. Returns whether there are any.
    fn store_bounds(&mut self, id: NodeId, fresh: &[Bounds]) -> bool {
        let mut has_changed = false;
        let rounding = 1e-9 * self.facts.range();
        for (role, &[lo, hi]) in fresh.iter().enumerate() {
            let known = self.bound(id, Role::new(role));
            let mut tighter = [lo.max(known[0]), hi.min(known[1])];
            // Two ways to compute an expectation may differ in the last digits: then the bounds
            // have met.
            if (tighter[0] - tighter[1]).abs() <= rounding {
                tighter[0] = tighter[1];
            }
            // Ties between moves of others are broken by what is found first, so two proofs may
            // contradict each other about them.
            if tighter[0] <= tighter[1] && tighter != known {
                self.bounds.of_node_mut(self.nodes.get_mut(id))[role] = tighter;
                has_changed = true;
            }
        }
        has_changed
    }

    /// Notes how much is proved of a node whose bounds have changed.
    fn note_proof(&mut self, id: NodeId) {
        let is_exact = |player: &Role| {
            let [lo, hi] = self.bound(id, *player);
            lo == hi
        };
        if self.facts.players.iter().all(is_exact) {
            self.nodes.get_mut(id).proof = Proof::Complete;
            let plies = self.plies_to_end(id);
            self.nodes.get_mut(id).plies = plies;
        } else {
            self.nodes.get_mut(id).proof = Proof::Partial;
        }
    }

    /// Returns the move that a role makes in a joint move, if it chooses at the node.
    fn digit_of(&self, id: NodeId, choice: u64, role: Role) -> Option<(Role, usize)> {
        let mut digit = None;
        self.visit_choice(id, choice, |group, arm| {
            if group.role == role {
                let first = self.nodes[id].first_arm as usize + group.first as usize;
                digit = Some((role, arm - first));
            }
        });
        digit
    }

    /// Returns whether a predicate holds for all children by joint moves, or by those joint moves
    /// in which a role makes a certain move.
    fn all_children(
        &self,
        id: NodeId,
        fixed: Option<(Role, usize)>,
        holds: impl Fn(NodeId) -> bool,
    ) -> bool {
        let node = &self.nodes[id];
        let children = self.joint_children.of(node);
        // Joint moves with the same move of a role are `run` side by side, again after each
        // `period`.
        let (mut first, mut run, mut period) = (0, children.len(), children.len());
        let mut stride = 1;
        for group in self.groups.of(node).iter().rev() {
            let n = group.n as usize;
            if let Some((_, digit)) = fixed.filter(|&(role, _)| role == group.role) {
                (first, run, period) = (digit * stride, stride, stride * n);
            }
            stride *= n;
        }
        (first..children.len())
            .step_by(period)
            .all(|start| children[start..start + run].iter().all(|&child| holds(child)))
    }

    /// Notes which arms are still worth trying for a role that chooses alone.
    fn update_prospects(&mut self, id: NodeId) {
        let NodeKind::Alone(role) = self.nodes[id].kind else { return };
        let [lo, _] = self.bound(id, role);
        let mut has_open_arm = false;
        let arms = self.nodes[id].arms();
        for arm in arms.clone() {
            let [_, hi] = self.arm_bound(id, arm);
            self.arms.get_mut(arm).prospect = if hi > lo {
                has_open_arm = true;
                Prospect::Open
            } else if hi == lo {
                Prospect::Level
            } else {
                Prospect::Worse
            };
        }
        self.nodes.get_mut(id).has_open_arm = has_open_arm;
        let mean = self.mean(id, role) as f32;
        for arm in arms {
            self.arms.update_score(arm, has_open_arm, mean);
        }
    }

    /// Returns the bounds of the child of an arm, or what the arm remembers if the child was
    /// removed.
    fn child_bounds(&self, id: NodeId, arm: usize, mover: Role, role: Role) -> Bounds {
        let child = self.arms.child(arm);
        if child != NodeId::NONE {
            self.bound(child, role)
        } else if role == mover {
            self.arm_bound(id, arm)
        } else {
            self.bounds.range()
        }
    }

    /// Computes the bounds of a node where a player chooses alone.
    fn mover_bounds(&mut self, id: NodeId, mover: Role, fresh: &mut [Bounds]) {
        let arms = self.nodes[id].arms();
        let (mut best_lo, mut best_hi) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        self.bounds.make_arm_entries(self.nodes.get_mut(id));
        for arm in arms.clone() {
            let found = self.child_bounds(id, arm, mover, mover);
            let [lo, hi] = self.bounds.tighten_arm(&self.nodes[id], arm, found);
            best_lo = best_lo.max(lo);
            best_hi = best_hi.max(hi);
        }
        fresh[mover.index()] = [best_lo, best_hi];
        let is_decided = best_lo >= best_hi;
        for &player in self.facts.players.iter().filter(|&&player| player != mover) {
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for arm in arms.clone() {
                let [known_lo, known_hi] = self.arm_bound(id, arm);
                // The mover makes no move that is worse than another. Once it has nothing left to
                // gain, it makes no move that is not proved to be as good as the best.
                let is_made = if is_decided { known_lo >= best_lo } else { known_hi >= best_lo };
                if is_made {
                    let [lo, hi] = self.child_bounds(id, arm, mover, player);
                    least = least.min(lo);
                    most = most.max(hi);
                }
            }
            fresh[player.index()] = [least, most];
        }
    }

    /// Computes the bounds of a node of nature: the expectations of the bounds of its children.
    fn expected_bounds(&self, id: NodeId, fresh: &mut [Bounds]) {
        let nature = self.facts.nature.expect("nature moves here");
        let node = &self.nodes[id];
        let chances = self.groups.chances(&self.groups.of(node)[0]);
        for &player in &self.facts.players {
            let mut expected = [0.0; 2];
            let mut total = 0.0;
            for (arm, chance) in node.arms().zip(chances) {
                let [lo, hi] = self.child_bounds(id, arm, nature, player);
                total += chance;
                expected[0] += chance * lo;
                expected[1] += chance * hi;
            }
            if total > 0.0 {
                // Equal expectations that are summed in different orders must be found equal.
                fresh[player.index()] = expected.map(|sum| (sum / total * GRAINS).round() / GRAINS);
            }
        }
    }

    /// Computes the bounds of a node where several roles choose: a player gets at least what one of
    /// its moves secures against all answers, and at most the best of all joint moves.
    fn joint_bounds(&self, id: NodeId, fresh: &mut [Bounds]) {
        let node = &self.nodes[id];
        let groups = self.groups.of(node);
        let unknown = self.bounds.range();
        let strides = self.strides(id);
        let children = self.joint_children.of(node);
        let digit = |joint: usize, at: usize| joint / strides[at] % groups[at].n as usize;
        let nature = groups.iter().position(|group| self.facts.is_nature(group.role));
        for &player in &self.facts.players {
            let bounds = |joint: usize| match children[joint] {
                NodeId::NONE => unknown,
                child => self.bound(child, player),
            };
            let expected = |joint: usize| {
                let Some(at) = nature else { return bounds(joint) };
                let (mut sums, mut total) = ([0.0; 2], 0.0);
                for (outcome, &chance) in self.groups.chances(&groups[at]).iter().enumerate() {
                    let [lo, hi] = bounds(joint + outcome * strides[at]);
                    total += chance;
                    sums[0] += chance * lo;
                    sums[1] += chance * hi;
                }
                if total > 0.0 { sums.map(|sum| sum / total) } else { unknown }
            };
            let own = groups.iter().position(|group| group.role == player);
            let mut secured = vec![f64::INFINITY; own.map_or(1, |at| groups[at].n as usize)];
            let mut most = f64::NEG_INFINITY;
            for joint in 0..children.len() {
                if nature.is_some_and(|at| digit(joint, at) != 0) {
                    continue;
                }
                let [lo, hi] = expected(joint);
                let secured = &mut secured[own.map_or(0, |at| digit(joint, at))];
                *secured = secured.min(lo);
                most = most.max(hi);
            }
            fresh[player.index()] = [secured.into_iter().fold(f64::NEG_INFINITY, f64::max), most];
        }
    }

    /// Returns how far apart two moves of each group are in the table of joint moves.
    pub(crate) fn strides(&self, id: NodeId) -> Vec<usize> {
        let groups = self.groups.of(&self.nodes[id]);
        let mut strides = vec![1_usize; groups.len()];
        for at in (0..groups.len() - 1).rev() {
            strides[at] = strides[at + 1] * groups[at + 1].n as usize;
        }
        strides
    }

    /// Returns the number of steps to the end of the game from a node that has just been solved: a
    /// role that wins takes the shortest way, and all others the longest.
    fn plies_to_end(&self, id: NodeId) -> u16 {
        let node = &self.nodes[id];
        let NodeKind::Alone(mover) = node.kind else {
            let children = self.joint_children.of(node).iter();
            let known = children.filter(|&&child| child != NodeId::NONE);
            let plies = known.map(|&child| self.nodes[child].plies);
            return plies.max().unwrap_or(0).saturating_add(1);
        };
        let [value, _] = self.bound(id, mover);
        let best = node.arms().filter(|&arm| self.arm_bound(id, arm)[0] >= value);
        let children = best
            .map(|arm| self.arms.child(arm))
            .filter(|&child| child != NodeId::NONE && self.is_solved(child));
        let plies = children.map(|child| self.nodes[child].plies);
        let chosen = if value > self.facts.min { plies.min() } else { plies.max() };
        chosen.unwrap_or(u16::MAX - 1).saturating_add(1)
    }
}
