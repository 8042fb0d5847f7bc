//! Moves of players as numbers in lanes: drawn, and looked up, in all lanes at once.
//!
//! A learner gives and takes moves as arrays of numbers. To look each of them up in its lane takes
//! longer than the step itself. Here the binary digits of the numbers are planes, and programs of
//! ordinary gates turn digits into moves and legal moves into digits.

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
    /// Makes the decoder of the moves `inputs`, whose numbers are `numbers` by input of the circuit.
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
        let digits: Vec<Signal> = (0..n_bits).map(|bit| graph.leaf(n_inputs + 2 + bit)).collect();
        let (mut roots, mut found) = (Vec::new(), Vec::new());
        for input in inputs.clone() {
            let legal = graph.leaf(input);
            // From the highest digit on, so that moves with similar numbers share gates.
            let mut is_it = given;
            for (bit, &digit) in digits.iter().enumerate().rev() {
                is_it = graph.and(is_it, digit.inverted_if(numbers[input] >> bit & 1 == 0));
            }
            let chosen = graph.and(is_it, legal);
            found.push(chosen);
            let only = graph.and(forced, legal);
            roots.push(graph.or(chosen, only));
        }
        let found = graph.or_all(&found);
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

/// Draws a legal move of some roles, of which one is to move in each lane.
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
        let n_bits = bits_of(numbers);
        Drawer::new(circuit, roles, numbers, backend, |graph, chosen| {
            let digit = |bit: usize| {
                let has_digit = |(number, _): &(usize, &Signal)| number >> bit & 1 == 1;
                let with_digit = chosen.iter().enumerate().filter(has_digit);
                let with_digit: Vec<Signal> = with_digit.map(|(_, &signal)| signal).collect();
                graph.or_all(&with_digit)
            };
            (0..n_bits).map(digit).collect()
        })
    }

    /// Makes a drawer of the moves of one role.
    pub(crate) fn of_moves(
        circuit: &Circuit,
        inputs: std::ops::Range<usize>,
        backend: Backend,
    ) -> Drawer {
        let mut numbers = vec![0; circuit.n_inputs()];
        for (number, input) in inputs.clone().enumerate() {
            numbers[input] = number as u16;
        }
        Drawer::new(circuit, &[inputs], &numbers, backend, |_, chosen| chosen.to_vec())
    }

    fn new(
        circuit: &Circuit,
        roles: &[std::ops::Range<usize>],
        numbers: &[u16],
        backend: Backend,
        roots: impl FnOnce(&mut Graph, &[Signal]) -> Vec<Signal>,
    ) -> Drawer {
        let n_inputs = circuit.n_inputs();
        let inputs = || roles.iter().cloned().flatten();
        let n_numbers = inputs().map(|input| usize::from(numbers[input]) + 1).max().unwrap_or(0);
        let n_random = n_random(n_numbers);
        let mut graph = Graph::new(n_inputs + roles.len() + n_random);
        let mut legal = vec![Signal::FALSE; n_numbers];
        for (role, inputs) in roles.iter().enumerate() {
            let turn = graph.leaf(n_inputs + role);
            for input in inputs.clone() {
                let own = graph.leaf(input);
                let own = graph.and(turn, own);
                let number = usize::from(numbers[input]);
                legal[number] = graph.or(legal[number], own);
            }
        }
        let first_random = n_inputs + roles.len();
        let random: Vec<Signal> = (0..n_random).map(|bit| graph.leaf(first_random + bit)).collect();
        let tree = Tree::new(&mut graph, &legal);
        let rank = draw(&mut graph, tree.count(), &random);
        let mut chosen = tree.descend(&mut graph, &rank);
        for (chosen, &legal) in chosen.iter_mut().zip(&legal) {
            *chosen = graph.and(*chosen, legal);
        }
        let roots = roots(&mut graph, &chosen);
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
