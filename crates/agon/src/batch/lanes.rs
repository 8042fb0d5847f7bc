//! Games that stay in the lanes of the bit-sliced engine from step to step.

use std::sync::Arc;

use agon_circuit::{Bits, Codes, Input, LaneGames, Plane};
use agon_game::Role;

use super::role_bits::RoleBits;
use super::{Actions, AtEnd, BatchError, Games, Knowledge, RANDOM, Results, illegal};
use crate::numbered::{NumberedPosition, Numbers};

/// The games of a batch in lanes.
pub(super) struct LaneBatch {
    numbers: Arc<Numbers>,
    lanes: LaneGames,
    at_end: AtEnd,
    roles: Vec<RoleFacts>,
    /// The roles of players; the columns of arrays by player.
    players: Vec<Role>,
    results: Results,
    /// By block and player: the lanes in which it is the player's turn.
    turns: Vec<Plane>,
    /// Number of words of a set of legal moves.
    n_words: usize,
    /// Scratch memory: the legal moves or states of a block as rows.
    rows: Vec<u64>,
    /// By block and column of actions: the numbers of the moves of a step, and the lanes in which
    /// one is given.
    given: Vec<(Codes, Plane)>,
}

/// What is known of a role.
struct RoleFacts {
    /// Its index among the players, unless it is nature.
    player: Option<usize>,
    /// Where its bits lie in a set of legal moves.
    bits: RoleBits,
    /// Its moves that are not waiting moves, as indices of planes.
    moving: Vec<usize>,
    /// Where its percepts begin in the list of all roles.
    first_percept: usize,
    n_percepts: usize,
}

impl LaneBatch {
    pub(super) fn new(
        numbers: &Arc<Numbers>,
        lanes: LaneGames,
        n: usize,
        at_end: AtEnd,
    ) -> LaneBatch {
        let shape = numbers.shape();
        let players: Vec<Role> = shape.players().collect();
        let mut first_percept = 0;
        let roles = shape.roles().map(|role| {
            let n_percepts = numbers.percepts(role).len();
            first_percept += n_percepts;
            RoleFacts {
                player: players.iter().position(|player| *player == role),
                bits: RoleBits::new(numbers.inputs_of(role)),
                moving: numbers
                    .inputs_of(role)
                    .filter(|input| !numbers.is_wait(Input(*input)))
                    .map(|input| input as usize)
                    .collect(),
                first_percept: first_percept - n_percepts,
                n_percepts,
            }
        });
        let roles: Vec<RoleFacts> = roles.collect();
        let n_inputs = numbers.inputs_of(Role::new(roles.len() - 1)).end as usize;
        let mut batch = LaneBatch {
            lanes,
            at_end,
            roles,
            results: Results::new(n, players.len()),
            turns: vec![Plane::ZERO; n.div_ceil(Plane::LANES) * players.len()],
            players,
            n_words: n_inputs.div_ceil(64),
            rows: Vec::new(),
            given: Vec::new(),
            numbers: Arc::clone(numbers),
        };
        (0..batch.lanes.n_blocks()).for_each(|block| batch.find_turns(block));
        batch
    }

    fn n_games(&self) -> usize {
        self.results.n_steps.len()
    }

    fn games_of(&self, block: usize) -> std::ops::Range<usize> {
        block * Plane::LANES..((block + 1) * Plane::LANES).min(self.n_games())
    }

    fn turns_of(&self, block: usize) -> &[Plane] {
        &self.turns[block * self.players.len()..(block + 1) * self.players.len()]
    }

    /// Begins a step of a block: looks up the moves that are given. Returns the first game and
    /// player with an action that is not legal, if there is one.
    fn look_up(&mut self, block: usize, actions: Actions<'_>) -> Option<(usize, usize, i32)> {
        let games = self.games_of(block);
        let playing = self.lanes.used(block) & !self.lanes.ended(block);
        self.lanes.begin(block);
        let (given, stride) = match actions {
            Actions::Random => return None,
            Actions::OfMover(given) | Actions::OfOne(_, given) => (given, 1),
            Actions::OfAll(given) => (given, self.players.len()),
        };
        for column in 0..stride {
            let first = games.start * stride + column;
            let (codes, is_given, too_large) =
                to_codes(&given[first..games.end * stride - stride + column + 1], stride);
            let is_given = is_given & playing;
            let players = match actions {
                Actions::OfOne(player, _) => player..player + 1,
                Actions::OfAll(_) => column..column + 1,
                Actions::OfMover(_) | Actions::Random => 0..self.players.len(),
            };
            for player in players {
                let own = match actions {
                    Actions::OfMover(_) => is_given & self.turns_of(block)[player],
                    _ => is_given,
                };
                if own.is_zero() {
                    continue;
                }
                let role = self.players[player].index();
                let bad = self.lanes.give(block, role, own, &codes) | too_large & own;
                if let Some(lane) = bad.lanes().next() {
                    let game = games.start + lane;
                    return Some((game, player, given[game * stride + column]));
                }
            }
            self.given.push((codes, is_given));
        }
        None
    }

    /// Chooses the moves that are not given in these lanes.
    fn draw_others(&mut self, block: usize, moving: Plane, actions: Actions<'_>) {
        let stride = match actions {
            Actions::OfAll(_) => self.players.len(),
            Actions::Random | Actions::OfMover(_) | Actions::OfOne(..) => 1,
        };
        for (role, facts) in self.roles.iter().enumerate() {
            let is_given = |column: usize| self.given[block * stride + column].1;
            let given = match (facts.player, actions) {
                (None, _) | (_, Actions::Random) => Plane::ZERO,
                // Where one player has a choice, no other has.
                (Some(_), Actions::OfMover(_)) => is_given(0),
                (Some(player), Actions::OfAll(_)) => is_given(player),
                (Some(player), Actions::OfOne(one, _)) if player == one => is_given(0),
                (Some(_), Actions::OfOne(..)) => Plane::ZERO,
            };
            let open = self.lanes.choices(block, role) & moving & !given;
            if !open.is_zero() {
                self.lanes.draw_moves(block, role, open);
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
                results.put_end(game);
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
        self.find_turns(block);
    }

    /// Finds who is to move in each game of a block.
    fn find_turns(&mut self, block: usize) {
        let LaneBatch { lanes, players, roles, turns, .. } = self;
        let turns = &mut turns[block * players.len()..(block + 1) * players.len()];
        let mut left = lanes.used(block) & !lanes.ended(block);
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
        self.results.is_stale = true;
    }

    /// Returns the player whose moves are meant, if play goes on.
    fn player_of(&self, player: Option<usize>, game: usize) -> Option<usize> {
        let (block, lane) = (game / Plane::LANES, game % Plane::LANES);
        if self.lanes.ended(block).lane(lane) {
            return None;
        }
        player.or_else(|| self.turns_of(block).iter().position(|turn| turn.lane(lane)))
    }

    /// Writes what a player knows, from the bits of a memory.
    fn write_known(&self, memory: &[u64], player: usize, n_steps: u32, row: &mut [f32]) {
        let is_set = |bit: usize| memory[bit / 64] >> (bit % 64) & 1 == 1;
        let role = self.players[player];
        let facts = &self.roles[role.index()];
        let n_all = self.lanes.memory_layout().n_percepts;
        let n_own = facts.n_percepts;
        row.fill(0.0);
        for part in [0, 1] {
            for at in (0..n_own).filter(|at| is_set(part * n_all + facts.first_percept + at)) {
                row[part * n_own + at] = 1.0;
            }
        }
        for input in
            self.numbers.inputs_of(role).filter(|input| is_set(2 * n_all + *input as usize))
        {
            row[2 * n_own + self.numbers.action_of(Input(input)) as usize] = 1.0;
        }
        row[2 * n_own + self.numbers.actions().len()] = Knowledge::time(n_steps);
    }
}

/// Returns the binary digits of actions, every `stride`-th of them; the lanes in which one is
/// given; and the lanes in which it is out of the range of all actions.
fn to_codes(actions: &[i32], stride: usize) -> (Codes, Plane, Plane) {
    let mut short = [u16::MAX; Plane::LANES];
    let mut is_large = false;
    // -1, which means at random, becomes the largest number. Anything else above is wrong.
    let mut put = |short: &mut u16, action: i32| {
        *short = action as u16;
        is_large |= action.wrapping_add(1) as u32 > u32::from(u16::MAX);
    };
    if stride == 1 {
        short.iter_mut().zip(actions).for_each(|(short, &action)| put(short, action));
    } else {
        let own = actions.iter().step_by(stride);
        short.iter_mut().zip(own).for_each(|(short, &action)| put(short, action));
    }
    let codes = LaneGames::codes(&short);
    let is_random = codes.iter().fold(Plane::ONES, |all, &digit| all & digit);
    if !is_large {
        return (codes, !is_random, Plane::ZERO);
    }
    let mut too_large = Plane::ZERO;
    for (lane, &action) in actions.iter().step_by(stride).enumerate() {
        too_large.set_lane(lane, action != RANDOM && u16::try_from(action).is_err());
    }
    (codes, !is_random | too_large, too_large)
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
    fn results(&mut self) -> &Results {
        if self.results.is_stale {
            self.results.is_stale = false;
            for block in 0..self.lanes.n_blocks() {
                let games = self.games_of(block);
                let ended = self.lanes.ended(block);
                let turns = &self.turns[block * self.players.len()..];
                let turns = &turns[..self.players.len()];
                for (lane, game) in games.enumerate() {
                    let (word, bit) = (lane / 64, lane % 64);
                    let is_set = |plane: &Plane| (plane.0[word] >> bit & 1) as i32;
                    let later = turns.iter().enumerate().skip(1);
                    let mover: i32 = later.map(|(at, turn)| at as i32 * is_set(turn)).sum();
                    let is_ended = is_set(&ended);
                    self.results.to_move[game] = mover * (1 - is_ended) - is_ended;
                    self.results.ended[game] = is_ended == 1;
                }
            }
        }
        &self.results
    }

    fn step_results(&self) -> &Results {
        &self.results
    }

    fn results_mut(&mut self) -> &mut Results {
        &mut self.results
    }

    fn reseed(&mut self, seed: u64) {
        self.lanes.reseed(seed);
    }

    fn step(&mut self, marked: Option<&[bool]>, actions: Actions<'_>) -> Result<(), BatchError> {
        self.given.clear();
        for block in 0..self.lanes.n_blocks() {
            if let Some((game, player, action)) = self.look_up(block, actions) {
                return Err(illegal(&self.numbers, game, self.players[player], action));
            }
        }
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
            self.draw_others(block, moving, actions);
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
            self.find_turns(block);
        }
    }

    fn load(&mut self, game: usize, position: &NumberedPosition) {
        let layout = self.lanes.memory_layout();
        let mut memory = vec![false; layout.len()];
        let shape = self.numbers.shape().clone();
        let n_steps = position.n_steps();
        for role in shape.roles().filter(|_| !layout.is_empty()) {
            let first = self.roles[role.index()].first_percept;
            for step in 0..n_steps {
                for text in position.percepts(step, role) {
                    let at = self.numbers.percepts(role).position(|known| known == text);
                    let at = at.expect("a role perceives what is in its list");
                    memory[first + at] = true;
                    memory[layout.n_percepts + first + at] |= step + 1 == n_steps;
                }
            }
        }
        if !layout.is_empty()
            && let Some(joint) = position.last_joint()
        {
            joint.iter().for_each(|input| memory[2 * layout.n_percepts + input.0 as usize] = true);
        }
        self.lanes.set_state(game, position.bits(), |bit| memory[bit]);
        self.find_turns(game / Plane::LANES);
    }

    fn draw(&mut self, player: Option<usize>, each: &mut dyn FnMut(usize, &[i32])) {
        let mut drawn = [0; Plane::LANES];
        for block in 0..self.lanes.n_blocks() {
            let games = self.games_of(block);
            let codes: Codes = match player {
                None => {
                    let n_players = self.players.len();
                    let turns = &self.turns[block * n_players..(block + 1) * n_players];
                    self.lanes.draw_numbers_of_turns(block, turns)
                }
                Some(player) => {
                    let playing = self.lanes.used(block) & !self.lanes.ended(block);
                    self.lanes.draw_numbers(block, self.players[player].index(), playing)
                }
            };
            LaneGames::write_numbers(&codes, &mut drawn);
            let drawn = drawn.map(i32::from);
            each(games.start, &drawn[..games.len()]);
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
        let n_words = words.len() / self.n_games().max(1);
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

    fn knows(&self) -> bool {
        !self.lanes.memory_layout().is_empty()
    }

    fn write_knowledge(&mut self, player: Option<usize>, width: usize, rows: &mut [f32]) {
        let n_words = self.lanes.memory_layout().len().div_ceil(64);
        let mut memories = std::mem::take(&mut self.rows);
        for block in 0..self.lanes.n_blocks() {
            self.lanes.copy_memories(block, &mut memories);
            for (lane, game) in self.games_of(block).enumerate() {
                // Where play has ended, the first player stands for the one to move.
                let player = player.or_else(|| self.player_of(None, game)).unwrap_or(0);
                let memory = &memories[lane * n_words..(lane + 1) * n_words];
                let row = &mut rows[game * width..(game + 1) * width];
                self.write_known(memory, player, self.results.n_steps[game], row);
            }
        }
        self.rows = memories;
    }

    fn last_knowledge(
        &self,
        player: &dyn Fn(usize) -> usize,
        width: usize,
    ) -> Vec<(usize, Vec<f32>)> {
        let known = |(game, memory): (usize, Bits)| {
            let mut row = vec![0.0; width];
            let n_steps = self.results.last_steps[game];
            self.write_known(memory.words(), player(game), n_steps, &mut row);
            (game, row)
        };
        self.lanes.last_memories().into_iter().map(known).collect()
    }
}
