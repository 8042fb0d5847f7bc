//! Integration tests of the translations.

mod fuzz_smoke;
mod round_trip;
mod to_toss;
