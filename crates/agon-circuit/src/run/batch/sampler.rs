//! A uniformly random legal move, as gates.
//!
//! The inputs are the legal wires of a role and wires of fair random bits. The outputs are one wire
//! per move, of which exactly one holds in each lane where some move is legal. A balanced tree of
//! adders counts the legal moves below each node. A number below the count is drawn. Then the tree
//! is descended, with one shared comparison per level, to the legal move of that number. All of it
//! is ordinary logic of the same graph, so it is shared and simplified like the rules.

use crate::Signal;
use crate::form::graph::Graph;

/// A number in binary, the lowest bit first.
type Number = Vec<Signal>;

/// Bound on the bias of a draw: the probability of a move deviates by a factor of less than
/// 2^-FAIRNESS_BITS.
pub(crate) const FAIRNESS_BITS: usize = 16;

/// Adder trees over the legal wires of a role.
pub(crate) struct Tree {
    /// The moves that are ever legal.
    moves: Vec<usize>,
    n_moves: usize,
    /// Counts of legal moves, from the leaves to the root. The children of node `i` are the nodes
    /// `2 * i` and, unless that is past the end, `2 * i + 1` of the level before.
    levels: Vec<Vec<Number>>,
}

impl Tree {
    pub(crate) fn new(graph: &mut Graph, legal: &[Signal]) -> Tree {
        let moves: Vec<usize> = (0..legal.len()).filter(|&m| legal[m] != Signal::FALSE).collect();
        let mut level: Vec<Number> = moves.iter().map(|&m| vec![legal[m]]).collect();
        let mut levels = vec![level.clone()];
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [left, right] => add(graph, left, right),
                    _ => pair[0].clone(),
                })
                .collect();
            levels.push(level.clone());
        }
        Tree { moves, n_moves: legal.len(), levels }
    }

    /// Returns the number of legal moves.
    pub(crate) fn count(&self) -> &[Signal] {
        self.levels.last().and_then(|root| root.first()).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of random bits of a draw.
    pub(crate) fn n_random(&self) -> usize {
        n_random(self.moves.len())
    }

    /// Returns, by move, the signal that it is the legal move of this number, which is below the
    /// count. Where some move is legal, the chosen move is legal, even for a number out of range.
    pub(crate) fn descend(&self, graph: &mut Graph, number: &[Signal]) -> Vec<Signal> {
        let mut chosen = vec![Signal::FALSE; self.n_moves];
        let paths = self.paths(graph, Signal::TRUE, number);
        for (&m, &at) in self.moves.iter().zip(paths.last().into_iter().flatten()) {
            chosen[m] = at;
        }
        chosen
    }

    /// Returns, by node of each level from the root to the leaves, the lanes whose way to the legal
    /// move of this number leads through it. The ways begin in the lanes `root`.
    pub(crate) fn paths(
        &self,
        graph: &mut Graph,
        root: Signal,
        number: &[Signal],
    ) -> Vec<Vec<Signal>> {
        let Some((_, below)) = self.levels.split_last() else { return Vec::new() };
        let mut paths = vec![vec![root]];
        // By node of the level: the lanes that are there.
        let mut here = vec![root];
        let mut number = number.to_vec();
        for level in below.iter().rev() {
            // In each lane, the count of the left child of its node. All other nodes are masked
            // out.
            let width = level.iter().map(Vec::len).max().unwrap_or(0);
            let left: Number = (0..width)
                .map(|bit| {
                    let masked: Vec<Signal> = here
                        .iter()
                        .enumerate()
                        // A node with one child sends all its lanes to the left, because the count
                        // of the child is its own, and the number is below it.
                        .filter_map(|(node, &at)| Some((at, *level[2 * node].get(bit)?)))
                        .map(|(at, count)| graph.and(at, count))
                        .collect();
                    graph.or_all(&masked)
                })
                .collect();
            let (rest, goes_left) = subtract(graph, &number, &left);
            number = (0..width)
                .map(|bit| {
                    let [number, rest] =
                        [&number, &rest].map(|n| n.get(bit).copied().unwrap_or(Signal::FALSE));
                    graph.choose(goes_left, number, rest)
                })
                .collect();
            let mut next = Vec::with_capacity(level.len());
            for (node, &at) in here.iter().enumerate() {
                if 2 * node + 1 < level.len() {
                    let left = graph.and(at, goes_left);
                    next.push(left);
                    next.push(graph.and(at, !goes_left));
                } else {
                    next.push(at);
                }
            }
            here = next;
            paths.push(here.clone());
        }
        paths
    }
}

/// Returns the number of random bits of a draw among `n_moves` moves for which its bias stays below
/// the bound.
pub(crate) fn n_random(n_moves: usize) -> usize {
    if n_moves < 2 { 0 } else { FAIRNESS_BITS + n_moves.next_power_of_two().ilog2() as usize }
}

/// Returns a uniformly random number below `count`: the product of the count and a random fraction,
/// rounded down. Zero where the count is zero.
///
/// Horner's rule from the lowest bit of the fraction on, halving and rounding down each time, gives
/// exactly the product rounded down once, and no partial sum reaches the count.
pub(crate) fn draw(graph: &mut Graph, count: &[Signal], random: &[Signal]) -> Number {
    let mut number: Number = vec![Signal::FALSE; count.len()];
    for &bit in random {
        let addend: Number = count.iter().map(|&digit| graph.and(digit, bit)).collect();
        number = add(graph, &number, &addend);
        number.resize(count.len() + 1, Signal::FALSE);
        number.remove(0);
    }
    number
}

/// Returns the sum, without leading constant zeros.
pub(crate) fn add(graph: &mut Graph, a: &[Signal], b: &[Signal]) -> Number {
    let mut carry = Signal::FALSE;
    let mut sum = Vec::with_capacity(a.len().max(b.len()) + 1);
    for bit in 0..a.len().max(b.len()) {
        let [x, y] = [a, b].map(|n| n.get(bit).copied().unwrap_or(Signal::FALSE));
        let half = graph.xor(x, y);
        sum.push(graph.xor(half, carry));
        let both = graph.and(x, y);
        let passed = graph.and(half, carry);
        carry = graph.or(both, passed);
    }
    sum.push(carry);
    while sum.len() > 1 && sum.last() == Some(&Signal::FALSE) {
        sum.pop();
    }
    sum
}

/// Returns the difference `a - b`, modulo a power of two, and whether `a < b`.
fn subtract(graph: &mut Graph, a: &[Signal], b: &[Signal]) -> (Number, Signal) {
    let mut borrow = Signal::FALSE;
    let mut difference = Vec::with_capacity(a.len().max(b.len()));
    for bit in 0..a.len().max(b.len()) {
        let [x, y] = [a, b].map(|n| n.get(bit).copied().unwrap_or(Signal::FALSE));
        let half = graph.xor(x, y);
        difference.push(graph.xor(half, borrow));
        let lacks = graph.and(!x, y);
        let passed = graph.and(!half, borrow);
        borrow = graph.or(lacks, passed);
    }
    (difference, borrow)
}
