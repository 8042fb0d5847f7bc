#![no_main]

#[path = "../text_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::players(&String::from_utf8_lossy(bytes)));
