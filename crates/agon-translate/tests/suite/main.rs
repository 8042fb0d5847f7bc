//! Integration tests of the translations.

mod round_trip;
mod to_toss;
