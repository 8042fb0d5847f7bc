//! The `agon` command: flags and printing. The work is done by the library crate `agon` and the
//! crates below it.
//!
//! Modules, in reading order: `commands` has one module for each subcommand. `open` has the options
//! by which games are opened. `hosted_match`, `match_report` and `outside` play matches and show
//! them. `tournament` and `experiment` play many matches and store them. `trace` and `match_record`
//! read recordings. `engine_calls` answers programs in other languages. `failure` is the error of
//! every command, and `terminal` writes all output.
#![forbid(unsafe_code)]

mod clock;
mod commands;
mod curve;
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

#[cfg(test)]
#[path = "../../../fuzz/cli_laws.rs"]
mod cli_laws;
#[cfg(test)]
mod fuzz_smoke;

use std::process::ExitCode;

use crate::terminal::remark;

/// Size of the stack of the thread that runs a command. Rules decide how deep some analyses go: a
/// chain of 20,000 relations has overflowed the eight megabytes that the system gives. Only pages
/// that are used take memory.
const STACK_BYTES: usize = 512 << 20;

fn main() -> ExitCode {
    let run = || commands::run(&commands::parse());
    let thread = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES);
    // A thread that panicked has printed its message.
    let outcome = std::thread::scope(|scope| match thread.spawn_scoped(scope, run) {
        Ok(running) => running.join().map_err(|_| ()),
        Err(_) => Ok(run()),
    });
    let Ok(outcome) = outcome else { return ExitCode::from(101) };
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
