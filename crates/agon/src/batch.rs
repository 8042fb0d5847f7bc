//! Thousands of games at once: steps, legal moves and payoffs as flat arrays.
//!
//! [`GameBatch`] steps many independent games of one rulesheet, 256 at a time. It is made for
//! programs that learn: actions go in as one array of numbers, and legal moves, observations and
//! rewards come out as arrays that the caller owns.
//!
//! - `lanes`: games that stay in the lanes of the bit-sliced engine from step to step.
//! - `rows`: games as rows of bits, for circuits whose steps may be rejected.
//! - `role_bits`: the moves of a role in a set of legal moves.

mod lanes;
mod role_bits;
mod rows;

use std::fmt;
use std::sync::Arc;

use agon_circuit::{Backend, Bits, LaneGames};

use crate::numbered::{NumberedPosition, Numbers};
use lanes::LaneBatch;
use rows::RowBatch;

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
    games: Box<dyn Games>,
    /// Scratch memory.
    rows: Vec<u64>,
}

/// What a role knows, as numbers: for each thing that it may perceive, whether it ever did, then
/// whether it did in the last step; then its last action; then the time.
struct Knowledge;

impl Knowledge {
    /// Returns the number of entries for a role.
    fn width(numbers: &Numbers, role: agon_game::Role) -> usize {
        2 * numbers.percepts(role).len() + numbers.actions().len() + 1
    }

    /// Returns the entry for the time: the number of steps as a part of 100, at most 1.
    fn time(n_steps: u32) -> f32 {
        (n_steps as f32 / 100.0).min(1.0)
    }
}

/// What is known of each game after a step.
#[derive(Default)]
struct Results {
    /// By game: whether play has ended.
    ended: Vec<bool>,
    /// By game: the index of the player to move, or -1.
    to_move: Vec<i32>,
    /// By game: number of steps since its start.
    n_steps: Vec<u32>,
    /// By game and player, of the last step: the payoff if the game ended, or else 0.
    rewards: Vec<f32>,
    /// By game: whether it ended in the last step.
    done: Vec<bool>,
    /// The games that are marked in `done`.
    done_games: Vec<usize>,
    /// By game that is done: its number of steps.
    last_steps: Vec<u32>,
    /// Whether `ended` and `to_move` are to be computed again.
    is_stale: bool,
}

impl Results {
    fn new(n_games: usize, n_players: usize) -> Results {
        Results {
            ended: vec![false; n_games],
            to_move: vec![-1; n_games],
            n_steps: vec![0; n_games],
            rewards: vec![0.0; n_games * n_players],
            done: vec![false; n_games],
            done_games: Vec::new(),
            last_steps: vec![0; n_games],
            is_stale: true,
        }
    }

    /// Forgets what happened in the last step.
    fn clear(&mut self) {
        let n_players = self.rewards.len() / self.done.len().max(1);
        for game in self.done_games.drain(..) {
            self.done[game] = false;
            self.rewards[game * n_players..(game + 1) * n_players].fill(0.0);
        }
    }

    /// Writes down that a game has ended.
    #[inline]
    fn put_end(&mut self, game: usize) {
        if !self.done[game] {
            self.done[game] = true;
            self.done_games.push(game);
        }
        self.last_steps[game] = self.n_steps[game];
    }
}

/// The actions of a step.
#[derive(Copy, Clone)]
enum Actions<'a> {
    /// All moves are drawn.
    Random,
    /// One for each game: that of the player to move.
    OfMover(&'a [i32]),
    /// One for each game and player.
    OfAll(&'a [i32]),
    /// One for each game, of this player. Other players draw.
    OfOne(usize, &'a [i32]),
}

impl Actions<'_> {
    /// Returns the action of a player in a game.
    #[inline]
    fn of(self, game: usize, player: usize, n_players: usize, to_move: i32) -> i32 {
        match self {
            Actions::Random => RANDOM,
            Actions::OfMover(actions) if to_move == player as i32 => actions[game],
            Actions::OfMover(_) => RANDOM,
            Actions::OfAll(actions) => actions[game * n_players + player],
            Actions::OfOne(one, actions) if one == player => actions[game],
            Actions::OfOne(..) => RANDOM,
        }
    }
}

/// The games of a batch.
trait Games: Send {
    /// Returns the results, all of them up to date.
    fn results(&mut self) -> &Results;

    /// Returns the results, of which `to_move` and `ended` may be stale.
    fn step_results(&self) -> &Results;

    fn results_mut(&mut self) -> &mut Results;

    /// Starts the random numbers again.
    fn reseed(&mut self, seed: u64);

    /// Makes a step in games that have not ended, and that are marked unless none is. Its results
    /// replace those of the last step, or are added to them if games are marked. Nothing changes if
    /// an action is refused.
    fn step(&mut self, marked: Option<&[bool]>, actions: Actions<'_>) -> Result<(), BatchError>;

    /// Sends marked games to their start.
    fn restart(&mut self, marked: &dyn Fn(usize) -> bool);

    /// Sends a game to a position.
    fn load(&mut self, game: usize, position: &NumberedPosition);

    /// Draws an action of a player in each game that has not ended; 0 for others. `player` is the
    /// one to move if it is `None`. Calls back with the first of some games, and their actions.
    fn draw(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, &[i32]));

    /// Calls back with each game that has not ended and the legal actions of a player, or of the
    /// player to move.
    fn visit_legal(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, u32));

    /// Writes the states as rows of words.
    fn write_bits(&mut self, words: &mut [u64]);

    /// Forgets the last states of games that have ended.
    fn forget_last(&mut self);

    /// Returns games that have ended with their last states.
    fn last_states(&self) -> Vec<(usize, Bits)>;

    /// Returns whether it is kept what roles have perceived.
    fn knows(&self) -> bool;

    /// Writes what a player knows in each game, or the one to move, in rows of `width` numbers.
    fn write_knowledge(&mut self, player: Option<usize>, width: usize, rows: &mut [f32]);

    /// Returns games that have ended with what a player knew at the end.
    fn last_knowledge(
        &self,
        player: &dyn Fn(usize) -> usize,
        width: usize,
    ) -> Vec<(usize, Vec<f32>)>;
}

impl GameBatch {
    /// Starts `n` games. Equal seeds draw equal moves for nature and for [`RANDOM`].
    pub fn new(numbers: &Arc<Numbers>, n: usize, seed: u64, at_end: AtEnd) -> GameBatch {
        let circuit = &numbers.game().compiled().expect("numbered games have a circuit").circuit;
        let lanes = LaneGames::new(circuit, numbers.actions_of(), n, seed, Backend::default());
        let games: Box<dyn Games> = match lanes {
            Some(lanes) => Box::new(LaneBatch::new(numbers, lanes, n, at_end)),
            None => Box::new(RowBatch::new(numbers, n, seed, at_end)),
        };
        GameBatch { numbers: Arc::clone(numbers), games, rows: Vec::new() }
    }

    /// Returns the tables of the game.
    pub fn numbers(&self) -> &Arc<Numbers> {
        &self.numbers
    }

    /// Returns the number of games.
    pub fn len(&self) -> usize {
        self.games.step_results().n_steps.len()
    }

    /// Returns whether the batch has no games.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether a step takes one action for each game. Otherwise it takes one for each game
    /// and player.
    pub fn is_sequential(&self) -> bool {
        self.numbers.is_turn_taking()
    }

    /// Returns the number of actions that a step takes.
    pub fn n_actions_of_a_step(&self) -> usize {
        self.len() * self.per_game()
    }

    /// Returns, by game, the index among the players of the one to move; -1 where play has ended.
    /// In games in which players move at the same time it is the first player with a choice.
    pub fn to_move(&mut self) -> &[i32] {
        &self.games.results().to_move
    }

    /// Returns, by game and player, the payoff if the game ended in the last step, or else 0.
    pub fn rewards(&self) -> &[f32] {
        &self.games.step_results().rewards
    }

    /// Returns, by game, whether it ended in the last step.
    pub fn done(&self) -> &[bool] {
        &self.games.step_results().done
    }

    /// Returns, by game, the number of steps since its start.
    pub fn n_steps(&self) -> &[u32] {
        &self.games.step_results().n_steps
    }

    /// Returns, by game, whether play has ended. Never with [`AtEnd::Restart`].
    pub fn ended(&mut self) -> &[bool] {
        &self.games.results().ended
    }

    /// Returns, by game, its state.
    pub fn states(&mut self) -> Vec<Bits> {
        let (n_words, n_fluents) = (self.n_state_words(), self.numbers.fluents().len());
        let mut rows = vec![0; self.len() * n_words];
        self.games.write_bits(&mut rows);
        let bits =
            |row: &[u64]| Bits::pack((0..n_fluents).map(|at| row[at / 64] >> (at % 64) & 1 == 1));
        (0..self.len()).map(|game| bits(&rows[game * n_words..(game + 1) * n_words])).collect()
    }

    /// Returns the games that ended in the last step, with the states in which they ended.
    pub fn last_states(&self) -> Vec<(usize, Bits)> {
        self.games.last_states()
    }

    /// Starts the random numbers again from a seed.
    pub fn reseed(&mut self, seed: u64) {
        self.games.reseed(seed);
    }

    /// Returns the games that are chosen to their start.
    pub fn reset(&mut self, is_chosen: impl Fn(usize) -> bool) {
        self.games.restart(&is_chosen);
        self.games.results_mut().clear();
        self.games.forget_last();
    }

    /// Sends a game to a position of the same rules.
    pub fn load(&mut self, game: usize, position: &NumberedPosition) {
        self.games.load(game, position);
        self.games.results_mut().n_steps[game] =
            u32::try_from(position.n_steps()).unwrap_or(u32::MAX);
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
        let is_sequential = self.is_sequential();
        self.advance(if is_sequential {
            Actions::OfMover(actions)
        } else {
            Actions::OfAll(actions)
        })
    }

    /// Makes a number of steps in every game, with random moves for all roles.
    pub fn step_randomly(&mut self, n_steps: usize) {
        for _ in 0..n_steps {
            self.advance(Actions::Random).expect("drawn moves are legal");
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
        self.advance(Actions::OfOne(player, actions))?;
        self.wait_for(player);
        Ok(())
    }

    /// Makes random moves of all other players until it is this player's turn in every game. Adds
    /// to the results of the last step.
    pub fn wait_for(&mut self, player: usize) {
        if !self.is_sequential() {
            return;
        }
        // A game in which the player never has a turn would wait for ever.
        for _ in 0..MAX_WAIT {
            let Results { to_move, ended, .. } = self.games.results();
            let waits: Vec<bool> = to_move
                .iter()
                .zip(ended)
                .map(|(&mover, is_ended)| !is_ended && mover != player as i32)
                .collect();
            if !waits.contains(&true) {
                break;
            }
            self.games.step(Some(&waits), Actions::Random).expect("drawn moves are legal");
        }
    }

    /// Draws a random legal action for each game: that of the player to move, or of each player if
    /// players move at the same time. Games that have ended get 0.
    pub fn draw_actions(&mut self, actions: &mut [i32]) {
        assert_eq!(actions.len(), self.n_actions_of_a_step(), "there is a place for each action");
        let per_game = self.per_game();
        for player in 0..per_game {
            let player_to_draw = (!self.is_sequential()).then_some(player);
            self.games.draw(player_to_draw, &mut |first, drawn| {
                let places = actions[first * per_game + player..].iter_mut().step_by(per_game);
                places.zip(drawn).for_each(|(place, &action)| *place = action);
            });
        }
    }

    /// Writes the legal moves of the player to move as ones in rows of `n_actions` bytes, one row
    /// for each game; one for each game and player if players move at the same time. Rows of games
    /// that have ended are zero.
    pub fn write_masks(&mut self, masks: &mut [u8]) {
        let n_actions = self.numbers.actions().len();
        let per_game = self.per_game();
        assert_eq!(masks.len(), self.len() * per_game * n_actions, "there is a row for each");
        masks.fill(0);
        if self.is_sequential() {
            self.games.visit_legal(None, &mut |game, action| {
                masks[game * n_actions + action as usize] = 1;
            });
        } else {
            for player in 0..per_game {
                self.games.visit_legal(Some(player), &mut |game, action| {
                    masks[(game * per_game + player) * n_actions + action as usize] = 1;
                });
            }
        }
    }

    /// Writes the legal moves of one player in every game as ones in rows of bytes.
    pub fn write_masks_of(&mut self, player: usize, masks: &mut [u8]) {
        let n_actions = self.numbers.actions().len();
        assert_eq!(masks.len(), self.len() * n_actions, "there is a row for each game");
        masks.fill(0);
        self.games.visit_legal(Some(player), &mut |game, action| {
            masks[game * n_actions + action as usize] = 1;
        });
    }

    /// Writes states as packed bits, [`GameBatch::n_state_words`] words for each game.
    pub fn write_bits(&mut self, words: &mut [u64]) {
        assert_eq!(words.len(), self.len() * self.n_state_words(), "there is a row for each game");
        self.games.write_bits(words);
    }

    /// Returns the number of words of a packed state.
    pub fn n_state_words(&self) -> usize {
        self.numbers.fluents().len().div_ceil(64)
    }

    /// Writes states as numbers, `one` for each fluent that holds and the default for the others, in
    /// rows of one number for each fluent.
    pub fn write_fluents<T: Copy + Default>(&mut self, one: T, rows: &mut [T]) {
        let (n_fluents, n_words) = (self.numbers.fluents().len(), self.n_state_words());
        assert_eq!(rows.len(), self.len() * n_fluents, "there is a row for each game");
        if n_fluents == 0 {
            return;
        }
        self.rows.resize(self.len() * n_words, 0);
        self.games.write_bits(&mut self.rows);
        let words = self.rows.chunks_exact(n_words);
        for (words, row) in words.zip(rows.chunks_exact_mut(n_fluents)) {
            write_ones(words, one, row);
        }
    }

    /// Returns whether it is kept what roles know. It is in games with hidden information, unless
    /// their steps may be rejected.
    pub fn knows(&self) -> bool {
        self.games.knows()
    }

    /// Returns the number of entries of what a player knows, or of the longest if `player` is
    /// `None`.
    pub fn n_knowledge(&self, player: Option<usize>) -> usize {
        let mut roles = self.numbers.shape().players();
        let width = |role| Knowledge::width(&self.numbers, role);
        match player {
            Some(player) => roles.nth(player).map_or(0, width),
            None => roles.map(width).max().unwrap_or(0),
        }
    }

    /// Writes what a player knows in each game, or what the player to move knows, in rows of
    /// [`GameBatch::n_knowledge`] numbers: for each thing that it may perceive, whether it ever
    /// did; for each, whether it did in the last step; its last action; the number of steps as a
    /// part of 100. Rows of players with fewer percepts end in zeros.
    ///
    /// # Panics
    /// Panics unless [`GameBatch::knows`].
    pub fn write_knowledge(&mut self, player: Option<usize>, rows: &mut [f32]) {
        assert!(self.knows(), "the batch keeps what roles know");
        let width = self.n_knowledge(player);
        assert_eq!(rows.len(), self.len() * width, "there is a row for each game");
        self.games.write_knowledge(player, width, rows);
    }

    /// Returns the games that ended in the last step, with what a player knew at the end: always
    /// the same one, or by game. Rows are as long as those of [`GameBatch::write_knowledge`].
    ///
    /// # Panics
    /// Panics unless [`GameBatch::knows`].
    pub fn last_knowledge(
        &self,
        player: Option<usize>,
        of_game: &dyn Fn(usize) -> usize,
    ) -> Vec<(usize, Vec<f32>)> {
        assert!(self.knows(), "the batch keeps what roles know");
        let width = self.n_knowledge(player);
        let which = |game: usize| player.unwrap_or_else(|| of_game(game));
        self.games.last_knowledge(&which, width)
    }

    fn per_game(&self) -> usize {
        if self.is_sequential() { 1 } else { self.numbers.shape().players().count() }
    }

    /// Makes a step whose results replace those of the last one.
    fn advance(&mut self, actions: Actions<'_>) -> Result<(), BatchError> {
        self.games.step(None, actions)
    }
}

/// Maximum number of steps that [`GameBatch::wait_for`] makes.
const MAX_WAIT: usize = 10_000;

/// Writes a state as numbers: `one` for each fluent that holds, the default for the others.
pub fn write_fluents<T: Copy + Default>(state: &Bits, one: T, row: &mut [T]) {
    write_ones(state.words(), one, row);
}

fn write_ones<T: Copy + Default>(words: &[u64], one: T, row: &mut [T]) {
    row.fill(T::default());
    for (at, &word) in words.iter().enumerate() {
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

/// Returns the error for an action that is not legal.
fn illegal(numbers: &Numbers, index: usize, role: agon_game::Role, action: i32) -> BatchError {
    let known = u32::try_from(action).ok();
    let text = known.and_then(|action| numbers.text(role, action)).map(str::to_owned);
    let role = numbers.shape().role_names[role.index()].clone();
    BatchError::Illegal { index, role, action, text }
}

impl fmt::Debug for GameBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameBatch").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
