//! Many games that stay in lanes from step to step.
//!
//! [`BatchCircuit`](crate::BatchCircuit) takes states in rows and returns rows, so every step
//! transposes them twice. A learner steps the same games again and again. Here they are kept as
//! planes, 256 games in a block, and rows are made only where somebody asks for them.

use std::sync::Arc;

use crate::native::{Work, with_wide_registers};
use crate::run::batch::random::PlaneRng;
use crate::run::kernel::{Backend, Kernel};
use crate::run::lane_moves::{CODE_BITS, Codes, Decoder, Drawer, to_codes, to_numbers};
use crate::run::program::lower;
use crate::run::transpose;
use crate::{Bits, Circuit, Plane, Signal};

/// Many games of one circuit, each in a lane of its own.
///
/// A step of a block has four parts: [`LaneGames::begin`], then [`LaneGames::give`] or
/// [`LaneGames::draw_moves`] for each role with a choice, [`LaneGames::advance`], and
/// [`LaneGames::restart`] for games that have ended.
///
/// In games with hidden information it also keeps what each role has perceived.
pub struct LaneGames {
    circuit: Arc<Circuit>,
    backend: Backend,
    rng: PlaneRng,
    /// From a state and moves to the next state and what roles perceive.
    step: Kernel,
    /// From a state to its legal moves, goals and end of play.
    look: Kernel,
    n_games: usize,
    n_base: usize,
    /// Number of percepts of all roles together.
    n_percepts: usize,
    /// By role: where its moves end.
    role_ends: Vec<usize>,
    /// By move: its number.
    numbers: Vec<u16>,
    /// The goals other than the default payoff 0: index of the answer, role, payoff. Ascending for
    /// each role, so that the highest that holds comes last.
    goals: Vec<(usize, usize, f64)>,
    /// All lanes at the initial state.
    start: Block,
    blocks: Vec<Block>,
    /// Programs that are made when they are first used: for each role, its decoder, the drawer of
    /// its moves and that of its numbers; for all players, the drawer of numbers of the one to
    /// move.
    decoders: Vec<Option<Decoder>>,
    move_drawers: Vec<Option<Drawer>>,
    number_drawers: Vec<Option<Drawer>>,
    turn_drawer: Option<Drawer>,
    next: Vec<Plane>,
    rows: Vec<[Plane; 64]>,
}

/// 256 games.
#[derive(Clone)]
struct Block {
    state: Vec<Plane>,
    /// By move: the lanes in which it is chosen, in the step that is being prepared.
    inputs: Vec<Plane>,
    /// Legal moves role after role, whether play has ended, goals role after role.
    answers: Vec<Plane>,
    /// The lanes in which play has ended: by the rules, or because a role has no move.
    ended: Plane,
    /// By role: the lanes in which it has several legal moves.
    choices: Vec<Plane>,
    /// What was ever perceived, what was perceived in the last step, and the moves of that step.
    /// Empty if nothing is hidden.
    memory: Vec<Plane>,
    /// The last states of games that have ended since they were forgotten, and their memories.
    last: Vec<Plane>,
    last_memory: Vec<Plane>,
    last_lanes: Plane,
}

/// Where the parts of the memory of a game with hidden information lie. All roles are in one list,
/// role after role.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MemoryLayout {
    /// Number of percepts. Bits below are what was ever perceived, then as many for the last step.
    pub n_percepts: usize,
    /// Number of moves, whose bits come last.
    pub n_moves: usize,
}

impl MemoryLayout {
    /// Returns the number of bits.
    pub fn len(&self) -> usize {
        2 * self.n_percepts + self.n_moves
    }

    /// Returns whether there is no memory, because nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl LaneGames {
    /// Starts `n_games` games. `numbers` are those of the moves, counted over all roles; moves of
    /// one role must have different numbers. Returns `None` if steps may be rejected, because then
    /// the legal moves of a state are not known before all of them have been tried, and if there
    /// are too many moves for numbers of 16 bits.
    pub fn new(
        circuit: &Arc<Circuit>,
        numbers: &[u32],
        n_games: usize,
        seed: u64,
        backend: Backend,
    ) -> Option<LaneGames> {
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let is_short = n_inputs < usize::from(u16::MAX);
        if circuit.outputs.rejected != Signal::FALSE || !is_short {
            return None;
        }
        // The largest number stands for no move.
        let short = |&number: &u32| u16::try_from(number).ok().filter(|&n| n < u16::MAX);
        let numbers: Vec<u16> = numbers.iter().map(short).collect::<Option<_>>()?;
        let percepts = circuit.outputs.percepts.iter().flatten().map(|(_, signal)| *signal);
        let after: Vec<Signal> = circuit.outputs.next.iter().copied().chain(percepts).collect();
        let n_percepts = after.len() - n_base;
        let step = lower(n_base + n_inputs, &circuit.ands, &after);
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
        let n_memory = if n_percepts == 0 { 0 } else { 2 * n_percepts + n_inputs };
        let start = Block {
            inputs: vec![Plane::ZERO; n_inputs],
            answers: vec![Plane::ZERO; roots.len()],
            ended: Plane::ZERO,
            choices: vec![Plane::ZERO; role_ends.len()],
            memory: vec![Plane::ZERO; n_memory],
            last: vec![Plane::ZERO; n_base],
            last_memory: vec![Plane::ZERO; n_memory],
            last_lanes: Plane::ZERO,
            state,
        };
        let n_rows = n_base.max(n_inputs).max(n_memory).div_ceil(64);
        let n_roles = role_ends.len();
        let mut games = LaneGames {
            circuit: Arc::clone(circuit),
            backend,
            rng: PlaneRng::new(seed),
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            n_games,
            n_base,
            n_percepts,
            role_ends,
            numbers,
            goals,
            start,
            blocks: Vec::new(),
            decoders: (0..n_roles).map(|_| None).collect(),
            move_drawers: (0..n_roles).map(|_| None).collect(),
            number_drawers: (0..n_roles).map(|_| None).collect(),
            turn_drawer: None,
            next: vec![Plane::ZERO; after.len()],
            rows: vec![[Plane::ZERO; 64]; n_rows],
        };
        let LaneGames { look, start, role_ends, .. } = &mut games;
        look.run(&start.state, &start.inputs, &mut start.answers);
        start.summarise(role_ends);
        games.blocks = vec![games.start.clone(); n_games.div_ceil(Plane::LANES)];
        Some(games)
    }

    /// Starts the random numbers again from a seed.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = PlaneRng::new(seed);
    }

    /// Returns where the parts of memories lie.
    pub fn memory_layout(&self) -> MemoryLayout {
        let n_moves = if self.n_percepts == 0 { 0 } else { self.numbers.len() };
        MemoryLayout { n_percepts: self.n_percepts, n_moves }
    }

    fn moves_of(&self, role: usize) -> std::ops::Range<usize> {
        let first = if role == 0 { 0 } else { self.role_ends[role - 1] };
        first..self.role_ends[role]
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
        &self.blocks[block].answers[..self.numbers.len()]
    }

    /// Begins a step of a block: roles with one legal move make it.
    pub fn begin(&mut self, block: usize) {
        with_wide_registers(Begin { games: self, block });
    }

    /// Chooses the moves of a role by their numbers in some lanes of the block whose step has
    /// begun. Exactly one move must be chosen for each role that has several. Returns the lanes in
    /// which no legal move has the number.
    pub fn give(&mut self, block: usize, role: usize, given: Plane, codes: &Codes) -> Plane {
        let own = self.moves_of(role);
        let LaneGames { circuit, backend, numbers, decoders, blocks, .. } = self;
        let make = || Decoder::new(circuit, own.clone(), numbers, *backend);
        let decoder = decoders[role].get_or_insert_with(make);
        let Block { answers, inputs, choices, .. } = &mut blocks[block];
        let legal = &answers[..numbers.len()];
        decoder.run(legal, !choices[role], given, codes, &mut inputs[own])
    }

    /// Draws a legal move of a role in each of these lanes, for the step that has begun. The role
    /// must have one there.
    pub fn draw_moves(&mut self, block: usize, role: usize, lanes: Plane) {
        let own = self.moves_of(role);
        let LaneGames { circuit, backend, move_drawers, blocks, rng, numbers, .. } = self;
        let make = || Drawer::of_moves(circuit, own.clone(), *backend);
        let drawer = move_drawers[role].get_or_insert_with(make);
        let Block { answers, inputs, .. } = &mut blocks[block];
        let drawn = drawer.run(&answers[..numbers.len()], &[lanes], rng);
        for (input, &chosen) in inputs[own].iter_mut().zip(drawn) {
            *input = *input | chosen;
        }
    }

    /// Draws a legal move of a role in each of these lanes, and returns the numbers of the moves;
    /// 0 in other lanes.
    pub fn draw_numbers(&mut self, block: usize, role: usize, lanes: Plane) -> Codes {
        let own = self.moves_of(role);
        let LaneGames { circuit, backend, number_drawers, blocks, rng, numbers, .. } = self;
        let make = || Drawer::of_numbers(circuit, &[own], numbers, *backend);
        let drawer = number_drawers[role].get_or_insert_with(make);
        let drawn = drawer.run(&blocks[block].answers[..numbers.len()], &[lanes], rng);
        to_all_digits(drawn)
    }

    /// Draws a legal move of the player to move. `turns` are, by role that is not nature, the lanes
    /// in which it is to move. Returns the numbers of the moves; 0 in other lanes.
    pub fn draw_numbers_of_turns(&mut self, block: usize, turns: &[Plane]) -> Codes {
        let is_player = |role: &usize| !self.circuit.roles[*role].is_nature;
        let players = (0..self.role_ends.len()).filter(is_player);
        let own: Vec<_> = players.map(|role| self.moves_of(role)).collect();
        let LaneGames { circuit, backend, turn_drawer, blocks, rng, numbers, .. } = self;
        let make = || Drawer::of_numbers(circuit, &own, numbers, *backend);
        let drawer = turn_drawer.get_or_insert_with(make);
        let drawn = drawer.run(&blocks[block].answers[..numbers.len()], turns, rng);
        to_all_digits(drawn)
    }

    /// Returns the binary digits of numbers, by lane.
    pub fn codes(numbers: &[u16; Plane::LANES]) -> Codes {
        let mut codes = [Plane::ZERO; CODE_BITS];
        with_wide_registers(ToCodes { numbers, codes: &mut codes });
        codes
    }

    /// Writes the numbers that have these binary digits, by lane.
    pub fn write_numbers(codes: &Codes, numbers: &mut [u16; Plane::LANES]) {
        with_wide_registers(ToNumbers { codes, numbers });
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

    /// Sends a game to a state. `memory` says which bits of the memory are set.
    pub fn set_state(&mut self, game: usize, state: &Bits, memory: impl Fn(usize) -> bool) {
        let (block, lane) = (game / Plane::LANES, game % Plane::LANES);
        let LaneGames { look, blocks, role_ends, .. } = self;
        let block = &mut blocks[block];
        for (bit, plane) in block.state.iter_mut().enumerate() {
            plane.set_lane(lane, state.get(bit));
        }
        for (bit, plane) in block.memory.iter_mut().enumerate() {
            plane.set_lane(lane, memory(bit));
        }
        look.run(&block.state, &block.inputs, &mut block.answers);
        block.summarise(role_ends);
    }

    /// Writes the legal moves of all lanes as rows, one bit for each move.
    pub fn copy_legal(&mut self, block: usize, rows: &mut Vec<u64>) {
        let LaneGames { blocks, numbers, rows: matrices, .. } = self;
        copy_rows(&blocks[block].answers[..numbers.len()], matrices, rows);
    }

    /// Writes the states of all lanes as rows.
    pub fn copy_states(&mut self, block: usize, rows: &mut Vec<u64>) {
        let LaneGames { blocks, rows: matrices, .. } = self;
        copy_rows(&blocks[block].state, matrices, rows);
    }

    /// Writes the memories of all lanes as rows.
    pub fn copy_memories(&mut self, block: usize, rows: &mut Vec<u64>) {
        let LaneGames { blocks, rows: matrices, .. } = self;
        copy_rows(&blocks[block].memory, matrices, rows);
    }

    /// Forgets the last states of games that have ended.
    pub fn forget_last(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.last_lanes = Plane::ZERO);
    }

    /// Returns the games that have ended since [`LaneGames::forget_last`], each with the state in
    /// which it ended last.
    pub fn last_states(&self) -> Vec<(usize, Bits)> {
        self.last_rows(|block| &block.last)
    }

    /// Returns the games of [`LaneGames::last_states`], each with its memory at the end.
    pub fn last_memories(&self) -> Vec<(usize, Bits)> {
        self.last_rows(|block| &block.last_memory)
    }

    fn last_rows(&self, planes: impl Fn(&Block) -> &[Plane]) -> Vec<(usize, Bits)> {
        let mut last = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            for lane in block.last_lanes.lanes() {
                let row = Bits::pack(planes(block).iter().map(|plane| plane.lane(lane)));
                last.push((at * Plane::LANES + lane, row));
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
        let LaneGames { blocks, role_ends, .. } = self.games;
        let block = &mut blocks[self.block];
        let (mut at, mut role) = (0, 0);
        while role < role_ends.len() {
            let forced = !block.choices[role];
            while at < role_ends[role] {
                block.inputs[at] = block.answers[at] & forced;
                at += 1;
            }
            role += 1;
        }
    }
}

struct ToCodes<'n> {
    numbers: &'n [u16; Plane::LANES],
    codes: &'n mut Codes,
}

impl Work for ToCodes<'_> {
    #[inline(always)]
    fn work(self) {
        *self.codes = to_codes(self.numbers);
    }
}

struct ToNumbers<'n> {
    codes: &'n Codes,
    numbers: &'n mut [u16; Plane::LANES],
}

impl Work for ToNumbers<'_> {
    #[inline(always)]
    fn work(self) {
        to_numbers(self.codes, self.numbers);
    }
}

/// Returns digits with zeros for those that a program does not compute.
fn to_all_digits(low: &[Plane]) -> Codes {
    let mut codes = [Plane::ZERO; CODE_BITS];
    codes[..low.len()].copy_from_slice(low);
    codes
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
        let LaneGames { step, look, blocks, next, role_ends, n_base, n_percepts, .. } = games;
        let (n_base, n_percepts) = (*n_base, *n_percepts);
        let block = &mut blocks[block];
        step.run(&block.state, &block.inputs, next);
        if n_percepts > 0 {
            let (ever, seen) = (0, n_percepts);
            let mut at = 0;
            while at < n_percepts {
                let now = next[n_base + at] & moving;
                block.memory[ever + at] = block.memory[ever + at] | now;
                block.memory[seen + at] = now | block.memory[seen + at] & !moving;
                at += 1;
            }
            blend(&mut block.memory[2 * n_percepts..], &block.inputs, moving);
        }
        if moving == Plane::ONES {
            let mut bit = 0;
            while bit < n_base {
                block.state[bit] = next[bit];
                bit += 1;
            }
        } else {
            blend(&mut block.state, next, moving);
        }
        // This kernel does not read the moves.
        look.run(&block.state, &block.inputs, &mut block.answers);
        block.summarise(role_ends);
        let ended = block.ended & moving;
        if !ended.is_zero() {
            blend(&mut block.last, &block.state, ended);
            blend(&mut block.last_memory, &block.memory, ended);
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
        blend(&mut block.memory, &start.memory, lanes);
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
