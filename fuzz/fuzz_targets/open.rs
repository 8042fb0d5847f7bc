#![no_main]

#[path = "../laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::open_cancelled(&String::from_utf8_lossy(bytes)));
