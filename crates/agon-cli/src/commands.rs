//! The subcommands of `agon`.

mod assess;
mod bench;
mod check;
mod combined;
mod completions;
mod diff;
mod draw;
mod engine;
mod evaluation_games;
mod experiment;
mod explain;
mod explain_code;
mod fmt;
mod formulas;
mod games;
mod gdl_perf;
mod ground;
mod host;
mod info;
mod learn;
mod learn_check;
mod lessons;
mod lsp;
mod match_command;
mod models;
mod new;
mod perft;
mod play;
mod player;
mod players;
mod profile;
mod prove;
mod record;
mod replay;
mod serve;
mod show;
mod simulate;
mod solve;
mod tournament;
mod transfer;
mod translate;
pub(crate) mod why;

use std::fmt::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::failure::Failure;

/// General game playing: agon plays, checks and explains any game, given its rules.
#[derive(clap::Parser)]
#[command(name = "agon", version, arg_required_else_help = true)]
#[command(after_help = "\
GAME is the name of a shipped game (see `agon games`), the path of a rulesheet in GDL or Toss, or -
for standard input. `agon COMMAND --help` describes a command.

Examples:
  agon play connect-four                            # play against the computer
  agon match connect-four --play-clock 0.5          # watch two players
  agon simulate connect-four                        # play random games
  agon check my-game.kif                            # check your own rules
  agon why tic-tac-toe \"(legal xplayer (mark 1 1))\" # ask about the rules")]
pub(crate) struct Agon {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Play(play::Args),
    Match(match_command::Args),
    Serve(serve::Args),
    Players(players::Args),
    Games(games::Args),
    Info(info::Args),
    Explain(explain::Args),
    Why(why::Args),
    Solve(solve::Args),
    Simulate(simulate::Args),
    Draw(draw::Args),
    New(new::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Lsp(lsp::Args),
    Prove(prove::Args),
    Diff(diff::Args),
    Profile(profile::Args),
    Assess(assess::Args),
    ExplainCode(explain_code::Args),
    Show(show::Args),
    Translate(translate::Args),
    Learn(learn::Args),
    Models(models::Args),
    Transfer(transfer::Args),
    EvaluationGames(evaluation_games::Args),
    Tournament(tournament::Args),
    Experiment(experiment::Args),
    Host(host::Args),
    Player(player::Args),
    Engine(engine::Args),
    Perft(perft::Args),
    Record(record::Args),
    Replay(replay::Args),
    Ground(ground::Args),
    Bench(bench::Args),
    GdlPerf(gdl_perf::Args),
    Completions(completions::Args),
}

/// The commands as `agon --help` lists them: a heading and the names below it.
const GROUPS: &[(&str, &[&str])] = &[
    ("Play", &["play", "match", "serve", "players"]),
    ("Study games", &["games", "info", "explain", "why", "solve", "simulate", "draw"]),
    (
        "Write games",
        &[
            "new",
            "check",
            "fmt",
            "lsp",
            "prove",
            "diff",
            "profile",
            "assess",
            "explain-code",
            "show",
            "translate",
        ],
    ),
    ("Learn", &["learn", "models", "transfer", "evaluation-games"]),
    ("Compare players", &["tournament", "experiment"]),
    ("Play over the network", &["host", "player"]),
    ("Use from other languages and shells", &["engine", "completions"]),
    ("Test and measure engines", &["perft", "record", "replay", "ground", "bench", "gdl-perf"]),
];

/// Parses the command line. Prints help or an error and exits if that is needed.
pub(crate) fn parse() -> Agon {
    let matches = command().get_matches();
    let mut agon = Agon::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    agon.command.set_params();
    agon
}

impl Command {
    /// Adds the values of `--set` to the names of the games, so that everything that opens a game
    /// by its name, such as a replay of a record, gets them.
    fn set_params(&mut self) {
        let (params, names) = match self {
            Command::Play(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Match(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Info(args) => (&args.play.params, vec![&mut args.game]),
            Command::Explain(args) => (&args.play.params, args.game.iter_mut().collect()),
            Command::Why(args) => (&args.play.params, vec![&mut args.game]),
            Command::Solve(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Simulate(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Draw(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Check(args) => (&args.params, args.files.iter_mut().collect()),
            Command::Prove(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Diff(args) => {
                (&args.play.rules.params, vec![&mut args.first, &mut args.second])
            }
            Command::Profile(args) => (&args.play.params, vec![&mut args.game]),
            Command::Assess(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Show(args) => (&args.play.params, vec![&mut args.game]),
            Command::Translate(args) => (&args.play.params, vec![&mut args.game]),
            Command::EvaluationGames(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Learn(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Host(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Perft(args) => (&args.play.rules.params, vec![&mut args.game]),
            Command::Record(args) => (&args.play.params, vec![&mut args.game]),
            Command::Replay(args) => (&args.reading.params, args.rules.iter_mut().collect()),
            Command::Ground(args) => (&args.play.params, args.game.iter_mut().collect()),
            Command::Bench(args) => (&args.params, args.games.iter_mut().collect()),
            Command::GdlPerf(args) => (&args.play.rules.params, vec![&mut args.rules]),
            Command::Serve(_)
            | Command::New(_)
            | Command::Fmt(_)
            | Command::Lsp(_)
            | Command::Completions(_)
            | Command::Players(_)
            | Command::Games(_)
            | Command::ExplainCode(_)
            | Command::Models(_)
            | Command::Transfer(_)
            | Command::Tournament(_)
            | Command::Experiment(_)
            | Command::Player(_)
            | Command::Engine(_) => return,
        };
        names.into_iter().for_each(|name| params.add_to(name));
    }
}

/// Returns the command-line parser, with the commands listed in groups.
fn command() -> clap::Command {
    let command = Agon::command();
    let (header, literal) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut list = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(list, "{header}{title}:{header:#}");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {literal}{name:16}{literal:#} {about}");
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options:{header:#}\n\
         {{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Runs the command.
pub(crate) fn run(agon: &Agon) -> Result<(), Failure> {
    match &agon.command {
        Command::Games(args) => games::run(args),
        Command::Info(args) => info::run(args),
        Command::Show(args) => show::run(args),
        Command::Translate(args) => translate::run(args),
        Command::Check(args) => check::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Lsp(args) => lsp::run(args),
        Command::New(args) => new::run(args),
        Command::Prove(args) => prove::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Explain(args) => explain::run(args),
        Command::ExplainCode(args) => explain_code::run(args),
        Command::Why(args) => why::run(args),
        Command::Ground(args) => ground::run(args),
        Command::Bench(args) => bench::run(args),
        Command::GdlPerf(args) => gdl_perf::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Draw(args) => draw::run(args),
        Command::Assess(args) => assess::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Record(args) => record::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Match(args) => match_command::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Learn(args) => learn::run(args),
        Command::Models(args) => models::run(args),
        Command::Transfer(args) => transfer::run(args),
        Command::Tournament(args) => tournament::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::EvaluationGames(args) => evaluation_games::run(args),
        Command::Play(args) => play::run(args),
        Command::Players(args) => players::run(args),
        Command::Player(args) => player::run(args),
        Command::Engine(args) => engine::run(args),
        Command::Host(args) => host::run(args),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_listed_once_in_the_help() {
        let command = Agon::command();
        let all: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(listed.len(), all.len(), "a command is listed twice");
    }

    #[test]
    fn every_command_has_a_short_description_and_examples() {
        for command in Agon::command().get_subcommands() {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 80, "{name}: {about}");
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:\n  agon "), "{name} has no examples");
        }
    }

    #[test]
    fn the_parser_is_consistent() {
        command().debug_assert();
    }
}
