//! The outputs of lanes: legal moves, ends of play and payoffs.

use std::ops::Range;
use std::sync::Arc;

use agon_game::{Children, LegalMoves};

use crate::run::transpose;
use crate::{Bits, Circuit, Input, Plane};

/// The outputs at the states in all lanes: legal moves role after role, whether play has ended,
/// goals role after role.
#[derive(Clone)]
pub(super) struct Answers {
    n_roles: usize,
    pub(super) planes: Vec<Plane>,
    /// The move of each bit of a set of legal moves, and by role where its bits end.
    moves: Arc<[Input]>,
    role_ends: Arc<[u32]>,
    /// The goals that are not the payoff 0 by default: the index of the output, the role and the
    /// payoff. Ascending for each role, so that the highest that holds is written last.
    goals: Vec<(usize, usize, f64)>,
    legal_rows: Vec<[Plane; 64]>,
}

impl Answers {
    pub(super) fn new(circuit: &Circuit) -> Answers {
        let n_moves = circuit.n_inputs();
        let role_ends = circuit.roles.iter().scan(0, |end, role| {
            *end += role.moves.len() as u32;
            Some(*end)
        });
        let all = circuit.outputs.goals.iter().enumerate();
        let all =
            all.flat_map(|(role, goals)| goals.iter().enumerate().map(move |goal| (role, goal)));
        let goals = (n_moves + 1..)
            .zip(all)
            .filter(|(_, (_, (rank, (value, _))))| (*rank, *value) != (0, 0))
            .map(|(answer, (role, (_, (value, _))))| (answer, role, *value as f64));
        Answers {
            n_roles: circuit.roles.len(),
            planes: vec![Plane::ZERO; circuit.outputs.state_signals().count()],
            moves: (0..n_moves as u32).map(Input).collect(),
            role_ends: role_ends.collect(),
            goals: goals.collect(),
            legal_rows: vec![[Plane::ZERO; 64]; n_moves.div_ceil(64)],
        }
    }

    /// Returns, by role, where its bits end in a set of legal moves.
    #[inline(always)]
    pub(super) fn role_ends(&self) -> &[u32] {
        &self.role_ends
    }

    /// Returns, by move, the lanes in which it is legal.
    #[inline(always)]
    pub(super) fn legal(&self) -> &[Plane] {
        &self.planes[..self.moves.len()]
    }

    /// Gives the buffer of legal moves the form that is written here.
    pub(super) fn begin(&self, children: &mut Children<Bits, Input>) {
        let is_own = |moves| Arc::ptr_eq(moves, &self.moves);
        if !matches!(&children.legal, LegalMoves::Masks { moves, .. } if is_own(moves)) {
            children.legal = LegalMoves::Masks {
                moves: Arc::clone(&self.moves),
                role_ends: Arc::clone(&self.role_ends),
                words: Vec::new(),
            };
        }
    }

    /// Returns the lanes in which play has ended: by the rules, or because a role has no move.
    #[inline(always)]
    pub(super) fn ended(&self) -> Plane {
        let mut ended = self.planes[self.moves.len()];
        let mut start = 0;
        for &end in &*self.role_ends {
            let mut any = Plane::ZERO;
            for answer in &self.planes[start..end as usize] {
                any = any | *answer;
            }
            ended = ended | !any;
            start = end as usize;
        }
        ended
    }

    /// Truncates the buffers after the first `n` children.
    pub(super) fn finish(&self, n: usize, children: &mut Children<Bits, Input>) {
        children.ended.truncate(n);
        children.payoffs.truncate(n * self.n_roles);
        if let LegalMoves::Masks { words, .. } = &mut children.legal {
            words.truncate(n * self.legal_rows.len());
        }
    }

    /// Writes the outputs of the first lanes to these children.
    #[inline(always)]
    pub(super) fn write(&mut self, written: Range<usize>, children: &mut Children<Bits, Input>) {
        transpose::unload(&self.planes[..self.moves.len()], &mut self.legal_rows);
        if let LegalMoves::Masks { words, .. } = &mut children.legal {
            write_rows(&self.legal_rows, written.clone(), words);
        }
        let payoffs = of_children(written.clone(), self.n_roles, 0.0, &mut children.payoffs);
        payoffs.fill(0.0);
        let lanes = Plane::range(0..written.len());
        for &(answer, role, value) in &self.goals {
            let holds = self.planes[answer] & lanes;
            let mut quarter = 0;
            while quarter < 4 {
                let mut word = holds.0[quarter];
                while word != 0 {
                    let lane = 64 * quarter + word.trailing_zeros() as usize;
                    word &= word - 1;
                    payoffs[lane * self.n_roles + role] = value;
                }
                quarter += 1;
            }
        }
        let ended = self.ended();
        let flags = of_children(written, 1, false, &mut children.ended);
        for (quarter, flags) in flags.chunks_mut(64).enumerate() {
            let word = ended.0[quarter];
            for (lane, flag) in flags.iter_mut().enumerate() {
                *flag = word >> lane & 1 == 1;
            }
        }
    }
}

/// Returns the places of some children in a buffer with `n_places` places for each. The buffer
/// grows if necessary.
#[inline(always)]
fn of_children<T: Clone>(
    children: Range<usize>,
    n_places: usize,
    nothing: T,
    buffer: &mut Vec<T>,
) -> &mut [T] {
    if buffer.len() < children.end * n_places {
        buffer.resize(children.end * n_places, nothing);
    }
    &mut buffer[children.start * n_places..children.end * n_places]
}

/// Writes the rows of the first lanes one after another.
#[inline(always)]
fn write_rows(matrices: &[[Plane; 64]], written: Range<usize>, rows: &mut Vec<u64>) {
    let n_words = matrices.len();
    let rows = of_children(written, n_words, 0, rows);
    for (lane, row) in rows.chunks_exact_mut(n_words.max(1)).enumerate() {
        for (word, matrix) in row.iter_mut().zip(matrices) {
            *word = transpose::word_of(matrix, lane);
        }
    }
}

/// Writes the rows of the first lanes as states.
#[inline(always)]
pub(super) fn write_states(
    matrices: &[[Plane; 64]],
    written: Range<usize>,
    states: &mut Vec<Bits>,
) {
    let n_words = if matrices.len() <= Bits::MAX_INLINE { matrices.len() } else { 0 };
    let states = of_children(written, 1, Bits::zero(n_words), states);
    match matrices {
        [] => write_small([], states),
        [a] => write_small([a], states),
        [a, b] => write_small([a, b], states),
        [a, b, c] => write_small([a, b, c], states),
        [a, b, c, d] => write_small([a, b, c, d], states),
        _ => {
            let mut words = vec![0; matrices.len()];
            for (lane, state) in states.iter_mut().enumerate() {
                for (word, matrix) in words.iter_mut().zip(matrices) {
                    *word = transpose::word_of(matrix, lane);
                }
                state.set_shared(&words);
            }
        }
    }
}

/// Writes states that are stored in the value itself.
#[inline(always)]
fn write_small<const N: usize>(matrices: [&[Plane; 64]; N], states: &mut [Bits]) {
    let mut lane = 0;
    while lane < states.len() {
        let mut words = [0; N];
        let mut word = 0;
        while word < N {
            words[word] = transpose::word_of(matrices[word], lane);
            word += 1;
        }
        states[lane].set_inline(words);
        lane += 1;
    }
}
