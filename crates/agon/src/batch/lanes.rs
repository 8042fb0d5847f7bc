//! Games that stay in the lanes of the bit-sliced engine from step to step.

use std::sync::Arc;

use agon_circuit::{Bits, Input, LaneGames, Plane};
use agon_game::{Rng, Role};
use rand::SeedableRng as _;

use super::role_bits::RoleBits;
use super::{Actions, AtEnd, BatchError, Games, RANDOM, Results, illegal};
use crate::numbered::{Action, Numbers};

/// The games of a batch in lanes.
pub(super) struct LaneBatch {
    numbers: Arc<Numbers>,
    lanes: LaneGames,
    rng: Rng,
    at_end: AtEnd,
    roles: Vec<RoleFacts>,
    /// The roles of players; the columns of arrays by player.
    players: Vec<Role>,
    results: Results,
    /// By block and player: the lanes in which it is the player's turn.
    turns: Vec<Plane>,
    /// Number of words of a set of legal moves.
    n_words: usize,
    /// Scratch memory: the legal moves or states of a block as rows, and the moves of a step.
    rows: Vec<u64>,
    chosen: Vec<u32>,
}

/// What is known of a role.
struct RoleFacts {
    /// Its index among the players, unless it is nature.
    player: Option<usize>,
    /// Where its bits lie in a set of legal moves.
    bits: RoleBits,
    /// Its moves that are not waiting moves, as indices of planes.
    moving: Vec<usize>,
    /// By action of players: its move, or [`NONE`].
    inputs: Vec<u32>,
}

/// Marks a move that is not given, or an action that a role never has.
const NONE: u32 = u32::MAX;

impl LaneBatch {
    pub(super) fn new(
        numbers: &Arc<Numbers>,
        lanes: LaneGames,
        n: usize,
        seed: u64,
        at_end: AtEnd,
    ) -> LaneBatch {
        let shape = numbers.shape();
        let players: Vec<Role> = shape.players().collect();
        let roles = shape.roles().map(|role| RoleFacts {
            player: players.iter().position(|player| *player == role),
            bits: RoleBits::new(numbers.inputs_of(role)),
            moving: numbers
                .inputs_of(role)
                .filter(|input| !numbers.is_wait(Input(*input)))
                .map(|input| input as usize)
                .collect(),
            inputs: (0..numbers.actions().len() as Action)
                .map(|action| numbers.input(role, action).map_or(NONE, |input| input.0))
                .collect(),
        });
        let roles: Vec<RoleFacts> = roles.collect();
        let n_inputs = numbers.inputs_of(Role::new(roles.len() - 1)).end as usize;
        let mut batch = LaneBatch {
            lanes,
            rng: Rng::seed_from_u64(seed),
            at_end,
            roles,
            results: Results::new(n, players.len()),
            turns: vec![Plane::ZERO; n.div_ceil(Plane::LANES) * players.len()],
            players,
            n_words: n_inputs.div_ceil(64),
            rows: Vec::new(),
            chosen: Vec::new(),
            numbers: Arc::clone(numbers),
        };
        (0..batch.lanes.n_blocks()).for_each(|block| batch.note(block));
        batch
    }

    /// Looks up the moves of a step, and refuses it if one is not legal.
    fn look_up(&mut self, actions: Actions<'_>) -> Result<(), BatchError> {
        let n_players = self.players.len();
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        let mut looked_up = Ok(());
        if let Actions::OfMover(actions) = actions {
            // The usual case, without the general loop below.
            let movers = self.results.to_move.iter().zip(actions).enumerate();
            for (game, (&to_move, &action)) in movers {
                let input = if to_move < 0 || action == RANDOM {
                    Some(NONE)
                } else {
                    self.legal_input(game, to_move as usize, action)
                };
                let Some(input) = input else {
                    let role = self.players[to_move as usize];
                    self.chosen = chosen;
                    return Err(illegal(&self.numbers, game, role, action));
                };
                chosen.push(input);
            }
            self.chosen = chosen;
            return Ok(());
        }
        'games: for game in 0..self.results.to_move.len() {
            let to_move = self.results.to_move[game];
            let asked = match actions {
                Actions::Random | Actions::OfMover(_) => break 'games,
                Actions::OfOne(player, _) => player..player + 1,
                Actions::OfAll(_) => 0..n_players,
            };
            for player in asked {
                let action = actions.of(game, player, n_players, to_move);
                if action == RANDOM || self.results.ended[game] {
                    chosen.push(NONE);
                    continue;
                }
                match self.legal_input(game, player, action) {
                    Some(input) => chosen.push(input),
                    None => {
                        let role = self.players[player];
                        looked_up = Err(illegal(&self.numbers, game, role, action));
                        break 'games;
                    }
                }
            }
        }
        self.chosen = chosen;
        looked_up
    }

    /// Returns the input of an action if it is legal.
    #[inline]
    fn legal_input(&self, game: usize, player: usize, action: i32) -> Option<u32> {
        let inputs = &self.roles[self.players[player].index()].inputs;
        let input = *inputs.get(action as usize).filter(|input| **input != NONE)?;
        let legal = &self.lanes.legal(game / Plane::LANES)[input as usize];
        legal.lane(game % Plane::LANES).then_some(input)
    }

    fn games_of(&self, block: usize) -> std::ops::Range<usize> {
        block * Plane::LANES..((block + 1) * Plane::LANES).min(self.results.to_move.len())
    }

    /// Chooses the moves of all roles with a choice in these lanes.
    fn choose(&mut self, block: usize, moving: Plane, actions: Actions<'_>) {
        self.lanes.begin(block);
        let games = self.games_of(block);
        let n_players = self.players.len();
        // By player: the lanes in which the move is given.
        let mut given = vec![Plane::ZERO; n_players];
        let put = |at: usize, game: usize, lanes: &mut LaneGames| {
            let input = self.chosen[at];
            if input == NONE {
                return false;
            }
            lanes.choose(game % Plane::LANES, Input(input));
            true
        };
        match actions {
            Actions::Random => {}
            Actions::OfMover(_) | Actions::OfOne(..) => {
                let mut own = Plane::ZERO;
                for game in games {
                    let is_given = put(game, game, &mut self.lanes);
                    own.0[game / 64 % 4] |= u64::from(is_given) << (game % 64);
                }
                match actions {
                    Actions::OfOne(player, _) => given[player] = own,
                    // Where one player has a choice, no other has.
                    _ => given.fill(own),
                }
            }
            Actions::OfAll(_) => {
                for game in games {
                    for (player, given) in given.iter_mut().enumerate() {
                        let is_given = put(game * n_players + player, game, &mut self.lanes);
                        given.set_lane(game % Plane::LANES, is_given);
                    }
                }
            }
        }
        for (role, facts) in self.roles.iter().enumerate() {
            let given = facts.player.map_or(Plane::ZERO, |player| given[player]);
            let open = self.lanes.choices(block, role) & moving & !given;
            if !open.is_zero() {
                self.lanes.choose_randomly(block, role, open, &mut self.rng);
            }
        }
    }

    /// Writes down how a step has ended in these lanes, and restarts games.
    fn finish(&mut self, block: usize, ended: Plane) {
        let n_players = self.players.len();
        let LaneBatch { lanes, results, roles, .. } = self;
        let first = block * Plane::LANES;
        if !ended.is_zero() {
            for_each_lane(ended, |lane| {
                let game = first + lane;
                results.done[game] = true;
                results.rewards[game * n_players..(game + 1) * n_players].fill(0.0);
            });
            lanes.payoffs(block, ended, |lane, role, payoff| {
                if let Some(player) = roles[role].player {
                    results.rewards[(first + lane) * n_players + player] = payoff as f32;
                }
            });
            if self.at_end == AtEnd::Restart {
                lanes.restart(block, ended);
                for_each_lane(ended, |lane| results.n_steps[first + lane] = 0);
            }
        }
        self.note(block);
    }

    /// Writes down who is to move in each game of a block.
    fn note(&mut self, block: usize) {
        let games = self.games_of(block);
        let ended = self.lanes.ended(block);
        let LaneBatch { lanes, results, players, roles, turns, .. } = self;
        let turns = &mut turns[block * players.len()..(block + 1) * players.len()];
        let mut left = lanes.used(block) & !ended;
        for (turn, role) in turns.iter_mut().zip(&*players) {
            *turn = lanes.choices(block, role.index()) & left;
            left = left & !*turn;
        }
        if !left.is_zero() {
            // No player has a choice in these lanes: it is the turn of one who does not wait, or
            // else of the first.
            let legal = lanes.legal(block);
            for (turn, role) in turns.iter_mut().zip(&*players) {
                let moves = roles[role.index()].moving.iter();
                let own = moves.fold(Plane::ZERO, |any, &input| any | legal[input]) & left;
                *turn = *turn | own;
                left = left & !own;
            }
            turns[0] = turns[0] | left;
        }
        results.to_move[games.clone()].fill(0);
        for (player, turn) in turns.iter().enumerate().skip(1) {
            for_each_lane(*turn, |lane| results.to_move[games.start + lane] = player as i32);
        }
        results.ended[games.clone()].fill(false);
        for_each_lane(ended & lanes.used(block), |lane| {
            results.to_move[games.start + lane] = -1;
            results.ended[games.start + lane] = true;
        });
    }

    /// Returns the player whose moves are meant, if play goes on.
    fn player_of(&self, player: Option<usize>, game: usize) -> Option<usize> {
        let mover = || usize::try_from(self.results.to_move[game]).ok();
        let player = player.or_else(mover);
        player.filter(|_| !self.results.ended[game])
    }
}

/// Calls back with each lane in which a plane is true.
#[inline]
fn for_each_lane(plane: Plane, mut visit: impl FnMut(usize)) {
    for (quarter, word) in plane.0.into_iter().enumerate() {
        let mut left = word;
        while left != 0 {
            visit(64 * quarter + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

impl Games for LaneBatch {
    fn results(&self) -> &Results {
        &self.results
    }

    fn results_mut(&mut self) -> &mut Results {
        &mut self.results
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = Rng::seed_from_u64(seed);
    }

    fn step(&mut self, marked: Option<&[bool]>, actions: Actions<'_>) -> Result<(), BatchError> {
        self.look_up(actions)?;
        if marked.is_none() {
            self.results.clear();
            self.lanes.forget_last();
        }
        for block in 0..self.lanes.n_blocks() {
            let mut moving = self.lanes.used(block) & !self.lanes.ended(block);
            let games = self.games_of(block);
            if let Some(marked) = marked {
                let mut lanes = Plane::ZERO;
                for game in games.clone() {
                    lanes.set_lane(game % Plane::LANES, marked[game]);
                }
                moving = moving & lanes;
            }
            if moving.is_zero() {
                continue;
            }
            self.choose(block, moving, actions);
            let n_steps = &mut self.results.n_steps[games];
            if moving == Plane::ONES {
                n_steps.iter_mut().for_each(|n| *n = n.saturating_add(1));
            } else {
                moving.lanes().for_each(|lane| n_steps[lane] = n_steps[lane].saturating_add(1));
            }
            let ended = self.lanes.advance(block, moving);
            self.finish(block, ended);
        }
        Ok(())
    }

    fn restart(&mut self, marked: &dyn Fn(usize) -> bool) {
        for block in 0..self.lanes.n_blocks() {
            let mut lanes = Plane::ZERO;
            for game in self.games_of(block).filter(|&game| marked(game)) {
                lanes.set_lane(game % Plane::LANES, true);
                self.results.n_steps[game] = 0;
            }
            self.lanes.restart(block, lanes);
            self.note(block);
        }
    }

    fn load(&mut self, game: usize, state: &Bits) {
        self.lanes.set_state(game, state);
        self.note(game / Plane::LANES);
    }

    fn draw(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, i32)) {
        for block in 0..self.lanes.n_blocks() {
            let games = self.games_of(block);
            let first = games.start;
            for (own, role) in self.players.iter().enumerate() {
                if player.is_some_and(|player| player != own) {
                    continue;
                }
                let lanes = match player {
                    None => self.turns[block * self.players.len() + own],
                    Some(_) => self.lanes.used(block) & !self.lanes.ended(block),
                };
                let numbers = &self.numbers;
                self.lanes.draw(block, role.index(), lanes, &mut self.rng, |lane, input| {
                    each(first + lane, numbers.action_of(input) as i32);
                });
            }
            for game in games.filter(|&game| self.results.ended[game]) {
                each(game, 0);
            }
        }
    }

    fn visit_legal(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, u32)) {
        for block in 0..self.lanes.n_blocks() {
            self.lanes.copy_legal(block, &mut self.rows);
            for game in self.games_of(block) {
                if let Some(player) = self.player_of(player, game) {
                    let lane = game % Plane::LANES;
                    let row = &self.rows[lane * self.n_words..(lane + 1) * self.n_words];
                    let bits = &self.roles[self.players[player].index()].bits;
                    bits.for_each(row, |input| each(game, self.numbers.action_of(input)));
                }
            }
        }
    }

    fn write_bits(&mut self, words: &mut [u64]) {
        let n_words = words.len() / self.results.to_move.len().max(1);
        for block in 0..self.lanes.n_blocks() {
            self.lanes.copy_states(block, &mut self.rows);
            let games = self.games_of(block);
            words[games.start * n_words..games.end * n_words]
                .copy_from_slice(&self.rows[..games.len() * n_words]);
        }
    }

    fn forget_last(&mut self) {
        self.lanes.forget_last();
    }

    fn last_states(&self) -> Vec<(usize, Bits)> {
        self.lanes.last_states()
    }
}
