//! All positions of a game.

use agon_game::{Position, Role};

use super::UnsolvedReason;
use super::numbering::Numbering;
use crate::Meter;
use crate::choices::{Choices, chances};
use crate::hash::{self, Map};

/// Every reachable position with its children. The states are not stored.
pub(super) struct Graph {
    /// By number of a position. The first is the start.
    pub(super) nodes: Vec<Node>,
    /// The children of all positions, one position after another. For each position they have the
    /// order of [`agon_game::joint_moves`], in which the moves of the last role change fastest.
    pub(super) edges: Vec<u32>,
    /// The different branchings of positions.
    pub(super) branchings: Vec<Branching>,
    /// The different payoffs by role at terminal positions.
    pub(super) payoffs: Vec<Vec<f64>>,
    /// The numbers of positions by key.
    pub(super) numbering: Numbering,
}

/// A position.
#[derive(Copy, Clone)]
pub(super) enum Node {
    /// Play has ended. The index of its payoffs.
    Ended(u32),
    /// Play continues. The index of its first edge and of its branching.
    Open { first_edge: u32, branching: u32 },
}

/// The numbers of moves of all roles at a position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Branching {
    /// By role: the number of moves.
    pub(super) counts: Vec<usize>,
    /// By move of nature: its probability. A single 1 without nature.
    pub(super) chances: Vec<f64>,
    /// The players with more than one move.
    pub(super) choosers: Vec<Role>,
}

impl Branching {
    /// Returns the number of joint moves, at most `usize::MAX`.
    pub(super) fn n_joints(&self) -> usize {
        self.counts.iter().fold(1, |product, &count| product.saturating_mul(count))
    }

    /// Returns, by role, the distance of two joint moves that differ by one in the role's move.
    pub(super) fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1_usize; self.counts.len()];
        for role in (1..self.counts.len()).rev() {
            strides[role - 1] = strides[role].saturating_mul(self.counts[role]);
        }
        strides
    }
}

/// Enumerates all positions. `note` is told the state of each position in the order of their
/// numbers.
pub(super) fn list<P: Position>(
    start: &P,
    meter: &mut Meter<'_>,
    max_bytes: usize,
    note: &mut dyn FnMut(&P::State),
) -> Result<Graph, UnsolvedReason> {
    let mut position = start.clone();
    let mut graph = Graph {
        nodes: Vec::new(),
        edges: Vec::new(),
        branchings: Vec::new(),
        payoffs: Vec::new(),
        numbering: Numbering::default(),
    };
    // By hash. Only few branchings and payoffs are different, so they are shared.
    let mut known_branchings: Map<u64, Vec<u32>> = Map::default();
    let mut known_payoffs: Map<u64, Vec<u32>> = Map::default();
    // Depth-first, so that few states wait at the same time.
    let mut waiting: Vec<(u32, P::State)> = Vec::new();
    let unexpanded = Node::Ended(u32::MAX);
    graph.numbering.number(start.key());
    graph.nodes.push(unexpanded);
    note(start.state());
    waiting.push((0, start.state().clone()));
    let per_node = Numbering::BYTES + size_of::<Node>() + 32;
    let per_waiting = size_of::<(u32, P::State)>() + 64;
    while let Some((number, state)) = waiting.pop() {
        position.go_to(&state);
        if let Some(fault) = position.fault() {
            return Err(UnsolvedReason::Fault(fault.to_string()));
        }
        let bytes =
            graph.nodes.len() * per_node + graph.edges.len() * 4 + waiting.len() * per_waiting;
        if bytes > max_bytes {
            return Err(UnsolvedReason::Memory);
        }
        if meter.is_over(64) {
            return Err(UnsolvedReason::Budget);
        }
        if position.is_terminal() {
            let payoffs = payoffs(&position);
            let bits: Vec<u64> = payoffs.iter().map(|payoff| payoff.to_bits()).collect();
            let index = intern(&mut known_payoffs, hash::of(&bits), payoffs, &mut graph.payoffs);
            graph.nodes[number as usize] = Node::Ended(index);
            continue;
        }
        let branching = branching(&position);
        let bits: Vec<u64> = branching.chances.iter().map(|chance| chance.to_bits()).collect();
        let n_joints = branching.n_joints();
        let hash = hash::of(&(&branching.counts, bits));
        let index = intern(&mut known_branchings, hash, branching, &mut graph.branchings);
        let first_edge = u32::try_from(graph.edges.len()).map_err(|_| UnsolvedReason::Memory)?;
        graph.nodes[number as usize] = Node::Open { first_edge, branching: index };
        if n_joints > 1 << 20 {
            return Err(UnsolvedReason::Memory);
        }
        let mut is_over = false;
        for_each_joint(&Choices::at(&position), |joint| {
            // A position may have many joint moves, and each may take long.
            is_over = is_over || meter.is_over(64);
            if is_over {
                return;
            }
            meter.n_nodes += 1;
            position.go_to(&state);
            position.advance(joint);
            let (child, is_new) = graph.numbering.number(position.key());
            graph.edges.push(child);
            if is_new {
                graph.nodes.push(unexpanded);
                note(position.state());
                waiting.push((child, position.state().clone()));
            }
        });
        if is_over {
            return Err(UnsolvedReason::Budget);
        }
    }
    Ok(graph)
}

/// Returns the payoffs by role if play ends here; 0 for nature.
pub(super) fn payoffs<P: Position>(position: &P) -> Vec<f64> {
    let nature = position.shape().nature;
    let of = |role: Role| if Some(role) == nature { 0.0 } else { position.payoff(role) };
    position.shape().roles().map(of).collect()
}

/// Returns the branching of a position.
pub(super) fn branching<P: Position>(position: &P) -> Branching {
    let nature = position.shape().nature;
    Branching {
        counts: position.shape().roles().map(|role| position.legal_moves(role).len()).collect(),
        chances: chances(position),
        choosers: position.choosers().filter(|&role| Some(role) != nature).collect(),
    }
}

/// Visits every joint move. The moves of the last role change fastest.
fn for_each_joint<M: Clone>(choices: &Choices<M>, mut visit: impl FnMut(&[M])) {
    let mut joint = choices.first_joint();
    let mut move_idxs = vec![0; joint.len()];
    loop {
        visit(&joint);
        let mut role = joint.len();
        loop {
            if role == 0 {
                return;
            }
            role -= 1;
            let moves = choices.of(Role::new(role));
            move_idxs[role] += 1;
            if move_idxs[role] < moves.len() {
                joint[role] = moves[move_idxs[role]].clone();
                break;
            }
            move_idxs[role] = 0;
            joint[role] = moves[0].clone();
        }
    }
}

/// Returns the index of an item among `items`, and adds it if it is new.
fn intern<T: PartialEq>(
    known: &mut Map<u64, Vec<u32>>,
    hash: u64,
    item: T,
    items: &mut Vec<T>,
) -> u32 {
    let same = known.entry(hash).or_default();
    if let Some(&index) = same.iter().find(|&&index| items[index as usize] == item) {
        return index;
    }
    let index = items.len() as u32;
    same.push(index);
    items.push(item);
    index
}

impl Graph {
    /// Returns the positions, children before parents unless positions repeat, and whether they
    /// repeat.
    pub(super) fn bottom_up(&self) -> (Vec<u32>, bool) {
        #[derive(Copy, Clone, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut repeats = false;
        let mut path: Vec<(u32, u32)> = vec![(0, 0)];
        marks[0] = Mark::Open;
        while let Some((number, next)) = path.last_mut() {
            let children = self.children(*number);
            match children.get(*next as usize) {
                Some(&child) => {
                    *next += 1;
                    match marks[child as usize] {
                        Mark::New => {
                            marks[child as usize] = Mark::Open;
                            path.push((child, 0));
                        }
                        Mark::Open => repeats = true,
                        Mark::Done => {}
                    }
                }
                None => {
                    marks[*number as usize] = Mark::Done;
                    order.push(*number);
                    path.pop();
                }
            }
        }
        (order, repeats)
    }

    /// Returns the children of a position.
    pub(super) fn children(&self, number: u32) -> &[u32] {
        match self.nodes[number as usize] {
            Node::Ended(_) => &[],
            Node::Open { first_edge, branching } => {
                let first = first_edge as usize;
                &self.edges[first..first + self.branchings[branching as usize].n_joints()]
            }
        }
    }
}
