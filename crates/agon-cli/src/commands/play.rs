//! `agon play`: a person plays against players of any kind.

use std::path::PathBuf;
use std::time::Duration;

use agon::shipped::Shipped;
use agon_game::{Role, Shape};
use agon_match::{Ending, Event, Match};
use agon_players::{PlayerSource, PlayerSpec};

use crate::failure::Failure;
use crate::hosted_match::{self, ClockOptions, HostedMatch};
use crate::match_report::{
    MatchReporter as _, Positions, TextReporter, Thoughts, check_record_path, end, write_record,
};
use crate::open::{self, ModelOptions, PlayOptions};
use crate::outside::StopRequest;
use crate::terminal::{self, say};

/// Play a game yourself
#[derive(clap::Args)]
#[command(after_help = "\
Choose a move by its number or its text; type `help` at the prompt for more. The match ends at the
end of the input.

Examples:
  agon play tic-tac-toe
  agon play connect-four --as yellow --against \"auto\" --play-clock 2
  agon play tic-tac-toe --against human")]
pub(crate) struct Args {
    /// Name of a shipped game, or path of a rulesheet
    pub(super) game: String,
    /// Your role [default: the first]
    #[arg(long = "as", value_name = "ROLE")]
    role: Option<String>,
    /// Players of the other roles, separated by commas: one for all of them, or one for each
    #[arg(long, value_name = "A,B,…", default_value = "auto")]
    against: String,
    /// Show what the computer thinks of each move
    #[arg(long)]
    analysis: bool,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Write a record of the match to a file, in the JSON format of ggp.org
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(path) = &args.record {
        check_record_path(path)?;
    }
    let opened = open::open_for_match(
        &args.game,
        open::source(&args.game)?,
        &args.play,
        &args.models,
        args.clocks.iterations,
    )?;
    let shape = opened.shape().clone();
    let us = own_role(args, &shape)?;
    let seated = seat(args, &shape, us)?;
    // A person waits for the players that prepare.
    let start_clock = args.clocks.start_clock.or(Some(2.0));
    let clocks = ClockOptions { start_clock, ..args.clocks.clone() };
    let mut hosted = HostedMatch::new(opened, seated, &clocks)?;
    hosted.find_layout();

    introduce(&hosted, us);
    let mut opening: Vec<Vec<String>> = Vec::new();
    loop {
        // In a game with hidden information, the person must not see the whole position.
        let positions = if shape.hidden { Positions::Secret } else { Positions::Shown };
        let thoughts = if args.analysis { Thoughts::Shown } else { Thoughts::Hidden };
        let mut reporter = TextReporter::new(&hosted, &shape, positions).with_thoughts(thoughts);
        let is_computer = |role: Role| {
            let spec = hosted.setup.players.iter().find(|(other, _)| *other == role);
            spec.is_some_and(|(_, spec)| spec.kind != PlayerSource::Human)
        };
        let mut n_preparing = shape.players().filter(|role| is_computer(*role)).count();
        let prepares = || Some(terminal::spinner("the computer prepares"));
        let mut spinner = if n_preparing > 0 { prepares() } else { None };
        let n_known = opening.len();
        let game = hosted.play(opening, &mut |game: &Match, event| {
            // While the computer thinks, a spinner shows that something happens.
            if let Some(spinner) = spinner.take() {
                spinner.finish_and_clear();
            }
            if let Event::Ready(role, _) = event {
                n_preparing -= usize::from(is_computer(role));
                spinner = if n_preparing > 0 { prepares() } else { None };
            }
            if matches!(event, Event::Chosen(role, Ok(_), _) if role == us) {
                spinner = Some(terminal::spinner("the computer thinks"));
            }
            let was_shown = matches!(event, Event::Step(_)) && game.steps().len() <= n_known;
            let is_stop =
                matches!(event, Event::Over) && matches!(game.ending(), Some(Ending::Stopped(_)));
            if !was_shown && !is_stop {
                reporter.report(game, event);
            }
        })?;
        // After `undo` and `save`, players are made again.
        hosted.setup.set_start_clock(RESTART);
        match hosted.console.take_stop_request() {
            Some(StopRequest::Save(path)) => {
                match write_record(&hosted, &game, &path) {
                    Ok(()) => say!("saved to {}", path.display()),
                    Err(failure) => say!("{failure}"),
                }
                opening = game.steps().iter().map(|step| step.joint.clone()).collect();
            }
            Some(StopRequest::Undo) => opening = before_last_choice(&hosted, &game, us)?,
            Some(StopRequest::Quit) | None => {
                if let Some(path) = &args.record {
                    write_record(&hosted, &game, path)?;
                }
                if matches!(game.ending(), Some(Ending::Stopped(_))) {
                    say!("the match was stopped after {} steps", game.steps().len());
                }
                return end(&game);
            }
        }
    }
}

/// How long players prepare when the match goes on after `undo` or `save`.
const RESTART: Duration = Duration::from_millis(500);

/// Prints the title, the rules in a sentence, and the role of the person.
fn introduce(hosted: &HostedMatch, us: Role) {
    let game = &hosted.setup.game;
    let text = Shipped::named(game.name()).map(|game| game.text);
    let header = |key: &str| text.and_then(|text| agon::shipped::header(text, key));
    if let Some(title) = header("title") {
        say!("{}", terminal::bold(&title));
    }
    if let Some(summary) = header("summary") {
        say!("{summary}");
    }
    let name = &hosted.shape().role_names[us.index()];
    say!("You are {}. `help` lists the commands.", terminal::bold(name));
}

/// Returns the role of the person.
fn own_role(args: &Args, shape: &Shape) -> Result<Role, Failure> {
    let players: Vec<Role> = shape.players().collect();
    match &args.role {
        None => players
            .first()
            .copied()
            .ok_or_else(|| Failure::wrong("this game has no role for a player")),
        Some(name) => {
            shape.role_named(name).filter(|role| players.contains(role)).ok_or_else(|| {
                let names: Vec<&str> =
                    players.iter().map(|r| shape.role_names[r.index()].as_str()).collect();
                Failure::unreadable(format!(
                    "--as: there is no role `{name}`; the roles are {}",
                    names.join(", ")
                ))
            })
        }
    }
}

/// Returns the players of all roles: a human in the given role, and those of `--against`.
fn seat(args: &Args, shape: &Shape, us: Role) -> Result<Vec<PlayerSpec>, Failure> {
    let players: Vec<Role> = shape.players().collect();
    let others = hosted_match::specs("--against", &args.against)?;
    if others.len() > 1 && others.len() != players.len() - 1 {
        let (n, n_others) = (others.len(), players.len() - 1);
        return Err(Failure::unreadable(format!(
            "--against: {n} players for {n_others} roles; give one, or {n_others}"
        )));
    }
    let mut others = others.iter().cycle();
    let human = hosted_match::spec("--as", "human")?;
    Ok(players
        .iter()
        .map(|&role| if role == us { Some(human.clone()) } else { others.next().cloned() })
        .collect::<Option<_>>()
        .expect("at least one player was named"))
}

/// Returns the joint moves before the last step in which the role had a choice.
fn before_last_choice(
    hosted: &HostedMatch,
    game: &Match,
    us: Role,
) -> Result<Vec<Vec<String>>, Failure> {
    let mut table = hosted.setup.game.table();
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
