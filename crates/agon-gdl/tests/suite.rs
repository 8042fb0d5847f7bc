//! Integration tests of `agon-gdl`, in one binary: `cargo test -p agon-gdl --test suite`.

mod suite {
    mod check_by_play;
    mod circuits;
    mod codes;
    mod corpus;
    mod exploding;
    mod fixes;
    mod fuzz_smoke;
    mod groups;
    mod growth;
    mod reachable;
    mod rejects;
    mod why;
}
