//! The matches of a tournament.

use std::collections::BTreeSet;
use std::fmt;

use super::Tournament;
use crate::player::derive_seed;

/// Identifies a match within its tournament. Prints as twelve hexadecimal digits.
///
/// The id depends only on the name of the game, the names of the players in their seats and the
/// number of the repeat. So additions to a tournament change no id.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MatchId(u64);

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

/// A scheduled match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The id of the match.
    pub id: MatchId,
    /// Index of the game in [`Tournament::games`].
    pub game: usize,
    /// Number of the repeat, from 0.
    pub repeat: u64,
    /// By role that has a player, in the order of the rules: index of the player in
    /// [`Tournament::players`].
    pub seating: Vec<usize>,
    /// The seed of the match, the same in all matches of its [`Block`].
    pub seed: u64,
    /// The seed of the opening, the same for all players in this repeat of the game.
    pub opening_seed: u64,
}

/// A meeting of two players in a game: matches with one seed and one opening in all seatings, so
/// that neither the roles nor the opening favour a player. The results of different blocks are
/// independent unless their clusters are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the game.
    pub game: usize,
    /// Number of the repeat.
    pub repeat: u64,
    /// Indices of the two players in [`Tournament::players`], in increasing order.
    pub players: [usize; 2],
    /// Indices in [`Schedule::fixtures`]. In a game of one role there are two, one for each player;
    /// these belong to other blocks, too.
    pub matches: Vec<usize>,
    /// Blocks with the same number are not independent: in a game of one role the same match of a
    /// player is compared with those of all others.
    pub cluster: usize,
}

/// All matches of a tournament in the order in which they are played. Each repeat is complete
/// before the next one begins, so that the matches played so far are balanced.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// The matches.
    pub fixtures: Vec<Fixture>,
    /// The blocks in which they are compared, in the same order.
    pub blocks: Vec<Block>,
}

/// Why a tournament has no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The tournament has too many matches.
    TooManyMatches {
        /// Number of repeats.
        repeats: u64,
        /// Number of matches in each repeat.
        per_repeat: usize,
        /// Maximum number of matches.
        max: u64,
    },
    /// Two matches have the same id.
    DuplicateId(MatchId),
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::TooManyMatches { repeats, per_repeat, max } => {
                write!(f, "{repeats} repeats of {per_repeat} matches are more than {max} matches")
            }
            ScheduleError::DuplicateId(id) => {
                write!(f, "two matches have the same id {id}: rename a player")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}

/// Maximum number of matches. The schedule has to fit in memory.
const MAX_MATCHES: u64 = 2_000_000;

/// Maximum number of roles for which all seatings of two players are played. With more roles, one
/// player has one seat and the other has all the others.
const ALL_SEATINGS: usize = 4;

/// Lists the matches of a tournament. `n_roles` has for each game the number of roles with a
/// player.
///
/// Each pair of players meets in each game and repeat:
/// - with one role, each player plays alone, and their goal values are compared;
/// - with two roles, they play two matches with swapped roles;
/// - with three or four roles, they play all 6 or 14 seatings in which both have a seat;
/// - with more roles, each of them has one seat and the other has the rest, for every seat.
///
/// # Errors
/// [`ScheduleError`] if there are too many matches, or two of them have the same id.
///
/// # Panics
/// If `n_roles` does not have one entry for each game.
pub fn schedule(tournament: &Tournament, n_roles: &[usize]) -> Result<Schedule, ScheduleError> {
    assert_eq!(n_roles.len(), tournament.games.len(), "there is a number of roles for each game");
    let n_players = tournament.players.len();
    let n_pairs = n_players * n_players.saturating_sub(1) / 2;
    let seatings: Vec<Vec<Vec<bool>>> = n_roles.iter().map(|&n| seatings(n)).collect();
    let per_repeat: usize = seatings
        .iter()
        .zip(n_roles)
        .map(|(seatings, &n)| if n == 1 { n_players } else { seatings.len() * n_pairs })
        .sum();
    let repeats = tournament.repeats;
    if (per_repeat as u64).saturating_mul(repeats) > MAX_MATCHES {
        return Err(ScheduleError::TooManyMatches { repeats, per_repeat, max: MAX_MATCHES });
    }
    let mut scheduler = Scheduler { tournament, schedule: Schedule::default(), n_clusters: 0 };
    for repeat in 0..repeats {
        for (game, seatings) in seatings.iter().enumerate() {
            if n_roles[game] == 1 {
                scheduler.add_one_role(game, repeat);
            } else {
                scheduler.add_several_roles(game, repeat, seatings);
            }
        }
    }
    let schedule = scheduler.schedule;
    let mut ids = BTreeSet::new();
    match schedule.fixtures.iter().find(|fixture| !ids.insert(fixture.id)) {
        // Ids have 48 bits. The probability is about 1 % for two million matches and negligible for
        // a thousand.
        Some(duplicate) => Err(ScheduleError::DuplicateId(duplicate.id)),
        None => Ok(schedule),
    }
}

/// A schedule that is being filled.
struct Scheduler<'a> {
    tournament: &'a Tournament,
    schedule: Schedule,
    n_clusters: usize,
}

impl Scheduler<'_> {
    /// Adds a repeat of a game with one role: one match for each player, one block for each pair.
    fn add_one_role(&mut self, game: usize, repeat: u64) {
        let n_players = self.tournament.players.len();
        let first = self.schedule.fixtures.len();
        let fixtures = (0..n_players).map(|p| fixture(self.tournament, game, repeat, vec![p], &[]));
        self.schedule.fixtures.extend(fixtures);
        let cluster = self.n_clusters;
        self.schedule.blocks.extend(pairs(n_players).map(|(a, b)| {
            let matches = vec![first + a, first + b];
            Block { game, repeat, players: [a, b], matches, cluster }
        }));
        self.n_clusters += 1;
    }

    /// Adds a repeat of a game with several roles: a match for each pair of players and seating,
    /// one block for each pair.
    fn add_several_roles(&mut self, game: usize, repeat: u64, seatings: &[Vec<bool>]) {
        for (a, b) in pairs(self.tournament.players.len()) {
            let first = self.schedule.fixtures.len();
            self.schedule.fixtures.extend(seatings.iter().map(|seating| {
                let seats = seating.iter().map(|is_first| if *is_first { a } else { b }).collect();
                fixture(self.tournament, game, repeat, seats, &[a, b])
            }));
            let matches = (first..self.schedule.fixtures.len()).collect();
            let cluster = self.n_clusters;
            self.schedule.blocks.push(Block { game, repeat, players: [a, b], matches, cluster });
            self.n_clusters += 1;
        }
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// Returns the ways to seat two players: by role, whether the first player has it. Each seating is
/// followed by the one with all seats swapped.
fn seatings(n_roles: usize) -> Vec<Vec<bool>> {
    let swapped =
        |seating: &Vec<bool>| seating.iter().map(|is_first| !is_first).collect::<Vec<bool>>();
    if n_roles < 2 {
        return Vec::new();
    }
    let half: Vec<Vec<bool>> = if n_roles <= ALL_SEATINGS {
        // The first player has the first role; swapping gives the other half.
        let rest = 0..(1_usize << (n_roles - 1)) - 1;
        rest.map(|bits| (0..n_roles).map(|role| role == 0 || bits >> (role - 1) & 1 == 1).collect())
            .collect()
    } else {
        (0..n_roles).map(|alone| (0..n_roles).map(|role| role == alone).collect()).collect()
    };
    half.iter().flat_map(|seating| [seating.clone(), swapped(seating)]).collect()
}

fn fixture(
    tournament: &Tournament,
    game: usize,
    repeat: u64,
    seating: Vec<usize>,
    pair: &[usize],
) -> Fixture {
    let name = |player: &usize| tournament.players[*player].name.as_str();
    let game_name = tournament.games[game].as_str();
    let number = repeat.to_string();
    let seats: Vec<&str> = seating.iter().map(name).collect();
    let mut names: Vec<&str> = pair.iter().map(name).collect();
    // Sorted, so that the seed does not depend on the order in which the players are listed.
    names.sort_unstable();
    let id = MatchId(digest(&[&["match", game_name, &number][..], &seats].concat()) >> 16);
    let seed =
        derive_seed(tournament.seed, digest(&[&["seed", game_name, &number][..], &names].concat()));
    let opening_seed = derive_seed(tournament.seed, digest(&["opening", game_name, &number]));
    Fixture { id, game, repeat, seating, seed, opening_seed }
}

/// Returns a hash of texts: FNV-1a, with a byte that no UTF-8 text contains after each part, and
/// mixed once more at the end.
fn digest(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    derive_seed(hash, 0)
}
