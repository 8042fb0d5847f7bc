#![no_main]

#[path = "../file_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::model(bytes));
