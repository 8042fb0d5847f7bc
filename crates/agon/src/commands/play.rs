//! `agon play`: a person against players of any kind.

use std::path::PathBuf;

use agon_game::Role;
use agon_match::{Ending, Event, Match, Spec};

use super::matches::{Screen, end, write_record};
use crate::contest::{self, ClockOptions, Contest};
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::outside::Wish;
use crate::terminal::say;

/// Play a game yourself.
#[derive(clap::Args)]
#[command(after_help = "\
Moves are chosen by number or by text; `help` at the prompt tells more. The end of the input ends the match.

Examples:
  agon play tic-tac-toe
  agon play connect-four --as yellow --against \"auto\" --play-clock 2
  agon play tic-tac-toe --against human")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// The role you play [default: the first]
    #[arg(long = "as", value_name = "ROLE")]
    role: Option<String>,
    /// Who plays the other roles: one player for all of them, or one for each with commas between them
    #[arg(long, value_name = "A,B,…", default_value = "auto")]
    against: String,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Write the match down in ggp.org's format
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let opened = open::open_for_match(
        open::source(&args.game)?,
        &args.play,
        args.clocks.iterations.is_some(),
    )?;
    let shape = opened.run(contest::Laid).shape().clone();
    let players: Vec<Role> = shape.players().collect();
    let us = match &args.role {
        None => {
            players.first().copied().ok_or_else(|| Failure::wrong("nobody plays in this game"))?
        }
        Some(name) => {
            shape.role_named(name).filter(|role| players.contains(role)).ok_or_else(|| {
                let names: Vec<&str> =
                    players.iter().map(|r| shape.role_names[r.index()].as_str()).collect();
                Failure::unreadable(format!(
                    "--as: nobody plays `{name}`; one of {}",
                    names.join(", ")
                ))
            })?
        }
    };
    let others = contest::specs("--against", &args.against)?;
    if others.len() > 1 && others.len() != players.len() - 1 {
        let (n, n_others) = (others.len(), players.len() - 1);
        return Err(Failure::unreadable(format!(
            "--against: {n} players for {n_others} roles; give one, or {n_others}"
        )));
    }
    let mut others = others.iter().cycle();
    let human = contest::spec("--as", "human")?;
    let seated: Vec<Spec> = players
        .iter()
        .map(|&role| if role == us { Some(human.clone()) } else { others.next().cloned() })
        .collect::<Option<_>>()
        .expect("at least one player was named");
    let mut contest = Contest::new(opened, &args.game, seated, args.clocks.clone())?;
    contest.look_for_board();

    let mut opening: Vec<Vec<String>> = Vec::new();
    loop {
        // What people have seen of each other is between them; what is not for the role's eyes is not shown.
        let mut screen = Screen::new(&contest, &shape, shape.hidden);
        let n_known = opening.len();
        let game = contest.play(opening, &mut |game: &Match, event| {
            let is_told = matches!(event, Event::Step(_)) && game.steps().len() <= n_known;
            let is_stop =
                matches!(event, Event::Over) && matches!(game.ending(), Some(Ending::Stopped(_)));
            if !is_told && !is_stop {
                screen.tell(game, event);
            }
        })?;
        match contest.console.take_wish() {
            Some(Wish::Undo) => opening = before_last_choice(&contest, &game, us)?,
            Some(Wish::Quit) | None => {
                if let Some(path) = &args.record {
                    write_record(&contest, &game, path)?;
                }
                if matches!(game.ending(), Some(Ending::Stopped(_))) {
                    say!("the match was left after {} steps", game.steps().len());
                }
                return end(&game);
            }
        }
    }
}

/// The joint moves before the last step in which the role had a choice.
fn before_last_choice(
    contest: &Contest,
    game: &Match,
    us: Role,
) -> Result<Vec<Vec<String>>, Failure> {
    let mut table = contest.opened.run(contest::Laid);
    let joints: Vec<Vec<String>> = game.steps().iter().map(|step| step.joint.clone()).collect();
    let mut last = 0;
    for (index, joint) in joints.iter().enumerate() {
        if table.legal_moves(us).len() > 1 {
            last = index;
        }
        let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
        table.advance(&texts).map_err(|why| Failure::wrong(why.to_string()))?;
    }
    say!("back to {}", if last == 0 { "the start".to_owned() } else { format!("step {last}") });
    Ok(joints[..last].to_vec())
}
