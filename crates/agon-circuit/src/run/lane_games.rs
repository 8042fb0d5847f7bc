//! Many games that stay in lanes from step to step.
//!
//! [`BatchCircuit`](crate::BatchCircuit) takes states in rows and returns rows, so every step
//! transposes them twice. A learner steps the same games again and again. Here they are kept as
//! planes, 256 games in a block, and rows are made only where somebody asks for them.

use agon_game::Rng;
use rand::Rng as _;

use crate::native::{Work, with_wide_registers};
use crate::run::kernel::{Backend, Kernel};
use crate::run::program::lower;
use crate::run::transpose;
use crate::{Bits, Circuit, Input, Plane, Signal};

/// Many games of one circuit, each in a lane of its own.
///
/// A step of a block has four parts: [`LaneGames::begin`], [`LaneGames::choose`] for each role with
/// a choice, [`LaneGames::advance`], and [`LaneGames::restart`] for games that have ended.
pub struct LaneGames {
    /// From a state and moves to the next state.
    step: Kernel,
    /// From a state to its legal moves, goals and end of play.
    look: Kernel,
    n_games: usize,
    n_base: usize,
    /// By role: where its moves end.
    role_ends: Vec<usize>,
    /// The goals other than the default payoff 0: index of the answer, role, payoff. Ascending for
    /// each role, so that the highest that holds comes last.
    goals: Vec<(usize, usize, f64)>,
    /// All lanes at the initial state.
    start: Block,
    blocks: Vec<Block>,
    /// By move: the lanes in which it is chosen, in the step that is being prepared.
    inputs: Vec<Plane>,
    next: Vec<Plane>,
    rows: Vec<[Plane; 64]>,
}

/// 256 games.
#[derive(Clone)]
struct Block {
    state: Vec<Plane>,
    /// Legal moves role after role, whether play has ended, goals role after role.
    answers: Vec<Plane>,
    /// The lanes in which play has ended: by the rules, or because a role has no move.
    ended: Plane,
    /// By role: the lanes in which it has several legal moves.
    choices: Vec<Plane>,
    /// The last states of games that have ended since they were forgotten.
    last: Vec<Plane>,
    last_lanes: Plane,
}

impl LaneGames {
    /// Starts `n_games` games. Returns `None` if steps may be rejected, because then the legal
    /// moves of a state are not known before all of them have been tried.
    pub fn new(circuit: &Circuit, n_games: usize, backend: Backend) -> Option<LaneGames> {
        if circuit.outputs.rejected != Signal::FALSE {
            return None;
        }
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let step = lower(n_base + n_inputs, &circuit.ands, &circuit.outputs.next);
        let roots: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look = lower(n_base + n_inputs, &circuit.ands, &roots);
        let role_ends: Vec<usize> = circuit
            .roles
            .iter()
            .scan(0, |end, role| {
                *end += role.moves.len();
                Some(*end)
            })
            .collect();
        let all = circuit.outputs.goals.iter().enumerate();
        let all = all.flat_map(|(role, goals)| goals.iter().map(move |(value, _)| (role, *value)));
        let goals = (n_inputs + 1..).zip(all);
        let goals = goals.map(|(answer, (role, value))| (answer, role, value as f64)).collect();
        let state: Vec<Plane> = circuit.initial.iter().map(|&bit| Plane::splat(bit)).collect();
        let start = Block {
            answers: vec![Plane::ZERO; roots.len()],
            ended: Plane::ZERO,
            choices: vec![Plane::ZERO; role_ends.len()],
            last: vec![Plane::ZERO; n_base],
            last_lanes: Plane::ZERO,
            state,
        };
        let n_rows = n_base.max(n_inputs).div_ceil(64);
        let mut games = LaneGames {
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            n_games,
            n_base,
            role_ends,
            goals,
            start,
            blocks: Vec::new(),
            inputs: vec![Plane::ZERO; n_inputs],
            next: vec![Plane::ZERO; n_base],
            rows: vec![[Plane::ZERO; 64]; n_rows],
        };
        let LaneGames { look, start, inputs, role_ends, .. } = &mut games;
        look.run(&start.state, inputs, &mut start.answers);
        start.summarise(role_ends);
        games.blocks = vec![games.start.clone(); n_games.div_ceil(Plane::LANES)];
        Some(games)
    }

    /// Returns the number of blocks of 256 games. The last one may have unused lanes.
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the lanes of a block that have a game.
    pub fn used(&self, block: usize) -> Plane {
        Plane::range(0..(self.n_games - block * Plane::LANES).min(Plane::LANES))
    }

    /// Returns the lanes in which play has ended.
    pub fn ended(&self, block: usize) -> Plane {
        self.blocks[block].ended
    }

    /// Returns the lanes in which a role has several legal moves.
    pub fn choices(&self, block: usize, role: usize) -> Plane {
        self.blocks[block].choices[role]
    }

    /// Returns, by move, the lanes in which it is legal.
    pub fn legal(&self, block: usize) -> &[Plane] {
        &self.blocks[block].answers[..self.inputs.len()]
    }

    /// Begins a step of a block: roles with one legal move make it.
    pub fn begin(&mut self, block: usize) {
        with_wide_registers(Begin { games: self, block });
    }

    /// Chooses a move in a lane of the block whose step has begun. Exactly one legal move must be
    /// chosen for each role that has several.
    #[inline]
    pub fn choose(&mut self, lane: usize, input: Input) {
        self.inputs[input.0 as usize].0[lane / 64 % 4] |= 1 << (lane % 64);
    }

    /// Makes the step in these lanes; other games stay where they are. Returns the lanes in which
    /// play has ended by this step.
    pub fn advance(&mut self, block: usize, moving: Plane) -> Plane {
        with_wide_registers(Advance { games: self, block, moving });
        self.blocks[block].ended & moving
    }

    /// Calls back with lane, role and payoff for every goal that holds in these lanes, ascending for
    /// each role. A role without goal has the payoff 0.
    pub fn payoffs(&self, block: usize, lanes: Plane, mut visit: impl FnMut(usize, usize, f64)) {
        let block = &self.blocks[block];
        for &(answer, role, value) in &self.goals {
            for lane in (block.answers[answer] & lanes).lanes() {
                visit(lane, role, value);
            }
        }
    }

    /// Sends the games in these lanes to the initial state.
    pub fn restart(&mut self, block: usize, lanes: Plane) {
        with_wide_registers(RestartLanes { games: self, block, lanes });
    }

    /// Sends a game to a state.
    pub fn set_state(&mut self, game: usize, state: &Bits) {
        let (block, lane) = (game / Plane::LANES, game % Plane::LANES);
        let LaneGames { look, blocks, inputs, role_ends, .. } = self;
        let block = &mut blocks[block];
        for (bit, plane) in block.state.iter_mut().enumerate() {
            plane.set_lane(lane, state.get(bit));
        }
        look.run(&block.state, inputs, &mut block.answers);
        block.summarise(role_ends);
    }

    /// Draws a legal move of a role in each of these lanes and calls back with lane and move. The
    /// role must have one there.
    pub fn draw(
        &mut self,
        block: usize,
        role: usize,
        lanes: Plane,
        rng: &mut Rng,
        each: impl FnMut(usize, Input),
    ) {
        with_wide_registers(Draw { games: self, block, role, lanes, rng, each });
    }

    /// Like [`LaneGames::draw`], but the moves are chosen for the step that has begun.
    pub fn choose_randomly(&mut self, block: usize, role: usize, lanes: Plane, rng: &mut Rng) {
        let mut inputs = std::mem::take(&mut self.inputs);
        self.draw(block, role, lanes, rng, |lane, input| {
            inputs[input.0 as usize].0[lane / 64 % 4] |= 1 << (lane % 64);
        });
        self.inputs = inputs;
    }

    /// Writes the legal moves of all lanes as rows, one bit for each move.
    pub fn copy_legal(&mut self, block: usize, rows: &mut Vec<u64>) {
        let LaneGames { blocks, inputs, rows: matrices, .. } = self;
        copy_rows(&blocks[block].answers[..inputs.len()], matrices, rows);
    }

    /// Writes the states of all lanes as rows.
    pub fn copy_states(&mut self, block: usize, rows: &mut Vec<u64>) {
        let LaneGames { blocks, rows: matrices, .. } = self;
        copy_rows(&blocks[block].state, matrices, rows);
    }

    /// Forgets the last states of games that have ended.
    pub fn forget_last(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.last_lanes = Plane::ZERO);
    }

    /// Returns the games that have ended since [`LaneGames::forget_last`], each with the state in
    /// which it ended last.
    pub fn last_states(&self) -> Vec<(usize, Bits)> {
        let mut last = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            for lane in block.last_lanes.lanes() {
                let state = Bits::pack(block.last.iter().map(|plane| plane.lane(lane)));
                last.push((at * Plane::LANES + lane, state));
            }
        }
        last
    }
}

impl Block {
    /// Finds choices and ends from the answers.
    #[inline(always)]
    fn summarise(&mut self, role_ends: &[usize]) {
        let n_inputs = role_ends.last().copied().unwrap_or(0);
        let mut ended = self.answers[n_inputs];
        let mut first = 0;
        let mut role = 0;
        while role < role_ends.len() {
            let (mut one, mut two) = (Plane::ZERO, Plane::ZERO);
            let mut at = first;
            while at < role_ends[role] {
                two = two | one & self.answers[at];
                one = one | self.answers[at];
                at += 1;
            }
            self.choices[role] = two;
            ended = ended | !one;
            first = role_ends[role];
            role += 1;
        }
        self.ended = ended;
    }
}

/// Makes rows of planes.
fn copy_rows(planes: &[Plane], matrices: &mut [[Plane; 64]], rows: &mut Vec<u64>) {
    let n_words = planes.len().div_ceil(64);
    let matrices = &mut matrices[..n_words];
    transpose::unload(planes, matrices);
    rows.clear();
    rows.resize(n_words * Plane::LANES, 0);
    for (lane, row) in rows.chunks_exact_mut(n_words.max(1)).enumerate() {
        for (word, matrix) in row.iter_mut().zip(&*matrices) {
            *word = transpose::word_of(matrix, lane);
        }
    }
}

struct Begin<'g> {
    games: &'g mut LaneGames,
    block: usize,
}

impl Work for Begin<'_> {
    #[inline(always)]
    fn work(self) {
        let LaneGames { blocks, inputs, role_ends, .. } = self.games;
        let block = &blocks[self.block];
        let (mut at, mut role) = (0, 0);
        while role < role_ends.len() {
            let forced = !block.choices[role];
            while at < role_ends[role] {
                inputs[at] = block.answers[at] & forced;
                at += 1;
            }
            role += 1;
        }
    }
}

struct Draw<'g, F> {
    games: &'g mut LaneGames,
    block: usize,
    role: usize,
    lanes: Plane,
    rng: &'g mut Rng,
    each: F,
}

impl<F: FnMut(usize, Input)> Work for Draw<'_, F> {
    #[inline(always)]
    fn work(self) {
        let Draw { games, block, role, lanes, rng, mut each } = self;
        let LaneGames { blocks, rows, role_ends, .. } = games;
        let first = if role == 0 { 0 } else { role_ends[role - 1] };
        let legal = &blocks[block].answers[first..role_ends[role]];
        let matrices = &mut rows[..legal.len().div_ceil(64)];
        transpose::unload(legal, matrices);
        let mut quarter = 0;
        while quarter < 4 {
            let mut left = lanes.0[quarter];
            while left != 0 {
                let lane = 64 * quarter + left.trailing_zeros() as usize;
                left &= left - 1;
                let input = nth_of_lane(matrices, lane, rng.next_u64() >> 32);
                each(lane, Input((first + input) as u32));
            }
            quarter += 1;
        }
    }
}

/// Returns a bit of the row of a lane, chosen by a random number of 32 bits. Each of `n` bits is
/// chosen with a probability that differs from `1 / n` by less than `2^-32`.
#[inline(always)]
fn nth_of_lane(matrices: &[[Plane; 64]], lane: usize, random: u64) -> usize {
    let mut n = 0;
    let mut at = 0;
    while at < matrices.len() {
        n += transpose::word_of(&matrices[at], lane).count_ones();
        at += 1;
    }
    let mut rank = ((random * u64::from(n)) >> 32) as u32;
    at = 0;
    while at < matrices.len() {
        let mut word = transpose::word_of(&matrices[at], lane);
        let here = word.count_ones();
        if rank < here {
            while rank > 0 {
                word &= word - 1;
                rank -= 1;
            }
            return 64 * at + word.trailing_zeros() as usize;
        }
        rank -= here;
        at += 1;
    }
    unreachable!("a move is drawn only where there is one")
}

struct Advance<'g> {
    games: &'g mut LaneGames,
    block: usize,
    moving: Plane,
}

impl Work for Advance<'_> {
    #[inline(always)]
    fn work(self) {
        let Advance { games, block, moving } = self;
        let LaneGames { step, look, blocks, inputs, next, role_ends, n_base, .. } = games;
        let block = &mut blocks[block];
        step.run(&block.state, inputs, next);
        let mut bit = 0;
        if moving != Plane::ONES {
            while bit < *n_base {
                next[bit] = next[bit] & moving | block.state[bit] & !moving;
                bit += 1;
            }
        }
        std::mem::swap(&mut block.state, next);
        // This kernel does not read the moves.
        look.run(&block.state, inputs, &mut block.answers);
        block.summarise(role_ends);
        let ended = block.ended & moving;
        if !ended.is_zero() {
            let mut bit = 0;
            while bit < *n_base {
                block.last[bit] = block.last[bit] & !ended | block.state[bit] & ended;
                bit += 1;
            }
            block.last_lanes = block.last_lanes | ended;
        }
    }
}

struct RestartLanes<'g> {
    games: &'g mut LaneGames,
    block: usize,
    lanes: Plane,
}

impl Work for RestartLanes<'_> {
    #[inline(always)]
    fn work(self) {
        let RestartLanes { games, block, lanes } = self;
        let (block, start) = (&mut games.blocks[block], &games.start);
        blend(&mut block.state, &start.state, lanes);
        blend(&mut block.answers, &start.answers, lanes);
        blend(&mut block.choices, &start.choices, lanes);
        block.ended = block.ended & !lanes | start.ended & lanes;
    }
}

/// Replaces the values in some lanes.
#[inline(always)]
fn blend(planes: &mut [Plane], new: &[Plane], lanes: Plane) {
    let mut at = 0;
    while at < planes.len() {
        planes[at] = planes[at] & !lanes | new[at] & lanes;
        at += 1;
    }
}
