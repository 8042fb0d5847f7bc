#![no_main]

#[allow(dead_code)]
#[path = "../../crates/agon-cli/src/engine_calls.rs"]
mod engine_calls;
#[allow(dead_code)]
#[path = "../../crates/agon-cli/src/failure.rs"]
mod failure;
#[path = "../cli_laws.rs"]
mod laws;
#[allow(dead_code)]
#[path = "../../crates/agon-cli/src/trace.rs"]
mod trace;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::engine(&String::from_utf8_lossy(bytes)));
