//! The inputs of lanes: states and joint moves.

use crate::run::transpose;
use crate::{Bits, Circuit, Input, Plane};

/// The inputs of lanes while they are filled.
#[derive(Clone)]
pub(super) struct LaneInputs {
    pub(super) n_roles: usize,
    /// Number of lanes in use, and number of children before those.
    pub(super) n: usize,
    pub(super) n_before: usize,
    /// By base bit and by input: the lanes in which it holds.
    pub(super) state: Vec<Plane>,
    pub(super) inputs: Vec<Plane>,
    /// The legal moves at the state that is being expanded, role after role, where those of each
    /// role end, and the number of joint moves.
    moves: Vec<Input>,
    ends: Vec<usize>,
    pub(super) n_joints: usize,
}

impl LaneInputs {
    pub(super) fn new(circuit: &Circuit) -> LaneInputs {
        let n_roles = circuit.roles.len();
        LaneInputs {
            n_roles,
            n: 0,
            n_before: 0,
            state: vec![Plane::ZERO; circuit.base.len()],
            inputs: vec![Plane::ZERO; circuit.n_inputs()],
            moves: vec![Input(0); circuit.n_inputs()],
            ends: vec![0; n_roles],
            n_joints: 0,
        }
    }

    /// Frees all lanes, after their children were written.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.n_before += self.n;
        self.n = 0;
        self.state.fill(Plane::ZERO);
        self.inputs.fill(Plane::ZERO);
    }

    /// Puts at most 256 states into lanes, each with its joint move, which is also written to the
    /// list.
    pub(super) fn add_all(&mut self, steps: &[(&Bits, &[Input])], joints: &mut Vec<Input>) {
        debug_assert!(self.n == 0 && steps.len() <= Plane::LANES, "there is a lane for each");
        transpose::load(steps.len(), |lane| steps[lane].0.words(), &mut self.state);
        joints.truncate(self.n_before * self.n_roles);
        for (lane, (_, joint)) in steps.iter().enumerate() {
            joints.extend_from_slice(joint);
            joint.iter().for_each(|input| self.inputs[input.0 as usize].set_lane(lane, true));
        }
        self.n = steps.len();
    }

    /// Lists the legal moves of a state from the bits in a lane of transposed matrices.
    #[inline(always)]
    pub(super) fn list_moves(&mut self, rows: &[[Plane; 64]], lane: usize, role_ends: &[u32]) {
        let (moves, ends) = (&mut self.moves[..], &mut self.ends[..]);
        let (mut role, mut n, mut start) = (0, 0, 0);
        self.n_joints = 1;
        let mut close = |role: usize, n: usize| {
            ends[role] = n;
            self.n_joints = self.n_joints.saturating_mul(n - start);
            start = n;
        };
        for (idx, matrix) in (0..).zip(rows) {
            let mut word = transpose::word_of(matrix, lane);
            while word != 0 {
                let bit = 64 * idx + word.trailing_zeros();
                word &= word - 1;
                while bit >= role_ends[role] {
                    close(role, n);
                    role += 1;
                }
                moves[n] = Input(bit);
                n += 1;
            }
        }
        while role < self.n_roles {
            close(role, n);
            role += 1;
        }
    }

    /// Puts a state into lanes with the listed joint moves, from number `first` on, as many as
    /// there are free lanes. The moves of the last role change fastest. Returns the number of the
    /// first joint move without a lane.
    #[inline(always)]
    pub(super) fn add_joints(&mut self, state: &[u64], first: usize) -> usize {
        let LaneInputs { n_roles, inputs, moves, ends, .. } = self;
        let n = (self.n_joints - first).min(Plane::LANES - self.n);
        // The children of a state are in neighbouring lanes, so each bit is set in all of them at
        // once.
        let lanes = Plane::range(self.n..self.n + n);
        set_state(state, lanes, &mut self.state);
        // Number of joint moves in a row with the same move of the role.
        let mut run = 1;
        let mut role = *n_roles;
        while role > 0 {
            role -= 1;
            let moves = &moves[if role == 0 { 0 } else { ends[role - 1] }..ends[role]];
            if let [only] = *moves {
                let plane = &mut inputs[only.0 as usize];
                *plane = *plane | lanes;
                continue;
            }
            if first == 0 && n >= MANY {
                set_by_pattern(moves, run, self.n, lanes, inputs);
            } else {
                let mut lane = self.n;
                go_through(moves.len(), run, first, n, |at| {
                    inputs[moves[at].0 as usize].0[lane / 64 % 4] |= 1 << (lane % 64);
                    lane += 1;
                });
            }
            // More joint moves in a row than numbers: the move of the role never changes.
            run = run.saturating_mul(moves.len());
        }
        self.n += n;
        first + n
    }

    /// Writes the listed joint moves of these numbers, which are in the last lanes, to the list of
    /// all.
    #[inline(always)]
    pub(super) fn write_joints(&self, numbers: std::ops::Range<usize>, joints: &mut Vec<Input>) {
        let (n_roles, n) = (self.n_roles, numbers.len());
        let start = (self.n_before + self.n - n) * n_roles;
        if joints.len() < start + n * n_roles {
            joints.resize(start + n * n_roles, Input(0));
        }
        let joints = &mut joints[start..start + n * n_roles];
        let mut run = 1;
        let mut role = n_roles;
        while role > 0 {
            role -= 1;
            let moves =
                &self.moves[if role == 0 { 0 } else { self.ends[role - 1] }..self.ends[role]];
            let mut place = role;
            go_through(moves.len(), run, numbers.start, n, |at| {
                joints[place] = moves[at];
                place += n_roles;
            });
            // More joint moves in a row than numbers: the move of the role never changes.
            run = run.saturating_mul(moves.len());
        }
    }
}

/// Number of joint moves from which lanes are set by a pattern and not one by one.
const MANY: usize = 64;

/// Calls back with the index of a role's move in each of `n` joint moves, from number `first` on.
/// Each of its moves is the same in `run` joint moves in a row.
#[inline(always)]
fn go_through(n_moves: usize, run: usize, first: usize, n: usize, mut visit: impl FnMut(usize)) {
    // Most calls begin with the first joint move, which saves a division.
    let (mut at, mut left) =
        if first == 0 { (0, run) } else { (first / run % n_moves, run - first % run) };
    let mut done = 0;
    while done < n {
        visit(at);
        done += 1;
        left -= 1;
        if left == 0 {
            left = run;
            at = if at + 1 == n_moves { 0 } else { at + 1 };
        }
    }
}

/// Sets the moves of a role in these lanes. The same pattern of lanes repeats for each move,
/// shifted by `run` lanes.
#[inline(always)]
fn set_by_pattern(
    moves: &[Input],
    run: usize,
    first_lane: usize,
    lanes: Plane,
    inputs: &mut [Plane],
) {
    // A longer run is the same in all lanes. Products of longer ones could overflow.
    let run = run.min(Plane::LANES);
    let mut first = Plane::ZERO;
    let mut lane = 0;
    while lane < Plane::LANES {
        first = first | Plane::range(lane..(lane + run).min(Plane::LANES));
        lane += run * moves.len();
    }
    let mut at = 0;
    while at < moves.len() {
        let plane = &mut inputs[moves[at].0 as usize];
        *plane = *plane | first.from_below(first_lane + at * run) & lanes;
        at += 1;
    }
}

/// Sets the bits of a state in these lanes.
#[inline(always)]
fn set_state(words: &[u64], lanes: Plane, planes: &mut [Plane]) {
    let mut idx = 0;
    while idx < words.len() {
        let mut word = words[idx];
        while word != 0 {
            let plane = &mut planes[64 * idx + word.trailing_zeros() as usize];
            *plane = *plane | lanes;
            word &= word - 1;
        }
        idx += 1;
    }
}
