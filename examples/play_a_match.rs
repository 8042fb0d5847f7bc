//! Plays a match between two built-in players and shows the board after each step.
//!
//! `cargo run --release --example play_a_match -- [GAME] [PLAYERS] [SECONDS]`

use agon::match_setup::{MatchLimits, MatchSetup, NoOutsidePlayers};
use agon::{Ending, Game, parse_players};
use agon_match::Event;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let game = Game::open(&args.next().unwrap_or_else(|| "connect-four".to_owned()))?;
    let players = args.next().unwrap_or_else(|| "mcts, uct".to_owned());
    let play_clock = args.next().map_or(Ok(0.2), |text| text.parse())?;

    let limits = MatchLimits { start_clock: 1.0, play_clock, ..MatchLimits::default() };
    let setup = MatchSetup::new(game.clone(), parse_players(&players)?, limits)?;
    let seated = setup.seat(&NoOutsidePlayers)?;
    let played = setup.play(seated, Vec::new(), &|| 0, &mut |game, event| {
        if let Event::Step(step) = event {
            println!("{}", step.joint.join(" "));
            let scene = setup.game.layout().scene(&game.table().state());
            println!("{}", agon_board::text::text(&scene, &agon_board::TextOptions::default()));
        }
    });
    match played.ending() {
        Some(Ending::Finished(payoffs)) => {
            for (name, payoff) in game.shape().role_names.iter().zip(payoffs) {
                println!("{name}: {payoff}");
            }
        }
        other => println!("no result: {other:?}"),
    }
    Ok(())
}
