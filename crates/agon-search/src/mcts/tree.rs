//! What the search remembers: positions in flat arenas, linked by number.
//!
//! A position has a group of arms for each role that chooses there, an arm for each of its moves. Where one role chooses
//! alone (turn-taking, or nature), the arm itself leads to the child. Where several do, the children are in a table over the
//! joint moves, the last group's moves changing fastest; where that table would be too large, in a hash table.

use agon_game::{Position, Role, Shape};
use hashbrown::HashTable;

use super::index::Index;
use super::node::{
    Arm, Average, Group, Kind, Mix, NO_ARMS, NO_BOUNDS, NO_TABLE, Node, NodeId, Proof, Score,
    SparseChild, UNJUDGED,
};
use super::number::{Numbering, mix};
use super::options::{Amaf, Bandit, MctsOptions, Simultaneous};
use super::sprout::{Sprout, Sprouts};

/// Joint moves beyond this are not tabled, and not solved.
pub(super) const MAX_JOINT: usize = 4096;

/// Ends with more different payoffs have a node each.
const MAX_ENDS: usize = 16;

/// What is known of the game.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) n_roles: usize,
    pub(super) players: Vec<Role>,
    pub(super) nature: Option<Role>,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) constant_sum: Option<f64>,
}

impl Facts {
    pub(super) fn new(shape: &Shape) -> Facts {
        Facts {
            n_roles: shape.role_names.len(),
            players: shape.players().collect(),
            nature: shape.nature,
            min: *shape.payoffs.start(),
            max: *shape.payoffs.end(),
            constant_sum: shape.constant_sum,
        }
    }

    /// The range of payoffs; never zero.
    pub(super) fn range(&self) -> f64 {
        (self.max - self.min).max(f64::MIN_POSITIVE)
    }
}

/// All positions that are remembered.
pub(super) struct Tree<P: Position> {
    pub(super) facts: Facts,
    pub(super) root: NodeId,
    pub(super) nodes: Vec<Node>,
    /// By node, but for ended ones.
    pub(super) states: Vec<Option<P::State>>,
    /// Nodes that stand for all ends with their payoffs.
    pub(super) ends: Vec<NodeId>,
    /// By node and role: the sum of the payoffs, and of their squares if the variance is wanted.
    pub(super) sums: Vec<f64>,
    pub(super) squares: Vec<f64>,
    /// By node of which something is proved and role: what the role gets at least, and at most.
    pub(super) bounds: Vec<[f64; 2]>,
    pub(super) groups: Vec<Group>,
    pub(super) arms: Vec<Arm>,
    /// By arm.
    pub(super) scores: Vec<Score>,
    /// By arm of the positions of which something is proved, where a role moves alone: what the arm pays its role at least, and
    /// at most.
    pub(super) arm_bounds: Vec<[f64; 2]>,
    /// By outcome of nature: how likely it is.
    pub(super) chances: Vec<f64>,
    /// By node that has not ended: for each role its only move, or its first; then the moves of the arms.
    pub(super) moves: Vec<P::Move>,
    pub(super) joints: Vec<NodeId>,
    pub(super) mixes: Vec<Mix>,
    pub(super) sparse: Vec<SparseChild>,
    pub(super) sparse_index: HashTable<u32>,
    /// By arm, if all moves count as first: its number, and its average.
    pub(super) numbers: Vec<u32>,
    pub(super) amaf: Vec<Average>,
    /// By arm, if moves are judged before they are tried: what the move counts as, in payoffs; see [`UNJUDGED`] and [`UNKNOWN`].
    pub(super) priors: Vec<f32>,
    /// Positions whose moves are to be judged: soon, and together.
    pub(super) due: Vec<NodeId>,
    /// By node and role, if judgements are backed up by minimax: what came of that.
    pub(super) implicit: Vec<f32>,
    /// By node with a table, and number of a move: all moves as first.
    pub(super) tables: Vec<Vec<Average>>,
    pub(super) numbering: Numbering<P::Move>,
    /// By key.
    pub(super) index: Index,
    pub(super) max_nodes: usize,
    /// Lists have room for as many positions.
    pub(super) has_room: bool,
    pub(super) solver: bool,
    pub(super) virtual_loss: f32,
    pub(super) wants_variance: bool,
    pub(super) has_mixes: bool,
    pub(super) has_amaf: bool,
    pub(super) has_priors: bool,
    pub(super) has_implicit: bool,
    pub(super) last_stamp: u32,
    /// Bounds while they are worked out.
    pub(super) fresh: Vec<[f64; 2]>,
    /// What making room took the last time; 0 if there was no need yet.
    pub(super) recycle_seconds: f64,
}

impl<P: Position> Tree<P> {
    pub(super) fn new(facts: Facts, options: &MctsOptions) -> Tree<P> {
        Tree {
            facts,
            root: NodeId::NONE,
            nodes: Vec::new(),
            states: Vec::new(),
            ends: Vec::new(),
            sums: Vec::new(),
            squares: Vec::new(),
            bounds: Vec::new(),
            groups: Vec::new(),
            arms: Vec::new(),
            scores: Vec::new(),
            arm_bounds: Vec::new(),
            chances: Vec::new(),
            moves: Vec::new(),
            joints: Vec::new(),
            mixes: Vec::new(),
            sparse: Vec::new(),
            sparse_index: HashTable::new(),
            numbers: Vec::new(),
            amaf: Vec::new(),
            priors: Vec::new(),
            due: Vec::new(),
            implicit: Vec::new(),
            tables: Vec::new(),
            numbering: Numbering::new(),
            index: Index::default(),
            max_nodes: options.max_nodes,
            has_room: false,
            solver: options.solver,
            virtual_loss: options.virtual_loss as f32,
            wants_variance: matches!(options.bandit, Bandit::Ucb1Tuned { .. })
                || matches!(options.simultaneous, Simultaneous::IteratedRegret { .. }),
            has_mixes: matches!(options.simultaneous, Simultaneous::RegretMatching { .. }),
            has_amaf: options.amaf != Amaf::Off,
            has_priors: options.heuristic.tree,
            has_implicit: options.heuristic.implicit > 0.0,
            last_stamp: 0,
            fresh: Vec::new(),
            recycle_seconds: 0.0,
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn arms_of(&self, id: NodeId) -> std::ops::Range<usize> {
        let node = self.node(id);
        debug_assert!(node.first_arm != NO_ARMS, "arms are made before they are asked for");
        node.first_arm as usize..node.first_arm as usize + node.n_arms as usize
    }

    /// The moves of the arms of a position.
    pub(super) fn moves_of(&self, id: NodeId) -> &[P::Move] {
        let node = self.node(id);
        &self.moves[node.first_move as usize + self.facts.n_roles..][..node.n_arms as usize]
    }

    pub(super) fn groups_of(&self, id: NodeId) -> std::ops::Range<usize> {
        let node = self.node(id);
        node.first_group as usize..node.first_group as usize + node.n_groups as usize
    }

    /// What a role gets at least, and at most.
    pub(super) fn bound(&self, id: NodeId, role: Role) -> [f64; 2] {
        match self.node(id).first_bound {
            NO_BOUNDS => [self.facts.min, self.facts.max],
            first => self.bounds[first as usize + role.index()],
        }
    }

    /// What an arm of a position where a role moves alone pays that role at least, and at most.
    pub(super) fn arm_bound(&self, id: NodeId, arm: usize) -> [f64; 2] {
        let node = self.node(id);
        match node.first_joint {
            NO_BOUNDS => [self.facts.min, self.facts.max],
            first => self.arm_bounds[first as usize + arm - node.first_arm as usize],
        }
    }

    /// The chances of the outcomes, if this is nature's group.
    pub(super) fn chances_of(&self, group: &Group) -> &[f64] {
        &self.chances[group.first_more as usize..][..group.n as usize]
    }

    /// What the role gets on the average, as far as the bounds allow; the middle of nothing if never visited.
    #[inline(always)]
    pub(super) fn mean(&self, id: NodeId, role: Role) -> f64 {
        let place = id.index() * self.facts.n_roles + role.index();
        let node = &self.nodes[id.index()];
        if node.visits == 0 || node.proof != Proof::None {
            let [lo, hi] = self.bound(id, role);
            let mean = if node.visits == 0 {
                (lo + hi) / 2.0
            } else {
                self.sums[place] / node.visits as f64
            };
            return mean.clamp(lo, hi);
        }
        self.sums[place] / node.visits as f64
    }

    /// The variance of what the role gets, for payoffs from 0 to 1.
    pub(super) fn variance(&self, id: NodeId, role: Role) -> f64 {
        let place = id.index() * self.facts.n_roles + role.index();
        let visits = self.nodes[id.index()].visits.max(1) as f64;
        let mean = self.sums[place] / visits;
        let range = self.facts.range();
        ((self.squares[place] / visits - mean * mean) / (range * range)).max(0.0)
    }

    /// Whether it is known for every player what perfect play gives.
    pub(super) fn is_settled(&self, id: NodeId) -> bool {
        self.nodes[id.index()].proof == Proof::All
    }

    /// Puts the moves of a joint move together, from what each group chose.
    pub(super) fn push_joint(&self, id: NodeId, choice: u64, joint: &mut Vec<P::Move>) {
        let node = self.node(id);
        let start = joint.len();
        let forced = node.first_move as usize;
        joint.extend_from_slice(&self.moves[forced..forced + self.facts.n_roles]);
        let moves = self.moves_of(id);
        self.visit_choice(id, choice, |group, arm| {
            joint[start + group.role.index()] = moves[arm - node.first_arm as usize].clone();
        });
    }

    /// Calls with each group and the arm that it chose. A choice numbers the joint moves, the last group's changing fastest.
    pub(super) fn visit_choice(
        &self,
        id: NodeId,
        choice: u64,
        mut visit: impl FnMut(&Group, usize),
    ) {
        let node = self.node(id);
        let mut left = choice;
        for group in self.groups[self.groups_of(id)].iter().rev() {
            let digit = left % u64::from(group.n);
            left /= u64::from(group.n);
            visit(group, node.first_arm as usize + group.first as usize + digit as usize);
        }
    }

    /// Where a choice leads, if that is known.
    #[inline(always)]
    pub(super) fn child(&self, id: NodeId, choice: u64) -> NodeId {
        let node = self.node(id);
        if node.first_arm == NO_ARMS {
            return NodeId::NONE;
        }
        match node.kind {
            Kind::Ended => NodeId::NONE,
            Kind::Alone(_) => self.scores[node.first_arm as usize + choice as usize].child,
            Kind::Joint => self.joints[node.first_joint as usize + choice as usize],
            Kind::Sparse => {
                let is_it = |&at: &u32| {
                    let entry = &self.sparse[at as usize];
                    entry.node == id && entry.joint == choice
                };
                let found = self.sparse_index.find(sparse_hash(id, choice), is_it);
                found.map_or(NodeId::NONE, |&at| self.sparse[at as usize].child)
            }
        }
    }

    /// Notes where a choice leads.
    pub(super) fn set_child(&mut self, id: NodeId, choice: u64, child: NodeId) {
        let node = &self.nodes[id.index()];
        match node.kind {
            Kind::Ended => unreachable!("no move is made where play has ended"),
            Kind::Alone(_) => {
                let at = node.first_arm as usize + choice as usize;
                self.arms[at].is_settled = false;
                (self.scores[at].child, self.scores[at].child_arms) =
                    (child, self.node(child).first_arm);
            }
            Kind::Joint => self.joints[node.first_joint as usize + choice as usize] = child,
            Kind::Sparse => {
                if self.child(id, choice) != NodeId::NONE {
                    return;
                }
                self.sparse.push(SparseChild { node: id, joint: choice, child });
                let entries = &self.sparse;
                self.sparse_index.insert_unique(
                    sparse_hash(id, choice),
                    entries.len() as u32 - 1,
                    |&at| {
                        let entry = &entries[at as usize];
                        sparse_hash(entry.node, entry.joint)
                    },
                );
            }
        }
    }

    /// The position with this key. The moves at it are part of the key, for the keys that a game has for its positions may be few.
    pub(super) fn find(&self, seen: &Sprout<P::State>) -> Option<NodeId> {
        let is_it = |&id: &NodeId| {
            let node = self.node(id);
            node.key == seen.key
                && node.n_arms as usize == seen.moves.len()
                && usize::from(node.n_groups) == seen.groups.len()
        };
        // Where transpositions are not shared, there may be several: the best known one is meant.
        let found = self.index.candidates(seen.key).filter(is_it);
        found.max_by_key(|&id| (self.node(id).visits, std::cmp::Reverse(id.0)))
    }

    /// Reads where the index has these positions, or would have them: one after the other each would be waited for.
    pub(super) fn ask_index(&self, sprouts: &Sprouts<P>) {
        let n = sprouts
            .list
            .iter()
            .filter(|seen| self.index.candidates(seen.key).next().is_some())
            .count();
        std::hint::black_box(n);
    }

    /// Makes a node of what was seen of a position that is no root. Where its mover ends play with all that can be got nothing else needs to be
    /// remembered.
    pub(super) fn add_inner(&mut self, sprouts: &Sprouts<P>, sprout: usize) -> NodeId {
        let n_roles = self.facts.n_roles;
        match sprouts.list[sprout].won {
            Some(won) if self.solver => {
                self.add_end(&sprouts.ends.payoffs[won * n_roles..][..n_roles], 1)
            }
            _ => self.add(sprouts, sprout),
        }
    }

    /// Makes a node of what was seen of a position. Its children are linked where they have ended play.
    pub(super) fn add(&mut self, sprouts: &Sprouts<P>, sprout: usize) -> NodeId {
        let seen = &sprouts.list[sprout];
        let groups = &sprouts.groups[seen.groups.clone()];
        let moves = &sprouts.moves[seen.moves.clone()];
        let n_joint: usize =
            groups.iter().fold(1_usize, |n, group| n.saturating_mul(group.n as usize));
        let kind = match groups {
            [] => Kind::Ended,
            [group] => Kind::Alone(group.role),
            _ if n_joint <= MAX_JOINT => Kind::Joint,
            _ => Kind::Sparse,
        };
        if kind == Kind::Ended {
            return self
                .add_end(&sprouts.payoffs[seen.payoffs..seen.payoffs + self.facts.n_roles], 0);
        }
        if self.has_implicit {
            self.push_implicit(sprouts, sprout);
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            key: seen.key,
            visits: 0,
            pending: 0,
            first_arm: NO_ARMS,
            n_arms: moves.len() as u32,
            first_group: self.groups.len() as u32,
            n_groups: groups.len() as u16,
            first_move: self.moves.len() as u32,
            first_joint: NO_BOUNDS,
            n_joint: if kind == Kind::Joint { n_joint as u16 } else { 0 },
            length: 0,
            stamp: 0,
            table: NO_TABLE,
            first_bound: NO_BOUNDS,
            plies: 0,
            kind,
            proof: Proof::None,
            has_open: true,
        });
        self.states.push(seen.state.clone());
        let n_roles = self.facts.n_roles;
        self.sums.resize(self.nodes.len() * n_roles, 0.0);
        if self.wants_variance {
            self.squares.resize(self.nodes.len() * n_roles, 0.0);
        }
        for group in groups {
            let own = group.first as usize..(group.first + group.n) as usize;
            let first_more = if Some(group.role) == self.facts.nature {
                let chances = &sprouts.chances[seen.moves.clone()][own.clone()];
                self.chances.extend_from_slice(chances);
                self.chances.len() - chances.len()
            } else {
                0
            };
            self.groups.push(Group { first_more: first_more as u32, ..*group });
        }
        self.moves.extend_from_slice(&sprouts.forced[seen.forced..seen.forced + n_roles]);
        self.moves.extend_from_slice(moves);
        self.index.insert(seen.key, id);
        self.see_to_room();
        self.link_ends(id, sprouts, seen.ends.clone());
        id
    }

    /// Makes the arms of a position, if it has none: to be called before anything is chosen there.
    #[inline]
    pub(super) fn grow_arms(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.first_arm == NO_ARMS && node.kind != Kind::Ended {
            self.make_arms(id);
        }
    }

    fn make_arms(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.first_arm = self.arms.len() as u32;
        let n_arms = self.arms.len() + node.n_arms as usize;
        self.arms.resize(n_arms, Arm::UNTRIED);
        self.scores.resize(n_arms, Score::UNTRIED);
        if self.has_priors {
            self.priors.resize(n_arms, UNJUDGED);
        }
        if node.kind == Kind::Joint {
            node.first_joint = self.joints.len() as u32;
            self.joints.resize(self.joints.len() + node.n_joint as usize, NodeId::NONE);
        }
        let has_mixes = self.has_mixes && node.kind == Kind::Joint;
        let first_move = node.first_move as usize + self.facts.n_roles;
        for at in self.groups_of(id) {
            let group = &mut self.groups[at];
            if has_mixes && Some(group.role) != self.facts.nature {
                group.first_more = self.mixes.len() as u32;
                self.mixes.resize(self.mixes.len() + group.n as usize, Mix::default());
            }
            if self.has_amaf {
                let first = first_move + group.first as usize;
                for m in &self.moves[first..first + group.n as usize] {
                    self.numbers.push(self.numbering.number(group.role, m));
                    self.amaf.push(Average::default());
                }
            }
        }
    }

    /// Makes nodes of the children that have ended play, and sees what they prove.
    fn link_ends(&mut self, id: NodeId, sprouts: &Sprouts<P>, ends: std::ops::Range<usize>) {
        if ends.is_empty() {
            return;
        }
        self.grow_arms(id);
        let n_roles = self.facts.n_roles;
        for at in ends {
            let end = self.add_end(&sprouts.ends.payoffs[at * n_roles..][..n_roles], 0);
            self.set_child(id, sprouts.ends.choices[at].into(), end);
        }
        if self.solver && self.may_prove(id) {
            self.tighten(id);
        }
    }

    /// A node for positions where play has ended with these payoffs, or will after so many plies: one for all of them, where payoffs are few.
    pub(super) fn add_end(&mut self, payoffs: &[f64], plies: u16) -> NodeId {
        let n_roles = self.facts.n_roles;
        let pays = |id: &&NodeId| {
            let end = self.node(**id);
            let bounds = &self.bounds[end.first_bound as usize..][..n_roles];
            end.plies == plies
                && bounds.iter().zip(payoffs).all(|(bound, payoff)| bound[0] == *payoff)
        };
        if let Some(&known) = self.ends.iter().find(pays) {
            return known;
        }
        let id = NodeId(self.nodes.len() as u32);
        if self.ends.len() < MAX_ENDS {
            self.ends.push(id);
        }
        self.nodes.push(Node {
            key: 0,
            visits: 0,
            pending: 0,
            first_arm: NO_ARMS,
            n_arms: 0,
            first_group: self.groups.len() as u32,
            n_groups: 0,
            first_move: self.moves.len() as u32,
            first_joint: NO_BOUNDS,
            n_joint: 0,
            length: 0,
            stamp: 0,
            table: NO_TABLE,
            first_bound: self.bounds.len() as u32,
            plies,
            kind: Kind::Ended,
            proof: Proof::All,
            has_open: false,
        });
        self.states.push(None);
        self.sums.resize(self.nodes.len() * self.facts.n_roles, 0.0);
        if self.wants_variance {
            self.squares.resize(self.nodes.len() * self.facts.n_roles, 0.0);
        }
        self.bounds.extend(payoffs.iter().map(|&payoff| [payoff, payoff]));
        if self.has_implicit {
            self.implicit.extend(payoffs.iter().map(|&payoff| payoff as f32));
        }
        id
    }
}

fn sparse_hash(id: NodeId, choice: u64) -> u64 {
    mix(mix(u64::from(id.0)) ^ choice)
}
