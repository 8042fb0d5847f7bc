//! Players that this crate adds to those of the library: programs and people at the terminal.

mod human;
pub(crate) mod process_group;
mod program;
mod prompt;

pub(crate) use human::{Console, Human, StopRequest};
pub(crate) use program::Program;
pub(crate) use prompt::Prompt;
