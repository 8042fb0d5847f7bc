//! The subcommands.

mod bench;
mod check;
mod experiment;
mod explain;
mod explain_code;
mod games;
mod gdl_perf;
mod ground;
mod host;
mod info;
mod matches;
mod perft;
mod play;
mod player;
mod players;
mod record;
mod replay;
mod show;
mod simulate;
mod solve;
mod tournament;
mod translate;
pub(crate) mod why;

use crate::failure::Failure;

/// A general game playing system: give it the rules of any game, and it plays, checks and explains it.
#[derive(clap::Parser)]
#[command(name = "agon", version, about, arg_required_else_help = true)]
#[command(
    after_help = "GAME is a shipped game's name (`agon games`), a path, or - for standard input.

Examples:
  agon simulate connect-four
  agon check my-game.kif
  agon why tic-tac-toe \"(legal xplayer (mark 1 1))\""
)]
pub(crate) struct Agon {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Games(games::Args),
    Info(info::Args),
    Show(show::Args),
    Translate(translate::Args),
    Check(check::Args),
    Explain(explain::Args),
    ExplainCode(explain_code::Args),
    Why(why::Args),
    Ground(ground::Args),
    Bench(bench::Args),
    GdlPerf(gdl_perf::Args),
    Simulate(simulate::Args),
    Solve(solve::Args),
    Perft(perft::Args),
    Record(record::Args),
    Replay(replay::Args),
    Match(matches::Args),
    Tournament(tournament::Args),
    Experiment(experiment::Args),
    Play(play::Args),
    Players(players::Args),
    Player(player::Args),
    Host(host::Args),
}

pub(crate) fn run(agon: &Agon) -> Result<(), Failure> {
    match &agon.command {
        Command::Games(args) => games::run(args),
        Command::Info(args) => info::run(args),
        Command::Show(args) => show::run(args),
        Command::Translate(args) => translate::run(args),
        Command::Check(args) => check::run(args),
        Command::Explain(args) => explain::run(args),
        Command::ExplainCode(args) => explain_code::run(args),
        Command::Why(args) => why::run(args),
        Command::Ground(args) => ground::run(args),
        Command::Bench(args) => bench::run(args),
        Command::GdlPerf(args) => gdl_perf::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Record(args) => record::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Match(args) => matches::run(args),
        Command::Tournament(args) => tournament::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::Play(args) => play::run(args),
        Command::Players(args) => players::run(args),
        Command::Player(args) => player::run(args),
        Command::Host(args) => host::run(args),
    }
}
