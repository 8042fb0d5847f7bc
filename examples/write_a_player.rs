//! A player of one's own in a match: it sees its role's view of the match and answers with text.
//!
//! `cargo run --release --example write_a_player -- [GAME]`

use agon::engine::{GamePosition, GameTask};
use agon::{Budget, Game};
use agon_game::{Observation, Role};
use agon_match::{
    Choice, Clocks, Match, MatchOptions, Player, PlayerError, RunOptions, Seat, Timing, View,
    run_match, view,
};

/// Always plays the longest move, in letters: not a good idea, but a complete player.
struct LongestMove {
    view: Box<dyn View>,
}

impl Player for LongestMove {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        Ok(())
    }

    fn choose(&mut self, _: &Budget) -> Result<Choice, PlayerError> {
        let moves = self.view.legal_moves();
        let longest = moves.into_iter().max_by_key(String::len);
        let text = longest.ok_or_else(|| PlayerError::Broken("no legal move".to_owned()))?;
        Ok(Choice { text, thought: None })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.view.learn(observation).map_err(|why| PlayerError::Broken(why.to_string()))
    }
}

/// Makes the player of a role.
struct MakePlayer(Role);

impl GameTask for MakePlayer {
    type Output = Box<dyn Player>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn Player> {
        Box::new(LongestMove { view: view(start, self.0, 1) })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "tic-tac-toe".to_owned());
    let game = Game::open(&name)?;
    let seat = |role| Seat { role, player: game.run(MakePlayer(role)), timing: Timing::Unlimited };
    let seats = game.shape().players().map(seat).collect();
    let mut played = Match::new(game.table(), MatchOptions::default(), 0);
    let second = std::time::Duration::from_secs(1);
    let options = RunOptions {
        ponder: false,
        clocks: Clocks { start: second, play: second },
        now: &|| 0,
        is_aborted: &std::sync::atomic::AtomicBool::new(false),
    };
    run_match(&mut played, seats, &options, &mut |_, _| {});
    for step in played.steps() {
        println!("{}", step.joint.join(" "));
    }
    println!("{:?}", played.ending());
    Ok(())
}
