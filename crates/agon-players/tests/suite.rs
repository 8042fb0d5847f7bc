//! Integration tests of `agon-players`, in one binary: `cargo test -p agon-players --test suite`.
//! Players of all kinds play shipped games of all kinds.

mod suite {
    mod analysis;
    mod games;
    mod hidden_information;
    mod openings;
    mod perfect_play;
    mod pondering;
    mod pursuit;
    mod referee;
    mod run_match;
    mod shipped_games;
}
