//! Tests of the library from outside.

mod suite {
    mod fuzz_smoke;
}
