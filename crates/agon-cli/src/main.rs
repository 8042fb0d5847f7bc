//! The `agon` command: flags and printing. The work is done by the library crate `agon` and the
//! crates below it.
//!
//! Modules, in reading order: `commands` has one module for each subcommand. `open` has the options
//! by which games are opened. `hosted_match`, `match_report` and `outside` play matches and show
//! them.
//! `tournament` and `experiment` play many matches and store them. `trace` and `match_record` read
//! recordings. `engine_calls` answers programs in other languages. `failure` is the error of every command, and `terminal` writes all output.
#![forbid(unsafe_code)]

mod clock;
mod commands;
mod engine_calls;
mod experiment;
mod failure;
mod hosted_match;
mod match_record;
mod match_report;
mod open;
mod outside;
mod picture;
mod provenance;
mod resources;
mod signals;
mod subprocess;
mod terminal;
mod tournament;
mod trace;

use std::process::ExitCode;

use crate::terminal::remark;

fn main() -> ExitCode {
    let outcome = commands::run(&commands::parse());
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
