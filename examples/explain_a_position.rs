//! Explains a game and one of its positions.
//!
//! `cargo run --release --example explain_a_position -- [GAME] [MOVE...]`

use std::time::Duration;

use agon::Game;
use agon::explain::ExplainOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let game = Game::open(&args.next().unwrap_or_else(|| "tic-tac-toe".to_owned()))?;
    let mut position = game.start();
    for text in args {
        position.play(&text)?;
    }
    println!("{}\n", position.picture());
    let options = ExplainOptions { n_parts: 4, time: Duration::from_secs(10) };
    print!("{}", game.explain_with(&position, &options)?);
    Ok(())
}
