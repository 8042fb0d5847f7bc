#![no_main]

#[path = "../toss_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::play(&String::from_utf8_lossy(bytes)));
