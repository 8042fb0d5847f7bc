//! Integration tests of `agon-server`, in one binary: `cargo test -p agon-server --test suite`.

#[path = "../../../fuzz/wire_laws.rs"]
mod wire_laws;

mod suite {
    mod connections;
    mod frozen;
    mod fuzz_smoke;
    mod http_oracle;
}
