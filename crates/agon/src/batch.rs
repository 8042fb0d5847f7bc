//! Thousands of games at once: steps, legal moves and payoffs as flat arrays.
//!
//! [`GameBatch`] steps many independent games of one rulesheet on the bit-sliced engine, 256 at a
//! time. It is made for programs that learn: actions go in as one array of numbers, and legal
//! moves, observations and rewards come out as arrays that the caller owns.

use std::fmt;
use std::sync::Arc;

use agon_circuit::{Bits, Input};
use agon_game::{Batch, Children, LegalMoves, Position as _, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use crate::numbered::{Action, NumberedPosition, Numbers};

/// Stands for "choose at random" where an action is expected.
pub const RANDOM: i32 = -1;

/// What happens to a game of a batch when it ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AtEnd {
    /// It starts again in the same step. Its reward and its end are reported with that step.
    Restart,
    /// It stays at its last state, and later steps leave it as it is.
    Stay,
}

/// Many games of the same rules that are stepped together.
///
/// If the players provably take turns, or if there is only one, a step takes one action for each
/// game: that of the player to move. Otherwise it takes one for each game and player.
///
/// ```
/// use agon::{Game, batch::{AtEnd, GameBatch, RANDOM}, numbered::Numbers};
/// let numbers = Numbers::of(&Game::open("connect-four")?)?;
/// let mut batch = GameBatch::new(&numbers, 512, 1, AtEnd::Restart);
/// batch.step(&[RANDOM; 512])?;
/// assert!(batch.to_move().iter().all(|&player| player == 1), "red has moved in every game");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GameBatch {
    numbers: Arc<Numbers>,
    engine: Box<dyn Batch<State = Bits, Move = Input>>,
    rng: Rng,
    at_end: AtEnd,
    is_sequential: bool,
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
    ended: Vec<bool>,
    /// By game: the index of the player to move, or -1.
    to_move: Vec<i32>,
    /// By game: number of steps since its start.
    n_steps: Vec<u32>,
    /// By game and player, of the last step: the payoff if the game ended, or else 0.
    rewards: Vec<f32>,
    /// By game: whether it ended in the last step.
    done: Vec<bool>,
    /// The games that ended in the last step, with their last states.
    last_states: Vec<(usize, Bits)>,
    /// Scratch memory.
    children: Children<Bits, Input>,
    joints: Vec<Input>,
    stepped: Vec<usize>,
}

/// A state with its legal moves.
struct Lane {
    state: Bits,
    legal: Vec<u64>,
    is_ended: bool,
}

/// The bits of a role in a set of legal moves: words, each with a mask.
struct RoleBits {
    first_word: usize,
    masks: Vec<u64>,
}

impl RoleBits {
    fn new(inputs: std::ops::Range<u32>) -> RoleBits {
        let first_word = inputs.start as usize / 64;
        let n_words = if inputs.is_empty() { 0 } else { (inputs.end as usize - 1) / 64 + 1 };
        let mask = |word: usize| {
            let bit = |at: usize| (64 * word + at) as u32;
            (0..64).filter(|&at| inputs.contains(&bit(at))).fold(0, |mask, at| mask | 1 << at)
        };
        RoleBits { first_word, masks: (first_word..n_words.max(first_word)).map(mask).collect() }
    }

    #[inline]
    fn words<'w>(&'w self, legal: &'w [u64]) -> impl Iterator<Item = (usize, u64)> + 'w {
        let words = legal[self.first_word..].iter().zip(&self.masks).enumerate();
        words.map(|(at, (word, mask))| (64 * (self.first_word + at), word & mask))
    }

    #[inline]
    fn count(&self, legal: &[u64]) -> u32 {
        self.words(legal).map(|(_, word)| word.count_ones()).sum()
    }

    /// Returns the input of the set bit with this rank.
    #[inline]
    fn nth(&self, legal: &[u64], rank: u32) -> Option<Input> {
        let mut left = rank;
        for (first, mut word) in self.words(legal) {
            let n = word.count_ones();
            if left >= n {
                left -= n;
                continue;
            }
            for _ in 0..left {
                word &= word - 1;
            }
            return Some(Input(first as u32 + word.trailing_zeros()));
        }
        None
    }

    #[inline]
    fn for_each(&self, legal: &[u64], mut then: impl FnMut(Input)) {
        for (first, mut word) in self.words(legal) {
            while word != 0 {
                then(Input(first as u32 + word.trailing_zeros()));
                word &= word - 1;
            }
        }
    }
}

/// Why a batch refused a step. No game has moved then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchError {
    /// The array of actions has the wrong length.
    Length {
        /// Number of actions that a step needs.
        expected: usize,
        /// Number of actions that were given.
        given: usize,
    },
    /// An action is not legal.
    Illegal {
        /// The game of the batch, from 0.
        index: usize,
        /// The role that was to move.
        role: String,
        /// The number of the action.
        action: i32,
        /// Its text, if it is a move of the role at all.
        text: Option<String>,
    },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Length { expected, given } => {
                write!(f, "a step takes {expected} actions, and {given} were given")
            }
            BatchError::Illegal { index, role, action, text } => {
                write!(f, "game {index} of the batch: action {action}")?;
                match text {
                    Some(text) => write!(f, ", {text}, is not legal for {role}"),
                    None => write!(f, " is not a move of {role}"),
                }
            }
        }
    }
}

impl std::error::Error for BatchError {}

impl GameBatch {
    /// Starts `n` games. Equal seeds draw equal moves for nature and for [`RANDOM`].
    pub fn new(numbers: &Arc<Numbers>, n: usize, seed: u64, at_end: AtEnd) -> GameBatch {
        let compiled = numbers.game().compiled().expect("numbered games have a circuit");
        let start = compiled.start();
        let shape = numbers.shape();
        let players: Vec<Role> = shape.players().collect();
        let n_inputs = numbers.inputs_of(Role::new(shape.role_names.len() - 1)).end;
        let n_words = (n_inputs as usize).div_ceil(64);
        let engine = start.batch(seed).expect("circuits have a batch engine");
        let mut batch = GameBatch {
            engine,
            rng: Rng::seed_from_u64(seed),
            at_end,
            is_sequential: shape.turn_taking || players.len() == 1,
            n_words,
            ranges: shape.roles().map(|role| RoleBits::new(numbers.inputs_of(role))).collect(),
            start: Lane::at(&start, n_words),
            states: Vec::new(),
            legal: Vec::new(),
            ended: vec![false; n],
            to_move: vec![-1; n],
            n_steps: vec![0; n],
            rewards: vec![0.0; n * players.len()],
            done: vec![false; n],
            last_states: Vec::new(),
            children: Children::new(shape.role_names.len()),
            joints: Vec::new(),
            stepped: Vec::new(),
            players,
            numbers: Arc::clone(numbers),
        };
        batch.states.resize(n, batch.start.state.clone());
        batch.legal.resize(n * n_words, 0);
        batch.reset(|_| true);
        batch
    }

    /// Returns the tables of the game.
    pub fn numbers(&self) -> &Arc<Numbers> {
        &self.numbers
    }

    /// Returns the number of games.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns whether the batch has no games.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns whether a step takes one action for each game. Otherwise it takes one for each game
    /// and player.
    pub fn is_sequential(&self) -> bool {
        self.is_sequential
    }

    /// Returns the number of actions that a step takes.
    pub fn n_actions_of_a_step(&self) -> usize {
        self.len() * if self.is_sequential { 1 } else { self.players.len() }
    }

    /// Returns, by game, the index among the players of the one to move; -1 where play has ended.
    /// In games in which players move at the same time it is the first player with a choice.
    pub fn to_move(&self) -> &[i32] {
        &self.to_move
    }

    /// Returns, by game and player, the payoff if the game ended in the last step, or else 0.
    pub fn rewards(&self) -> &[f32] {
        &self.rewards
    }

    /// Returns, by game, whether it ended in the last step.
    pub fn done(&self) -> &[bool] {
        &self.done
    }

    /// Returns, by game, the number of steps since its start.
    pub fn n_steps(&self) -> &[u32] {
        &self.n_steps
    }

    /// Returns, by game, whether play has ended. Never with [`AtEnd::Restart`].
    pub fn ended(&self) -> &[bool] {
        &self.ended
    }

    /// Returns, by game, its state.
    pub fn states(&self) -> &[Bits] {
        &self.states
    }

    /// Returns the games that ended in the last step, with the states in which they ended.
    pub fn last_states(&self) -> &[(usize, Bits)] {
        &self.last_states
    }

    /// Starts the random numbers again from a seed.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = Rng::seed_from_u64(seed);
    }

    /// Returns the games that are chosen to their start.
    pub fn reset(&mut self, is_chosen: impl Fn(usize) -> bool) {
        for game in (0..self.len()).filter(|&game| is_chosen(game)) {
            self.restart(game);
            self.done[game] = false;
        }
        self.rewards.fill(0.0);
        self.last_states.clear();
    }

    /// Sends a game to a position of the same rules.
    pub fn load(&mut self, game: usize, position: &NumberedPosition) {
        let mut cursor = self.cursor();
        cursor.go_to(position.bits());
        let lane = Lane::at(&cursor, self.n_words);
        self.put(game, &lane);
        self.n_steps[game] = u32::try_from(position.n_steps()).unwrap_or(u32::MAX);
    }

    /// Sends a game to a state that a batch of the same rules has had, as packed bits.
    pub fn load_bits(&mut self, game: usize, words: &[u64]) {
        let n_fluents = self.numbers.fluents().len();
        let bit = |at: usize| words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
        let mut cursor = self.cursor();
        cursor.go_to(&Bits::pack((0..n_fluents).map(bit)));
        let lane = Lane::at(&cursor, self.n_words);
        self.put(game, &lane);
        self.n_steps[game] = 0;
    }

    /// Makes a step in every game that has not ended. [`RANDOM`] draws a legal move for a player;
    /// nature always draws.
    ///
    /// # Errors
    /// [`BatchError`] if an action is not legal or the number of actions is wrong. Then nothing has
    /// changed.
    pub fn step(&mut self, actions: &[i32]) -> Result<(), BatchError> {
        if actions.len() != self.n_actions_of_a_step() {
            let (expected, given) = (self.n_actions_of_a_step(), actions.len());
            return Err(BatchError::Length { expected, given });
        }
        self.choose(|batch, game, player| {
            if !batch.is_sequential {
                actions[game * batch.players.len() + player]
            } else if batch.to_move[game] == player as i32 {
                actions[game]
            } else {
                RANDOM
            }
        })?;
        self.advance();
        Ok(())
    }

    /// Makes a number of steps in every game, with random moves for all roles.
    pub fn step_randomly(&mut self, n_steps: usize) {
        for _ in 0..n_steps {
            self.choose(|_, _, _| RANDOM).expect("drawn moves are legal");
            self.advance();
        }
    }

    /// Makes steps until it is this player's turn in every game: first the player's actions, then
    /// random moves of the others. A game that ends on the way starts again and goes on to the
    /// player's first turn; its reward is that of the end.
    ///
    /// # Errors
    /// [`BatchError`] as for [`GameBatch::step`].
    pub fn step_as(&mut self, player: usize, actions: &[i32]) -> Result<(), BatchError> {
        if actions.len() != self.len() {
            return Err(BatchError::Length { expected: self.len(), given: actions.len() });
        }
        self.choose(|_, game, mover| if mover == player { actions[game] } else { RANDOM })?;
        self.advance();
        self.wait_for(player);
        Ok(())
    }

    /// Makes random moves of all other players until it is this player's turn in every game.
    pub fn wait_for(&mut self, player: usize) {
        let (mut rewards, mut done) = (self.rewards.clone(), self.done.clone());
        let mut last_states = std::mem::take(&mut self.last_states);
        // A game in which the player never has a turn would wait for ever.
        for _ in 0..MAX_WAIT {
            let waits: Vec<bool> = self
                .to_move
                .iter()
                .zip(&self.ended)
                .map(|(&mover, is_ended)| !is_ended && self.is_sequential && mover != player as i32)
                .collect();
            if !waits.contains(&true) {
                break;
            }
            self.choose_some(&waits, |_, _, _| RANDOM).expect("drawn moves are legal");
            self.advance();
            for game in (0..self.len()).filter(|&game| self.done[game]) {
                done[game] = true;
                let n = self.players.len();
                rewards[game * n..(game + 1) * n]
                    .copy_from_slice(&self.rewards[game * n..(game + 1) * n]);
            }
            last_states.append(&mut self.last_states);
        }
        (self.rewards, self.done, self.last_states) = (rewards, done, last_states);
    }

    /// Draws a random legal action for each game: that of the player to move, or of each player if
    /// players move at the same time. Games that have ended get 0.
    pub fn draw_actions(&mut self, actions: &mut [i32]) {
        let per_game = if self.is_sequential { 1 } else { self.players.len() };
        assert_eq!(actions.len(), self.len() * per_game, "there is a place for each action");
        for (place, action) in actions.iter_mut().enumerate() {
            let (game, column) = (place / per_game, place % per_game);
            let player = if self.is_sequential { self.to_move[game] } else { column as i32 };
            *action = 0;
            if let Ok(player) = usize::try_from(player)
                && !self.ended[game]
            {
                let legal = &self.legal[game * self.n_words..(game + 1) * self.n_words];
                let input = draw(&self.ranges[self.players[player].index()], legal, &mut self.rng);
                *action = self.numbers.action_of(input) as i32;
            }
        }
    }

    /// Writes the legal moves of the player to move as ones in rows of `n_actions` bytes, one row
    /// for each game; one for each game and player if players move at the same time. Rows of games
    /// that have ended are zero.
    pub fn write_masks(&self, masks: &mut [u8]) {
        let (n_actions, n_players) = (self.numbers.actions().len(), self.players.len());
        let per_game = if self.is_sequential { 1 } else { n_players };
        assert_eq!(masks.len(), self.len() * per_game * n_actions, "there is a row for each");
        masks.fill(0);
        if n_actions == 0 {
            return;
        }
        for (row, mask) in masks.chunks_exact_mut(n_actions).enumerate() {
            let (game, column) = (row / per_game, row % per_game);
            let player = if self.is_sequential { self.to_move[game] } else { column as i32 };
            if let Ok(player) = usize::try_from(player)
                && !self.ended[game]
            {
                self.write_mask(game, player, mask);
            }
        }
    }

    /// Writes the legal moves of one player in every game as ones in rows of bytes.
    pub fn write_masks_of(&self, player: usize, masks: &mut [u8]) {
        let n_actions = self.numbers.actions().len();
        assert_eq!(masks.len(), self.len() * n_actions, "there is a row for each game");
        masks.fill(0);
        if n_actions > 0 {
            for (game, mask) in masks.chunks_exact_mut(n_actions).enumerate() {
                if !self.ended[game] {
                    self.write_mask(game, player, mask);
                }
            }
        }
    }

    /// Writes states as packed bits, [`GameBatch::n_state_words`] words for each game.
    pub fn write_bits(&self, words: &mut [u64]) {
        let n_words = self.n_state_words();
        assert_eq!(words.len(), self.len() * n_words, "there is a row for each game");
        for (state, row) in self.states.iter().zip(words.chunks_exact_mut(n_words.max(1))) {
            row.copy_from_slice(state.words());
        }
    }

    /// Returns the number of words of a packed state.
    pub fn n_state_words(&self) -> usize {
        self.start.state.words().len()
    }

    /// Writes states as numbers, `one` for each fluent that holds and the default for the others, in
    /// rows of one number for each fluent.
    pub fn write_fluents<T: Copy + Default>(&self, one: T, rows: &mut [T]) {
        let n_fluents = self.numbers.fluents().len();
        assert_eq!(rows.len(), self.len() * n_fluents, "there is a row for each game");
        if n_fluents > 0 {
            for (state, row) in self.states.iter().zip(rows.chunks_exact_mut(n_fluents)) {
                write_fluents(state, one, row);
            }
        }
    }

    fn write_mask(&self, game: usize, player: usize, mask: &mut [u8]) {
        let legal = &self.legal[game * self.n_words..(game + 1) * self.n_words];
        let bits = &self.ranges[self.players[player].index()];
        bits.for_each(legal, |input| mask[self.numbers.action_of(input) as usize] = 1);
    }

    fn cursor(&self) -> agon_circuit::ScalarCircuit {
        self.numbers.game().compiled().expect("numbered games have a circuit").start()
    }

    /// Chooses joint moves for all games that have not ended.
    fn choose(
        &mut self,
        action: impl Fn(&GameBatch, usize, usize) -> i32,
    ) -> Result<(), BatchError> {
        self.choose_some(&[], action)
    }

    /// Chooses joint moves for games that have not ended, and that are marked unless none is.
    fn choose_some(
        &mut self,
        marked: &[bool],
        action: impl Fn(&GameBatch, usize, usize) -> i32,
    ) -> Result<(), BatchError> {
        let n_roles = self.ranges.len();
        self.stepped.clear();
        self.joints.clear();
        // Random numbers are drawn from a copy, so that a refused step leaves them alone.
        let mut rng = self.rng.clone();
        for game in 0..self.len() {
            if self.ended[game] || marked.get(game) == Some(&false) {
                continue;
            }
            let legal = &self.legal[game * self.n_words..(game + 1) * self.n_words];
            let mut player = 0;
            for role in (0..n_roles).map(Role::new) {
                let is_player = self.players.get(player) == Some(&role);
                let wanted = if is_player { action(self, game, player) } else { RANDOM };
                player += usize::from(is_player);
                let input = if wanted == RANDOM {
                    draw(&self.ranges[role.index()], legal, &mut rng)
                } else {
                    let known = Action::try_from(wanted).ok();
                    let input = known.and_then(|action| self.numbers.input(role, action));
                    let is_legal =
                        |input: &Input| legal[input.0 as usize / 64] >> (input.0 % 64) & 1 == 1;
                    input.filter(is_legal).ok_or_else(|| self.illegal(game, role, wanted))?
                };
                self.joints.push(input);
            }
            self.stepped.push(game);
        }
        self.rng = rng;
        Ok(())
    }

    fn illegal(&self, index: usize, role: Role, action: i32) -> BatchError {
        let known = Action::try_from(action).ok();
        let text = known.and_then(|action| self.numbers.text(role, action)).map(str::to_owned);
        let role = self.numbers.shape().role_names[role.index()].clone();
        BatchError::Illegal { index, role, action, text }
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
        self.rewards.fill(0.0);
        self.done.fill(false);
        self.last_states.clear();
        let stepped = std::mem::take(&mut self.stepped);
        for (child, &game) in stepped.iter().enumerate() {
            std::mem::swap(&mut self.states[game], &mut self.children.states[child]);
            self.n_steps[game] = self.n_steps[game].saturating_add(1);
            if self.children.ended[child] {
                let payoffs = self.children.payoffs(child);
                for (player, role) in self.players.iter().enumerate() {
                    self.rewards[game * n_players + player] = payoffs[role.index()] as f32;
                }
                self.done[game] = true;
                self.last_states.push((game, self.states[game].clone()));
                match self.at_end {
                    AtEnd::Restart if !self.start.is_ended => self.restart(game),
                    AtEnd::Restart | AtEnd::Stay => {
                        self.ended[game] = true;
                        self.to_move[game] = -1;
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
            self.to_move[game] = self.mover(game);
        }
        self.stepped = stepped;
    }

    /// Returns the index of the player to move, by the legal moves of a game.
    fn mover(&self, game: usize) -> i32 {
        let legal = &self.legal[game * self.n_words..(game + 1) * self.n_words];
        let bits = |player: usize| &self.ranges[self.players[player].index()];
        let has_choice = |&player: &usize| bits(player).count(legal) > 1;
        let all = 0..self.players.len();
        let moves = |&player: &usize| {
            bits(player).nth(legal, 0).is_some_and(|input| !self.numbers.is_wait(input))
        };
        let mover = all.clone().find(has_choice).or_else(|| all.clone().find(moves));
        mover.map_or(0, |player| player as i32)
    }

    fn restart(&mut self, game: usize) {
        let start = std::mem::replace(
            &mut self.start,
            Lane { state: self.states[game].clone(), legal: Vec::new(), is_ended: false },
        );
        self.put(game, &start);
        self.start = start;
        self.n_steps[game] = 0;
    }

    fn put(&mut self, game: usize, lane: &Lane) {
        self.states[game] = lane.state.clone();
        self.legal[game * self.n_words..(game + 1) * self.n_words].copy_from_slice(&lane.legal);
        self.ended[game] = lane.is_ended;
        self.to_move[game] = if lane.is_ended { -1 } else { self.mover(game) };
    }
}

/// Maximum number of steps that [`GameBatch::wait_for`] makes.
const MAX_WAIT: usize = 10_000;

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

/// Draws a legal move of a role.
#[inline]
fn draw(bits: &RoleBits, legal: &[u64], rng: &mut Rng) -> Input {
    let n = bits.count(legal);
    let rank = if n > 1 { rng.random_range(0..n) } else { 0 };
    bits.nth(legal, rank).expect("a role has a legal move where play has not ended")
}

/// Writes a state as numbers: `one` for each fluent that holds, the default for the others.
pub fn write_fluents<T: Copy + Default>(state: &Bits, one: T, row: &mut [T]) {
    row.fill(T::default());
    for (at, &word) in state.words().iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let bit = 64 * at + word.trailing_zeros() as usize;
            if let Some(place) = row.get_mut(bit) {
                *place = one;
            }
            word &= word - 1;
        }
    }
}

impl fmt::Debug for GameBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameBatch").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
