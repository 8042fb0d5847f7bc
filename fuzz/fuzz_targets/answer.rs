#![no_main]

#[path = "../wire_laws.rs"]
mod wire_laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wire_laws::answer(bytes));
