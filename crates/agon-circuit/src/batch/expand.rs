//! Steps from many states at once, a different move in each lane.

use std::sync::Arc;

use agon_game::{Children, LegalMoves};

use crate::jit::{Work, with_wide_registers};
use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Bits, Circuit, Input, Plane, Signal, transpose};

/// Two kernels, one after the other: from state and moves to the next state, and from a state to what it says.
pub(super) struct Expander {
    circuit: Arc<Circuit>,
    step: Kernel,
    look: Kernel,
    /// What each bit of a set of legal moves stands for, and by role where its bits end.
    moves: Arc<[Input]>,
    role_ends: Arc<[u32]>,
    /// The state in each lane and the moves made there.
    seats: Vec<Seat>,
    state: Vec<Plane>,
    inputs: Vec<Plane>,
    next: Vec<Plane>,
    answers: Vec<Plane>,
}

/// What a lane is to do: the state of this number, and where its joint move stands in the list of them.
#[derive(Copy, Clone)]
struct Seat {
    state: u32,
    joint: u32,
}

impl Expander {
    pub(super) fn new(circuit: &Arc<Circuit>, backend: Backend) -> Expander {
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let step = lower(n_base + n_inputs, &circuit.ands, &circuit.outputs.next);
        let roots: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look = lower(n_base + n_inputs, &circuit.ands, &roots);
        let role_ends = circuit.roles.iter().scan(0, |end, role| {
            *end += role.moves.len() as u32;
            Some(*end)
        });
        Expander {
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            moves: (0..n_inputs as u32).map(Input).collect(),
            role_ends: role_ends.collect(),
            seats: Vec::new(),
            state: vec![Plane::ZERO; n_base],
            inputs: vec![Plane::ZERO; n_inputs],
            next: vec![Plane::ZERO; n_base],
            answers: vec![Plane::ZERO; roots.len()],
            circuit: Arc::clone(circuit),
        }
    }

    pub(super) fn advance_all(&mut self, steps: &[(&Bits, &[Input])], children: &mut Children<Bits, Input>) {
        self.begin(children);
        let n_roles = self.circuit.roles.len();
        for (idx, steps) in steps.chunks(Plane::LANES).enumerate() {
            for (lane, (_, joint)) in (0..).zip(steps) {
                self.seats
                    .push(Seat { state: lane, joint: ((Plane::LANES * idx) as u32 + lane) * n_roles as u32 });
                children.joints.extend_from_slice(joint);
            }
            self.pass(|state| steps[state].0, children);
        }
        children.family_ends.extend(1..=steps.len());
    }

    pub(super) fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.begin(children);
        let n_roles = self.circuit.roles.len();
        let mut own = Vec::new();
        let mut legal: Vec<Vec<Input>> = vec![Vec::new(); n_roles];
        let mut at = vec![0; n_roles];
        for (first, chunk) in (0..).step_by(Plane::LANES).zip(states.chunks(Plane::LANES)) {
            own.clear();
            let ended = self.look_at(chunk, &mut own);
            let n_words = self.moves.len().div_ceil(64);
            for (idx, words) in own.chunks_exact(n_words).enumerate() {
                if !ended.lane(idx) {
                    list_moves(words, &self.role_ends, &mut legal);
                    at.fill(0);
                    // An odometer: the last role's moves change fastest.
                    'joints: loop {
                        let joint = children.joints.len() as u32;
                        children.joints.extend(legal.iter().zip(&at).map(|(moves, &at)| moves[at]));
                        self.seats.push(Seat { state: first + idx as u32, joint });
                        if self.seats.len() == Plane::LANES {
                            self.pass(|state| states[state], children);
                        }
                        for role in (0..n_roles).rev() {
                            at[role] += 1;
                            if at[role] < legal[role].len() {
                                continue 'joints;
                            }
                            at[role] = 0;
                        }
                        break;
                    }
                }
                children.family_ends.push(children.states.len() + self.seats.len());
            }
        }
        self.pass(|state| states[state], children);
    }

    fn begin(&mut self, children: &mut Children<Bits, Input>) {
        children.clear();
        self.seats.clear();
        if !matches!(&children.legal, LegalMoves::Masks { moves, .. } if Arc::ptr_eq(moves, &self.moves)) {
            children.legal = LegalMoves::Masks {
                moves: Arc::clone(&self.moves),
                role_ends: Arc::clone(&self.role_ends),
                words: Vec::new(),
            };
        }
    }

    /// Adds the legal moves of at most 256 states, as sets, and says where play has ended.
    fn look_at(&mut self, states: &[&Bits], own: &mut Vec<u64>) -> Plane {
        let mut ended = Plane::ZERO;
        with_wide_registers(Look { expander: self, states, own, ended: &mut ended });
        ended
    }

    /// Does what the seats say, and gives them up.
    fn pass<'s>(&mut self, state_of: impl Fn(usize) -> &'s Bits, children: &mut Children<Bits, Input>) {
        if !self.seats.is_empty() {
            with_wide_registers(Pass { expander: self, state_of, children });
            self.seats.clear();
        }
    }
}

/// Where play has ended: by the rules, or because a role has no move.
#[inline(always)]
fn where_ended(answers: &[Plane], role_ends: &[u32]) -> Plane {
    let mut ended = answers[role_ends.last().map_or(0, |&end| end as usize)];
    let mut start = 0;
    for &end in role_ends {
        let mut any = Plane::ZERO;
        for answer in &answers[start..end as usize] {
            any = any | *answer;
        }
        ended = ended | !any;
        start = end as usize;
    }
    ended
}

struct Look<'e, 's> {
    expander: &'e mut Expander,
    states: &'e [&'s Bits],
    own: &'e mut Vec<u64>,
    ended: &'e mut Plane,
}

impl Work for Look<'_, '_> {
    #[inline(always)]
    fn work(self) {
        let Look { expander, states, own, ended } = self;
        transpose::load(states.len(), |lane| states[lane].words(), &mut expander.next);
        expander.look.run(&expander.next, &expander.inputs, &mut expander.answers);
        transpose::store(&expander.answers[..expander.moves.len()], states.len(), own);
        *ended = where_ended(&expander.answers, &expander.role_ends);
    }
}

struct Pass<'e, F> {
    expander: &'e mut Expander,
    state_of: F,
    children: &'e mut Children<Bits, Input>,
}

impl<'s, F: Fn(usize) -> &'s Bits> Work for Pass<'_, F> {
    #[inline(always)]
    fn work(self) {
        let Pass { expander, state_of, children } = self;
        let Expander { circuit, step, look, seats, moves, role_ends, state, inputs, next, answers, .. } =
            expander;
        let n = seats.len();
        let n_roles = circuit.roles.len();
        state.fill(Plane::ZERO);
        // The children of a state are side by side: each of its bits goes to all of their lanes at once.
        let mut start = 0;
        while start < n {
            let parent = seats[start].state;
            let mut end = start + 1;
            while end < n && seats[end].state == parent {
                end += 1;
            }
            spread(state_of(parent as usize).words(), start, end, state);
            start = end;
        }
        inputs.fill(Plane::ZERO);
        for (lane, seat) in seats.iter().enumerate() {
            let joint = seat.joint as usize;
            for place in joint..joint + n_roles {
                inputs[children.joints[place].0 as usize].0[lane / 64] |= 1 << (lane % 64);
            }
        }
        step.run(state, inputs, next);
        look.run(next, inputs, answers);

        // Word by word into their places: built up elsewhere and moved, they would be read in larger pieces than written,
        // which processors do slowly.
        let n_words = next.len().div_ceil(64);
        let first = children.states.len();
        if n_words <= Bits::MAX_HERE {
            children.states.resize(first + n, Bits::zero(n_words));
        } else {
            children.states.resize_with(first + n, || Bits::zero(n_words));
        }
        let states = &mut children.states[first..];
        transpose::store_each(next, n, |lane, word, value| states[lane].set_word(word, value));
        let n_moves = moves.len();
        if let LegalMoves::Masks { words, .. } = &mut children.legal {
            transpose::store(&answers[..n_moves], n, words);
        }
        let first = children.payoffs.len();
        children.payoffs.resize(first + n * n_roles, 0.0);
        let payoffs = &mut children.payoffs[first..];
        let mut answer = n_moves;
        for role in 0..n_roles {
            // In ascending order, so that the highest that holds stays.
            for (rank, &(value, _)) in circuit.outputs.goals[role].iter().enumerate() {
                answer += 1;
                if rank == 0 && value == 0 {
                    // That is there already.
                    continue;
                }
                for quarter in 0..4 {
                    let mut word = answers[answer].0[quarter];
                    while word != 0 {
                        let lane = 64 * quarter + word.trailing_zeros() as usize;
                        word &= word - 1;
                        if lane < n {
                            payoffs[lane * n_roles + role] = value as f64;
                        }
                    }
                }
            }
        }
        let ended = where_ended(answers, role_ends);
        children.ended.reserve(n);
        for lane in 0..n {
            children.ended.push(ended.lane(lane));
        }
    }
}

/// Sets the bits of a state in the lanes of a range.
#[inline(always)]
fn spread(words: &[u64], start: usize, end: usize, planes: &mut [Plane]) {
    let mut mask = [0; 4];
    let mut quarter = start / 64;
    while 64 * quarter < end {
        let from = start.max(64 * quarter) - 64 * quarter;
        let n = end.min(64 * quarter + 64) - 64 * quarter - from;
        mask[quarter] = !0 >> (64 - n) << from;
        quarter += 1;
    }
    let mut idx = 0;
    while idx < words.len() {
        let mut word = words[idx];
        while word != 0 {
            let plane = &mut planes[64 * idx + word.trailing_zeros() as usize];
            *plane = *plane | Plane(mask);
            word &= word - 1;
        }
        idx += 1;
    }
}

/// Lists the legal moves of each role from a set of them.
fn list_moves(words: &[u64], role_ends: &[u32], legal: &mut [Vec<Input>]) {
    legal.iter_mut().for_each(Vec::clear);
    let mut role = 0;
    for (idx, &word) in (0..).zip(words) {
        let mut word = word;
        while word != 0 {
            let bit = 64 * idx + word.trailing_zeros();
            word &= word - 1;
            while bit >= role_ends[role] {
                role += 1;
            }
            legal[role].push(Input(bit));
        }
    }
}
