//! The random moves with which a match begins.

use agon_game::{Rng, Table};
use rand::SeedableRng as _;

use crate::player::derive_seed;

/// Number of attempts to draw an opening that does not end the game.
const TRIES: u64 = 32;

/// Draws random joint moves from the position of a table. The same seed gives the same moves. The
/// game has not ended after them; if it is too short for an opening of `n_moves`, the opening has
/// fewer moves.
pub fn opening(table: &dyn Table, n_moves: usize, seed: u64) -> Vec<Vec<String>> {
    let mut longest = Vec::new();
    for attempt in 0..TRIES {
        let moves = draw(table, n_moves, derive_seed(seed, attempt));
        if moves.len() == n_moves {
            return moves;
        }
        if moves.len() > longest.len() {
            longest = moves;
        }
    }
    longest
}

fn draw(table: &dyn Table, n_moves: usize, seed: u64) -> Vec<Vec<String>> {
    let mut rng = Rng::seed_from_u64(seed);
    let mut table = table.fork();
    let mut moves = Vec::new();
    while moves.len() < n_moves && !table.is_terminal() {
        let joint = table.draw(&mut rng);
        let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
        if table.advance(&texts).is_err() {
            break;
        }
        moves.push(joint);
    }
    // The move that ended the game is not part of an opening.
    if table.is_terminal() {
        moves.pop();
    }
    moves
}
