//! Tests of what needs no game.

mod board;
mod names;
mod protocol;
mod regressed;
mod wire;
