//! The subcommands.

mod perft;
mod replay;
mod simulate;

use crate::failure::Failure;

/// A general game playing system: give it the rules of any game, and it plays, checks and explains it.
#[derive(clap::Parser)]
#[command(name = "agon", version, about, arg_required_else_help = true)]
pub(crate) struct Agon {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Perft(perft::Args),
    Replay(replay::Args),
    Simulate(simulate::Args),
}

pub(crate) fn run(agon: &Agon) -> Result<(), Failure> {
    match &agon.command {
        Command::Perft(args) => perft::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Simulate(args) => simulate::run(args),
    }
}
