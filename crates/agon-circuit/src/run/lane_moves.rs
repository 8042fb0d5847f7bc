//! Moves of players as numbers in lanes: drawn, and looked up, in all lanes at once.
//!
//! A learner gives and takes moves as arrays of numbers. To look each of them up in its lane takes
//! longer than the step itself. Here the binary digits of the numbers are planes, and programs of
//! ordinary gates turn digits into moves and legal moves into digits.

use std::collections::BTreeMap;

use crate::form::graph::Graph;
use crate::run::batch::random::PlaneRng;
use crate::run::batch::sampler::{Tree, draw, n_random};
use crate::run::kernel::{Backend, Kernel};
use crate::run::program::lower;
use crate::run::transpose::transpose_short;
use crate::{Circuit, Plane, Signal};

/// Number of binary digits of a number of a move.
pub const CODE_BITS: usize = 16;

/// A number of 16 bits in each of 256 lanes, as planes of binary digits, the lowest first.
pub type Codes = [Plane; CODE_BITS];

/// Returns the digits of numbers, by lane.
#[inline(always)]
pub(crate) fn to_codes(numbers: &[u16; Plane::LANES]) -> Codes {
    let mut rows = [Plane::ZERO; CODE_BITS];
    for (row, plane) in rows.iter_mut().enumerate() {
        for (quarter, word) in plane.0.iter_mut().enumerate() {
            let lane = 64 * quarter + row;
            *word = u64::from(numbers[lane])
                | u64::from(numbers[lane + 16]) << 16
                | u64::from(numbers[lane + 32]) << 32
                | u64::from(numbers[lane + 48]) << 48;
        }
    }
    transpose_short(&mut rows);
    rows
}

/// Returns the numbers that are given by their digits, by lane.
#[inline(always)]
pub(crate) fn to_numbers(codes: &Codes, numbers: &mut [u16; Plane::LANES]) {
    let mut rows = *codes;
    transpose_short(&mut rows);
    for (row, plane) in rows.iter().enumerate() {
        for (quarter, &word) in plane.0.iter().enumerate() {
            let lane = 64 * quarter + row;
            numbers[lane] = word as u16;
            numbers[lane + 16] = (word >> 16) as u16;
            numbers[lane + 32] = (word >> 32) as u16;
            numbers[lane + 48] = (word >> 48) as u16;
        }
    }
}

/// Looks up the moves of a role by their numbers.
///
/// Leaves: the legal moves of all roles, the lanes in which the role has no choice, the lanes in
/// which a number is given, its digits. Outputs: the moves of the role, then the lanes in which a
/// number is given that no legal move has.
pub(crate) struct Decoder {
    kernel: Kernel,
    /// Number of digits that the program reads. The others of a move are 0.
    n_bits: usize,
    rest: Vec<Plane>,
    out: Vec<Plane>,
}

impl Decoder {
    /// Makes the decoder of the moves `inputs`. `numbers` has the numbers of all moves.
    pub(crate) fn new(
        circuit: &Circuit,
        inputs: std::ops::Range<usize>,
        numbers: &[u16],
        backend: Backend,
    ) -> Decoder {
        let n_inputs = circuit.n_inputs();
        let n_bits = bits_of(numbers);
        let mut graph = Graph::new(n_inputs + 2 + n_bits);
        let (forced, given) = (graph.leaf(n_inputs), graph.leaf(n_inputs + 1));
        // Where the role has no choice and no number is given, every digit fits, so that its only
        // legal move is chosen. Elsewhere the digits must be those of the move.
        let is_open = graph.and(forced, !given);
        let is_asked = graph.or(is_open, given);
        let digits: Vec<[Signal; 2]> = (0..n_bits)
            .map(|bit| {
                let digit = graph.leaf(n_inputs + 2 + bit);
                [!digit, digit].map(|fits| graph.or(is_open, fits))
            })
            .collect();
        let mut roots = Vec::new();
        for input in inputs.clone() {
            // From the highest digit on, so that moves with similar numbers share gates.
            let mut fits = is_asked;
            for (bit, digit) in digits.iter().enumerate().rev() {
                fits = graph.and(fits, digit[usize::from(numbers[input] >> bit & 1)]);
            }
            let legal = graph.leaf(input);
            roots.push(graph.and(fits, legal));
        }
        let found = graph.or_all(&roots);
        roots.push(graph.and(given, !found));
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        Decoder {
            kernel: Kernel::new(&program, n_inputs, backend),
            n_bits,
            rest: vec![Plane::ZERO; 2 + n_bits],
            out: vec![Plane::ZERO; roots.len()],
        }
    }

    /// Writes the moves: those of given numbers, and the only move where the role has no choice.
    /// Returns the lanes in which the given number is not that of a legal move.
    pub(crate) fn run(
        &mut self,
        legal: &[Plane],
        forced: Plane,
        given: Plane,
        codes: &Codes,
        moves: &mut [Plane],
    ) -> Plane {
        self.rest[0] = forced;
        self.rest[1] = given;
        self.rest[2..].copy_from_slice(&codes[..self.n_bits]);
        self.kernel.run(legal, &self.rest, &mut self.out);
        moves.copy_from_slice(&self.out[..moves.len()]);
        let too_large = codes[self.n_bits..].iter().fold(Plane::ZERO, |any, &digit| any | digit);
        self.out[moves.len()] | too_large & given
    }
}

/// Draws a legal move of some roles, of which at most one is to move in each lane.
///
/// Leaves: the legal moves of all roles, by role the lanes in which its move is drawn, random bits.
/// Outputs: the digits of the number of the move, or the moves themselves.
pub(crate) struct Drawer {
    kernel: Kernel,
    n_roles: usize,
    rest: Vec<Plane>,
    out: Vec<Plane>,
}

impl Drawer {
    /// Makes a drawer of numbers for roles with these moves.
    pub(crate) fn of_numbers(
        circuit: &Circuit,
        roles: &[std::ops::Range<usize>],
        numbers: &[u16],
        backend: Backend,
    ) -> Drawer {
        let slots = slots(roles, numbers);
        Drawer::new(circuit, roles, &slots, backend, |graph, turns, paths| {
            let digit =
                |bit: usize| Digit { slots: &slots, numbers, bit }.draw(graph, turns, paths);
            (0..bits_of(numbers)).map(digit).collect()
        })
    }

    /// Makes a drawer of the moves of one role.
    pub(crate) fn of_moves(
        circuit: &Circuit,
        inputs: std::ops::Range<usize>,
        backend: Backend,
    ) -> Drawer {
        let slots: Vec<Slot> = inputs.clone().map(|input| vec![Some(input)]).collect();
        Drawer::new(circuit, &[inputs], &slots, backend, |_, _, paths| {
            paths.last().cloned().unwrap_or_default()
        })
    }

    fn new(
        circuit: &Circuit,
        roles: &[std::ops::Range<usize>],
        slots: &[Slot],
        backend: Backend,
        roots: impl FnOnce(&mut Graph, &[Signal], &[Vec<Signal>]) -> Vec<Signal>,
    ) -> Drawer {
        let n_inputs = circuit.n_inputs();
        let n_random = n_random(slots.len());
        let mut graph = Graph::new(n_inputs + roles.len() + n_random);
        let turns: Vec<Signal> = (0..roles.len()).map(|role| graph.leaf(n_inputs + role)).collect();
        let mut legal = Vec::with_capacity(slots.len());
        for slot in slots {
            let own = turns.iter().zip(slot).filter_map(|(&turn, input)| Some((turn, (*input)?)));
            let own: Vec<Signal> = own
                .map(|(turn, input)| {
                    let legal = graph.leaf(input);
                    graph.and(turn, legal)
                })
                .collect();
            legal.push(graph.or_all(&own));
        }
        let first_random = n_inputs + roles.len();
        let random: Vec<Signal> = (0..n_random).map(|bit| graph.leaf(first_random + bit)).collect();
        let tree = Tree::new(&mut graph, &legal);
        let rank = draw(&mut graph, tree.count(), &random);
        // Lanes in which no move is drawn are at no node.
        let is_drawn = graph.or_all(tree.count());
        let paths = tree.paths(&mut graph, is_drawn, &rank);
        let roots = roots(&mut graph, &turns, &paths);
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        Drawer {
            kernel: Kernel::new(&program, n_inputs, backend),
            n_roles: roles.len(),
            rest: vec![Plane::ZERO; roles.len() + n_random],
            out: vec![Plane::ZERO; roots.len()],
        }
    }

    /// Draws in the lanes of each role. The outputs are 0 in other lanes.
    pub(crate) fn run(&mut self, legal: &[Plane], turns: &[Plane], rng: &mut PlaneRng) -> &[Plane] {
        self.rest[..self.n_roles].copy_from_slice(turns);
        rng.fill(&mut self.rest[self.n_roles..]);
        self.kernel.run(legal, &self.rest, &mut self.out);
        &self.out
    }
}

/// A leaf of the tree from which moves are drawn: by role, its move there.
type Slot = Vec<Option<usize>>;

/// Distributes the moves of roles over as few slots as possible. Roles share a slot if their moves
/// have the same number, or if no other role has their numbers.
fn slots(roles: &[std::ops::Range<usize>], numbers: &[u16]) -> Vec<Slot> {
    let mut by_number: BTreeMap<u16, Slot> = BTreeMap::new();
    for (role, inputs) in roles.iter().enumerate() {
        for input in inputs.clone() {
            let slot = by_number.entry(numbers[input]).or_insert_with(|| vec![None; roles.len()]);
            slot[role] = Some(input);
        }
    }
    let (mut slots, mut single) = (Vec::new(), vec![Vec::new(); roles.len()]);
    for slot in by_number.into_values() {
        let mut owners = (0..roles.len()).filter(|&role| slot[role].is_some());
        match (owners.next(), owners.next()) {
            (Some(only), None) => single[only].push(slot[only]),
            _ => slots.push(slot),
        }
    }
    let n_single = single.iter().map(Vec::len).max().unwrap_or(0);
    slots.extend(
        (0..n_single).map(|at| {
            single.iter().map(|moves| moves.get(at).copied().flatten()).collect::<Slot>()
        }),
    );
    slots
}

/// A binary digit of the number of the move that is drawn.
struct Digit<'a> {
    slots: &'a [Slot],
    numbers: &'a [u16],
    bit: usize,
}

/// The nodes of the tree at which a digit is 1: for every role, or for one.
#[derive(Default)]
struct Ones {
    for_all: Vec<Signal>,
    by_role: Vec<Vec<Signal>>,
}

impl Digit<'_> {
    /// Returns the digit, from the lanes at each node of the tree, level by level from the root.
    ///
    /// Where all moves below a node have the digit, the lanes at the node are taken as a whole.
    fn draw(&self, graph: &mut Graph, turns: &[Signal], paths: &[Vec<Signal>]) -> Signal {
        let mut ones = Ones { by_role: vec![Vec::new(); turns.len()], ..Ones::default() };
        if !paths.is_empty() {
            self.collect(paths, 0, 0, &mut ones);
        }
        for (&turn, nodes) in turns.iter().zip(&ones.by_role) {
            let own = graph.or_all(nodes);
            let own = graph.and(turn, own);
            ones.for_all.push(own);
        }
        graph.or_all(&ones.for_all)
    }

    fn collect(&self, paths: &[Vec<Signal>], level: usize, node: usize, ones: &mut Ones) {
        let height = paths.len() - 1 - level;
        let below = node << height..((node + 1) << height).min(self.slots.len());
        // By role: whether some move below has the digit 0, and whether some has 1.
        let mut has = vec![[false; 2]; ones.by_role.len()];
        for slot in &self.slots[below] {
            for (has, input) in has.iter_mut().zip(slot) {
                if let Some(input) = input {
                    has[usize::from(self.numbers[*input] >> self.bit & 1)] = true;
                }
            }
        }
        let at = paths[level][node];
        if has.iter().all(|has| !has[0]) {
            ones.for_all.push(at);
        } else if has.iter().all(|has| *has != [true, true]) {
            let with_digit = has.iter().zip(&mut ones.by_role).filter(|(has, _)| has[1]);
            with_digit.for_each(|(_, nodes)| nodes.push(at));
        } else {
            let children = [2 * node, 2 * node + 1];
            for child in children.into_iter().filter(|&child| child < paths[level + 1].len()) {
                self.collect(paths, level + 1, child, ones);
            }
        }
    }
}

/// Returns the number of digits of the largest number.
fn bits_of(numbers: &[u16]) -> usize {
    (u16::BITS - numbers.iter().max().copied().unwrap_or(0).leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_digits_are_converted() {
        let numbers: [u16; 256] =
            std::array::from_fn(|lane| (lane as u16).wrapping_mul(40_503).rotate_left(3));
        let codes = to_codes(&numbers);
        for (lane, number) in numbers.into_iter().enumerate() {
            let digit = |bit: usize| u16::from(codes[bit].lane(lane)) << bit;
            assert_eq!((0..16).map(digit).sum::<u16>(), number);
        }
        let mut again = [0; 256];
        to_numbers(&codes, &mut again);
        assert_eq!(again, numbers);
    }
}
