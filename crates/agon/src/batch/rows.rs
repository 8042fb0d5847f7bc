//! Games as rows of bits, stepped by an engine that takes and returns rows.

use std::sync::Arc;

use agon_circuit::{Bits, Input};
use agon_game::{Batch, Children, LegalMoves, Position as _, Rng, Role};
use rand::SeedableRng as _;

use super::role_bits::{RoleBits, draw};
use super::{Actions, AtEnd, BatchError, Games, RANDOM, Results, illegal};
use crate::numbered::{Action, NumberedPosition, Numbers};

/// The games of a batch as rows.
pub(super) struct RowBatch {
    numbers: Arc<Numbers>,
    engine: Box<dyn Batch<State = Bits, Move = Input>>,
    rng: Rng,
    at_end: AtEnd,
    /// The roles of players; the columns of arrays by player.
    players: Vec<Role>,
    n_words: usize,
    /// By role: where its bits lie in a set of legal moves.
    ranges: Vec<RoleBits>,
    start: Lane,
    /// By game.
    states: Vec<Bits>,
    /// By game: the set of legal moves of all roles, `n_words` words each.
    legal: Vec<u64>,
    results: Results,
    /// Games that have ended, with their last states.
    last_states: Vec<(usize, Bits)>,
    /// Scratch memory.
    children: Children<Bits, Input>,
    joints: Vec<Input>,
    stepped: Vec<usize>,
}

/// A state with its legal moves.
#[derive(Clone)]
struct Lane {
    state: Bits,
    legal: Vec<u64>,
    is_ended: bool,
}

impl RowBatch {
    pub(super) fn new(numbers: &Arc<Numbers>, n: usize, seed: u64, at_end: AtEnd) -> RowBatch {
        let start = numbers.game().compiled().expect("numbered games have a circuit").start();
        let shape = numbers.shape();
        let players: Vec<Role> = shape.players().collect();
        let n_inputs = numbers.inputs_of(Role::new(shape.role_names.len() - 1)).end;
        let n_words = (n_inputs as usize).div_ceil(64);
        let first = Lane::at(&start, n_words);
        let mut batch = RowBatch {
            engine: start.batch(seed).expect("circuits have a batch engine"),
            rng: Rng::seed_from_u64(seed),
            at_end,
            n_words,
            ranges: shape.roles().map(|role| RoleBits::new(numbers.inputs_of(role))).collect(),
            states: vec![first.state.clone(); n],
            legal: vec![0; n * n_words],
            start: first,
            results: Results::new(n, players.len()),
            last_states: Vec::new(),
            children: Children::new(shape.role_names.len()),
            joints: Vec::new(),
            stepped: Vec::new(),
            players,
            numbers: Arc::clone(numbers),
        };
        batch.restart(&|_| true);
        batch
    }

    fn legal_of(&self, game: usize) -> &[u64] {
        &self.legal[game * self.n_words..(game + 1) * self.n_words]
    }

    /// Chooses joint moves for games that have not ended, and that are marked unless none is.
    fn choose(&mut self, marked: Option<&[bool]>, actions: Actions<'_>) -> Result<(), BatchError> {
        self.stepped.clear();
        self.joints.clear();
        // Random numbers are drawn from a copy, so that a refused step leaves them alone.
        let mut rng = self.rng.clone();
        for game in 0..self.states.len() {
            if self.results.ended[game] || marked.is_some_and(|marked| !marked[game]) {
                continue;
            }
            let mut player = 0;
            for role in (0..self.ranges.len()).map(Role::new) {
                let is_player = self.players.get(player) == Some(&role);
                let to_move = self.results.to_move[game];
                let wanted = if is_player {
                    actions.of(game, player, self.players.len(), to_move)
                } else {
                    RANDOM
                };
                player += usize::from(is_player);
                let legal = self.legal_of(game);
                let input = if wanted == RANDOM {
                    draw(&self.ranges[role.index()], legal, &mut rng)
                } else {
                    let known = Action::try_from(wanted).ok();
                    let input = known.and_then(|action| self.numbers.input(role, action));
                    let is_legal =
                        |input: &Input| legal[input.0 as usize / 64] >> (input.0 % 64) & 1 == 1;
                    input
                        .filter(is_legal)
                        .ok_or_else(|| illegal(&self.numbers, game, role, wanted))?
                };
                self.joints.push(input);
            }
            self.stepped.push(game);
        }
        self.rng = rng;
        Ok(())
    }

    /// Makes the chosen joint moves.
    fn advance(&mut self) {
        let (n_roles, n_players) = (self.ranges.len(), self.players.len());
        let steps: Vec<(&Bits, &[Input])> = self
            .stepped
            .iter()
            .zip(self.joints.chunks_exact(n_roles))
            .map(|(&game, joint)| (&self.states[game], joint))
            .collect();
        self.engine.advance_all(&steps, &mut self.children);
        drop(steps);
        let stepped = std::mem::take(&mut self.stepped);
        for (child, &game) in stepped.iter().enumerate() {
            std::mem::swap(&mut self.states[game], &mut self.children.states[child]);
            self.results.n_steps[game] = self.results.n_steps[game].saturating_add(1);
            if self.children.ended[child] {
                let payoffs = self.children.payoffs(child);
                for (player, role) in self.players.iter().enumerate() {
                    self.results.rewards[game * n_players + player] = payoffs[role.index()] as f32;
                }
                self.results.put_end(game);
                self.last_states.push((game, self.states[game].clone()));
                match self.at_end {
                    AtEnd::Restart if !self.start.is_ended => {
                        let start = self.start.clone();
                        self.put(game, &start);
                        self.results.n_steps[game] = 0;
                    }
                    AtEnd::Restart | AtEnd::Stay => {
                        self.results.ended[game] = true;
                        self.results.to_move[game] = -1;
                        self.legal[game * self.n_words..(game + 1) * self.n_words].fill(0);
                    }
                }
                continue;
            }
            let own = game * self.n_words..(game + 1) * self.n_words;
            match &self.children.legal {
                LegalMoves::Masks { words, .. } => {
                    let theirs = child * self.n_words..(child + 1) * self.n_words;
                    self.legal[own].copy_from_slice(&words[theirs]);
                }
                LegalMoves::Lists { moves, ends } => {
                    let first = if child == 0 { 0 } else { ends[child * n_roles - 1] };
                    let legal = &mut self.legal[own];
                    legal.fill(0);
                    for input in &moves[first..ends[(child + 1) * n_roles - 1]] {
                        legal[input.0 as usize / 64] |= 1 << (input.0 % 64);
                    }
                }
            }
            self.results.to_move[game] = self.mover(game);
        }
        self.stepped = stepped;
    }

    /// Returns the index of the player to move, by the legal moves of a game.
    fn mover(&self, game: usize) -> i32 {
        let legal = self.legal_of(game);
        let bits = |player: usize| &self.ranges[self.players[player].index()];
        let has_choice = |&player: &usize| bits(player).count(legal) > 1;
        let all = 0..self.players.len();
        let moves = |&player: &usize| {
            bits(player).nth(legal, 0).is_some_and(|input| !self.numbers.is_wait(input))
        };
        let mover = all.clone().find(has_choice).or_else(|| all.clone().find(moves));
        mover.map_or(0, |player| player as i32)
    }

    fn put(&mut self, game: usize, lane: &Lane) {
        self.states[game] = lane.state.clone();
        self.legal[game * self.n_words..(game + 1) * self.n_words].copy_from_slice(&lane.legal);
        self.results.ended[game] = lane.is_ended;
        self.results.to_move[game] = if lane.is_ended { -1 } else { self.mover(game) };
    }

    /// Returns the player whose moves are meant, if play goes on.
    fn player_of(&self, player: Option<usize>, game: usize) -> Option<usize> {
        let mover = || usize::try_from(self.results.to_move[game]).ok();
        let player = player.or_else(mover);
        player.filter(|_| !self.results.ended[game])
    }
}

impl Games for RowBatch {
    fn results(&mut self) -> &Results {
        &self.results
    }

    fn step_results(&self) -> &Results {
        &self.results
    }

    fn results_mut(&mut self) -> &mut Results {
        &mut self.results
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = Rng::seed_from_u64(seed);
    }

    fn step(&mut self, marked: Option<&[bool]>, actions: Actions<'_>) -> Result<(), BatchError> {
        self.choose(marked, actions)?;
        if marked.is_none() {
            self.results.clear();
            self.last_states.clear();
        }
        self.advance();
        Ok(())
    }

    fn restart(&mut self, marked: &dyn Fn(usize) -> bool) {
        let start = self.start.clone();
        for game in (0..self.states.len()).filter(|&game| marked(game)) {
            self.put(game, &start);
            self.results.n_steps[game] = 0;
        }
    }

    fn load(&mut self, game: usize, position: &NumberedPosition) {
        let mut cursor =
            self.numbers.game().compiled().expect("numbered games have a circuit").start();
        cursor.go_to(position.bits());
        let lane = Lane::at(&cursor, self.n_words);
        self.put(game, &lane);
    }

    fn draw(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, &[i32])) {
        for game in 0..self.states.len() {
            let action = self.player_of(player, game).map_or(0, |player| {
                let range = &self.ranges[self.players[player].index()];
                let legal = &self.legal[game * self.n_words..(game + 1) * self.n_words];
                self.numbers.action_of(draw(range, legal, &mut self.rng)) as i32
            });
            each(game, &[action]);
        }
    }

    fn visit_legal(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, u32)) {
        for game in 0..self.states.len() {
            if let Some(player) = self.player_of(player, game) {
                let range = &self.ranges[self.players[player].index()];
                range.for_each(self.legal_of(game), |input| {
                    each(game, self.numbers.action_of(input));
                });
            }
        }
    }

    fn write_bits(&mut self, words: &mut [u64]) {
        let n_words = words.len() / self.states.len().max(1);
        for (state, row) in self.states.iter().zip(words.chunks_exact_mut(n_words.max(1))) {
            row.copy_from_slice(state.words());
        }
    }

    fn forget_last(&mut self) {
        self.last_states.clear();
    }

    fn last_states(&self) -> Vec<(usize, Bits)> {
        self.last_states.clone()
    }

    fn knows(&self) -> bool {
        false
    }

    fn write_knowledge(&mut self, _: Option<usize>, _: usize, _: &mut [f32]) {
        unreachable!("it is not kept what roles know")
    }

    fn last_knowledge(&self, _: &dyn Fn(usize) -> usize, _: usize) -> Vec<(usize, Vec<f32>)> {
        unreachable!("it is not kept what roles know")
    }
}

impl Lane {
    fn at(position: &agon_circuit::ScalarCircuit, n_words: usize) -> Lane {
        let mut legal = vec![0; n_words];
        for role in position.shape().roles() {
            for input in position.legal_moves(role) {
                legal[input.0 as usize / 64] |= 1 << (input.0 % 64);
            }
        }
        Lane { state: position.state().clone(), legal, is_ended: position.is_terminal() }
    }
}
