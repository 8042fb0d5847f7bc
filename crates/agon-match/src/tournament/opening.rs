//! The moves that a match begins with.

use agon_game::{Rng, Table};
use rand::SeedableRng as _;

use crate::player::stream;

/// How often is tried to draw an opening that does not end the game.
const TRIES: u64 = 32;

/// Draws joint moves at random from where a table stands, the same for the same seed. After them play goes on: if the game is so
/// short that no such opening is found, there are fewer moves in it.
pub fn opening(table: &dyn Table, n_moves: usize, seed: u64) -> Vec<Vec<String>> {
    let mut longest = Vec::new();
    for attempt in 0..TRIES {
        let moves = draw(table, n_moves, stream(seed, attempt));
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
