//! The `agon` command: one file per subcommand, below `commands`.
#![forbid(unsafe_code)]

mod clock;
mod commands;
mod contest;
mod engine;
mod experiment;
mod failure;
mod fresh;
mod match_record;
mod open;
mod outside;
mod picture;
mod recruiter;
mod shipped;
mod subjects;
mod terminal;
mod tournament;
mod trace;
mod usage;

use std::process::ExitCode;

use crate::terminal::remark;
use clap::Parser as _;

fn main() -> ExitCode {
    let outcome = commands::run(&commands::Agon::parse());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                remark!("{}", failure.message.trim_end());
            }
            ExitCode::from(failure.code)
        }
    }
}
