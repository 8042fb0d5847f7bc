#![no_main]

#[path = "../../crates/agon-lsp/tests/suite/client.rs"]
mod client;
#[path = "../lsp_laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::edits(&String::from_utf8_lossy(bytes)));
