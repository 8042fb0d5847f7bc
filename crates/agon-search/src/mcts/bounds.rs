//! What is proved about a position from what is proved about its children: score-bounded search, for any number of
//! roles, chance and simultaneous moves.
//!
//! Bounds only ever get tighter, and start from ends of play, so a circle of positions proves nothing about itself.

use agon_game::{Position, Role};

use super::node::{Kind, NO_BOUNDS, NodeId, Proof, Prospect};
use super::tree::Tree;

/// How many values an expectation can have from one whole number to the next.
const GRAINS: f64 = (1_u64 << 30) as f64;

impl<P: Position> Tree<P> {
    /// Works out the bounds of a position anew from its children. Returns whether any has changed.
    pub(super) fn tighten(&mut self, id: NodeId) -> bool {
        let n_roles = self.facts.n_roles;
        if self.is_settled(id) {
            return false;
        }
        if matches!(self.node(id).kind, Kind::Ended | Kind::Sparse) {
            return false;
        }
        // Taken out while it is filled, so that its memory is used again.
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        fresh.resize(n_roles, [self.facts.min, self.facts.max]);
        match self.node(id).kind {
            Kind::Ended | Kind::Sparse => unreachable!("nothing is worked out of these"),
            Kind::Alone(role) if Some(role) == self.facts.nature => {
                self.expected_bounds(id, &mut fresh)
            }
            Kind::Alone(role) => self.mover_bounds(id, role, &mut fresh),
            Kind::Joint => self.joint_bounds(id, &mut fresh),
        }
        if let Some(total) = self.facts.constant_sum {
            let players = &self.facts.players;
            let all = fresh.clone();
            for &player in players {
                let others = || players.iter().filter(|&&other| other != player);
                let [lo, hi] = &mut fresh[player.index()];
                *lo = lo.max(total - others().map(|other| all[other.index()][1]).sum::<f64>());
                *hi = hi.min(total - others().map(|other| all[other.index()][0]).sum::<f64>());
            }
        }
        let mut changed = false;
        let rounding = 1e-9 * (self.facts.max - self.facts.min);
        for (role, &[lo, hi]) in fresh.iter().enumerate() {
            let known = self.bound(id, Role::new(role));
            let mut tighter = [lo.max(known[0]), hi.min(known[1])];
            // Two ways to the same expectation may differ in the last digits: then the bounds have met.
            if (tighter[0] - tighter[1]).abs() <= rounding {
                tighter[0] = tighter[1];
            }
            // Ties between moves of others are broken by what is found first, so two proofs may differ about them.
            if tighter[0] <= tighter[1] && tighter != known {
                self.bounds_mut(id)[role] = tighter;
                changed = true;
            }
        }
        self.fresh = fresh;
        if changed {
            let is_exact = |player: &Role| {
                let [lo, hi] = self.bound(id, *player);
                lo == hi
            };
            let is_settled = self.facts.players.iter().all(is_exact);
            self.nodes[id.index()].proof = if is_settled { Proof::All } else { Proof::Some };
            if is_settled {
                self.nodes[id.index()].plies = self.plies_to_end(id);
            }
        }
        self.note_prospects(id);
        changed
    }

    /// Whether anything can be proved of a position of which nothing is known but some children. Where several roles choose that is seldom so, for
    /// a move secures only what all answers to it pay, and the first that is not known tells.
    pub(super) fn may_prove(&self, id: NodeId) -> bool {
        let node = self.node(id);
        if node.kind != Kind::Joint || self.facts.nature.is_some() {
            return true;
        }
        let groups = &self.groups[self.groups_of(id)];
        groups.iter().any(|group| {
            (0..group.n as usize).any(|digit| {
                self.are_all(id, Some((group.role, digit)), |child| child != NodeId::NONE)
            })
        })
    }

    /// The bounds of a position, by role; from now on there is room for them.
    fn bounds_mut(&mut self, id: NodeId) -> &mut [[f64; 2]] {
        let (n_roles, [min, max]) = (self.facts.n_roles, [self.facts.min, self.facts.max]);
        let node = &mut self.nodes[id.index()];
        if node.first_bound == NO_BOUNDS {
            node.first_bound = self.bounds.len() as u32;
            self.bounds.resize(self.bounds.len() + n_roles, [min, max]);
        }
        &mut self.bounds[node.first_bound as usize..][..n_roles]
    }

    /// Whether what is proved of the child of a joint move proves more of the position. Most of the time it does not, for other children of the
    /// same move are open, and the first of them tells: to work out all bounds anew would take longer than all else that is done here.
    pub(super) fn is_news(&self, id: NodeId, choice: u64, child: NodeId) -> bool {
        if self.facts.nature.is_some() {
            // A mean over its outcomes may get better without any of them being better than what is known.
            return true;
        }
        let bound = |child: NodeId, player: Role| {
            if child == NodeId::NONE {
                [self.facts.min, self.facts.max]
            } else {
                self.bound(child, player)
            }
        };
        self.facts.players.iter().any(|&player| {
            let [known_lo, known_hi] = self.bound(id, player);
            // A move secures more than what is known if that goes for all that the others may answer; the best there is is less if that goes for
            // all joint moves.
            let is_more = |child: NodeId| bound(child, player)[0] > known_lo;
            let is_less = |child: NodeId| bound(child, player)[1] < known_hi;
            is_more(child) && self.are_all(id, self.digit_of(id, choice, player), is_more)
                || is_less(child) && self.are_all(id, None, is_less)
        })
    }

    /// The move that a role makes as part of a joint move, if it chooses at a position.
    fn digit_of(&self, id: NodeId, choice: u64, role: Role) -> Option<(Role, usize)> {
        let mut digit = None;
        self.visit_choice(id, choice, |group, arm| {
            if group.role == role {
                let first = self.node(id).first_arm as usize + group.first as usize;
                digit = Some((role, arm - first));
            }
        });
        digit
    }

    /// Whether all children by joint moves, or by those that this move of a role is part of, are such.
    fn are_all(
        &self,
        id: NodeId,
        fixed: Option<(Role, usize)>,
        is_such: impl Fn(NodeId) -> bool,
    ) -> bool {
        let node = self.node(id);
        let children = &self.joints[node.first_joint as usize..][..node.n_joint as usize];
        // Joint moves with the same move of a role: so many side by side, and then again after so many.
        let (mut first, mut run, mut again) = (0, children.len(), children.len());
        let mut stride = 1;
        for group in self.groups[self.groups_of(id)].iter().rev() {
            let n = group.n as usize;
            if let Some((_, digit)) = fixed.filter(|&(role, _)| role == group.role) {
                (first, run, again) = (digit * stride, stride, stride * n);
            }
            stride *= n;
        }
        (first..children.len())
            .step_by(again)
            .all(|start| children[start..start + run].iter().all(|&child| is_such(child)))
    }

    /// Notes which arms are still worth trying for a role that moves alone.
    fn note_prospects(&mut self, id: NodeId) {
        let Kind::Alone(role) = self.node(id).kind else { return };
        let [lo, _] = self.bound(id, role);
        let mut has_open = false;
        for arm in self.arms_of(id) {
            let [_, hi] = self.arm_bound(id, arm);
            self.arms[arm].prospect = if hi > lo {
                has_open = true;
                Prospect::Open
            } else if hi == lo {
                Prospect::Level
            } else {
                Prospect::Worse
            };
        }
        self.nodes[id.index()].has_open = has_open;
        let mean = self.mean(id, role) as f32;
        for arm in self.arms_of(id) {
            self.score(arm, has_open, mean);
        }
    }

    /// The bounds of a child, or what the arm itself remembers if the child is gone.
    fn child_bounds(&self, id: NodeId, arm: usize, mover: Role, role: Role) -> [f64; 2] {
        let child = self.scores[arm].child;
        if child != NodeId::NONE {
            self.bound(child, role)
        } else if role == mover {
            self.arm_bound(id, arm)
        } else {
            [self.facts.min, self.facts.max]
        }
    }

    /// Where what is proved of the arms of a position begins; from now on there is room for it.
    fn first_arm_bound(&mut self, id: NodeId) -> usize {
        let node = &mut self.nodes[id.index()];
        if node.first_joint == NO_BOUNDS {
            node.first_joint = self.arm_bounds.len() as u32;
            let n_bounds = self.arm_bounds.len() + node.n_arms as usize;
            self.arm_bounds.resize(n_bounds, [self.facts.min, self.facts.max]);
        }
        node.first_joint as usize
    }

    fn mover_bounds(&mut self, id: NodeId, mover: Role, fresh: &mut [[f64; 2]]) {
        let arms = self.arms_of(id);
        let (mut best_lo, mut best_hi) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let first = self.first_arm_bound(id);
        for arm in arms.clone() {
            let [lo, hi] = self.child_bounds(id, arm, mover, mover);
            // What an arm remembers never gets looser, and its bounds never cross.
            let [known_lo, known_hi] = &mut self.arm_bounds[first + arm - arms.start];
            *known_hi = known_hi.min(hi);
            *known_lo = known_lo.max(lo).min(*known_hi);
            best_lo = best_lo.max(*known_lo);
            best_hi = best_hi.max(*known_hi);
        }
        fresh[mover.index()] = [best_lo, best_hi];
        let is_decided = best_lo >= best_hi;
        for &player in &self.facts.players {
            if player == mover {
                continue;
            }
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for arm in arms.clone() {
                let [known_lo, known_hi] = self.arm_bounds[first + arm - arms.start];
                // The mover makes no move that is worse than another; and once it has nothing left to gain, none that
                // is not proved to be as good.
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

    fn expected_bounds(&self, id: NodeId, fresh: &mut [[f64; 2]]) {
        let nature = self.facts.nature.expect("nature moves here");
        let chances = self.chances_of(&self.groups[self.node(id).first_group as usize]);
        for &player in &self.facts.players {
            let mut expected = [0.0; 2];
            let mut total = 0.0;
            for (arm, chance) in self.arms_of(id).zip(chances) {
                let [lo, hi] = self.child_bounds(id, arm, nature, player);
                total += chance;
                expected[0] += chance * lo;
                expected[1] += chance * hi;
            }
            if total > 0.0 {
                // Equal expectations summed in another order are to be found equal.
                fresh[player.index()] = expected.map(|sum| (sum / total * GRAINS).round() / GRAINS);
            }
        }
    }

    /// A player gets at least what some move secures whatever the others do, and at most the best there is.
    fn joint_bounds(&self, id: NodeId, fresh: &mut [[f64; 2]]) {
        let node = self.node(id);
        let n_joint = node.n_joint as usize;
        let groups = &self.groups[self.groups_of(id)];
        let unknown = [self.facts.min, self.facts.max];
        // How far apart two moves of a group are in the table.
        let mut strides = vec![1_usize; groups.len()];
        for at in (0..groups.len() - 1).rev() {
            strides[at] = strides[at + 1] * groups[at + 1].n as usize;
        }
        let digit = |joint: usize, at: usize| joint / strides[at] % groups[at].n as usize;
        let nature = groups.iter().position(|group| Some(group.role) == self.facts.nature);
        for &player in &self.facts.players {
            let bounds = |joint: usize| {
                let child = self.joints[node.first_joint as usize + joint];
                if child == NodeId::NONE { unknown } else { self.bound(child, player) }
            };
            let expected = |joint: usize| {
                let Some(at) = nature else { return bounds(joint) };
                let (mut sums, mut total) = ([0.0; 2], 0.0);
                for (outcome, &chance) in self.chances_of(&groups[at]).iter().enumerate() {
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
            for joint in 0..n_joint {
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

    /// How long play goes on from a position that has just been proved: a winner hurries, all others wait.
    fn plies_to_end(&self, id: NodeId) -> u16 {
        let node = self.node(id);
        let Kind::Alone(mover) = node.kind else {
            let children = self.joints[node.first_joint as usize..][..node.n_joint as usize].iter();
            let plies = children
                .filter(|&&child| child != NodeId::NONE)
                .map(|&child| self.node(child).plies);
            return plies.max().unwrap_or(0).saturating_add(1);
        };
        let [value, _] = self.bound(id, mover);
        let best = self.arms_of(id).filter(|&arm| self.arm_bound(id, arm)[0] >= value);
        let plies = best
            .map(|arm| self.scores[arm].child)
            .filter(|&child| child != NodeId::NONE && self.is_settled(child));
        let plies = plies.map(|child| self.node(child).plies);
        let chosen = if value > self.facts.min { plies.min() } else { plies.max() };
        chosen.unwrap_or(u16::MAX - 1).saturating_add(1)
    }
}
