//! Random playouts of one game: moves are drawn from the bits of legality, without listing them.

use agon_game::{Position as _, Rng};
use rand::Rng as _;

use super::engine::Queries;
use super::{Input, ScalarCircuit};
use crate::native::{Work, with_wide_registers};
use crate::run::bits::{has_bit, within};

/// Plays random moves to the end, at most `max_steps` of them. Returns the number of moves made.
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

/// Plays random moves drawn from the lists of legal moves. Needed where steps may be rejected,
/// because then the bits of legality are not enough.
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

/// The loop of a playout, compiled for processors with an instruction that counts bits.
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
            let queries = &position.rules.queries[position.phase];
            let answers = position.scratches.get_mut()[position.phase].answers();
            if has_bit(answers, queries.inputs.len())
                || !draw(queries, answers, self.rng, &mut joint)
            {
                break;
            }
            position.step(&joint);
            *self.n_steps += 1;
        }
        position.joint = joint;
    }
}

/// Draws a legal move for each role, uniformly. Returns false if a role has none.
#[inline(always)]
fn draw(queries: &Queries, answers: &[u64], rng: &mut Rng, joint: &mut Vec<Input>) -> bool {
    joint.clear();
    let mut start = 0;
    for &end in &queries.input_ends {
        let end = end as usize;
        let Some(bit) = draw_bit(answers, start, end, rng) else { return false };
        joint.push(queries.inputs[bit]);
        start = end;
    }
    true
}

/// Draws one of the bits that are set from `start` to `end`, uniformly.
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
        // The bias of the product is below 2^-32 for any number of moves that fits in memory.
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

/// Calls back with each word of a range of bits and the number of its first bit, until the callback
/// returns false. Bits outside of the range are cleared.
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
