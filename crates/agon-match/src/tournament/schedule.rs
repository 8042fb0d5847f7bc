//! Which matches are played.

use std::collections::BTreeSet;
use std::fmt;

use super::Tournament;
use crate::player::stream;

/// Tells a match from all others of its tournament. It depends on the names of the game and of the players in their seats and on
/// the number of the repeat, and on nothing else: what is added to a tournament changes no id. Prints as twelve hexadecimal digits.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MatchId(u64);

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0)
    }
}

/// A match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// Its name.
    pub id: MatchId,
    /// The game: an index of [`Tournament::games`].
    pub game: usize,
    /// Which of the repeats, from 0.
    pub repeat: u64,
    /// By role that somebody plays, in the order of the rules: who sits there, an index of [`Tournament::players`].
    pub seating: Vec<usize>,
    /// The seed of the match, the same in all matches of its [`Block`].
    pub seed: u64,
    /// The seed of its opening, the same for all players that play this repeat of this game.
    pub opening_seed: u64,
}

/// Two players meeting in a game: matches with one seed and one opening in all seatings, so that neither the
/// roles nor the opening favour anybody. What comes of one block says nothing about another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The game.
    pub game: usize,
    /// Which of the repeats.
    pub repeat: u64,
    /// Who meets; the first comes first among [`Tournament::players`].
    pub players: [usize; 2],
    /// Indices of [`Schedule::fixtures`]. In a game of one role these are two, one for each player, and belong to other blocks, too.
    pub matches: Vec<usize>,
    /// Blocks with the same number are not independent of each other: in a game of one role a player's one match is compared with
    /// those of all others.
    pub cluster: usize,
}

/// All matches of a tournament, in the order in which they are to be played: a repeat of everything before the next one, so
/// that what has been played so far is as balanced as can be.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// The matches.
    pub fixtures: Vec<Fixture>,
    /// What they are compared by, in the same order.
    pub blocks: Vec<Block>,
}

/// More matches than these nobody will wait for, and the list has to be in memory.
const MAX_MATCHES: u64 = 2_000_000;

/// With more roles than this not every way to seat two players is played, but only one seat against all others.
const ALL_SEATINGS: usize = 4;

/// Lists the matches. `n_roles` has for each game how many roles somebody plays.
///
/// Each two players meet in each game and repeat:
/// - with one role each plays alone, and what they get is compared;
/// - with two roles twice, with roles swapped;
/// - with three or four in all 6 or 14 ways in which both have a seat; with more, each has one seat and the other the rest.
///
/// # Errors
/// If that is too much, in words.
pub fn schedule(tournament: &Tournament, n_roles: &[usize]) -> Result<Schedule, String> {
    assert_eq!(n_roles.len(), tournament.games.len(), "there is a number of roles for each game");
    let n_players = tournament.players.len();
    let n_pairs = n_players * n_players.saturating_sub(1) / 2;
    let seatings: Vec<Vec<Vec<bool>>> = n_roles.iter().map(|&n| seatings(n)).collect();
    let per_repeat: usize = seatings
        .iter()
        .zip(n_roles)
        .map(|(s, &n)| if n == 1 { n_players } else { s.len() * n_pairs })
        .sum();
    if (per_repeat as u64).saturating_mul(tournament.repeats) > MAX_MATCHES {
        return Err(format!(
            "{} repeats of {per_repeat} matches are more than {MAX_MATCHES} matches",
            tournament.repeats
        ));
    }
    let mut schedule = Schedule::default();
    let mut clusters = 0;
    for repeat in 0..tournament.repeats {
        for (game, seatings) in seatings.iter().enumerate() {
            if n_roles[game] == 1 {
                let first = schedule.fixtures.len();
                schedule.fixtures.extend(
                    (0..n_players).map(|p| fixture(tournament, game, repeat, vec![p], &[])),
                );
                for (a, b) in pairs(n_players) {
                    let (matches, players) = (vec![first + a, first + b], [a, b]);
                    schedule.blocks.push(Block {
                        game,
                        repeat,
                        players,
                        matches,
                        cluster: clusters,
                    });
                }
                clusters += 1;
                continue;
            }
            for (a, b) in pairs(n_players) {
                let first = schedule.fixtures.len();
                for seating in seatings {
                    let seats =
                        seating.iter().map(|is_first| if *is_first { a } else { b }).collect();
                    schedule.fixtures.push(fixture(tournament, game, repeat, seats, &[a, b]));
                }
                let matches = (first..schedule.fixtures.len()).collect();
                schedule.blocks.push(Block {
                    game,
                    repeat,
                    players: [a, b],
                    matches,
                    cluster: clusters,
                });
                clusters += 1;
            }
        }
    }
    let mut ids = BTreeSet::new();
    match schedule.fixtures.iter().find(|fixture| !ids.insert(fixture.id)) {
        // One in a hundred for two million matches, and never for a thousand.
        Some(twice) => {
            Err(format!("two matches would both be called {}: rename a player", twice.id))
        }
        None => Ok(schedule),
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// The ways to seat two players, by role whether the first sits there; each right before the one with all seats swapped.
fn seatings(n_roles: usize) -> Vec<Vec<bool>> {
    let swapped =
        |seating: &Vec<bool>| seating.iter().map(|is_first| !is_first).collect::<Vec<bool>>();
    if n_roles < 2 {
        return Vec::new();
    }
    let half: Vec<Vec<bool>> = if n_roles <= ALL_SEATINGS {
        // The first role is the first player's: the other half comes by swapping.
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
    // Whoever is listed first: the seed is that of the two.
    names.sort_unstable();
    let id = MatchId(digest(&[&["match", game_name, &number][..], &seats].concat()) >> 16);
    let seed =
        stream(tournament.seed, digest(&[&["seed", game_name, &number][..], &names].concat()));
    let opening_seed = stream(tournament.seed, digest(&["opening", game_name, &number]));
    Fixture { id, game, repeat, seating, seed, opening_seed }
}

/// A number that depends on every letter of every part: FNV-1a, with a sign that no text has at the end of each part, and
/// stirred at the end.
fn digest(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    stream(hash, 0)
}
