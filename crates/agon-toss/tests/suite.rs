//! Integration tests of `agon-toss`, in one binary: `cargo test -p agon-toss --test suite`.

mod suite {
    mod agreement;
    mod circuit_perft;
    mod codes;
    mod constants;
    mod continuous_games;
    mod continuous_language;
    mod continuous_moves;
    mod engines;
    mod fuzz_smoke;
    mod growth;
    mod interrupts;
    mod positions;
    mod reading;
    mod real_formulas;
    mod rejects;
    mod rewriting;
    mod shipped;
    mod simultaneous;
}
