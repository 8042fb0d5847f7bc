//! Tests of this crate.

mod board;
