//! Tests of this crate.

mod messages;
mod records;
