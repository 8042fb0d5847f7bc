//! The traits of positions, for circuits.

use std::sync::Arc;

use agon_game::{Batch, Continuous, Fault, Hidden, Notation, Position, Rng, Role, Shape};

use super::{Input, Rules, ScalarCircuit, random};
use crate::run::batch::BatchCode;
use crate::run::bits::highest_bit;
use crate::{Backend, BatchCircuit, Bits, prove_turns};

impl Position for ScalarCircuit {
    type Move = Input;
    type State = Bits;

    fn shape(&self) -> &Shape {
        &self.rules.shape
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn legal_moves(&self, role: Role) -> &[Input] {
        let start = role.index().checked_sub(1).map_or(0, |before| self.legal_ends[before]);
        &self.legal[start as usize..self.legal_ends[role.index()] as usize]
    }

    fn payoff(&self, player: Role) -> f64 {
        let (values, first) = &self.rules.goals[player.index()];
        let highest = self.with_goals(|goals| highest_bit(goals, *first..first + values.len()));
        highest.map_or(0.0, |idx| values[idx] as f64)
    }

    fn advance(&mut self, joint: &[Input]) {
        debug_assert_eq!(
            joint.len(),
            self.legal_ends.len(),
            "a joint move has a move for each role"
        );
        self.step(joint);
        self.read();
    }

    fn play_out(&mut self, rng: &mut Rng, max_steps: usize) -> usize {
        random::play_out(self, rng, max_steps)
    }

    fn state(&self) -> &Bits {
        &self.state
    }

    fn go_to(&mut self, state: &Bits) {
        self.state = state.clone();
        self.look();
    }

    fn key(&self) -> u64 {
        self.state.key()
    }

    fn key_of(&mut self, state: &Bits) -> u64 {
        state.key()
    }

    fn features(&self, features: &mut Vec<u32>) {
        features.clear();
        for (idx, &word) in (0..).zip(self.state.words()) {
            let mut word = word;
            while word != 0 {
                features.push(64 * idx + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    fn state_words(state: &Bits) -> Option<&[u64]> {
        Some(state.words())
    }

    fn state_of_words(&self, words: &[u64]) -> Option<Bits> {
        let n_base = self.rules.circuit.base.len();
        let bit = |bit: usize| words[bit / 64] >> (bit % 64) & 1 == 1;
        (words.len() == n_base.div_ceil(64)).then(|| Bits::pack((0..n_base).map(bit)))
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn is_legal(&self, role: Role, candidate: &Input) -> bool {
        self.legal_moves(role).binary_search(candidate).is_ok()
    }

    fn batch(&self, seed: u64) -> Option<Box<dyn Batch<State = Bits, Move = Input>>> {
        let Rules { batch, circuit, shape, .. } = &*self.rules;
        let code = batch.get_or_init(|| {
            let (circuit, turns) = (Arc::clone(circuit), prove_turns(circuit));
            Arc::new(BatchCode::new(circuit, shape.clone(), Backend::default(), turns))
        });
        Some(Box::new(BatchCircuit::with_code(Arc::clone(code), seed)))
    }
}

impl Notation for ScalarCircuit {
    fn move_text(&self, m: &Input) -> String {
        let (role, move_idx) = self.role_and_index(*m);
        self.rules.circuit.roles[role.index()].moves[move_idx].clone()
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Input> {
        let moves = &self.rules.circuit.roles[role.index()].moves;
        let legal = self.legal_moves(role);
        let named = |input: &&Input| &moves[self.role_and_index(**input).1];
        // Two moves may differ in capitalisation alone, so the exact spelling is tried first.
        let exact = legal.iter().find(|input| named(input) == text.trim());
        let wanted = spelling(text);
        exact.or_else(|| legal.iter().find(|input| spelling(named(input)) == wanted)).copied()
    }

    fn state_text(&self) -> Vec<String> {
        let base = self.rules.circuit.base.iter().enumerate();
        let mut texts: Vec<String> =
            base.filter(|&(bit, _)| self.state.get(bit)).map(|(_, text)| text.clone()).collect();
        texts.sort_unstable();
        texts
    }

    fn feature_texts(&self) -> Vec<String> {
        self.rules.circuit.base.clone()
    }
}

/// All moves are inputs of the circuit: they have no real parameters.
impl Continuous for ScalarCircuit {}

impl Hidden for ScalarCircuit {
    fn percepts(&self, joint: &[Input], role: Role) -> Vec<String> {
        let circuit = &self.rules.circuit;
        let n_base = circuit.base.len();
        let mut slots = vec![0_u64; n_base + circuit.n_inputs()];
        slots[..n_base]
            .iter_mut()
            .enumerate()
            .for_each(|(bit, slot)| *slot = u64::from(self.state.get(bit)));
        joint.iter().for_each(|input| slots[n_base + input.0 as usize] = 1);
        let before: usize = circuit.outputs.percepts[..role.index()].iter().map(Vec::len).sum();
        let n_percepts = circuit.outputs.percepts.iter().map(Vec::len).sum();
        let mut results = vec![0; n_percepts];
        self.rules.sense.run(&mut slots, &mut results);
        let own = circuit.outputs.percepts[role.index()].iter().zip(&results[before..]);
        own.filter(|&(_, holds)| holds & 1 == 1).map(|((text, _), _)| text.clone()).collect()
    }
}

/// Returns a text in the form that is compared: lower case, single spaces, none beside
/// parentheses.
fn spelling(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for word in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        if !spelled.is_empty() && !spelled.ends_with('(') && word != ")" {
            spelled.push(' ');
        }
        spelled.push_str(&word.to_lowercase());
    }
    spelled
}
