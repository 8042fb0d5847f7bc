//! Random playouts of one game: moves are drawn from the bits of legality, with no list in between.

use agon_game::{Position as _, Rng};
use rand::Rng as _;

use super::engine::Questions;
use super::{Input, ScalarCircuit, has_bit, within};
use crate::jit::{Work, with_wide_registers};

/// Plays random moves to the end, at most `max_steps` of them. Returns how many were made.
pub(super) fn play_out(position: &mut ScalarCircuit, rng: &mut Rng, max_steps: usize) -> usize {
    if position.is_terminal || max_steps == 0 {
        return 0;
    }
    let mut n_steps = 0;
    if !position.rules.circuit.is_exact() {
        return play_out_by_lists(position, rng, max_steps);
    }
    with_wide_registers(PlayOut { position, rng, max_steps, n_steps: &mut n_steps });
    position.read();
    n_steps
}

/// The same where the bits of legality do not tell all.
fn play_out_by_lists(position: &mut ScalarCircuit, rng: &mut Rng, max_steps: usize) -> usize {
    let mut joint = std::mem::take(&mut position.joint);
    let mut n_steps = 0;
    while n_steps < max_steps && !position.is_terminal {
        position.draw(rng, &mut joint);
        position.step(&joint);
        position.read();
        n_steps += 1;
    }
    position.joint = joint;
    n_steps
}

/// Compiled for processors that count bits by an instruction.
struct PlayOut<'a> {
    position: &'a mut ScalarCircuit,
    rng: &'a mut Rng,
    max_steps: usize,
    n_steps: &'a mut usize,
}

impl Work for PlayOut<'_> {
    #[inline(always)]
    fn work(self) {
        let position = self.position;
        let mut joint = std::mem::take(&mut position.joint);
        while *self.n_steps < self.max_steps {
            let questions = &position.rules.questions[position.phase];
            let answers = position.desks.get_mut()[position.phase].answers();
            if has_bit(answers, questions.inputs.len())
                || !draw(questions, answers, self.rng, &mut joint)
            {
                break;
            }
            position.step(&joint);
            *self.n_steps += 1;
        }
        position.joint = joint;
    }
}

/// Draws a legal move for each role, uniformly. Says no if a role has none.
#[inline(always)]
fn draw(questions: &Questions, answers: &[u64], rng: &mut Rng, joint: &mut Vec<Input>) -> bool {
    joint.clear();
    let mut start = 0;
    for &end in &questions.input_ends {
        let end = end as usize;
        let Some(bit) = draw_bit(answers, start, end, rng) else { return false };
        joint.push(questions.inputs[bit]);
        start = end;
    }
    true
}

/// One of the bits that are set from `start` to `end`.
#[inline(always)]
fn draw_bit(words: &[u64], start: usize, end: usize, rng: &mut Rng) -> Option<usize> {
    let mut n_set = 0;
    each_word(words, start, end, |_, word| {
        n_set += word.count_ones();
        true
    });
    let mut left = match n_set {
        0 => return None,
        1 => 0,
        // The error of the product is below 2^-32 for as many moves as anybody can list.
        _ => ((u128::from(rng.next_u64()) * u128::from(n_set)) >> 64) as u32,
    };
    let mut drawn = 0;
    each_word(words, start, end, |first, word| {
        let n_here = word.count_ones();
        if left >= n_here {
            left -= n_here;
            return true;
        }
        let mut word = word;
        for _ in 0..left {
            word &= word - 1;
        }
        drawn = first + word.trailing_zeros() as usize;
        false
    });
    Some(drawn)
}

/// Calls back with each word of a range of bits, what lies outside of it cleared, and the number of its first bit, for as
/// long as it is wanted.
#[inline(always)]
fn each_word(
    words: &[u64],
    start: usize,
    end: usize,
    mut wants_more: impl FnMut(usize, u64) -> bool,
) {
    let mut at = start;
    while at < end {
        let stop = end.min((at / 64 + 1) * 64);
        if !wants_more(at / 64 * 64, within(words[at / 64], at % 64, stop - at)) {
            return;
        }
        at = stop;
    }
}
