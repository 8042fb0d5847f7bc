//! Players that live outside of this process, or in front of it.

mod command;
mod human;

pub(crate) use command::Program;
pub(crate) use human::{Console, Human, Wish};
