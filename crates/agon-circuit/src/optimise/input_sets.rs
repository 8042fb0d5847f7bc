//! Sets of inputs that share their common parts.
//!
//! A set is a binary tree over the numbers of the inputs, with words of 64 inputs at the bottom.
//! Equal trees are stored once, so a set is identified by a number, and the union of two sets
//! creates only nodes that neither of them has. Circuits build their thousands of sets from each
//! other. As lists of bits, sets took time and memory proportional to the product of gates and
//! moves.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A set of inputs, or a part of one: the number of a tree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct SetId(u32);

impl SetId {
    pub(super) const EMPTY: SetId = SetId(0);
}

/// All sets of a circuit.
///
/// Every role has a tree of its own, as high as that of the role with most moves. These trees are
/// the leaves of a tree over all roles. Invariant: no tree but [`SetId::EMPTY`] is empty.
pub(super) struct InputSets {
    nodes: Vec<Node>,
    index: HashTable<u32>,
    /// Number of levels of forks in the tree of a role, and in all.
    role_level: u32,
    top_level: u32,
    /// By role: its inputs, and the tree of all of them.
    roles: Vec<(Range<usize>, SetId)>,
    /// A direct-mapped cache of the results of unions and differences.
    results: Vec<(Operation, SetId, SetId, SetId)>,
    /// Number of nodes that may still be visited.
    n_left: usize,
}

/// A node of a tree. Level 0 is a word of 64 inputs. Above it, a node is a fork of two trees of the
/// level below.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Node {
    level: u32,
    content: u64,
    n_inputs: u32,
}

/// An operation on two sets.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Operation {
    Union,
    Difference,
}

/// Number of places in the cache of results. A power of two.
const N_RESULTS: usize = 1 << 14;

impl InputSets {
    /// Prepares sets for roles with these inputs, counted over all roles. `n_left` limits the work.
    pub(super) fn new(roles: Vec<Range<usize>>, n_left: usize) -> InputSets {
        let most = roles.iter().map(Range::len).max().unwrap_or(0);
        let role_level = most.div_ceil(64).next_power_of_two().ilog2();
        let top_level = role_level + roles.len().next_power_of_two().ilog2();
        let empty = Node { level: 0, content: 0, n_inputs: 0 };
        let mut sets = InputSets {
            nodes: vec![empty],
            index: HashTable::new(),
            role_level,
            top_level,
            roles: Vec::new(),
            results: vec![(Operation::Union, SetId::EMPTY, SetId::EMPTY, SetId::EMPTY); N_RESULTS],
            n_left,
        };
        sets.roles = roles
            .into_iter()
            .map(|role| (role.clone(), sets.first(role_level, role.len())))
            .collect();
        sets
    }

    /// Returns the tree of the first `n` inputs below it.
    fn first(&mut self, level: u32, n: usize) -> SetId {
        if n == 0 {
            return SetId::EMPTY;
        }
        if level == 0 {
            return self.enter(0, !0 >> (64 - n.min(64)));
        }
        let half = 64 << (level - 1);
        let low = self.first(level - 1, n.min(half));
        let high = self.first(level - 1, n.saturating_sub(half));
        self.fork(level, low, high)
    }

    /// Returns the set of one input.
    pub(super) fn single(&mut self, input: usize) -> SetId {
        let role = self.roles.partition_point(|(role, _)| role.end <= input);
        let within = input - self.roles[role].0.start;
        let word = self.enter(0, 1 << (within % 64));
        let place = (role << self.role_level) + within / 64;
        self.lift(word, 0, place)
    }

    /// Returns the whole set that consists of only this tree, at a place of its level.
    fn lift(&mut self, mut set: SetId, level: u32, mut place: usize) -> SetId {
        for level in level + 1..=self.top_level {
            set = match place % 2 {
                0 => self.fork(level, set, SetId::EMPTY),
                _ => self.fork(level, SetId::EMPTY, set),
            };
            place /= 2;
        }
        set
    }

    /// Returns the union, or `None` if the limit of work is reached.
    pub(super) fn union(&mut self, a: SetId, b: SetId) -> Option<SetId> {
        self.combine(Operation::Union, a, b)
    }

    /// Returns the other inputs of the same role, if all inputs of the set are of one role.
    pub(super) fn complement(&mut self, set: SetId) -> Option<SetId> {
        let mut only = None;
        let mut n_roles = 0;
        self.for_each_role(set, |role, tree| {
            only = Some((role, tree));
            n_roles += 1;
        });
        let (role, tree) = only.filter(|_| n_roles == 1)?;
        let others = self.combine(Operation::Difference, self.roles[role].1, tree)?;
        Some(self.lift(others, self.role_level, role))
    }

    /// Returns how many inputs are needed to describe the set: by role, the smaller one of the
    /// numbers of inputs in it and not in it.
    pub(super) fn n_to_build(&self, set: SetId) -> usize {
        let mut n = 0;
        self.for_each_role(set, |role, tree| {
            let n_in = self.node(tree).n_inputs as usize;
            n += n_in.min(self.roles[role].0.len() - n_in);
        });
        n
    }

    /// Returns, for each role with inputs in the set, these inputs, or the inputs not in the set if
    /// those are fewer.
    pub(super) fn members(&self, set: SetId) -> Vec<Members> {
        let mut all = Vec::new();
        self.for_each_role(set, |role, tree| {
            let (range, whole) = &self.roles[role];
            let n_in = self.node(tree).n_inputs as usize;
            let mut inputs = Vec::new();
            let is_outside = n_in > range.len() - n_in;
            let (from, without) = if is_outside { (*whole, tree) } else { (tree, SetId::EMPTY) };
            self.list(self.role_level, from, without, range.start, &mut inputs);
            all.push(if is_outside { Members::AllBut(inputs) } else { Members::Just(inputs) });
        });
        all
    }

    /// Lists what is in one tree and not in another, in ascending order.
    fn list(&self, level: u32, from: SetId, without: SetId, first: usize, inputs: &mut Vec<usize>) {
        if from == without || from == SetId::EMPTY {
            return;
        }
        if level == 0 {
            let mut left = self.node(from).content & !self.node(without).content;
            while left != 0 {
                inputs.push(first + left.trailing_zeros() as usize);
                left &= left - 1;
            }
            return;
        }
        let ([low, high], [not_low, not_high]) = (self.children(from), self.children(without));
        self.list(level - 1, low, not_low, first, inputs);
        self.list(level - 1, high, not_high, first + (64 << (level - 1)), inputs);
    }

    /// Calls back with the roles that have inputs in the set, in order, each with its tree.
    fn for_each_role(&self, set: SetId, mut then: impl FnMut(usize, SetId)) {
        let mut stack = vec![(self.top_level, set, 0)];
        while let Some((level, set, place)) = stack.pop() {
            if set == SetId::EMPTY {
                continue;
            }
            if level == self.role_level {
                then(place, set);
                continue;
            }
            let [low, high] = self.children(set);
            stack.push((level - 1, high, 2 * place + 1));
            stack.push((level - 1, low, 2 * place));
        }
    }

    fn combine(&mut self, operation: Operation, a: SetId, b: SetId) -> Option<SetId> {
        let trivial = match operation {
            Operation::Union if a == SetId::EMPTY || a == b => Some(b),
            Operation::Union | Operation::Difference if b == SetId::EMPTY => Some(a),
            Operation::Difference if a == SetId::EMPTY || a == b => Some(SetId::EMPTY),
            Operation::Union | Operation::Difference => None,
        };
        if trivial.is_some() {
            return trivial;
        }
        let place = hash(u64::from(a.0) << 32 | u64::from(b.0)) as usize % N_RESULTS;
        if let (known, x, y, result) = self.results[place]
            && (known, x, y) == (operation, a, b)
        {
            return Some(result);
        }
        self.n_left = self.n_left.checked_sub(1)?;
        let Node { level, content: left, .. } = *self.node(a);
        let right = self.node(b).content;
        let result = if level == 0 {
            self.enter(
                0,
                match operation {
                    Operation::Union => left | right,
                    Operation::Difference => left & !right,
                },
            )
        } else {
            let ([low, high], [other_low, other_high]) = (self.children(a), self.children(b));
            let low = self.combine(operation, low, other_low)?;
            let high = self.combine(operation, high, other_high)?;
            self.fork(level, low, high)
        };
        self.results[place] = (operation, a, b, result);
        Some(result)
    }

    fn fork(&mut self, level: u32, low: SetId, high: SetId) -> SetId {
        self.enter(level, u64::from(low.0) << 32 | u64::from(high.0))
    }

    /// Returns the trees below a fork. Those of the empty tree are empty.
    fn children(&self, set: SetId) -> [SetId; 2] {
        let content = self.node(set).content;
        [SetId((content >> 32) as u32), SetId(content as u32)]
    }

    fn node(&self, set: SetId) -> &Node {
        &self.nodes[set.0 as usize]
    }

    fn enter(&mut self, level: u32, content: u64) -> SetId {
        if content == 0 {
            return SetId::EMPTY;
        }
        let nodes = &self.nodes;
        let key = |node: &Node| hash(node.content ^ u64::from(node.level) << 58);
        let n_below = |half: u64| nodes[half as usize].n_inputs;
        let n_inputs = match level {
            0 => content.count_ones(),
            _ => n_below(content >> 32) + n_below(content & u64::from(u32::MAX)),
        };
        let node = Node { level, content, n_inputs };
        match self.index.entry(
            key(&node),
            |&other| nodes[other as usize] == node,
            |&other| key(&nodes[other as usize]),
        ) {
            Entry::Occupied(known) => SetId(*known.get()),
            Entry::Vacant(place) => {
                let id = u32::try_from(nodes.len())
                    .expect("the work is limited to fewer than 2^32 nodes");
                place.insert(id);
                self.nodes.push(node);
                SetId(id)
            }
        }
    }
}

/// The inputs of one role in a set.
pub(super) enum Members {
    /// Exactly these inputs.
    Just(Vec<usize>),
    /// All inputs but these.
    AllBut(Vec<usize>),
}

/// Returns a hash: one full multiplication, both halves combined.
fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
    (product >> 64) as u64 ^ product as u64
}
