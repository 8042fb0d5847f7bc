#![no_main]

#[path = "../translate_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::translate(&String::from_utf8_lossy(bytes)));
