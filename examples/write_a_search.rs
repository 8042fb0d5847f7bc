//! A search of one's own: flat Monte Carlo, generic over every game and engine.
//!
//! `cargo run --release --example write_a_search -- [GAME]`

use agon::engine::{GamePosition, GameTask};
use agon::{Game, Rng};
use rand::SeedableRng as _;

/// Number of random playouts for each move.
const PLAYOUTS: usize = 200;

/// Chooses the move of the first role that has a choice, by the mean payoff of random playouts.
struct FlatMonteCarlo;

impl GameTask for FlatMonteCarlo {
    type Output = Vec<(String, f64)>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Vec<(String, f64)> {
        let mut rng = Rng::seed_from_u64(1);
        let Some(us) = start.choosers().next() else { return Vec::new() };
        let mut position = start.clone();
        let (mut values, mut joint) = (Vec::new(), Vec::new());
        for own in start.legal_moves(us) {
            let mut sum = 0.0;
            for _ in 0..PLAYOUTS {
                position.go_to(start.state());
                // The other roles of the first step move at random.
                position.draw(&mut rng, &mut joint);
                joint[us.index()] = own.clone();
                position.advance(&joint);
                position.play_out(&mut rng, 1000);
                sum += position.payoff(us);
            }
            values.push((start.move_text(own), sum / PLAYOUTS as f64));
        }
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        values
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "connect-four".to_owned());
    for (text, value) in Game::open(&name)?.run(FlatMonteCarlo) {
        println!("{value:6.1}  {text}");
    }
    Ok(())
}
